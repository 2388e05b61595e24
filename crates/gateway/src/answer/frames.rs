//! The frames of a provider's stream: server-sent events, or the elements of one JSON list.

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use sabir_compose::govern::Governor;
use sabir_wire::protocol::{Event, StreamDecoder};
use sabir_wire::sse::{Frame, JsonArray, Parser};
use sabir_wire::{Fault, FaultKind, Protocol, Result};

use crate::answer::governed::pass;
use crate::tap::Taps;

/// Takes a provider's stream apart.
#[derive(Debug)]
pub(crate) enum Frames {
    Sse(Parser),
    Array(JsonArray),
}

impl Frames {
    /// Frames in the framing that the answer's head announces.
    pub(crate) fn of(headers: &HeaderMap, frame_bytes_max: usize) -> Self {
        match is_event_stream(headers) {
            true => Self::Sse(Parser::with_limit(frame_bytes_max)),
            false => Self::Array(JsonArray::with_limit(frame_bytes_max)),
        }
    }

    pub(super) fn is_sse(&self) -> bool {
        matches!(self, Self::Sse(_))
    }

    /// How many of the bytes that were just read come before an event that has not ended. It is not known where it began
    /// before them.
    pub(super) fn ended(&self, bytes: usize) -> Option<usize> {
        match self {
            Self::Sse(parser) => parser.is_between_frames().then_some(bytes),
            Self::Array(parser) => bytes.checked_sub(parser.begun_bytes()),
        }
    }

    /// Whether the stream is a list that lacks its end.
    pub(super) fn is_open_list(&self) -> bool {
        match self {
            Self::Sse(_) => false,
            Self::Array(parser) => parser.is_open(),
        }
    }

    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        emit: &mut dyn FnMut(Frame<'_>) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::Sse(parser) => parser.push(bytes, emit),
            Self::Array(parser) => parser.push(bytes, emit),
        }
    }

    pub(super) fn end(self, emit: &mut dyn FnMut(Frame<'_>) -> Result<()>) -> Result<()> {
        match self {
            Self::Sse(parser) => parser.end(emit),
            Self::Array(parser) => parser.end(emit),
        }
    }
}

/// What can be wrong with a stream as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Defect {
    /// A frame is none of the protocol.
    Unreadable,
    /// It stopped before its end.
    CutShort,
}

impl Defect {
    pub(super) fn fault(self) -> Fault<'static> {
        let message = match self {
            Self::Unreadable => "the provider's stream holds a frame that cannot be read",
            Self::CutShort => "the provider's stream ended before its end",
        };
        Fault::new(FaultKind::Truncated, message)
    }
}

pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(http::HeaderValue::as_bytes).unwrap_or_default();
    kind.get(..17).is_some_and(|kind| kind.eq_ignore_ascii_case(b"text/event-stream"))
}

/// What the first bytes of a body show of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beginning {
    Events,
    Other,
    /// Too little has come to decide.
    Unclear,
}

/// Fields that a frame can begin with, and a comment.
const FIELDS: [&[u8]; 5] = [b"data:", b"event:", b":", b"id:", b"retry:"];

/// How much blank there may be before the first frame.
const BLANK_BYTES_MAX: usize = 1_024;

impl Beginning {
    /// Distinguishes events from anything else where the head of an answer does not: no JSON begins like one of their fields.
    pub(crate) fn of(body: &[u8]) -> Self {
        let mark = "\u{feff}".as_bytes();
        let text = body.strip_prefix(mark).unwrap_or(body).trim_ascii_start();
        if FIELDS.iter().any(|field| text.starts_with(field)) {
            return Self::Events;
        }
        let is_half = FIELDS.iter().any(|field| field.starts_with(text)) || mark.starts_with(text);
        match is_half && body.len() < BLANK_BYTES_MAX {
            true => Self::Unclear,
            false => Self::Other,
        }
    }
}

/// Reads a stream that is all there; what cannot be read ends it with a fault.
pub(crate) fn decode_all(
    protocol: Protocol,
    body: &[u8],
    (governor, taps): (&mut Option<Box<Governor>>, &mut Taps),
    emit: &mut dyn FnMut(Event<'_>),
) {
    let mut decoder = Some(StreamDecoder::new(protocol));
    let mut parser = Parser::default();
    let mut step = |frame: Frame<'_>| {
        taps.frame(&frame);
        if let Some(before) = decoder.take() {
            decoder = Some(before.step(&frame, &mut |event| pass(event, (governor, taps), emit))?);
        }
        Ok(())
    };
    let read = parser.push(body, &mut step).and_then(|()| parser.end(&mut step));
    match (read, decoder) {
        (Ok(()), Some(decoder)) => decoder.end(&mut |event| pass(event, (governor, taps), emit)),
        _ => emit(Event::Fault(Defect::Unreadable.fault())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_told_from_anything_else_by_their_first_bytes() {
        for body in ["data: {}", "data:{}", "\u{feff}event: x", "\r\n\nid: 1", ": hi", "retry:5"] {
            assert_eq!(Beginning::of(body.as_bytes()), Beginning::Events, "{body}");
            let first = &body.as_bytes()[..1];
            assert_ne!(Beginning::of(first), Beginning::Other, "the beginning of {body}");
        }
        for body in ["{}", "[{}]", "\"data:", " {\"data:\"", "database", "<html>", "idle"] {
            assert_eq!(Beginning::of(body.as_bytes()), Beginning::Other, "{body}");
        }
        assert_eq!(Beginning::of(&[b'\n'; 2_000]), Beginning::Other);
    }
}
