//! A message: its role, and the parts of its content.

use crate::conversation::{Part, Parts};
use crate::json::Text;
use crate::owned::into_owned;
use crate::protocol::NodeSemantics;

/// One turn's worth of parts by one speaker.
///
/// A message mirrors what the protocol calls one: a Chat message, an Anthropic message, a Gemini content. The items of
/// a Responses list that the assistant produced in a row make one message, each item one part or more.
#[derive(Clone, Debug, Default)]
pub struct Message<'a> {
    pub role: Role,
    pub parts: Parts<'a>,
    /// The participant's name, where several speak in one role.
    pub name: Option<Text<'a>>,
    pub(crate) semantics: NodeSemantics<'a>,
}

/// The role of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    System,
    /// Instructions of the application, which OpenAI's newer models tell from the platform's.
    Developer,
    #[default]
    User,
    Assistant,
    /// Results of tools, where the protocol gives them a role of their own.
    Tool,
}

impl Role {
    /// Whether this role instructs rather than converses.
    pub fn instructs(self) -> bool {
        matches!(self, Self::System | Self::Developer)
    }
}

impl<'a> Message<'a> {
    pub fn new(role: Role, parts: impl Into<Parts<'a>>) -> Self {
        Self { role, parts: parts.into(), name: None, semantics: NodeSemantics::default() }
    }

    /// What the wire meant by this message beyond its parts.
    pub fn semantics(&self) -> &NodeSemantics<'a> {
        &self.semantics
    }

    pub(crate) fn forget_semantics(&mut self) {
        self.semantics = NodeSemantics::default();
        self.parts.iter_mut().for_each(Part::forget_semantics);
    }

    pub(crate) fn with_semantics(mut self, semantics: NodeSemantics<'a>) -> Self {
        self.semantics = semantics;
        self
    }

    /// Whether it is empty: no part other than blank text.
    pub fn is_blank(&self) -> bool {
        self.parts.iter().all(Part::is_blank)
    }
}

into_owned! {
    pub struct Message { role, parts, name, semantics }
}
