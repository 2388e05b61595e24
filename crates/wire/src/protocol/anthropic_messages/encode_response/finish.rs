//! Writing why an answer ended.

use crate::conversation::Finish;
use crate::conversation::FinishKind;
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::Field;
use crate::protocol::losing::Losing;
use crate::protocol::object::Object;

/// Writes an end that came in this protocol, or that was put there by someone who knows no protocol.
pub(in crate::protocol::anthropic_messages) fn write_finish(
    object: &mut Object<'_, '_>,
    finish: Option<&Finish<'_>>,
) {
    let Some(finish) = finish else { return };
    match &finish.raw {
        Some(raw) => object.field("stop_reason", raw),
        // An end of which the vendor itself did not say why.
        None if finish.kind == FinishKind::Other => {}
        None => object.field("stop_reason", stop_reason(finish.kind, Said::Nothing)),
    }
    object.optional("stop_sequence", finish.stop_sequence.as_ref());
    object.optional("stop_details", finish.details.as_ref());
}

/// Writes why an answer of another protocol ended.
pub(in crate::protocol::anthropic_messages) fn write_foreign_finish(
    object: &mut Object<'_, '_>,
    finish: Option<&Finish<'_>>,
    said: Said,
    (place, losing): (Place, &mut Losing<'_>),
) {
    let Some(finish) = finish else {
        object.key("stop_reason").null();
        return object.key("stop_sequence").null();
    };
    let lacks_call = finish.kind == FinishKind::ToolCalls && said != Said::Call;
    let kind = if lacks_call { FinishKind::Stop } else { finish.kind };
    object.field("stop_reason", stop_reason(kind, said));
    match (&finish.stop_sequence, finish.kind) {
        (Some(text), _) => object.field("stop_sequence", text),
        (None, _) => object.key("stop_sequence").null(),
    }
    if finish.details.is_some() {
        let reason = "details in another vendor's format";
        losing.field(place, Field::FinishDetails, LossKind::Dropped, reason);
    }
    let lost = match finish.kind {
        FinishKind::MalformedCall => Some((LossKind::Approximated, "there is no such reason")),
        FinishKind::Other | FinishKind::Failed => {
            Some((LossKind::Approximated, "a finish reason that only its vendor has"))
        }
        FinishKind::ContentFilter | FinishKind::PromptFilter => {
            Some((LossKind::Renamed, "a filtered answer is a refusal"))
        }
        FinishKind::Stop
        | FinishKind::StopSequence
        | FinishKind::ToolCalls
        | FinishKind::Length
        | FinishKind::ContextFull
        | FinishKind::Refusal
        | FinishKind::Pause => None,
    };
    let derived = match (finish.kind, said) {
        (FinishKind::ToolCalls, Said::Nothing | Said::Refusal) => {
            Some((LossKind::Repaired, "there is no call to answer"))
        }
        (FinishKind::Stop, Said::Call) => Some((LossKind::Renamed, "a call makes it a tool turn")),
        (FinishKind::Stop, Said::Refusal) => {
            Some((LossKind::Renamed, "a refusal is an end of its own"))
        }
        _ => None,
    };
    if let Some((kind, reason)) = lost.or(derived) {
        losing.field(place, Field::FinishReason, kind, reason);
    }
}

/// What an answer held that decides how its end is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::protocol::anthropic_messages) enum Said {
    #[default]
    Nothing,
    Refusal,
    Call,
}

/// The reason for an end; a call makes it a tool turn unless it was cut or filtered.
pub(in crate::protocol::anthropic_messages) fn stop_reason(
    kind: FinishKind,
    said: Said,
) -> &'static str {
    match (kind, said) {
        (FinishKind::Length, _) => "max_tokens",
        (FinishKind::ContextFull, _) => "model_context_window_exceeded",
        (FinishKind::ContentFilter | FinishKind::PromptFilter | FinishKind::Refusal, _) => {
            "refusal"
        }
        (_, Said::Call) | (FinishKind::ToolCalls, _) => "tool_use",
        (FinishKind::StopSequence, _) => "stop_sequence",
        (FinishKind::Pause, _) => "pause_turn",
        (FinishKind::Stop, Said::Refusal) => "refusal",
        (
            FinishKind::Stop | FinishKind::MalformedCall | FinishKind::Failed | FinishKind::Other,
            Said::Nothing | Said::Refusal,
        ) => "end_turn",
    }
}
