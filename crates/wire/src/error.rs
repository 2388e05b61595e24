//! The one error of this crate: what was expected, what was found, and where in the input.

use std::fmt;

use crate::json::push_key;

/// Why an input could not be read.
///
/// The input is never quoted beyond a short token: bodies hold prompts, and errors end up in logs.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Detail>);

#[derive(Clone, PartialEq, Eq)]
struct Detail {
    kind: ErrorKind,
    message: String,
    /// JSON pointer of the offending value; the empty string is the whole input.
    pointer: String,
}

/// What sort of mistake an [`Error`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Not JSON, not UTF-8 or not an event stream.
    Syntax,
    /// A value of the wrong type.
    Type,
    /// A value of the right type that means nothing here.
    Value,
    /// A field without which the input means nothing.
    Missing,
    /// Larger or deeper than the limits allow.
    Limit,
    /// A translation that the caller's policy refuses.
    Refused,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Detail { kind, message: message.into(), pointer: String::new() }))
    }

    /// Says that the value was found under `key` of the enclosing object; called while unwinding.
    #[cold]
    pub fn under_key(mut self, key: &str) -> Self {
        let mut pointer = String::new();
        push_key(&mut pointer, key);
        self.0.pointer.insert_str(0, &pointer);
        self
    }

    /// Says that the value was found at `index` of the enclosing array; called while unwinding.
    #[cold]
    pub(crate) fn under_index(mut self, index: usize) -> Self {
        self.0.pointer.insert_str(0, &format!("/{index}"));
        self
    }

    /// Says that so many elements more stand before those of the list at `list`.
    #[cold]
    pub(crate) fn behind(mut self, list: &str, elements: usize) -> Self {
        let below = self.0.pointer.strip_prefix(list).and_then(|below| below.strip_prefix('/'));
        let (index, below) =
            below.map_or(("", ""), |it| it.split_at(it.find('/').unwrap_or(it.len())));
        if let Ok(index) = index.parse::<usize>() {
            self.0.pointer = format!("{list}/{}{below}", index + elements);
        }
        self
    }

    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What was expected and what was found, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The JSON pointer of the value that is wrong; empty for the whole input.
    pub fn pointer(&self) -> &str {
        &self.0.pointer
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer() {
            "" => f.write_str(self.message()),
            pointer => write!(f, "{} at {pointer}", self.message()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.kind())
    }
}

impl std::error::Error for Error {}

/// The result of everything that reads input.
pub type Result<T, E = Error> = std::result::Result<T, E>;
