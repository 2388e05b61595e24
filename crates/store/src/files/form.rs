//! What a session's file says, read and written by whoever knows the form.

use std::fmt;

use crate::clock::Time;
use crate::error::Result;
use crate::message::NewMessage;
use crate::record::{Record, Title};

/// The form of files. The store knows neither messages nor what is meant by them.
pub trait Form: fmt::Debug + Send + Sync {
    /// What a file says. One that cannot be read is an error that says why, and is never written over.
    fn read(&self, file: &[u8]) -> Result<Content>;

    /// What a list shows of a file.
    fn outline(&self, file: &[u8]) -> Outline;

    /// The file with more in it. What stays stands as it was, but for the instructions where they change. Content that the
    /// form has no room for is an error: it is refused, not left out.
    fn extend(&self, file: &[u8], added: &Added<'_>) -> Result<Vec<u8>>;

    /// A file that says nothing.
    fn empty(&self) -> Vec<u8>;
}

/// A conversation as a file has it.
#[derive(Clone, Debug, Default)]
pub struct Content {
    pub messages: Vec<NewMessage>,
    pub system: Option<Record>,
    pub outline: Outline,
}

/// What a list shows of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    pub title: Title,
    /// When it began, if the file says so.
    pub created_at: Option<Time>,
    pub turns: u64,
    /// Why the file cannot be read, if it cannot.
    pub unreadable: Option<String>,
}

/// What a file is extended by.
#[derive(Clone, Copy, Debug)]
pub struct Added<'a> {
    /// The instructions; the outer `None` leaves them as they are.
    pub system: Option<Option<&'a Record>>,
    /// What the new messages stand behind, from the first message on; what stood there goes. Without it they stand at the end.
    pub after: Option<&'a [Record]>,
    pub messages: &'a [NewMessage],
    pub now: Time,
}
