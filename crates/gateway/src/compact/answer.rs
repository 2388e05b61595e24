//! Asking for an answer where a summary may have to come first: because the conversation does not fit, or because the provider
//! turns out not to write one itself.

use std::sync::{Arc, OnceLock};

use memchr::memmem;

use crate::answer::{Answering, InFlight};
use crate::attempt;
use crate::attempt::Handles;
use crate::call::{Action, Call};
use crate::compact::own::Own;
use crate::compact::read::may_concern;
use crate::compact::{Outcome, Reading, Stage};
use crate::failure::{Failure, Refusal, Result};
use crate::pool::LARGE_BYTES;
use crate::recalled::Recalled;
use crate::route::Resolved;

/// Whether a call goes on with a conversation that is summarised where it does not fit.
pub(crate) fn may_be_fitted(handles: Handles<'_>, call: &Call<'_>, flight: &InFlight) -> bool {
    call.recalled.is_some() && Own::of(handles, flight).is_some()
}

/// Asks for the answer to such a call.
pub(crate) async fn answer_fitting(
    handles: Handles<'_>,
    (call, resolved): (&Call<'_>, &Resolved),
    flight: &mut InFlight,
) -> Result<Box<Answering>> {
    let (key, own) = (flight.trace.key().cloned(), Own::of(handles, flight));
    let stage = Stage { handles, call, resolved, key: key.as_ref() };
    match (own, &call.recalled) {
        (Some(own), Some(recalled)) => stage.answer_fitting(&own, recalled, flight).await,
        _ => attempt::answer(handles, call, resolved, flight).await,
    }
}

/// Does for a provider what it does not do itself, as its refusal shows.
pub(crate) async fn answer_in_place(
    handles: Handles<'_>,
    (call, resolved): (&Call<'_>, &Resolved),
    failure: Box<Failure>,
    flight: &mut InFlight,
) -> Result<Box<Answering>> {
    let key = flight.trace.key().cloned();
    let stage = Stage { handles, call, resolved, key: key.as_ref() };
    // Whoever writes the summary may be the same provider, which has room for so many at a time.
    flight.admission.release_permit();
    match stage.read(call.recalled.clone(), false).await? {
        Reading::Asked(pending) => match stage.fulfil(*pending, flight).await? {
            Outcome::Answer(answering) => Ok(answering),
            Outcome::Call(recalled) => stage.answer_from(&recalled, flight).await,
        },
        Reading::Call(_) => Err(failure),
    }
}

/// Whether a provider refuses because it does not compact.
pub(crate) fn lacks_compaction(failure: &Failure, call: &Call<'_>) -> bool {
    let Some(Refusal { status, body, .. }) = &failure.upstream else { return false };
    let names_it = || {
        let words = ["compact", "context_management"];
        words.iter().any(|word| memmem::find(body, word.as_bytes()).is_some())
    };
    match call.action {
        Action::Compact => {
            attempt::is_missing(*status, body) || matches!(status, 400 | 422) && names_it()
        }
        Action::Generate => {
            matches!(status, 400 | 404 | 422 | 501)
                && may_concern(call.survey.source(), None)
                && names_it()
        }
        Action::CountTokens => false,
    }
}

impl Stage<'_> {
    /// Asks for an answer that goes on from another conversation than the call's.
    pub(super) async fn answer_from(
        &self,
        recalled: &Arc<Recalled>,
        flight: &mut InFlight,
    ) -> Result<Box<Answering>> {
        let mut call = self.call.to_large();
        call.recalled = OnceLock::from(Arc::clone(recalled));
        let call = Arc::new(call);
        attempt::answer(self.handles, &call.lend_below(LARGE_BYTES), self.resolved, flight).await
    }
}
