//! The log of building. The texts are fixed: people search their logs for them.

use std::borrow::Cow;
use std::fmt;

/// The lines that building has to say, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    lines: Vec<Line>,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    Note(Cow<'static, str>),
    Warning(Cow<'static, str>),
}

pub(crate) const START_NOT_FOUND: &str =
    "[MessageBuilder] startMessageId not found, using all messages";
pub(crate) const FILTERING: &str = "[MessageBuilder] Filtering empty assistant message";
pub(crate) const REMOVING: &str = "[MessageBuilder] Removing orphaned tool message";
pub(crate) const NO_TURN: &str = "[MessageBuilder] No user or assistant turn";

impl Log {
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    pub(crate) fn note(&mut self, text: impl Into<Cow<'static, str>>) {
        self.lines.push(Line::Note(text.into()));
    }

    pub(crate) fn warn(&mut self, text: impl Into<Cow<'static, str>>) {
        self.lines.push(Line::Warning(text.into()));
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Note(text) | Self::Warning(text) => f.write_str(text),
        }
    }
}
