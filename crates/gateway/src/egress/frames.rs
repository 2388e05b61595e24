//! The frames of a provider's stream: server-sent events, or the elements of one JSON list.

use sabir_wire::Fault;
use sabir_wire::FaultKind;
use sabir_wire::Protocol;
use sabir_wire::Result;
use sabir_wire::protocol::Event;
use sabir_wire::protocol::StreamDecoder;
use sabir_wire::sse::Frame;
use sabir_wire::sse::JsonArray;
use sabir_wire::sse::Parser;

#[derive(Debug)]
pub(super) enum Frames {
    Sse(Parser),
    Array(JsonArray),
}

impl Frames {
    pub(super) fn new(is_sse: bool) -> Self {
        match is_sse {
            true => Self::Sse(Parser::default()),
            false => Self::Array(JsonArray::default()),
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
