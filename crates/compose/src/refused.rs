//! Why no request can be built of a history.

use std::fmt;

use crate::log::Log;

/// A history that validation refuses, with what was said before it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    kind: RefusedKind,
    log: Log,
}

/// What is wrong with the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusedKind {
    Empty,
    StartsWithTool,
    OrphanedTool,
}

impl Refused {
    pub(crate) fn new(kind: RefusedKind, log: Log) -> Self {
        Self { kind, log }
    }

    pub fn kind(&self) -> RefusedKind {
        self.kind
    }

    pub fn log(&self) -> &Log {
        &self.log
    }
}

impl fmt::Display for RefusedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "[MessageBuilder] Messages cannot be empty",
            Self::StartsWithTool => "[MessageBuilder] Messages cannot start with a tool message",
            Self::OrphanedTool => "[MessageBuilder] Found orphaned tool message after validation",
        })
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for Refused {}
