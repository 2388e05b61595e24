//! Asking for an answer of a model: each target gets the request in its own protocol, and the first that begins to answer is
//! the one that does.

use std::cell::Cell;

use crate::answer;
use crate::answer::{Answering, InFlight};
use crate::attempt::ahead::ReadAhead;
use crate::attempt::fallback::{AffectsHealth, Attempt};
use crate::attempt::prepare::Prepared;
use crate::attempt::refusal::refused;
use crate::attempt::{Handles, fallback, prepare, send};
use crate::call::Call;
use crate::failure::Result;
use crate::route::{Candidate, Resolved};
use crate::trace::Trace;
use crate::upstream::{Provider, Turn};

/// Asks the targets for an answer.
pub(crate) async fn answer(
    handles: Handles<'_>,
    call: &Call<'_>,
    resolved: &Resolved,
    flight: &mut InFlight,
) -> Result<Box<Answering>> {
    answer_read(handles, (call, None), resolved, flight).await
}

/// The same for whoever has read the call already.
pub(crate) async fn answer_read<'c>(
    handles: Handles<'_>,
    (call, ahead): (&'c Call<'c>, Option<ReadAhead<'c>>),
    resolved: &Resolved,
    flight: &mut InFlight,
) -> Result<Box<Answering>> {
    let generation = Generation { call, ahead: Cell::new(ahead) };
    fallback::ask(handles, &generation, resolved, flight).await
}

struct Generation<'c> {
    call: &'c Call<'c>,
    /// For the first target alone: what is written for one is changed for it.
    ahead: Cell<Option<ReadAhead<'c>>>,
}

impl Attempt for Generation<'_> {
    type Output = Box<Answering>;

    const AFFECTS_HEALTH: AffectsHealth = AffectsHealth::Yes;

    async fn prepare<'a>(
        &'a self,
        handles: Handles<'a>,
        candidate: &'a Candidate,
        trace: &mut Trace,
    ) -> Result<Prepared<'a>> {
        let (decoded, written) = match self.ahead.take() {
            Some(ReadAhead::Decoded(decoded)) => (Some(decoded), None),
            Some(ReadAhead::Written(written)) => (None, written.for_target(candidate)),
            None => (None, None),
        };
        if let Some(large) = self.call.large {
            let call = (self.call, large, written);
            return Box::pin(prepare::prepare_large(handles.snapshot, call, candidate, trace))
                .await;
        }
        prepare::prepare(handles.snapshot, (self.call, decoded), candidate, trace).await
    }

    async fn open(
        &self,
        handles: Handles<'_>,
        asked: (&Provider, Option<Turn<'_>>),
        prepared: &Prepared<'_>,
        flight: &mut InFlight,
    ) -> Result<Box<Answering>> {
        let incoming = send::begin(handles, asked, prepared, flight.trace.key()).await?;
        if !(200..300).contains(&incoming.head.status) {
            return Err(refused(handles.snapshot, incoming).await);
        }
        answer::open(handles.snapshot, (self.call, &prepared.mode), incoming, flight).await
    }
}
