//! Writing citations as annotations.

use crate::conversation::{Content, Part};
use crate::json::{Json, Text, Writer};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::Citation;
use crate::protocol::openai_chat::types::SELF;
use crate::protocol::reporter::Reporter;

/// Whether this protocol has a place for a citation: its own, or one with an address.
pub(in super::super) fn is_cited(citation: &Citation<'_>) -> bool {
    citation.protocol() == SELF || citation.url().is_some()
}

/// Writes a citation as this protocol spells it, if it has an address. `stretch` is where the text that it covers stands
/// in the text of the answer; a citation without a stretch of its own covers all of it.
pub(in super::super) fn write_annotation(
    writer: &mut Writer,
    citation: &Citation<'_>,
    (from, to): (u64, u64),
) {
    if citation.protocol() == SELF {
        return writer.value(citation.json());
    }
    write_address(writer, citation, (from, to));
}

/// Whether a citation of this protocol says no more than others can: an address, a title and a stretch.
pub(in crate::protocol) fn is_plain(citation: &Citation<'_>) -> bool {
    let written = Json::of_list(|list| write_address(list, citation, (0, 0)));
    written == Json::of_list(|list| list.value(citation.json()))
}

fn write_address(writer: &mut Writer, citation: &Citation<'_>, (from, to): (u64, u64)) {
    let Some(url) = citation.url() else { return };
    let own =
        citation.span().map(|(start, end)| (from.saturating_add(start), from.saturating_add(end)));
    let (start, end) = own.unwrap_or((from, to));
    writer.object(|object| {
        object.field("type", "url_citation");
        object.object_field("url_citation", |inner| {
            inner.field("url", url);
            inner.field("title", &citation.title().map(Text::reborrow).unwrap_or_default());
            inner.field("start_index", &start);
            inner.field("end_index", &end);
        });
    });
}

/// How much a part adds to the text of the answer, in characters.
pub(super) fn chars_of(part: &Part<'_>) -> u64 {
    match part.content() {
        Content::Text(text) => text.to_str().chars().count() as u64,
        _ => 0,
    }
}

/// Reports what an annotation cannot say of the citations of the part at `place`.
pub(in super::super) fn report_citations(
    place: Place,
    citations: &[Citation<'_>],
    reporter: &mut Reporter<'_>,
) {
    let Some(first) = citations.first() else { return };
    let lost = match citations.iter().all(|it| it.url().is_some()) {
        true => (LossKind::Approximated, "Chat citations hold a URL, a title and a range only"),
        false => (LossKind::Dropped, "Chat cites only URLs"),
    };
    reporter.citation(place, first, lost);
}
