//! How a protocol speaks over a WebSocket, where it does.

use http::HeaderMap;
use sabir_wire::json::Json;
use sabir_wire::protocol::AnswerContext;

/// The messages of a protocol over a socket.
#[derive(Clone, Copy)]
pub(crate) struct Socket {
    /// Removes headers that are about the socket and mean nothing to providers.
    pub(crate) strip: fn(&mut HeaderMap),
    /// What a client's message asks for.
    pub(crate) read: fn(&str) -> Result<SocketMessage, Refusal>,
    /// The body that a POST would have: on what it is based, and the elements that stand before its own.
    pub(crate) body: fn(&Create, Option<&str>, &str) -> String,
    /// What a call adds to a history, with commas between the elements.
    pub(crate) elements: fn(&Create) -> String,
    /// The frames of an answer that nobody generates, by the body of the call.
    pub(crate) prepared: fn(&str, AnswerContext<'static>) -> (Vec<String>, Ended),
    /// The event that a whole answer ends a stream with.
    pub(crate) completed: fn(&str) -> Option<String>,
    /// What an event is to a socket, and how many of its first bytes show that; none if all of it was looked at.
    pub(crate) kind: fn(&[u8]) -> (EventKind, usize),
    /// How an answer ended, by its last event.
    pub(crate) ended: fn(&str) -> Option<Ended>,
    /// An event with the lane that it belongs to.
    pub(crate) in_lane: fn(&str, &str) -> String,
    /// An event with the whole answer, which now says what that went on from.
    pub(crate) restate_previous: fn(&str, &str) -> String,
    /// The frame of an error: the status and the body that a POST would have got, and the lane.
    pub(crate) refuse: fn(u16, &str, Option<&str>) -> String,
    /// The frame that says that answers cannot be steered.
    pub(crate) steering_refused: fn(Option<&Json<'_>>, Option<&str>) -> String,
}

/// What a client's message asks for.
pub(crate) enum SocketMessage {
    Create(Create),
    Steer { lane: Option<String>, input: Option<Json<'static>> },
}

/// A call that came as a message.
pub(crate) struct Create {
    /// Calls of one lane are answered one after the other.
    pub(crate) lane: Option<String>,
    /// The body that a POST would have, up to what stands apart here.
    pub(crate) head: String,
    pub(crate) input: Option<Json<'static>>,
    /// The answer that it goes on from.
    pub(crate) previous: Option<String>,
    /// Whether an answer is wanted, or only an id to go on from.
    pub(crate) is_generated: bool,
}

impl Create {
    /// How much there is to read of it.
    pub(crate) fn bytes(&self) -> usize {
        self.head.len() + self.input.as_ref().map_or(0, |input| input.as_str().len())
    }
}

/// What an event is to a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// A piece of the answer.
    Piece,
    /// It has the whole answer as it stands.
    Whole,
    /// The same, and the answer has ended.
    End,
    /// It says that something went wrong, and nothing of the answer.
    Fault,
}

/// How an answer ended.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    pub(crate) id: String,
    /// What it adds to a history, with commas between the elements.
    pub(crate) elements: String,
    /// Whether it can be found by its id.
    pub(crate) is_stored: bool,
    pub(crate) is_failed: bool,
}

/// A message that asks for nothing that there is.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) lane: Option<String>,
    pub(crate) message: String,
    pub(crate) param: Option<&'static str>,
}
