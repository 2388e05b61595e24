//! Errors, both ways.

use crate::error::Result;
use crate::fault::{Fault, FaultKind};
use crate::json::{Json, Kind, Reader, Text, Writer};
use crate::protocol::openai_chat::types::SELF;

/// How much of a body that is no JSON becomes the message.
const MESSAGE_CHARS_MAX: usize = 2000;

pub(in super::super) fn decode_fault(status: Option<u16>, body: &str) -> Fault<'static> {
    let stated = status.map(FaultKind::of_status);
    match Json::parse(body) {
        Ok(json) => {
            let words = Words::of(&json);
            let kind = match stated {
                Some(kind) => words.refined(kind),
                None => words.kind().unwrap_or(FaultKind::UNSTATED),
            };
            words.into_fault(kind, &json)
        }
        Err(_) => {
            let words: String = body.trim().chars().take(MESSAGE_CHARS_MAX).collect();
            Fault::new(stated.unwrap_or(FaultKind::UNSTATED), Text::plain(words)).refined()
        }
    }
}

/// The fault in the `error` of an answer or a stream, where no status gives its class. It is kept as the body
/// that it would be as an answer of its own.
pub(super) fn fault_within(error: &Json<'_>) -> Fault<'static> {
    let mut writer = Writer::default();
    writer.object(|object| object.field("error", error));
    let body = Json::trusted(writer.into_string().into());
    let words = Words::of(&body);
    let kind = words.kind().unwrap_or(FaultKind::Internal);
    words.into_fault(kind, &body)
}

/// What the error shapes of Chat servers have in common.
#[derive(Default)]
struct Words {
    message: Option<Text<'static>>,
    code: Option<Text<'static>>,
    kind: Option<Text<'static>>,
    param: Option<Text<'static>>,
}

impl Words {
    fn of(body: &Json<'_>) -> Self {
        let mut words = Self::default();
        // What cannot be read has no words; the body is kept all the same.
        let _ = words.read(&mut body.reader());
        words
    }

    fn into_fault(self, kind: FaultKind, body: &Json<'_>) -> Fault<'static> {
        let Self { message, code, kind: _, param } = self;
        let mut fault = Fault::new(kind, message.unwrap_or_else(|| body.to_text().into_owned()));
        fault.code = code;
        fault.param = param;
        fault.original = Some((SELF, body.clone().into_owned()));
        fault.refined()
    }

    /// Reads `{error: {…}}`, `{error: "…"}`, the members themselves, or a list of such.
    fn read(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        match reader.kind()? {
            Kind::Array => reader.array(|_, reader| self.read(reader)),
            Kind::Object => reader.object(|key, reader| self.member(&key, reader)),
            Kind::String => {
                self.message = Some(reader.string()?.into_owned());
                Ok(())
            }
            Kind::Null | Kind::Boolean | Kind::Number => reader.skip(),
        }
    }

    fn member(&mut self, key: &str, reader: &mut Reader<'_>) -> Result<()> {
        match (key, reader.kind()?) {
            ("error", _) => return self.read(reader),
            ("message" | "detail", Kind::String) => self.message = text(reader)?,
            ("code", Kind::String) => self.code = text(reader)?,
            ("code", Kind::Number) => {
                self.code = Some(Text::plain(reader.number()?.as_str().to_owned()));
            }
            ("type", Kind::String) => self.kind = text(reader)?,
            ("param", Kind::String) => self.param = text(reader)?,
            _ => reader.skip()?,
        }
        Ok(())
    }

    /// The class of a status, where the words do not narrow it. They give no other class: servers give their
    /// codes loosely, and the status is what clients act on. Fixture `error/status-against-code`.
    fn refined(&self, status: FaultKind) -> FaultKind {
        match (status, self.kind()) {
            (_, Some(FaultKind::ContextTooLong)) => FaultKind::ContextTooLong,
            (_, Some(FaultKind::Billing)) => FaultKind::Billing,
            (status, _) => status,
        }
    }

    /// The class that the words give.
    fn kind(&self) -> Option<FaultKind> {
        let of = |word: &Option<Text<'_>>| FaultKind::of_word(&word.as_ref()?.to_str());
        of(&self.code).or_else(|| of(&self.kind))
    }
}

fn text(reader: &mut Reader<'_>) -> Result<Option<Text<'static>>> {
    Ok(Some(reader.string()?.into_owned()))
}

pub(in super::super) fn encode_fault(fault: &Fault<'_>) -> (u16, String) {
    let mut writer = Writer::default();
    write_body(&mut writer, fault);
    (fault.kind.status(), writer.into_string())
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
    let (kind, code) = words(fault.kind);
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
    if fault.kind != FaultKind::ContextTooLong {
        return fault.message.reborrow();
    }
    match fault.overflow.counts() {
        Some((tokens, window)) => fault.message_behind(&format!(
            "This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} tokens."
        )),
        None => fault.message_behind("Your messages exceed this model's maximum context length."),
    }
}

/// The type and the code by which clients tell a class.
fn words(kind: FaultKind) -> (&'static str, Option<&'static str>) {
    const INVALID: &str = "invalid_request_error";
    match kind {
        FaultKind::BadRequest | FaultKind::Conflict | FaultKind::Unprocessable => (INVALID, None),
        FaultKind::ContextTooLong => (INVALID, Some("context_length_exceeded")),
        FaultKind::Authentication => (INVALID, Some("invalid_api_key")),
        FaultKind::Billing => ("insufficient_quota", Some("insufficient_quota")),
        FaultKind::Permission => ("permission_error", None),
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
