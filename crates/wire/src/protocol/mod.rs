//! The four protocols, both ways, and the semantics that only they may write.

mod answer_context;
pub(crate) mod arguments;
mod artefacts;
mod calls;
mod choosing;
mod codec;
mod conventions;
mod data_url;
mod decoded_request;
mod described;
mod echo;
mod estimate;
mod event;
mod facts;
mod fault_losses;
mod fault_words;
mod field;
mod fresh_ids;
mod handing;
mod history;
mod hosted;
mod json_mode;
mod machine;
mod media_type;
mod namespaces;
pub(crate) mod object;
mod open_calls;
mod partial_call;
mod placeholder;
mod reporter;
mod schema_language;
mod semantics;
mod sink;
mod splice;
mod stream;
mod stream_losses;
mod tier;
mod tool_words;
mod translation;
mod turns;
mod unique_ids;
mod usage;
mod watch;
mod words;

pub mod anthropic_messages;
pub mod gemini;
pub mod openai_chat;
pub mod openai_responses;

pub use answer_context::{AnswerContext, AppliedEdit, EditKind};
pub use artefacts::{ArtefactCollector, BareCall, CallArtefacts, Sealed};
pub use decoded_request::DecodedRequest;
pub use echo::Echo;
pub use event::{
    Closed, Delta, Event, Fold, Note, NoteAt, NoteKind, Open, Opening, Order, PartId, Start, unfold,
};
pub use facts::Facts;
pub use field::{Fate, Field};
pub use history::{Contents, Coverage, Element, Entries, Entry, Kept, Outline};
pub use schema_language::of_parameters as parameter_language;
pub use semantics::{
    Artefact, ArtefactKind, CacheMarker, Citation, Declared, Extra, Extras, Item, Logprobs,
    NodeSemantics, Semantics, Session,
};
pub use splice::splice_model;
pub use stream::{StreamDecoder, StreamEncoder};
pub use translation::Encoded;
pub use watch::Watch;

use self::codec::Codec;
use crate::alias::ToolNameRule;
use crate::target::Target;

/// One of the four wire protocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Protocol {
    OpenaiChat,
    OpenaiResponses,
    AnthropicMessages,
    Gemini,
}

impl Protocol {
    pub const ALL: [Self; 4] =
        [Self::OpenaiChat, Self::OpenaiResponses, Self::AnthropicMessages, Self::Gemini];

    /// What reads and writes the protocol.
    const fn codec(self) -> &'static Codec {
        match self {
            Self::OpenaiChat => &openai_chat::CODEC,
            Self::OpenaiResponses => &openai_responses::CODEC,
            Self::AnthropicMessages => &anthropic_messages::CODEC,
            Self::Gemini => &gemini::CODEC,
        }
    }

    /// What holds for the protocol as a whole.
    pub const fn facts(self) -> &'static Facts {
        &self.codec().facts
    }

    /// What the model of `target` accepts as the name of a tool.
    pub fn tool_names(self, target: &Target) -> ToolNameRule {
        (self.codec().call_rules)(target).0
    }

    /// The protocol's full name.
    pub const fn as_str(self) -> &'static str {
        self.facts().name
    }

    /// The protocol of that name; short names and the names of older documents count too.
    pub fn parse(name: &str) -> Option<Self> {
        let is_named = |facts: &Facts| facts.name == name || facts.aliases.contains(&name);
        Self::ALL.into_iter().find(|protocol| is_named(protocol.facts()))
    }
}

#[cfg(test)]
mod tests;
