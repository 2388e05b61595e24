//! Errors that travel in a protocol.

use super::Show;
use crate::fault::Fault;
use crate::fault::FaultKind;
use crate::json::Writer;

impl Show for Fault<'_> {
    fn show(&self, writer: &mut Writer) {
        writer.object(|writer| show_fault(self, writer));
    }
}

/// Writes the class of a fault and everything said about it.
pub(super) fn show_fault(fault: &Fault<'_>, writer: &mut Writer) {
    let Fault { kind, message, code, param, request_id, retry_after_s, original } = fault;
    writer.field("kind", kind_word(*kind));
    writer.field("message", message);
    writer.optional("code", code.as_ref());
    writer.optional("param", param.as_ref());
    writer.optional("requestId", request_id.as_ref());
    writer.optional("retryAfterSeconds", retry_after_s.as_ref());
    if let Some((protocol, body)) = original {
        writer.key("original");
        writer.object(|writer| {
            writer.field("protocol", protocol.as_str());
            writer.field("body", body);
        });
    }
}

fn kind_word(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::BadRequest => "badRequest",
        FaultKind::ContextTooLong => "contextTooLong",
        FaultKind::Authentication => "authentication",
        FaultKind::Billing => "billing",
        FaultKind::Permission => "permission",
        FaultKind::NotFound => "notFound",
        FaultKind::Conflict => "conflict",
        FaultKind::TooLarge => "tooLarge",
        FaultKind::Unprocessable => "unprocessable",
        FaultKind::RateLimit => "rateLimit",
        FaultKind::Internal => "internal",
        FaultKind::Overloaded => "overloaded",
        FaultKind::Timeout => "timeout",
        FaultKind::Cancelled => "cancelled",
        FaultKind::Truncated => "truncated",
    }
}
