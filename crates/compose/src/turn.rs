//! A message on its way through the steps, with where it comes from.

use sabir_wire::conversation::{Message, Part, Role};

/// A message and its origin.
#[derive(Clone, Debug)]
pub struct Turn<'a> {
    pub message: Message<'a>,
    pub origin: Origin,
    /// Where the parts stood in the input, once they are no longer those of the message there.
    sources: Vec<Source>,
}

/// The place of a part in the input: the index of its message and its own. What was made up has none.
pub(crate) type Source = Option<(usize, usize)>;

/// Where the message of a [`Turn`] comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The message at that index of the input, as it was.
    Given(usize),
    /// The message at that index of the input, with parts taken out or put in.
    Edited(usize),
    /// No message of the input.
    Made,
}

impl Origin {
    /// The index in the input, of a message that stood there.
    pub fn index(self) -> Option<usize> {
        match self {
            Self::Given(index) | Self::Edited(index) => Some(index),
            Self::Made => None,
        }
    }
}

impl<'a> Turn<'a> {
    pub(crate) fn given(index: usize, message: Message<'a>) -> Self {
        Self { message, origin: Origin::Given(index), sources: Vec::new() }
    }

    pub(crate) fn made(message: Message<'a>) -> Self {
        Self { message, origin: Origin::Made, sources: Vec::new() }
    }

    /// A result taken out of another message.
    pub(crate) fn taken(part: Part<'a>, source: Source) -> Self {
        let message = Message::new(Role::Tool, vec![part]);
        Self { message, origin: Origin::Made, sources: vec![source] }
    }

    /// Where each part comes from.
    pub(crate) fn sources(&self) -> Vec<Source> {
        if self.sources.len() == self.message.parts.len() {
            return self.sources.clone();
        }
        (0..self.message.parts.len()).map(|part| Some((self.origin.index()?, part))).collect()
    }

    /// Puts other parts in the place of the message's own.
    pub(crate) fn edit(&mut self, parts: Vec<Part<'a>>, sources: Vec<Source>) {
        self.message.parts = parts.into();
        self.sources = sources;
        if let Origin::Given(index) = self.origin {
            self.origin = Origin::Edited(index);
        }
    }

    /// JSON pointer to the message in the input: its place in the body it was read from, else its index in the history.
    pub(crate) fn pointer(&self) -> String {
        let place = self.message.semantics().place();
        match self.origin.index() {
            _ if !place.is_root() => place.to_string(),
            Some(index) => format!("/messages/{index}"),
            None => String::new(),
        }
    }

    /// JSON pointer to one of the message's parts, or to the message where its parts have no place of their own.
    pub(crate) fn part_pointer(&self, part: &Part<'_>) -> String {
        let place = part.semantics().place();
        match self.message.semantics().place().is_root() || place.is_root() {
            true => self.pointer(),
            false => place.to_string(),
        }
    }
}
