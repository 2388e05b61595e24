//! Writing why an answer ended.

use crate::conversation::{Finish, FinishKind};
use crate::loss::LossKind::{Approximated, Renamed, Repaired};
use crate::place::Place;
use crate::protocol::Field;
use crate::protocol::arguments::Change;
use crate::protocol::object::Object;
use crate::protocol::reporter::Reporter;

/// Writes why an answer ended, in the vendor's own words where they came from there.
pub(in super::super) fn write_finish(
    object: &mut Object<'_, '_>,
    finish: Option<&Finish<'_>>,
    ends_with: EndsWith,
    (place, reporter): (Place, &mut Reporter<'_>),
) {
    let Some(finish) = finish else {
        if !reporter.is_same() {
            object.key("stop_reason").null();
            object.key("stop_sequence").null();
        }
        return;
    };
    let lacks_call = finish.kind == FinishKind::ToolCalls && ends_with != EndsWith::Call;
    let kind = if lacks_call { FinishKind::Stop } else { finish.kind };
    match &finish.raw {
        Some(raw) if reporter.is_same() => object.field("stop_reason", raw),
        // An end of which the vendor itself did not say why.
        None if reporter.is_same() && kind == FinishKind::Other => {}
        Some(_) | None => object.word("stop_reason", stop_reason(kind, ends_with)),
    }
    object.field("stop_sequence", &finish.stop_sequence);
    match &finish.details {
        Some(details) if reporter.is_same() => object.field("stop_details", details),
        Some(_) => {
            reporter.dropped((place, Field::FinishDetails), "details in another vendor's format");
        }
        None => {}
    }
    if let Some((kind, reason)) = loss_of(finish.kind, ends_with) {
        reporter.lose((place, Field::FinishReason), kind, reason);
    }
}

/// What the reason for an end loses or gains here.
fn loss_of(kind: FinishKind, ends_with: EndsWith) -> Change {
    Some(match (kind, ends_with) {
        (FinishKind::MalformedCall, _) => (Approximated, "Messages has no such finish reason"),
        (FinishKind::Other | FinishKind::Failed, _) => {
            (Approximated, "a finish reason that only its vendor has")
        }
        (FinishKind::ContentFilter | FinishKind::PromptFilter, _) => {
            (Renamed, "a filtered answer is a refusal")
        }
        (FinishKind::ToolCalls, EndsWith::Nothing | EndsWith::Refusal) => {
            (Repaired, "there is no call to answer")
        }
        (FinishKind::Stop, EndsWith::Call) => {
            (Renamed, "an answer with a tool call ends with `tool_use`")
        }
        (FinishKind::Stop, EndsWith::Refusal) => {
            (Renamed, "Messages has a stop reason of its own for refusals")
        }
        _ => return None,
    })
}

/// What an answer held that decides how its end is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in super::super) enum EndsWith {
    #[default]
    Nothing,
    Refusal,
    Call,
}

/// The reason for an end; a call makes it a tool turn unless it was cut or filtered.
fn stop_reason(kind: FinishKind, ends_with: EndsWith) -> &'static str {
    match (kind, ends_with) {
        (FinishKind::Length, _) => "max_tokens",
        (FinishKind::ContextFull, _) => "model_context_window_exceeded",
        (FinishKind::ContentFilter | FinishKind::PromptFilter | FinishKind::Refusal, _) => {
            "refusal"
        }
        (_, EndsWith::Call) | (FinishKind::ToolCalls, _) => "tool_use",
        (FinishKind::StopSequence, _) => "stop_sequence",
        (FinishKind::Pause, _) => "pause_turn",
        (FinishKind::Stop, EndsWith::Refusal) => "refusal",
        (
            FinishKind::Stop | FinishKind::MalformedCall | FinishKind::Failed | FinishKind::Other,
            EndsWith::Nothing | EndsWith::Refusal,
        ) => "end_turn",
    }
}
