//! Errors, both ways.

use super::types::SELF;
use crate::error::Result;
use crate::fault::{Fault, FaultKind};
use crate::json::{Json, Kind, Text, Writer};

pub(in super::super) fn decode_fault(status: Option<u16>, body: &str) -> Fault<'static> {
    let kind = status.map_or(FaultKind::UNSTATED, FaultKind::of_status);
    match Json::parse(body) {
        Ok(json) => read_fault(kind, json).into_owned(),
        Err(_) => Fault::new(kind, body.trim()).into_owned(),
    }
}

/// Reads an error from a body or a frame; `kind` is its class where its word does not say.
pub(super) fn read_fault(kind: FaultKind, json: Json<'_>) -> Fault<'_> {
    let (word, message) = words(&json).unwrap_or_default();
    let word = word.as_ref().map(Text::to_str);
    let known = WORDS.iter().find(|(_, known)| Some(*known) == word.as_deref());
    let message = message.unwrap_or_else(|| Text::plain(json.as_str().to_owned()));
    let mut fault = Fault::new(known.map_or(kind, |(kind, _)| *kind), message);
    fault.original = Some((SELF, json));
    fault
}

/// The `kind` and the `message` of an error.
fn words<'a>(json: &Json<'a>) -> Result<(Option<Text<'a>>, Option<Text<'a>>)> {
    let (mut word, mut message) = (None, None);
    let Some(mut reader) = json.input_reader() else { return Ok((word, message)) };
    reader.object(|key, reader| match (&*key, reader.kind()?) {
        ("error", Kind::Object) => reader.object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("kind", Kind::String) => word = Some(reader.string()?),
                ("message", Kind::String) => message = Some(reader.string()?),
                _ => reader.skip()?,
            }
            Ok(())
        }),
        _ => reader.skip(),
    })?;
    Ok((word, message))
}

pub(in super::super) fn encode_fault(fault: &Fault<'_>) -> (u16, String) {
    let mut writer = Writer::default();
    write_fault(&mut writer, fault);
    (fault.kind.status(), writer.into_string())
}

/// Writes an error as a body or a frame states it.
pub(super) fn write_fault(writer: &mut Writer, fault: &Fault<'_>) {
    if let Some((SELF, original)) = &fault.original {
        return writer.value(original);
    }
    let word = WORDS.iter().find(|(kind, _)| *kind == fault.kind).map(|(_, word)| *word);
    writer.object(|body| {
        body.key("error");
        body.object(|error| {
            error.field("kind", word.unwrap_or("internal"));
            error.field("message", &fault.message);
        });
    });
}

const WORDS: [(FaultKind, &str); 15] = [
    (FaultKind::BadRequest, "bad-request"),
    (FaultKind::ContextTooLong, "context-too-long"),
    (FaultKind::Authentication, "authentication"),
    (FaultKind::Billing, "billing"),
    (FaultKind::Permission, "permission"),
    (FaultKind::NotFound, "not-found"),
    (FaultKind::Conflict, "conflict"),
    (FaultKind::TooLarge, "too-large"),
    (FaultKind::Unprocessable, "unprocessable"),
    (FaultKind::RateLimit, "rate-limit"),
    (FaultKind::Internal, "internal"),
    (FaultKind::Overloaded, "overloaded"),
    (FaultKind::Timeout, "timeout"),
    (FaultKind::Cancelled, "cancelled"),
    (FaultKind::Truncated, "truncated"),
];
