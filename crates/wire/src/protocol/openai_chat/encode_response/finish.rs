//! The words for the end of an answer.

use crate::conversation::FinishKind;
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::Field;
use crate::protocol::reporter::Reporter;

/// The word for an end; a call counts as the end's reason unless the answer was cut or withheld.
/// Fixture `answer/tools/max-tokens-after-tool-call`.
pub(in super::super) fn finish_word(
    kind: FinishKind,
    ends_with: EndsWith,
    place: Place,
    reporter: &mut Reporter<'_>,
) -> &'static str {
    let mut lose = |kind, reason| reporter.lose((place, Field::FinishReason), kind, reason);
    match kind {
        FinishKind::Length => "length",
        FinishKind::ContextFull => {
            lose(LossKind::Approximated, "Chat returns a full context as a reached token limit");
            "length"
        }
        FinishKind::ContentFilter => "content_filter",
        FinishKind::PromptFilter => {
            lose(
                LossKind::Approximated,
                "Chat does not distinguish blocked prompts from filtered answers",
            );
            "content_filter"
        }
        FinishKind::ToolCalls if ends_with == EndsWith::Calls => "tool_calls",
        FinishKind::Stop if ends_with == EndsWith::Calls => {
            lose(LossKind::Renamed, "an answer with tool calls ends with `tool_calls`");
            "tool_calls"
        }
        FinishKind::Stop => "stop",
        FinishKind::ToolCalls => {
            lose(LossKind::Repaired, "there is no call to answer");
            "stop"
        }
        _ if ends_with == EndsWith::Calls => {
            lose(LossKind::Approximated, "Chat states only that the answer ends with tool calls");
            "tool_calls"
        }
        FinishKind::StopSequence => {
            lose(
                LossKind::Approximated,
                "Chat does not distinguish stop sequences from other stops",
            );
            "stop"
        }
        FinishKind::Refusal if ends_with == EndsWith::Refusal => {
            lose(LossKind::Approximated, "Chat ends a refusal like every answer");
            "stop"
        }
        // With "stop" it would look like an answer like any other, or one that is merely empty.
        // Fixture `answer/finish/anthropic-refusal-without-content`.
        FinishKind::Refusal => {
            lose(LossKind::Approximated, "Chat returns a refusal as a filtered answer");
            "content_filter"
        }
        FinishKind::Pause | FinishKind::MalformedCall | FinishKind::Failed | FinishKind::Other => {
            lose(LossKind::Approximated, "Chat has no such finish reason");
            "stop"
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
