//! What goes wrong with any agent, in words for its client.

use std::io;

use sabir_wire::json::Text;
use sabir_wire::{Fault, FaultKind};

/// A fault on its way out. Boxed, since most of what is done does not fail.
pub(super) type Failed = Box<Fault<'static>>;

pub(super) fn fault(kind: FaultKind, message: impl Into<String>) -> Failed {
    Box::new(Fault::new(kind, Text::plain(message.into())))
}

/// The program could not be started.
pub(super) fn unstarted(program: &str, error: &io::Error) -> Failed {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "it is not installed, or not in PATH".to_owned(),
        io::ErrorKind::PermissionDenied => "it may not be run".to_owned(),
        kind => kind.to_string(),
    };
    fault(FaultKind::Internal, format!("the agent `{program}` did not start: {reason}"))
}

/// The output could not be read.
pub(super) fn unreadable(error: &io::Error) -> Failed {
    fault(FaultKind::Truncated, format!("the agent's output cannot be read: {error}"))
}

/// The process ended before its answer did.
pub(super) fn gone(code: Option<i32>) -> Failed {
    let how = match code {
        Some(code) => format!("with exit code {code}"),
        None => "by a signal".to_owned(),
    };
    fault(FaultKind::Truncated, format!("the agent ended {how} before its answer did"))
}

/// What the CLI hands on of its model cannot be read.
pub(super) fn garbled() -> Failed {
    fault(FaultKind::Truncated, "the agent handed on an event that cannot be read")
}

/// The CLI is done, and its model has said nothing.
pub(super) fn silent() -> Failed {
    fault(FaultKind::Truncated, "the agent ended its turn without an answer of its model")
}
