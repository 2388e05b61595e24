//! What goes wrong with any agent, in words for its client.

use std::io;

use sabir_wire::json::Text;
use sabir_wire::{Fault, FaultKind};

pub(super) fn fault(kind: FaultKind, message: impl Into<String>) -> Fault<'static> {
    Fault::new(kind, Text::plain(message.into()))
}

/// The program could not be started.
pub(super) fn unstarted(program: &str, error: &io::Error) -> Fault<'static> {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "it is not installed, or not in PATH".to_owned(),
        io::ErrorKind::PermissionDenied => "it may not be run".to_owned(),
        kind => kind.to_string(),
    };
    fault(FaultKind::Internal, format!("the agent `{program}` did not start: {reason}"))
}

/// The output could not be read.
pub(super) fn unreadable(error: &io::Error) -> Fault<'static> {
    fault(FaultKind::Truncated, format!("the agent's output cannot be read: {error}"))
}

/// The process ended before its answer did.
pub(super) fn gone(code: Option<i32>) -> Fault<'static> {
    let how = match code {
        Some(code) => format!("with exit code {code}"),
        None => "by a signal".to_owned(),
    };
    fault(FaultKind::Truncated, format!("the agent ended {how} before its answer did"))
}

/// What the CLI hands on of its model cannot be read.
pub(super) fn garbled() -> Fault<'static> {
    fault(FaultKind::Truncated, "the agent handed on an event that cannot be read")
}

/// The CLI is done, and its model has said nothing.
pub(super) fn silent() -> Fault<'static> {
    fault(FaultKind::Truncated, "the agent ended its turn without an answer of its model")
}
