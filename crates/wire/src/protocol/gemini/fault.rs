//! Errors, both ways.

use crate::error::Result;
use crate::fault::{Fault, FaultKind};
use crate::json::{Json, Kind, Reader, Text, Writer};
use crate::protocol::gemini::types::SELF;
use crate::protocol::object::{put, set};

pub(in super::super) fn decode_fault(status: Option<u16>, body: &str) -> Fault<'static> {
    let kind = status.map_or(FaultKind::UNSTATED, FaultKind::of_status);
    let Ok(json) = Json::parse(body) else {
        return Fault::new(kind, body.trim().to_owned()).refined();
    };
    let error = error_object(&json);
    let mut fault = match &error {
        Some(error) => fault_of(status.or_else(|| stated_status(&json)).or(UNSTATED), error),
        None => Fault::new(kind, body.trim().to_owned()),
    };
    fault.original = Some((SELF, Json::trusted(body.to_owned().into())));
    fault.refined().into_owned()
}

/// The status of a body that neither came with one nor states one.
const UNSTATED: Option<u16> = Some(400);

/// The `error` of a body, which may be wrapped in a list.
fn error_object<'j>(json: &'j Json<'_>) -> Option<Json<'j>> {
    let mut reader = json.reader();
    if json.kind() != Kind::Array {
        return find_member(&mut reader, "error").ok()?;
    }
    let mut error = None;
    let read = reader.array(|index, reader| match index {
        0 => put(&mut error, find_member(reader, "error")),
        _ => reader.skip(),
    });
    read.ok().and(error)
}

fn find_member<'j>(reader: &mut Reader<'j>, name: &str) -> Result<Option<Json<'j>>> {
    let mut found = None;
    reader.object(|key, reader| match key == name {
        true => set(&mut found, reader.raw()),
        false => reader.skip(),
    })?;
    Ok(found)
}

/// What an `error` object says. Inside a stream there is no status but its own.
pub(super) fn fault_of<'a>(status: Option<u16>, error: &Json<'a>) -> Fault<'a> {
    let Some(mut reader) = error.input_reader() else {
        return Fault::new(FaultKind::of_status(status.unwrap_or(500)), String::new());
    };
    let mut details = Details::default();
    let (mut code, mut message, mut word) = (None, None, None);
    // An error of an unexpected shape still is one; what was read until then is used.
    let _ = reader.object(|key, reader| match (&*key, reader.kind()?) {
        ("code", Kind::Number) => set(&mut code, reader.number()),
        ("message", Kind::String) => set(&mut message, reader.string()),
        ("status", Kind::String) => set(&mut word, reader.string()),
        ("details", Kind::Array) => reader.array(|_, reader| details.read(reader)),
        _ => reader.skip(),
    });
    let stated = code.and_then(|code| u16::try_from(code.as_u64()?).ok());
    let status = status.or(stated).unwrap_or(500);
    let message = message.unwrap_or_default();
    let stated = (word.as_ref().map(Text::to_str), message.to_str().to_ascii_lowercase());
    let kind = classify(status, stated.0.as_deref(), &details, &stated.1);
    let mut fault = Fault::new(kind, message.clone());
    fault.code = details.reason.or(word);
    fault.param = details.field;
    fault.retry_after_s = details.retry_after_s;
    fault.original = Some((SELF, wrapped(error)));
    fault.refined()
}

fn wrapped(error: &Json<'_>) -> Json<'static> {
    Json::of_object(|object| object.field("error", error))
}

/// What the typed details of an error say.
#[derive(Default)]
struct Details<'a> {
    reason: Option<Text<'a>>,
    field: Option<Text<'a>>,
    retry_after_s: Option<u64>,
}

impl<'a> Details<'a> {
    fn read(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        if reader.kind()? != Kind::Object {
            return reader.skip();
        }
        reader.object(|key, reader| match (&*key, reader.kind()?) {
            ("reason", Kind::String) => set(&mut self.reason, reader.string()),
            ("retryDelay", Kind::String) => {
                put(&mut self.retry_after_s, reader.string().map(|it| seconds(&it.to_str())))
            }
            ("fieldViolations", Kind::Array) => reader.array(|_, reader| {
                let field = reader.peek_tag("field")?;
                self.field = self.field.take().or(field);
                reader.skip()
            }),
            _ => reader.skip(),
        })
    }
}

/// The whole seconds of a duration such as `34.4s`, rounded up.
fn seconds(duration: &str) -> Option<u64> {
    let seconds = duration.strip_suffix('s')?;
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let more = fraction.bytes().any(|digit| digit != b'0');
    whole.parse::<u64>().ok()?.checked_add(u64::from(more))
}

fn classify(status: u16, word: Option<&str>, details: &Details<'_>, message: &str) -> FaultKind {
    let reason = details.reason.as_ref().map(Text::to_str);
    match (word, reason.as_deref()) {
        (_, Some("API_KEY_INVALID" | "API_KEY_EXPIRED")) => FaultKind::Authentication,
        (Some("FAILED_PRECONDITION"), _) if message.contains("billing") => FaultKind::Billing,
        (Some("INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "OUT_OF_RANGE"), _) => match status {
            413 => FaultKind::TooLarge,
            _ => FaultKind::BadRequest,
        },
        (Some("UNAUTHENTICATED"), _) => FaultKind::Authentication,
        (Some("PERMISSION_DENIED"), _) => FaultKind::Permission,
        (Some("NOT_FOUND"), _) => FaultKind::NotFound,
        (Some("ABORTED" | "ALREADY_EXISTS"), _) => FaultKind::Conflict,
        (Some("RESOURCE_EXHAUSTED"), _) => FaultKind::RateLimit,
        (Some("CANCELLED"), _) => FaultKind::Cancelled,
        (Some("INTERNAL" | "UNKNOWN" | "DATA_LOSS"), _) => FaultKind::Internal,
        (Some("UNAVAILABLE"), _) => FaultKind::Overloaded,
        (Some("DEADLINE_EXCEEDED"), _) => FaultKind::Timeout,
        _ => FaultKind::of_status(status),
    }
}

pub(in super::super) fn encode_fault(fault: &Fault<'_>) -> (u16, String) {
    let stated = match &fault.original {
        Some((SELF, original)) => stated_status(original),
        _ => None,
    };
    let status = stated.unwrap_or(status_of(fault.kind).0);
    (status, encode_fault_under(status, fault))
}

/// The body states the status too, and a word that goes with it.
pub(in super::super) fn encode_fault_under(status: u16, fault: &Fault<'_>) -> String {
    let word = match &fault.original {
        Some((SELF, original)) => return original.as_str().to_owned(),
        // Only one status has a word that its fault's kind does not tell.
        _ if status == 502 => "UNAVAILABLE",
        _ => status_of(fault.kind).1,
    };
    Writer::written(|writer| {
        writer.object(|body| {
            body.object_field("error", |error| write_error(error, fault, status, word));
        });
    })
}

/// Writes the `error` object alone, for streams.
pub(super) fn write_fault(writer: &mut Writer, fault: &Fault<'_>) {
    let (_, body) = encode_fault(fault);
    writer.value(&Json::trusted(body.into()));
}

fn stated_status(body: &Json<'_>) -> Option<u16> {
    let code = find_member(&mut error_object(body)?.input_reader()?, "code").ok()??;
    code.as_str().parse().ok()
}

/// Clients want words, also where the error came without any.
const WORDLESS: &str = "The error came without a message.";

fn write_error(error: &mut Writer, fault: &Fault<'_>, status: u16, word: &str) {
    error.field("code", &u32::from(status));
    error.field("message", &message(fault));
    error.field("status", word);
    if fault.retry_after_s.is_none() && fault.code.is_none() {
        return;
    }
    error.array_field("details", |details| {
        if let Some(code) = &fault.code {
            details.object(|detail| {
                detail.field("@type", "type.googleapis.com/google.rpc.ErrorInfo");
                detail.field("reason", code);
            });
        }
        if let Some(wait_s) = fault.retry_after_s {
            details.object(|detail| {
                detail.field("@type", "type.googleapis.com/google.rpc.RetryInfo");
                detail.field("retryDelay", &Text::plain(format!("{wait_s}s")));
            });
        }
    });
}

/// The words for the client, which tell a full context by the vendor's own.
fn message<'f>(fault: &'f Fault<'_>) -> Text<'f> {
    let message = fault.message_for(TOO_LONG, |tokens, window| {
        format!(
            "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."
        )
    });
    if message.is_empty() { Text::literal(WORDLESS) } else { message }
}

const TOO_LONG: &str = "The input token count exceeds the maximum number of tokens allowed.";

fn status_of(kind: FaultKind) -> (u16, &'static str) {
    match kind {
        FaultKind::BadRequest | FaultKind::ContextTooLong | FaultKind::Unprocessable => {
            (400, "INVALID_ARGUMENT")
        }
        FaultKind::Authentication => (401, "UNAUTHENTICATED"),
        FaultKind::Billing | FaultKind::RateLimit => (429, "RESOURCE_EXHAUSTED"),
        FaultKind::Permission => (403, "PERMISSION_DENIED"),
        FaultKind::NotFound => (404, "NOT_FOUND"),
        FaultKind::Conflict => (409, "ABORTED"),
        FaultKind::TooLarge => (413, "INVALID_ARGUMENT"),
        FaultKind::Internal | FaultKind::Truncated => (500, "INTERNAL"),
        FaultKind::Overloaded => (503, "UNAVAILABLE"),
        FaultKind::Timeout => (504, "DEADLINE_EXCEEDED"),
        FaultKind::Cancelled => (499, "CANCELLED"),
    }
}
