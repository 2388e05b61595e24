//! The frames of a provider's stream: server-sent events, or the elements of one JSON list.

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use sabir_wire::Fault;
use sabir_wire::FaultKind;
use sabir_wire::Protocol;
use sabir_wire::Result;
use sabir_wire::protocol::Event;
use sabir_wire::protocol::StreamDecoder;
use sabir_wire::sse::Frame;
use sabir_wire::sse::JsonArray;
use sabir_wire::sse::Parser;

/// Takes a provider's stream apart.
#[derive(Debug)]
pub(crate) enum Frames {
    Sse(Parser),
    Array(JsonArray),
}

impl Frames {
    /// Frames as the answer's head says they come.
    pub(crate) fn of(headers: &HeaderMap, frame_bytes_max: usize) -> Self {
        match is_event_stream(headers) {
            true => Self::Sse(Parser::with_limit(frame_bytes_max)),
            false => Self::Array(JsonArray::with_limit(frame_bytes_max)),
        }
    }

    pub(super) fn is_sse(&self) -> bool {
        matches!(self, Self::Sse(_))
    }

    /// Whether what came so far can be sent on: half an event would be read as one when the next thing is sent. A list is
    /// read as a whole, so any part of it can.
    pub(super) fn is_at_boundary(&self) -> bool {
        match self {
            Self::Sse(parser) => parser.is_between_frames(),
            Self::Array(_) => true,
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

pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(http::HeaderValue::as_bytes).unwrap_or_default();
    kind.get(..17).is_some_and(|kind| kind.eq_ignore_ascii_case(b"text/event-stream"))
}

/// Reads a stream that is all there; what cannot be read ends it with a fault.
pub(crate) fn decode_all(protocol: Protocol, body: &[u8], emit: &mut dyn FnMut(Event<'_>)) {
    let mut decoder = Some(StreamDecoder::new(protocol));
    let mut parser = Parser::default();
    let mut step = |frame: Frame<'_>| {
        if let Some(before) = decoder.take() {
            decoder = Some(before.step(&frame, &mut |event| emit(event))?);
        }
        Ok(())
    };
    let read = parser.push(body, &mut step).and_then(|()| parser.end(&mut step));
    match (read, decoder) {
        (Ok(()), Some(decoder)) => decoder.end(&mut |event| emit(event)),
        _ => emit(Event::Fault(Fault::new(FaultKind::Truncated, UNREADABLE))),
    }
}

pub(super) const UNREADABLE: &str = "the provider's stream holds a frame that cannot be read";
