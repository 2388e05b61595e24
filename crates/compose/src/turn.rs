//! A message on its way through the steps, with where it comes from.

use sabir_wire::conversation::Message;
use sabir_wire::conversation::Part;

/// A message and its origin.
#[derive(Clone, Debug)]
pub struct Turn<'a> {
    pub message: Message<'a>,
    pub origin: Origin,
}

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

impl<'a> Turn<'a> {
    pub(crate) fn given(index: usize, message: Message<'a>) -> Self {
        Self { message, origin: Origin::Given(index) }
    }

    pub(crate) fn made(message: Message<'a>) -> Self {
        Self { message, origin: Origin::Made }
    }

    /// Says that the parts are no longer those of the input.
    pub(crate) fn mark_edited(&mut self) {
        if let Origin::Given(index) = self.origin {
            self.origin = Origin::Edited(index);
        }
    }

    /// JSON pointer to the message in the input: its place in the body it was read from, else its index in the history.
    pub(crate) fn pointer(&self) -> String {
        let place = self.message.semantics().place();
        match self.origin {
            _ if !place.is_root() => place.to_string(),
            Origin::Given(index) | Origin::Edited(index) => format!("/messages/{index}"),
            Origin::Made => String::new(),
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
