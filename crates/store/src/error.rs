//! The one error of this crate: a kind for code, a message for people. No content, no id and no password is ever in it, but for
//! the path of a file that somebody has to mend.

use std::fmt;
use std::path::Path;

pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, as far as a caller would act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The URL names no store.
    Url,
    /// The database cannot be reached or does not answer; it may later.
    Unavailable,
    /// The disk, or the database's quota, is full.
    Full,
    /// The database can be read and not written.
    ReadOnly,
    /// Somebody else has what is asked for, or changed it meanwhile.
    Conflict,
    /// No such id, or none of this owner.
    NotFound,
    /// The database is damaged, or no database of this program.
    Corrupt,
    /// The schema is not the one that this program knows.
    Schema,
    /// A value is over its limit or misspelt.
    Invalid,
    /// This store has no room for such a thing; another one has.
    Unsupported,
}

/// Why something could not be kept or found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    text: String,
}

impl Error {
    pub(crate) fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    pub(crate) fn not_found(what: &'static str) -> Self {
        Self::new(Kind::NotFound, format!("no such {what}"))
    }

    pub(crate) fn conflict(text: &'static str) -> Self {
        Self::new(Kind::Conflict, text)
    }

    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, text)
    }

    pub(crate) fn corrupt(text: &'static str) -> Self {
        Self::new(Kind::Corrupt, text)
    }

    /// What a [`Form`](crate::Form) cannot read, with the reason.
    pub fn unreadable(reason: impl fmt::Display) -> Self {
        Self::new(Kind::Corrupt, format!("the conversation's file cannot be read: {reason}"))
    }

    /// The same with the file that is the trouble.
    pub(crate) fn in_file(mut self, path: &Path) -> Self {
        self.text = format!("{}: {}", path.display(), self.text);
        self
    }

    /// What a [`Form`](crate::Form) has no room for.
    pub fn unsupported(reason: impl fmt::Display) -> Self {
        Self::new(Kind::Unsupported, format!("conversations in files: {reason}"))
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether the store itself is the trouble, rather than what was asked of it.
    pub fn is_outage(&self) -> bool {
        matches!(self.kind, Kind::Unavailable | Kind::Full | Kind::ReadOnly | Kind::Corrupt)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}
