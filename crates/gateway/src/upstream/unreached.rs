//! What a failure on the way to a provider means for a request.

use sabir_backend::{Error, ErrorKind};
use sabir_wire::FaultKind;

use crate::failure::{Broken, Failure, Whose};

/// A provider that could not be reached, or that broke off.
pub(crate) fn unreached(error: Error) -> Box<Failure> {
    let kind = match error.kind() {
        ErrorKind::ConnectTimeout | ErrorKind::FirstByteTimeout | ErrorKind::IdleTimeout => {
            FaultKind::Timeout
        }
        ErrorKind::Truncated => FaultKind::Truncated,
        _ => FaultKind::Internal,
    };
    let mut failure = Failure::new(Whose::Upstream, kind, error.to_string());
    failure.broken = match error.kind() {
        ErrorKind::Connect | ErrorKind::Unsent => Some(Broken::Unsent),
        ErrorKind::Disconnected => Some(Broken::Unanswered),
        _ => None,
    };
    failure.with_status(match kind {
        FaultKind::Timeout => 504,
        _ => 502,
    })
}
