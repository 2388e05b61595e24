//! How the frames of a stream are told apart: as server-sent events, or as elements of the JSON list that some
//! protocols send where nobody asks for events.

use sabir_wire::sse::{Frame, JsonArray, Parser};
use sabir_wire::{Protocol, Result};

pub(crate) enum Framing {
    /// Nothing that shows has come; what has come is kept.
    Undecided(Vec<u8>),
    Events(Parser),
    List(JsonArray),
}

/// So many bytes that show nothing are waited for.
const UNDECIDED_BYTES_MAX: usize = 64 * 1024;

impl Framing {
    pub(crate) fn of(protocol: Protocol) -> Self {
        match protocol.facts().streams_lists {
            true => Self::Undecided(Vec::new()),
            false => Self::Events(Parser::default()),
        }
    }

    /// Reads the next bytes and calls `emit` for every frame that they complete.
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        emit: &mut dyn FnMut(Frame<'_>) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::Events(parser) => parser.push(bytes, emit),
            Self::List(list) => list.push(bytes, emit),
            Self::Undecided(held) => {
                held.extend_from_slice(bytes);
                let decided = match held.iter().find(|byte| shows(**byte)) {
                    Some(b'[') => Self::List(JsonArray::default()),
                    None if held.len() < UNDECIDED_BYTES_MAX => return Ok(()),
                    Some(_) | None => Self::Events(Parser::default()),
                };
                let held = std::mem::take(held);
                *self = decided;
                self.push(&held, emit)
            }
        }
    }

    /// Reads what was begun and not ended.
    pub(crate) fn end(self, emit: &mut dyn FnMut(Frame<'_>) -> Result<()>) -> Result<()> {
        match self {
            Self::Events(parser) => parser.end(emit),
            Self::List(list) => list.end(emit),
            Self::Undecided(_) => Ok(()),
        }
    }
}

/// Whether a byte is neither white space nor of a byte order mark.
fn shows(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !"\u{feff}".as_bytes().contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(protocol: Protocol, input: &str, chunk_bytes: usize) -> Vec<String> {
        let mut framing = Framing::of(protocol);
        let mut frames = Vec::new();
        let mut emit = |frame: Frame<'_>| {
            frames.push(frame.data.to_owned());
            Ok(())
        };
        for chunk in input.as_bytes().chunks(chunk_bytes) {
            framing.push(chunk, &mut emit).unwrap();
        }
        framing.end(&mut emit).unwrap();
        frames
    }

    #[test]
    fn any_split_gives_the_same_frames_of_a_list_and_of_events() {
        let list = "\u{feff} \r\n[{\"a\": \"data: [\"}\r\n,\r\n{\"b\":[1]}\n]\n";
        let events = "\u{feff}\n\ndata: {\"a\":1}\n\ndata: [2]\n\n";
        for chunk_bytes in 1..=list.len().max(events.len()) {
            let read = |input| frames(Protocol::Gemini, input, chunk_bytes);
            assert_eq!(read(list), ["{\"a\": \"data: [\"}", "{\"b\":[1]}"]);
            assert_eq!(read(events), ["{\"a\":1}", "[2]"]);
        }
    }

    #[test]
    fn only_gemini_streams_lists() {
        assert!(frames(Protocol::OpenaiChat, "[{}]", 4).is_empty());
    }
}
