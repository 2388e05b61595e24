//! Errors, both ways.

use super::types::SELF;
use crate::error::Result;
use crate::fault::{Fault, FaultKind};
use crate::json::{Json, Kind, Reader, Text, Writer};
use crate::protocol::object::set;

pub(in super::super) fn decode_fault(status: Option<u16>, body: &str) -> Fault<'static> {
    let kind = status.map_or(FaultKind::UNSTATED, FaultKind::of_status);
    let Ok(json) = Json::parse(body) else {
        return Fault::new(kind, body.trim()).refined().into_owned();
    };
    read_fault(kind, json).into_owned()
}

/// Reads an error from a body or an event; `kind` is its class where its words do not say.
pub(super) fn read_fault(kind: FaultKind, json: Json<'_>) -> Fault<'_> {
    let mut error = ErrorBody::default();
    // What is not shaped as expected says nothing, and the body is kept whole.
    let _ = json.input_reader().map(|mut reader| error.body(&mut reader));
    let message = error.message.take().unwrap_or_else(|| Text::plain(json.as_str().to_owned()));
    let kind = kind_of(error.kind.as_ref(), &message, kind);
    let mut fault = Fault::new(kind, message);
    (fault.code, fault.request_id) = (error.code, error.request_id);
    fault.original = Some((SELF, json));
    fault.refined()
}

/// What an error body says.
#[derive(Default)]
struct ErrorBody<'a> {
    kind: Option<Text<'a>>,
    message: Option<Text<'a>>,
    code: Option<Text<'a>>,
    request_id: Option<Text<'a>>,
}

impl<'a> ErrorBody<'a> {
    fn body(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        if reader.kind()? == Kind::Array {
            return reader.array(|_, reader| self.body(reader));
        }
        reader.object(|key, reader| match (&*key, reader.kind()?) {
            ("error", Kind::Object) => self.error(reader),
            ("error" | "message" | "detail", Kind::String) => {
                set(&mut self.message, reader.string())
            }
            ("request_id", Kind::String) => set(&mut self.request_id, reader.string()),
            _ => reader.skip(),
        })
    }

    fn error(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        reader.object(|key, reader| match (&*key, reader.kind()?) {
            ("type", Kind::String) => set(&mut self.kind, reader.string()),
            ("message", Kind::String) => set(&mut self.message, reader.string()),
            ("details", Kind::Object) => {
                self.code = reader.peek_tag("error_code").ok().flatten();
                reader.skip()
            }
            _ => reader.skip(),
        })
    }
}

fn kind_of(word: Option<&Text<'_>>, message: &Text<'_>, status: FaultKind) -> FaultKind {
    let Some(word) = word.map(Text::to_str) else { return status };
    match (&*word, status) {
        ("invalid_request_error", _) => bad_request(&message.to_str(), status),
        ("api_error", FaultKind::BadRequest) => FaultKind::Internal,
        ("api_error", _) => status,
        _ => CLASSES.iter().find(|(_, _, known)| *known == word).map_or(status, |(kind, ..)| *kind),
    }
}

/// The vendor has one type for many mistakes; its words tell some of them apart.
fn bad_request(message: &str, status: FaultKind) -> FaultKind {
    if message.contains("credit balance is too low") {
        return FaultKind::Billing;
    }
    match status {
        FaultKind::Internal => FaultKind::BadRequest,
        other => other,
    }
}

pub(in super::super) fn encode_fault(fault: &Fault<'_>) -> (u16, String) {
    (class(fault.kind).0, Writer::written(|writer| write_fault(writer, fault)))
}

/// Writes an error as a body or an event states it.
pub(super) fn write_fault(writer: &mut Writer, fault: &Fault<'_>) {
    if let Some((SELF, original)) = &fault.original {
        return writer.value(original);
    }
    writer.object(|body| {
        body.field("type", "error");
        body.object_field("error", |error| {
            error.field("type", class(fault.kind).1);
            error.field("message", &message(fault));
        });
        body.optional("request_id", fault.request_id.as_ref());
    });
}

/// The words for the client. Agents tell a full context by the vendor's own, so that these lead.
/// Fixture `error/context-too-long`.
fn message<'f>(fault: &'f Fault<'_>) -> Text<'f> {
    fault.message_for(TOO_LONG, |tokens, window| {
        format!("{TOO_LONG}: {tokens} tokens > {window} maximum")
    })
}

const TOO_LONG: &str = "prompt is too long";

/// The status and the type of an error.
fn class(kind: FaultKind) -> (u16, &'static str) {
    let class = CLASSES.iter().find(|(class, ..)| *class == kind);
    class.map_or((500, "api_error"), |(_, status, word)| (*status, *word))
}

/// The classes that have a status or a type of their own.
const CLASSES: &[(FaultKind, u16, &str)] = &[
    (FaultKind::BadRequest, 400, "invalid_request_error"),
    (FaultKind::ContextTooLong, 400, "invalid_request_error"),
    (FaultKind::Authentication, 401, "authentication_error"),
    (FaultKind::Billing, 402, "billing_error"),
    (FaultKind::Permission, 403, "permission_error"),
    (FaultKind::NotFound, 404, "not_found_error"),
    (FaultKind::Conflict, 409, "conflict_error"),
    (FaultKind::TooLarge, 413, "request_too_large"),
    (FaultKind::Unprocessable, 422, "invalid_request_error"),
    (FaultKind::RateLimit, 429, "rate_limit_error"),
    (FaultKind::Cancelled, 499, "api_error"),
    (FaultKind::Timeout, 504, "timeout_error"),
    (FaultKind::Overloaded, 529, "overloaded_error"),
];
