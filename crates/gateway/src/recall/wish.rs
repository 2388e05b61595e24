//! What a call says of conversations: in its body, and in a header that clients of every protocol may send.

use sabir_store::SessionId;
use sabir_wire::{FaultKind, Protocol};

use crate::call::{Call, Link, StateAsked};
use crate::failure::{Failure, Result};
use crate::surface;
use crate::surface::Trouble;

pub(crate) const HEADER: &str = "sabir-conversation";

/// What a call asks to be remembered or recalled.
#[derive(Debug)]
pub(super) struct Wish {
    pub(super) header: Option<Named>,
    pub(super) asked: StateAsked,
}

/// A conversation as the header names it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Named {
    New,
    /// By its id, or by the name that the client gives it.
    Id(String),
    /// By an id that clients do not give: of a session's file, for example.
    Given(String),
    /// After a turn of the conversation.
    Fork {
        id: String,
        turn: String,
    },
}

impl Wish {
    /// None if the call asks for nothing.
    pub(super) fn of(call: &Call<'_>) -> Result<Option<Self>> {
        let header = match call.headers.get(HEADER) {
            Some(value) => {
                let value = std::str::from_utf8(value.as_bytes()).map_err(|_| misnamed())?;
                Some(Named::parse(value.trim())?)
            }
            None => None,
        };
        let asked = call.asked.clone();
        let is_linked = asked.link != Link::Nothing;
        if asked.link == Link::Several || is_linked && header.is_some() {
            return Err(super::trouble(call.client, &Trouble::Several));
        }
        let is_wish = header.is_some() || is_linked || asked.is_kept;
        Ok(is_wish.then_some(Self { header, asked }))
    }

    /// Whether the call begins a thread, which providers do not see.
    pub(super) fn is_thread(&self, client: Protocol) -> bool {
        self.asked.is_kept && !surface::of(client).state.has_responses
    }
}

impl Named {
    fn parse(value: &str) -> Result<Self> {
        if value == "new" {
            return Ok(Self::New);
        }
        match value.split_once('@') {
            Some((id, turn)) if is_id(id) && is_name(turn) => {
                Ok(Self::Fork { id: id.to_owned(), turn: turn.to_owned() })
            }
            None if is_name(value) => Ok(Self::Id(value.to_owned())),
            None if is_id(value) => Ok(Self::Given(value.to_owned())),
            _ => Err(misnamed()),
        }
    }
}

/// Whether a conversation may be begun under this name.
fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len()) && is_id(text) && !text.contains('.') && text.is_ascii()
}

/// Whether a conversation may have this id: files have longer ones, with dots and in any alphabet.
fn is_id(text: &str) -> bool {
    SessionId::new(text).is_ok()
}

pub(super) fn misnamed() -> Box<Failure> {
    let message = "sabir-conversation: expected `new`, an id of up to 64 letters, digits, `_` or `-`, or `ID@TURN`";
    Failure::client(FaultKind::BadRequest, message).with_param(HEADER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_names_a_conversation_or_a_turn_of_one() {
        assert_eq!(Named::parse("new").unwrap(), Named::New);
        assert_eq!(Named::parse("my-chat_1").unwrap(), Named::Id("my-chat_1".to_owned()));
        let fork = Named::Fork { id: "conv_1".to_owned(), turn: "turn_2".to_owned() };
        assert_eq!(Named::parse("conv_1@turn_2").unwrap(), fork);
        assert_eq!(Named::parse("a.b").unwrap(), Named::Given("a.b".to_owned()));
        assert_eq!(Named::parse("ü").unwrap(), Named::Given("ü".to_owned()));
        for wrong in ["", "a b", "ü b", "a@", "@b", &"x".repeat(129), "a/b"] {
            assert!(Named::parse(wrong).is_err(), "{wrong}");
        }
    }
}
