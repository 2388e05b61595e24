//! The words for the end of an answer.

use crate::conversation::FinishKind;
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::Field;
use crate::protocol::arguments::Change;
use crate::protocol::reporter::Reporter;

/// The word for an end; a call counts as the end's reason unless the answer was cut or withheld.
/// Fixture `answer/tools/max-tokens-after-tool-call`.
pub(in super::super) fn finish_word(
    kind: FinishKind,
    ends_with: EndsWith,
    place: Place,
    reporter: &mut Reporter<'_>,
) -> &'static str {
    let (word, loss) = finish(kind, ends_with);
    if let Some((kind, reason)) = loss {
        reporter.lose((place, Field::FinishReason), kind, reason);
    }
    word
}

/// The word, and what it says otherwise.
fn finish(kind: FinishKind, ends_with: EndsWith) -> (&'static str, Change) {
    let nearest = |word, reason| (word, Some((LossKind::Approximated, reason)));
    match kind {
        FinishKind::Length => ("length", None),
        FinishKind::ContextFull => {
            nearest("length", "Chat returns a full context as a reached token limit")
        }
        FinishKind::ContentFilter => ("content_filter", None),
        FinishKind::PromptFilter => nearest(
            "content_filter",
            "Chat does not distinguish blocked prompts from filtered answers",
        ),
        FinishKind::ToolCalls if ends_with == EndsWith::Calls => ("tool_calls", None),
        FinishKind::Stop if ends_with == EndsWith::Calls => {
            let reason = "an answer with tool calls ends with `tool_calls`";
            ("tool_calls", Some((LossKind::Renamed, reason)))
        }
        FinishKind::Stop => ("stop", None),
        FinishKind::ToolCalls => ("stop", Some((LossKind::Repaired, "there is no call to answer"))),
        _ if ends_with == EndsWith::Calls => {
            nearest("tool_calls", "Chat states only that the answer ends with tool calls")
        }
        FinishKind::StopSequence => {
            nearest("stop", "Chat does not distinguish stop sequences from other stops")
        }
        FinishKind::Refusal if ends_with == EndsWith::Refusal => {
            nearest("stop", "Chat ends a refusal like every answer")
        }
        // With "stop" it would look like an answer like any other, or one that is merely empty.
        // Fixture `answer/finish/anthropic-refusal-without-content`.
        FinishKind::Refusal => {
            nearest("content_filter", "Chat returns a refusal as a filtered answer")
        }
        FinishKind::Pause | FinishKind::MalformedCall | FinishKind::Failed | FinishKind::Other => {
            nearest("stop", "Chat has no such finish reason")
        }
    }
}

/// What an answer holds when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum EndsWith {
    Calls,
    /// A refusal in the protocol's own place for one.
    Refusal,
    /// Text, or nothing at all.
    Other,
}
