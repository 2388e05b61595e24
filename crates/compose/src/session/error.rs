//! Why a session file cannot be read.

use std::fmt;

use super::{FILE_BYTES_MAX, LINE_BYTES_MAX, LINES_MAX, MESSAGES_MAX};

/// What is wrong, and in which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionError {
    message: String,
    line: Option<usize>,
}

impl SessionError {
    pub(super) fn at(line: usize, message: impl Into<String>) -> Self {
        Self { message: message.into(), line: Some(line) }
    }

    fn whole(message: impl Into<String>) -> Self {
        Self { message: message.into(), line: None }
    }

    pub(super) fn unknown() -> Self {
        Self::whole(
            "expected a session file of Claude Code, Codex or Gemini CLI; none of its first lines looks like one",
        )
    }

    pub(super) fn nameless() -> Self {
        Self::whole("expected a session id, which no line of the file has")
    }

    pub(super) fn empty() -> Self {
        Self::whole("expected at least one message; the session has none")
    }

    pub(super) fn too_many(messages: usize) -> Self {
        Self::whole(format!("{messages} messages; a session may have {MESSAGES_MAX}"))
    }

    pub(super) fn too_large(bytes: usize) -> Self {
        Self::whole(format!("{bytes} bytes; a session file may have {FILE_BYTES_MAX}"))
    }

    pub(super) fn too_many_lines() -> Self {
        Self::whole(format!("more than {LINES_MAX} lines, which a session file may have"))
    }

    pub(super) fn line_too_long(line: usize, bytes: usize) -> Self {
        Self::at(line, format!("{bytes} bytes; a line may have {LINE_BYTES_MAX}"))
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    /// The line that is wrong, counted from 1; none where the file as a whole is.
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for SessionError {}
