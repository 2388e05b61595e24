//! Errors, both ways.

use crate::fault::{Fault, FaultKind};
use crate::json::{Json, Kind, Text, Writer};
use crate::protocol::fault_words::FaultWords;
use crate::protocol::openai_responses::types::SELF;

pub(in super::super) fn decode_fault(status: Option<u16>, body: &str) -> Fault<'static> {
    let stated = status.map(FaultKind::of_status);
    let Ok(json) = Json::parse(body) else {
        let kind = stated.unwrap_or(FaultKind::UNSTATED);
        return Fault::new(kind, Text::plain(body.trim().to_owned())).refined();
    };
    let mut words = FaultWords::of(&json);
    words.message.get_or_insert_with(|| Text::plain(body.trim().to_owned()));
    let kind = words.class(stated);
    words.into_fault(kind, (SELF, json.into_owned()))
}

/// The fault that an error object inside an answer or a stream describes.
pub(super) fn fault_of_error(error: Json<'_>) -> Fault<'_> {
    let words = FaultWords::of(&error);
    let kind = words.kind().unwrap_or_else(|| match words.code.as_ref().map(Text::to_str) {
        Some(code) if code == "vector_store_timeout" => FaultKind::Timeout,
        Some(code) if is_request_fault(&code) => FaultKind::BadRequest,
        Some(_) | None => FaultKind::Internal,
    });
    words.into_fault(kind, (SELF, error))
}

fn is_request_fault(code: &str) -> bool {
    code.starts_with("invalid_") || code.contains("image") || code.ends_with("_policy")
}

pub(in super::super) fn encode_fault(fault: &Fault<'_>) -> (u16, String) {
    let status = fault.kind.status();
    let body = match &fault.original {
        Some((SELF, body)) if is_body(body) => body.as_str().to_owned(),
        _ => Writer::written(|writer| {
            writer.object(|body| body.object_field("error", |error| write_error(error, fault)));
        }),
    };
    (status, body)
}

/// Whether an error is a whole body rather than the object inside one.
fn is_body(json: &Json<'_>) -> bool {
    json.kind() != Kind::Object || json.has_member(|key| key == "error")
}

/// Writes the object that says what went wrong, as bodies and events hold it.
fn write_error(error: &mut Writer, fault: &Fault<'_>) {
    let (word, code) = words(fault.kind);
    error.field("message", &message(fault));
    error.field("type", word);
    error.field("param", &fault.param);
    match own_code(fault) {
        Some(code) => error.field("code", code),
        None => error.field("code", &code),
    }
}

/// The words for the client, which may tell a full context by the vendor's own.
pub(super) fn message<'f>(fault: &'f Fault<'_>) -> Text<'f> {
    fault.message_for(TOO_LONG, |tokens, window| {
        format!("{TOO_LONG}: {tokens} tokens > {window} maximum.")
    })
}

const TOO_LONG: &str = "Your input exceeds the context window of this model";

/// The code, if it is one of OpenAI's; another vendor's would mean nothing to a client. For a full context there is one only,
/// which clients act on, whatever a server calls it.
pub(super) fn own_code<'f>(fault: &'f Fault<'_>) -> Option<&'f Text<'f>> {
    let is_own = match &fault.original {
        _ if fault.kind == FaultKind::ContextTooLong => false,
        Some((protocol, _)) => protocol.shares_vendor_with(SELF),
        None => true,
    };
    fault.code.as_ref().filter(|_| is_own)
}

/// Writes the error of a failed response. The vendor's own comes back as it was.
pub(super) fn write_response_error(writer: &mut Writer, fault: &Fault<'_>) {
    match &fault.original {
        Some((SELF, error)) if !is_body(error) => writer.value(error),
        _ => writer.object(|writer| {
            writer.field("code", &response_code(fault));
            writer.field("message", &message(fault));
        }),
    }
}

/// The codes of failed responses are a closed list.
pub(super) fn response_code(fault: &Fault<'_>) -> Text<'static> {
    Text::literal(match fault.kind {
        FaultKind::RateLimit | FaultKind::Billing => "rate_limit_exceeded",
        FaultKind::BadRequest | FaultKind::Unprocessable | FaultKind::TooLarge => "invalid_prompt",
        // Clients act on this code, which the vendor sends although its list lacks it. Fixture `error/context-too-long`.
        FaultKind::ContextTooLong => "context_length_exceeded",
        FaultKind::Authentication
        | FaultKind::Permission
        | FaultKind::NotFound
        | FaultKind::Conflict
        | FaultKind::Internal
        | FaultKind::Overloaded
        | FaultKind::Timeout
        | FaultKind::Cancelled
        | FaultKind::Truncated => "server_error",
    })
}

/// The error's type and, where the vendor has one, its code.
fn words(kind: FaultKind) -> (&'static str, Option<&'static str>) {
    match kind {
        FaultKind::BadRequest
        | FaultKind::Conflict
        | FaultKind::TooLarge
        | FaultKind::Unprocessable
        | FaultKind::Permission => ("invalid_request_error", None),
        FaultKind::ContextTooLong => ("invalid_request_error", Some("context_length_exceeded")),
        FaultKind::Authentication => ("invalid_request_error", Some("invalid_api_key")),
        FaultKind::NotFound => ("invalid_request_error", Some("not_found")),
        FaultKind::Billing => ("insufficient_quota", Some("insufficient_quota")),
        FaultKind::RateLimit => ("rate_limit_error", Some("rate_limit_exceeded")),
        FaultKind::Internal
        | FaultKind::Overloaded
        | FaultKind::Timeout
        | FaultKind::Cancelled
        | FaultKind::Truncated => ("server_error", None),
    }
}
