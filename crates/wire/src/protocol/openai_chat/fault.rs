//! Errors, both ways.

use crate::fault::{Fault, FaultKind};
use crate::json::{Json, Text, Writer};
use crate::protocol::fault_words::FaultWords;
use crate::protocol::openai_chat::types::SELF;

/// How much of a body that is no JSON becomes the message.
const MESSAGE_CHARS_MAX: usize = 2000;

pub(in super::super) fn decode_fault(status: Option<u16>, body: &str) -> Fault<'static> {
    let stated = status.map(FaultKind::of_status);
    let Ok(json) = Json::parse(body) else {
        let words: String = body.trim().chars().take(MESSAGE_CHARS_MAX).collect();
        return Fault::new(stated.unwrap_or(FaultKind::UNSTATED), Text::plain(words)).refined();
    };
    let words = FaultWords::of(&json);
    let kind = words.class(stated);
    fault_of(words, kind, json)
}

/// The fault in the `error` of an answer or a stream, where no status gives its class. It is kept as the body
/// that it would be as an answer of its own.
pub(super) fn fault_within(error: &Json<'_>) -> Fault<'static> {
    let body = Json::written(|writer| writer.object(|object| object.field("error", error)));
    let words = FaultWords::of(&body);
    let kind = words.kind().unwrap_or(FaultKind::Internal);
    fault_of(words, kind, body)
}

fn fault_of(mut words: FaultWords, kind: FaultKind, body: Json<'_>) -> Fault<'static> {
    words.message.get_or_insert_with(|| body.to_text().into_owned());
    words.into_fault(kind, (SELF, body.into_owned()))
}

pub(in super::super) fn encode_fault(fault: &Fault<'_>) -> (u16, String) {
    (fault.kind.status(), Writer::written(|writer| write_body(writer, fault)))
}

/// Writes the error as a body or as the data of a frame; this protocol's own comes back as it was.
pub(super) fn write_body(writer: &mut Writer, fault: &Fault<'_>) {
    match &fault.original {
        Some((SELF, body)) => writer.value(body),
        _ => writer.object(|object| {
            object.object_field("error", |error| write_error(error, fault));
        }),
    }
}

pub(super) fn write_error(error: &mut Writer, fault: &Fault<'_>) {
    let (kind, code) = words(fault);
    error.field("message", &message(fault));
    error.field("type", kind);
    error.field("param", &fault.param);
    // Another vendor's code would say nothing here; one of our own says more than its class.
    let is_own = fault.original.is_none() && fault.code.is_some();
    match code.filter(|_| !is_own) {
        Some(code) => error.field("code", code),
        None => error.field("code", &fault.code),
    }
}

/// The words for the client, which may tell a full context by the vendor's own.
fn message<'f>(fault: &'f Fault<'_>) -> Text<'f> {
    fault.message_for(TOO_LONG, |tokens, window| {
        format!(
            "This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} tokens."
        )
    })
}

const TOO_LONG: &str = "Your messages exceed this model's maximum context length.";

/// The type and the code by which clients tell a class.
fn words(fault: &Fault<'_>) -> (&'static str, Option<&'static str>) {
    const INVALID: &str = "invalid_request_error";
    match fault.kind {
        FaultKind::BadRequest | FaultKind::Conflict | FaultKind::Unprocessable => (INVALID, None),
        FaultKind::ContextTooLong => (INVALID, Some("context_length_exceeded")),
        FaultKind::Authentication => (INVALID, Some("invalid_api_key")),
        FaultKind::Billing => ("insufficient_quota", Some("insufficient_quota")),
        FaultKind::Permission => ("permission_error", None),
        // Mostly it is the model that nobody knows; what else is missing is named.
        FaultKind::NotFound if names_no_model(fault) => (INVALID, Some("not_found")),
        FaultKind::NotFound => (INVALID, Some("model_not_found")),
        FaultKind::TooLarge => (INVALID, Some("request_too_large")),
        FaultKind::RateLimit => ("rate_limit_error", Some("rate_limit_exceeded")),
        FaultKind::Internal => ("server_error", None),
        FaultKind::Overloaded => ("service_unavailable", Some("overloaded")),
        FaultKind::Timeout => ("server_error", Some("timeout")),
        FaultKind::Cancelled => ("server_error", Some("cancelled")),
        FaultKind::Truncated => ("server_error", Some("stream_truncated")),
    }
}

fn names_no_model(fault: &Fault<'_>) -> bool {
    fault.param.as_ref().is_some_and(|param| *param.to_str() != *"model")
}
