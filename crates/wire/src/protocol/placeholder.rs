//! Placeholders such as `[image omitted]` for a user's media that a target cannot take, where nothing else is left of the
//! message: no provider takes an empty message, and without it there may be nothing left to answer.

use crate::conversation::{Content, MediaKind, Message, Part, Role};
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::words::is_wordless;

/// The parts that get a placeholder if a target takes nothing of a message, with their numbers; none where there are
/// texts or results beside them. Which these are depends on the message alone, so that it stays the same when the
/// conversation goes on.
pub(super) fn omitted<'m>(message: &'m Message<'m>) -> impl Iterator<Item = (usize, &'m Part<'m>)> {
    let may_be_left_out = |part: &Part<'_>| is_wordless(part) || is_nameable(part);
    let is_meant = message.role == Role::User && message.parts.iter().all(may_be_left_out);
    let parts = message.parts.iter().enumerate();
    parts.filter(move |(_, part)| is_meant && is_nameable(part))
}

fn is_nameable(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::Media(_) | Content::Opaque(_)) && !is_wordless(part)
}

/// The words that stand for a part.
pub(super) fn words(part: &Part<'_>) -> &'static str {
    match part.content() {
        Content::Media(media) => match media.kind {
            MediaKind::Image => "[image omitted]",
            MediaKind::Audio => "[audio omitted]",
            MediaKind::Video => "[video omitted]",
            MediaKind::Document => "[document omitted]",
        },
        Content::Text(_)
        | Content::ToolCall(_)
        | Content::ToolResult(_)
        | Content::Reasoning(_)
        | Content::Refusal(_)
        | Content::Opaque(_) => "[content omitted]",
    }
}

/// The placeholder of a part, at the part's place.
pub(super) fn placeholder(part: &Part<'_>) -> Part<'static> {
    Part::text(words(part)).with_semantics(NodeSemantics::at(part.semantics().place()))
}

/// The placeholders of a message of which only `sent` can be sent; none if that says anything.
#[inline]
pub(super) fn placeholders(message: &Message<'_>, sent: &[&Part<'_>]) -> Vec<Part<'static>> {
    if sent.len() == message.parts.len() || !sent.iter().all(|part| is_wordless(part)) {
        return Vec::new();
    }
    omitted(message).map(|(_, part)| placeholder(part)).collect()
}

/// The placeholders of a message among the parts that are sent of it, each where its part stood.
pub(super) fn in_place<'p>(
    message: &'p Message<'p>,
    sent: &[&'p Part<'p>],
    placeholders: &'p [Part<'p>],
) -> Vec<&'p Part<'p>> {
    let place = |part: &Part<'_>| part.semantics().place();
    // Both are in the order of the message.
    let mut sent = sent.iter().copied().peekable();
    let mut placeholders = placeholders.iter().peekable();
    let written = |part: &'p Part<'p>| {
        let sent = sent.next_if(|it| std::ptr::eq(*it, part));
        sent.or_else(|| placeholders.next_if(|it| place(it) == place(part)))
    };
    message.parts.iter().filter_map(written).collect()
}
