//! What a user should know of a prompt, although it could be assembled.

use std::fmt;

use super::FLAG_BYTES_MAX;

/// Something was not as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// No layout is known for this agent; the plain one is used.
    UnknownAgent { name: String, normalized: String },
    /// The team task was longer than it may be.
    TeamTaskCut { bytes: usize, kept_bytes: usize },
    /// The system flag cannot be one argument of a command.
    FlagTooLong { bytes: usize },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownAgent { name, normalized } => write!(
                f,
                "[ContextManager] Unknown agentType \"{name}\" (normalized: \"{normalized}\"), \
                 using PlainTextAssembler"
            ),
            Self::TeamTaskCut { bytes, kept_bytes } => write!(
                f,
                "[ContextManager] TeamTask exceeded 5KB limit ({bytes} bytes), \
                 truncated to {kept_bytes} bytes"
            ),
            Self::FlagTooLong { bytes } => write!(
                f,
                "the system flag has {bytes} bytes, and Linux takes no argument of more than \
                 {FLAG_BYTES_MAX}: pass it in a file"
            ),
        }
    }
}
