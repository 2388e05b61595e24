//! A call and its answer: opened before the provider is asked, closed with the messages that it added.

mod close;
mod late;
mod open;
mod origin;
mod read;

use std::time::Duration;

use crate::clock::Time;
use crate::conversation::NewConversation;
use crate::error::{Error, Result};
use crate::id::{ConversationId, ExchangeId, Hash, Name, Owner, ResponseId, TurnId};
use crate::message::NewMessage;
use crate::record::Record;
use crate::response::{NewItem, NewResponse};

pub(crate) use close::{Abandon, Close, drop_reference};
pub(crate) use late::{OpenLate, Unopened};
pub(crate) use open::add_reference;
pub(crate) use open::{Open, Stream};
pub(crate) use read::{ReadTurn, Turns, read};

/// How exactly the last use is kept: reading does not write each time.
pub(crate) const USE_RESOLUTION: Duration = Duration::from_secs(60 * 60);

/// How far a turn has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Opened,
    Streaming,
    Finished,
    Interrupted,
    Failed,
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    Finished,
    Interrupted,
    Failed,
}

/// What is known of a turn before its provider is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    pub owner: Owner,
    pub id: TurnId,
    /// The turn that it continues.
    pub previous: Option<TurnId>,
    /// The message that it continues.
    pub base: Option<Hash>,
    /// The client's protocol.
    pub protocol: Name,
    pub exchange: Option<ExchangeId>,
}

/// A turn's end and all that it leaves.
#[derive(Clone, Debug)]
pub struct Closing {
    /// The turn as it was opened. If the opening was lost, this makes good for it.
    pub turn: Opening,
    pub ending: Ending,
    pub provider: Option<Name>,
    pub model: Option<Name>,
    /// The messages after the turn's base: what the client added and what was answered.
    pub messages: Vec<NewMessage>,
    pub system: Option<Record>,
    pub tools: Option<Record>,
    /// Other settings, usage and losses, in the gateway's own form.
    pub details: Record,
    /// The ids by which clients continue it.
    pub responses: Vec<NewResponse>,
    pub items: Vec<NewItem>,
    pub conversation: Option<Advance>,
    /// The same conversation, if it begins with this turn unless somebody else begins it before.
    pub begins: Option<NewConversation>,
    /// The conversation that begins with this turn where that one has gone on meanwhile, or another call works on it. Without
    /// one, nothing of the turn is kept then.
    pub beside: Option<NewConversation>,
    /// What it goes on from, where that is for the store to find: there is no other conversation then.
    pub follows: Option<Follows>,
    /// The job that its answer finishes. If that has ended in another way, nothing of this is kept.
    pub job: Option<ResponseId>,
}

/// A turn that nobody named a conversation for. Its base is a message that is kept; the first of its messages may be kept as
/// well, and then stand before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follows {
    /// How many messages were sent.
    pub sent: usize,
    /// The conversation that begins with it, if none that nobody asked for ends with what is kept, or that one is worked on.
    pub begins: NewConversation,
}

/// The conversation that a turn advances from the tip that it saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advance {
    pub id: ConversationId,
    pub from: Option<Hash>,
    /// Whether the turn takes the place of the last one, whose answer was asked for again.
    pub is_replacing: bool,
}

impl Advance {
    /// One more turn, after this tip.
    pub fn after(id: ConversationId, from: Option<Hash>) -> Self {
        Self { id, from, is_replacing: false }
    }

    /// The last turn anew, after which the conversation has this tip.
    pub fn replacing(id: ConversationId, from: Hash) -> Self {
        Self { id, from: Some(from), is_replacing: true }
    }
}

/// A turn as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    pub id: TurnId,
    pub previous: Option<TurnId>,
    pub base: Option<Hash>,
    /// The last message after it, once it is closed.
    pub tip: Option<Hash>,
    pub status: Status,
    pub protocol: Name,
    pub provider: Option<Name>,
    pub model: Option<Name>,
    pub exchange: Option<ExchangeId>,
    pub system: Option<Hash>,
    pub tools: Option<Hash>,
    pub opened_at: Time,
    pub closed_at: Option<Time>,
    pub used_at: Time,
    pub details: Record,
}

impl Status {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Streaming => "streaming",
            Self::Finished => "finished",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }

    fn parse(text: &str) -> Result<Self> {
        let all = [Self::Opened, Self::Streaming, Self::Finished, Self::Interrupted, Self::Failed];
        let found = all.into_iter().find(|status| status.as_str() == text);
        found.ok_or_else(|| Error::corrupt("a turn in the store has a status that nobody knows"))
    }
}

impl From<Ending> for Status {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Finished => Self::Finished,
            Ending::Interrupted => Self::Interrupted,
            Ending::Failed => Self::Failed,
        }
    }
}
