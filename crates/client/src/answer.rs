//! What comes back: the reply, what it cost, and what the gateway says of it.

use std::fmt;

use http::HeaderMap;
use sabir_wire::Report;
use sabir_wire::conversation::{Content, Counts, Part, Response};
use sabir_wire::unified::UnifiedReply;

/// A whole answer.
#[derive(Clone, Debug)]
pub struct Answer {
    pub reply: UnifiedReply,
    /// The thinking that the model shows.
    pub reasoning: Reasoning,
    pub usage: Counts,
    pub head: Head,
    /// What the request lost on its way into the protocol, by places in the messages.
    pub losses: Report,
}

/// Thinking, which is content: `Debug` shows its size.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Reasoning(pub String);

/// The headers of an answer.
#[derive(Clone, Default)]
pub struct Head(HeaderMap);

impl Head {
    pub(crate) fn new(headers: HeaderMap) -> Self {
        Self(headers)
    }

    /// The gateway's conversation that the answer belongs to.
    pub fn conversation(&self) -> Option<&str> {
        self.header("sabir-conversation")
    }

    /// The turn that was recorded.
    pub fn turn(&self) -> Option<&str> {
        self.header("sabir-turn")
    }

    /// The provider that answered behind a gateway.
    pub fn provider(&self) -> Option<&str> {
        self.header("sabir-provider")
    }

    /// The provider's own name of the model.
    pub fn model(&self) -> Option<&str> {
        self.header("sabir-model")
    }

    /// Any other header, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.to_str().ok()
    }
}

/// The parts of the first candidate.
pub(crate) fn parts<'r>(response: &'r Response<'_>) -> &'r [Part<'r>] {
    response.candidates.first().map_or(&[], |candidate| &candidate.message.parts)
}

impl Reasoning {
    pub(crate) fn of(response: &Response<'_>) -> Self {
        let mut text = String::new();
        for part in parts(response) {
            if let Content::Reasoning(reasoning) = part.content() {
                for piece in reasoning.texts.iter().filter(|piece| !piece.is_empty()) {
                    begin_piece(&mut text);
                    text.push_str(&piece.to_str());
                }
            }
        }
        Self(text)
    }
}

/// What stands between two pieces of thinking.
pub(crate) const BETWEEN_PIECES: &str = "\n\n";

fn begin_piece(text: &mut String) {
    if !text.is_empty() {
        text.push_str(BETWEEN_PIECES);
    }
}

impl fmt::Debug for Reasoning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reasoning({} bytes)", self.0.len())
    }
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = self.0.iter().filter(|(name, _)| name.as_str().starts_with("sabir-"));
        f.debug_map().entries(own).finish()
    }
}
