//! A conversation: a name for a tip of the log, with what was last given beside it.

mod advance;
mod edit;
mod fork;
mod interrupt;
mod list;
mod load;
mod read;

use crate::clock::Time;
use crate::id::{ConversationId, Hash, Name, Owner, TurnId};
use crate::message::NewMessage;
use crate::record::{Record, Title};
use crate::response::NewItem;

pub(crate) use advance::{Append, Step, advance, begin};
pub(crate) use edit::{Create, Delete, Edit, delete, withdraw};
pub(crate) use fork::ForkConversation;
pub(crate) use interrupt::{interrupt, interrupt_all};
pub(crate) use list::List;
pub(crate) use load::Load;
pub(crate) use read::{Follow, ReadConversation, followed};

/// What a conversation begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewConversation {
    pub owner: Owner,
    pub id: ConversationId,
    pub title: Title,
    pub metadata: Record,
    pub origin: Origin,
}

/// How a conversation began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Somebody asked for it.
    Asked,
    /// Nobody did; it goes on with every call that begins with all that was said in it.
    Followed,
}

/// A conversation as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    pub id: ConversationId,
    pub tip: Option<Hash>,
    pub last_turn: Option<TurnId>,
    pub system: Option<Hash>,
    pub tools: Option<Hash>,
    pub title: Title,
    pub metadata: Record,
    pub created_at: Time,
    pub updated_at: Time,
    pub used_at: Time,
    pub turns: u64,
    pub protocols: Vec<Name>,
    pub models: Vec<Name>,
}

/// What is kept of a history that a client tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// How many of its messages, from the first on.
    pub known: usize,
    /// The conversation that nobody asked for and that ends with one of these, the last of them that has one. The newest,
    /// should there be several.
    pub conversation: Option<Conversation>,
}

/// Messages that are put into a conversation without a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addition {
    /// The last message before them. Those that stood behind it are no longer part of the conversation.
    pub base: Option<Hash>,
    pub messages: Vec<NewMessage>,
    /// How many turns they stand for.
    pub turns: TurnCount,
    /// Ids by which clients know parts of them. An id that the conversation has already names another part from now on.
    pub items: Vec<NewItem>,
}

/// How many turns a conversation has once something was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnCount {
    /// So many more than before.
    More(u64),
    /// So many in all, since it went another way: its last turn is the newest that it still has.
    All(u64),
}

/// What is changed of a conversation; `None` leaves it as it is. The inner `None` of a setting takes it away.
#[derive(Clone, Debug, Default)]
pub struct Change {
    pub title: Option<Title>,
    pub metadata: Option<Record>,
    pub system: Option<Option<Record>>,
    pub tools: Option<Option<Record>>,
    /// When it began, where that was elsewhere and earlier.
    pub created_at: Option<Time>,
}

/// Where a fork begins: after a turn, under a new id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    pub owner: Owner,
    pub from: ConversationId,
    /// The last turn that the fork shares; without one it shares all.
    pub after: Option<TurnId>,
    pub id: ConversationId,
}

/// A conversation that begins with a turn, as it is before that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    pub id: ConversationId,
    /// What it shares with the one that it is a fork of.
    pub tip: Option<Hash>,
}

/// How much goes with a conversation that is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// Its name. What was said stays under the ids of its answers, as long as such things are kept.
    Name,
    /// Its turns as well, as far as nothing else goes on from them: the next sweep takes them.
    Turns,
}

/// A part of an owner's conversations, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub after: Option<After>,
    pub limit: u32,
    pub search: Option<Search>,
}

/// Where a page begins: behind something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum After {
    /// A conversation, where it is in the list now.
    Conversation(ConversationId),
    /// A place, whatever became of the conversation that was there.
    Place(Cursor),
}

/// A place in a list, by the time and the id of a conversation that was there. For a client it is a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// In the unit of the store, which alone reads it.
    pub(crate) time: i64,
    pub(crate) id: ConversationId,
}

/// Text that titles and ids are searched for, in any case of letters.
#[derive(Clone, PartialEq, Eq)]
pub struct Search(String);

/// A page of a list, and whether there is more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    pub data: Vec<Overview>,
    /// Behind which place there is more, if there is.
    pub next: Option<Cursor>,
}

/// A conversation in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overview {
    pub id: ConversationId,
    pub title: Title,
    pub created_at: Time,
    pub updated_at: Time,
    pub turns: u64,
    pub protocols: Vec<Name>,
    pub models: Vec<Name>,
    /// Why it cannot be read, if it cannot.
    pub unreadable: Option<String>,
}

impl Default for TurnCount {
    fn default() -> Self {
        Self::More(0)
    }
}

impl After {
    /// Reads what a client gives: a place that a list named, or an id.
    pub fn parse(text: &str) -> crate::Result<Self> {
        match Cursor::parse(text) {
            Some(cursor) => Ok(Self::Place(cursor)),
            None => ConversationId::new(text).map(Self::Conversation),
        }
    }
}

impl Cursor {
    fn parse(text: &str) -> Option<Self> {
        let (time, id) = text.split_once(':')?;
        Some(Self { time: time.parse().ok()?, id: ConversationId::new(id).ok()? })
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.time, self.id)
    }
}

impl Origin {
    /// The column: whether nobody asked for it.
    fn column(self) -> i64 {
        i64::from(self == Self::Followed)
    }
}

impl Search {
    pub fn new(text: &str) -> Self {
        Self(Title::new(text).as_str().to_lowercase())
    }

    /// Whether a conversation of this id and title is found.
    pub(crate) fn finds(&self, id: &str, title: &Title) -> bool {
        title.as_str().to_lowercase().contains(&self.0) || id.to_lowercase().contains(&self.0)
    }

    /// As a pattern of `LIKE` with `!` before what is meant as it stands.
    fn pattern(&self) -> String {
        let escaped = self.0.replace('!', "!!").replace('%', "!%").replace('_', "!_");
        format!("%{escaped}%")
    }
}

impl std::fmt::Debug for Search {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Search({} bytes)", self.0.len())
    }
}

/// What a conversation is searched by. Half a kilobyte is what an index of PostgreSQL takes gladly.
fn searchable(id: &ConversationId, title: &Title) -> String {
    let text = format!("{}\n{}", title.as_str().to_lowercase(), id.as_str().to_lowercase());
    text[..text.floor_char_boundary(1024)].to_owned()
}

/// Names in a column, one a line.
fn names(column: &str) -> crate::Result<Vec<Name>> {
    column.lines().map(Name::new).collect()
}
