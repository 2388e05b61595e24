//! What a failure means for what comes next.

use std::time::Duration;

use sabir_wire::FaultKind;

use crate::attempt::PAUSE;
use crate::failure::{Broken, Failure, Whose};

/// What to do about a failure before the first event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The client gets it: nobody else would answer otherwise.
    Final,
    /// Another target may do better.
    Next,
    /// The same target may do better after a pause.
    Again(Duration),
}

/// The longest pause that a provider may ask for and get; beyond it another target is faster.
const PAUSE_MAX: Duration = Duration::from_secs(1);

pub(crate) fn of(failure: &Failure) -> Verdict {
    if failure.whose != Whose::Upstream {
        return Verdict::Final;
    }
    match failure.fault.kind {
        FaultKind::RateLimit | FaultKind::Timeout | FaultKind::Billing => Verdict::Next,
        FaultKind::Overloaded => after_pause(failure),
        FaultKind::Internal if is_passing(failure) => after_pause(failure),
        // The provider has had the whole request: the same one would answer it, and count it, a second time.
        FaultKind::Internal | FaultKind::Cancelled | FaultKind::Truncated => Verdict::Next,
        FaultKind::BadRequest
        | FaultKind::ContextTooLong
        | FaultKind::Authentication
        | FaultKind::Permission
        | FaultKind::NotFound
        | FaultKind::Conflict
        | FaultKind::TooLarge
        | FaultKind::Unprocessable => Verdict::Final,
    }
}

/// Whether nobody acted on the request: it did not reach the provider, or the provider had no time for it.
fn is_passing(failure: &Failure) -> bool {
    match &failure.upstream {
        None => failure.broken == Some(Broken::Unsent),
        Some(refusal) => matches!(refusal.status, 502 | 503 | 529),
    }
}

fn after_pause(failure: &Failure) -> Verdict {
    match failure.fault.retry_after_s.map(Duration::from_secs) {
        None => Verdict::Again(PAUSE),
        Some(pause) if pause <= PAUSE_MAX => Verdict::Again(pause),
        Some(_) => Verdict::Next,
    }
}
