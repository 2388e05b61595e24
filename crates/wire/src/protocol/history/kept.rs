//! Elements that were kept, as a text that the messages which they spell borrow from.

use std::fmt;

use super::adopt::{adopt, move_message};
use super::entry::Entry;
use crate::conversation::Message;
use crate::error::Result;
use crate::place::Place;
use crate::protocol::Protocol;

/// Elements of one protocol, in the form of a request that says nothing else.
#[derive(Clone)]
pub struct Kept {
    protocol: Protocol,
    body: String,
}

/// What a body ends with behind its elements.
const END: &str = "]}";

impl Kept {
    /// These elements, separated by commas.
    pub fn new(protocol: Protocol, elements: &str) -> Self {
        Self { protocol, body: protocol.body_of(elements) }
    }

    /// Adds elements behind the others.
    pub fn push(&mut self, elements: &str) {
        self.body.truncate(self.body.len() - END.len());
        self.body.push(',');
        self.body.push_str(elements);
        self.body.push_str(END);
    }

    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The request that says nothing else.
    pub fn as_body(&self) -> &str {
        &self.body
    }

    /// The elements one by one, with what each means.
    pub fn entries(&self) -> Result<Vec<Entry<'static>>> {
        let decoded = self.protocol.decode_request_text(&self.body)?;
        Ok(decoded.entries()?.entries.into_iter().map(Entry::into_owned).collect())
    }

    /// The conversation that the elements spell, as messages for a request of `reader`'s protocol. Their places begin with
    /// `/turns/{turn}`.
    ///
    /// In the same protocol all that rides on them is kept. In another one they are adopted: content, artefacts, citations
    /// and what only one protocol says are kept, since these name their protocol; the rest meant something in the request
    /// that the elements came in, and stays behind.
    pub fn messages(&self, turn: u32, reader: Protocol) -> Result<Vec<Message<'_>>> {
        let mut messages = self.protocol.decode_request_text(&self.body)?.into_request().messages;
        for message in &mut messages {
            move_message(message, &|place: Place| place.in_turn(turn, self.protocol));
            if reader != self.protocol {
                adopt(message);
            }
        }
        Ok(messages)
    }
}

/// Says how much there is, never what.
impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kept({} bytes of {})", self.body.len(), self.protocol.as_str())
    }
}
