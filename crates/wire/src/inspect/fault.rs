//! Errors that travel in a protocol.

use super::{Show, show_names};
use crate::fault::{Fault, FaultKind};
use crate::json::Writer;

impl Show for Fault<'_> {
    fn members(&self, writer: &mut Writer) {
        let Fault { kind, message, code, param, request_id, retry_after_s, overflow, original } =
            self;
        kind.member(writer, "kind");
        writer.field("message", message);
        writer.optional("code", code.as_ref());
        writer.optional("param", param.as_ref());
        writer.optional("requestId", request_id.as_ref());
        writer.optional("retryAfterSeconds", retry_after_s.as_ref());
        writer.optional("inputTokens", overflow.tokens.as_ref());
        writer.optional("windowTokens", overflow.window.as_ref());
        if let Some((protocol, body)) = original {
            writer.object_field("original", |writer| {
                protocol.member(writer, "protocol");
                writer.field("body", body);
            });
        }
    }
}

show_names!(FaultKind);
