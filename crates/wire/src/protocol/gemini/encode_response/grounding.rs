//! Writing sources: other protocols' citations as chunks and the stretches of text that rest on them.

use crate::characters::Characters;
use crate::json::{Json, Text, Writer};
use crate::protocol::Citation;

/// Writes the citations of parts, in order, with the texts that they stand on; none if no source has an address.
pub(in super::super) fn write_grounding(
    parts: &[(&[Citation<'_>], Option<&Text<'_>>)],
) -> Option<Json<'static>> {
    let sources: Vec<&Citation<'_>> = parts
        .iter()
        .flat_map(|(citations, _)| *citations)
        .filter(|it| it.url().is_some())
        .collect();
    if sources.is_empty() {
        return None;
    }
    Some(Json::of_object(|object| {
        object.array_field("groundingChunks", |list| {
            sources.iter().for_each(|citation| write_chunk(list, citation))
        });
        object.array_field("groundingSupports", |list| write_supports(list, parts));
    }))
}

fn write_supports(list: &mut Writer, parts: &[(&[Citation<'_>], Option<&Text<'_>>)]) {
    let mut chunk = 0;
    for (part, (citations, text)) in parts.iter().enumerate() {
        let mut sources = citations.iter().filter(|it| it.url().is_some()).peekable();
        if sources.peek().is_none() {
            continue;
        }
        let text = text.map(Characters::from).unwrap_or_default();
        let mut quotable = QUOTED_TIMES * text.text().len() + QUOTED_BYTES;
        for citation in sources {
            write_support(list, (part, chunk), citation, (&text, &mut quotable));
            chunk += 1;
        }
    }
}

/// How often a text may be quoted in whole by the stretches that rest on sources, and so many bytes beyond that: a
/// stretch need not say its words, and many that are each the whole text would fill the memory.
const QUOTED_TIMES: usize = 2;
const QUOTED_BYTES: usize = 64 * 1024;

fn write_chunk(writer: &mut Writer, citation: &Citation<'_>) {
    writer.object(|chunk| {
        chunk.object_field("web", |web| {
            web.optional("uri", citation.url());
            web.optional("title", citation.title());
        });
    });
}

/// Writes that a part rests on a chunk.
fn write_support(
    writer: &mut Writer,
    (part, chunk): (usize, usize),
    citation: &Citation<'_>,
    (text, quotable): (&Characters, &mut usize),
) {
    let (start, end) = match citation.span() {
        Some((start, end)) => (byte_offset(text, start), byte_offset(text, end)),
        None => (0, text.text().len()),
    };
    let quoted = text.text().get(start..end).filter(|words| words.len() <= *quotable);
    *quotable -= quoted.map_or(0, str::len);
    writer.object(|support| {
        support.object_field("segment", |segment| {
            segment.optional("partIndex", (part > 0).then_some(&part));
            segment.optional("startIndex", (start > 0).then_some(&start));
            segment.field("endIndex", &end);
            segment.optional("text", quoted);
        });
        support.array_field("groundingChunkIndices", |list| list.value(&chunk));
    });
}

/// The byte at which a character begins; past the end it is the end.
fn byte_offset(text: &Characters, character: u64) -> usize {
    text.byte(usize::try_from(character).unwrap_or(usize::MAX))
}
