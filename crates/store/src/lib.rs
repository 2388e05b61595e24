//! The memory of the gateway: one log of messages, and turns, responses, conversations, artefacts and counts as views of it.
//! It knows neither HTTP nor protocols: records are opaque bytes, and whoever keeps them says by which hash they are found.
//!
//! From the lowest to the highest:
//!
//! - `error`, `limit`, `id`, `clock`, `record`: the small types
//! - `pack`: records as their columns hold them
//! - `location`: the URL of a store
//! - `folder`: sessions as files, each replaced as a whole
//! - `engine`: SQLite and PostgreSQL behind one session, in which every query is written once
//! - `migration`: the tables, and how a database gets them
//! - `node`, `hold`: who is alive, and what it holds
//! - `message`, `setting`, `turn`, `response`, `job`, `conversation`, `summary`, `artefact`, `exchange`: a module for each table
//! - `touch`, `retention`: what was used, and what is deleted when
//! - `files`: conversations whose truth is files, over an index in memory
//! - `store`: the handle

mod artefact;
mod clock;
mod conversation;
mod engine;
mod error;
mod exchange;
mod files;
mod folder;
mod hold;
mod id;
mod job;
mod limit;
mod location;
mod message;
mod migration;
mod node;
mod pack;
mod record;
mod response;
mod retention;
mod secret;
mod setting;
mod store;
mod summary;
#[cfg(test)]
mod tests;
mod touch;
mod turn;

pub use artefact::{Artefact, ArtefactKey};
pub use clock::{Clock, Time};
pub use conversation::{
    Addition, After, Begun, Change, Conversation, Cursor, Deletion, Followed, Fork, Listing,
    NewConversation, Origin, Overview, Page, Search, TurnCount,
};
pub use engine::Activity;
pub use error::{Error, Kind, Result};
pub use exchange::{Attempt, DayUsage, Exchange, GroupUsage, Grouping, Tokens};
pub use files::{Added, Content, Form, Outline};
pub use folder::{Folder, Listed, Replaces, SessionFile, SessionId, Stamp};
pub use hold::{Held, Purpose};
pub use id::{ConversationId, ExchangeId, Hash, ItemId, Name, NodeId, Owner, ResponseId, TurnId};
pub use job::{EVENTS_KEPT, Job, JobStatus, NewJob, Piece};
pub use limit::{
    ID_BYTES_MAX, ITEMS_MAX, MESSAGES_MAX, PAGE_MAX, PATH_BYTES_MAX, PATH_MESSAGES_MAX,
    RECORD_BYTES_MAX, TIPS_MAX,
};
pub use message::{History, Message, NewMessage, Window};
pub use record::{Record, Title};
pub use response::{Direction, Item, ItemPage, NewItem, NewResponse, Order, Response};
pub use retention::{Keep, Swept};
pub use secret::Secret;
pub use store::{Options, Store};
pub use summary::Summary;
pub use turn::{Advance, Closing, Ending, Follows, Opening, Status, Turn};
