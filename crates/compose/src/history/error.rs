//! Why a history cannot be read.

use std::fmt;

/// What was expected, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryError {
    message: String,
    pointer: String,
}

impl HistoryError {
    pub(super) fn new(message: impl Into<String>, pointer: String) -> Self {
        Self { message: message.into(), pointer }
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    /// JSON pointer of what is wrong; empty for the whole input.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }
}

impl From<sabir_wire::Error> for HistoryError {
    fn from(error: sabir_wire::Error) -> Self {
        Self::new(error.message(), error.pointer().to_owned())
    }
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer() {
            "" => f.write_str(self.message()),
            pointer => write!(f, "{} at {pointer}", self.message()),
        }
    }
}

impl std::error::Error for HistoryError {}
