//! Writing why an answer ended.

use crate::conversation::{Finish, FinishKind};
use crate::json::{Json, Text};
use crate::loss::LossKind::{Approximated, Renamed};
use crate::protocol::arguments::Change;

/// What the vendor says of a prompt that was refused elsewhere.
pub(in super::super) const BLOCKED: Json<'static> = Json::literal(r#"{"blockReason":"OTHER"}"#);

/// What becomes of a finish reason that the vendor has no word for.
pub(in super::super) fn finish_fate(finish: &Finish<'_>, calls: bool, refused: bool) -> Change {
    Some(match finish.kind {
        FinishKind::Stop | FinishKind::StopSequence | FinishKind::ToolCalls if refused => {
            (Approximated, "a refusal is returned as the finish reason")
        }
        FinishKind::StopSequence => (Approximated, "an answer that met a stop sequence just stops"),
        FinishKind::ContextFull => (Approximated, "a full context is returned as a token limit"),
        FinishKind::Failed | FinishKind::Other => {
            (Approximated, "the vendor has no such finish reason")
        }
        FinishKind::Stop if calls => (Renamed, "Gemini ends an answer with calls as STOP"),
        FinishKind::ToolCalls if !calls => (Renamed, "Gemini ends an answer with calls as STOP"),
        FinishKind::Refusal => (Renamed, "a refusal is returned as a safety stop"),
        FinishKind::Stop
        | FinishKind::ToolCalls
        | FinishKind::Length
        | FinishKind::ContentFilter
        | FinishKind::PromptFilter
        | FinishKind::Pause
        | FinishKind::MalformedCall => return None,
    })
}

/// The vendor's finish reason; its own word comes back as it was.
pub(in super::super) fn finish_word<'t>(
    finish: &'t Finish<'_>,
    refused: bool,
    same: bool,
) -> Text<'t> {
    if let (true, Some(raw)) = (same, &finish.raw) {
        return raw.reborrow();
    }
    Text::literal(match finish.kind {
        FinishKind::Stop | FinishKind::StopSequence | FinishKind::ToolCalls if refused => "SAFETY",
        FinishKind::Stop | FinishKind::StopSequence | FinishKind::ToolCalls => "STOP",
        FinishKind::Length | FinishKind::ContextFull => "MAX_TOKENS",
        FinishKind::ContentFilter | FinishKind::PromptFilter | FinishKind::Refusal => "SAFETY",
        FinishKind::Pause => "CONTINUATION",
        FinishKind::MalformedCall => "MALFORMED_FUNCTION_CALL",
        FinishKind::Failed | FinishKind::Other => "OTHER",
    })
}
