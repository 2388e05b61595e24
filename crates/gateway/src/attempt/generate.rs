//! Asking for an answer of a model: each target gets the request in its own protocol, and the first that begins to answer is
//! the one that does.

use std::cell::Cell;

use sabir_wire::protocol::DecodedRequest;

use crate::answer;
use crate::answer::{Answering, InFlight};
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
    answer_decoded(handles, (call, None), resolved, flight).await
}

/// The same for whoever has decoded the call already.
pub(crate) async fn answer_decoded<'c>(
    handles: Handles<'_>,
    (call, decoded): (&'c Call<'c>, Option<Box<DecodedRequest<'c>>>),
    resolved: &Resolved,
    flight: &mut InFlight,
) -> Result<Box<Answering>> {
    let generation = Generation { call, decoded: Cell::new(decoded) };
    fallback::ask(handles, &generation, resolved, flight).await
}

struct Generation<'c> {
    call: &'c Call<'c>,
    /// For the first target alone: what is written for one is changed for it.
    decoded: Cell<Option<Box<DecodedRequest<'c>>>>,
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
        if let Some(large) = self.call.large {
            let call = (self.call, large);
            return Box::pin(prepare::prepare_large(handles.snapshot, call, candidate, trace))
                .await;
        }
        let call = (self.call, self.decoded.take());
        prepare::prepare(handles.snapshot, call, candidate, trace).await
    }

    async fn open(
        &self,
        handles: Handles<'_>,
        asked: (&Provider, Option<Turn<'_>>),
        prepared: &Prepared<'_>,
        flight: &mut InFlight,
    ) -> Result<Box<Answering>> {
        let incoming = send::begin(handles, asked, prepared).await?;
        if !(200..300).contains(&incoming.head.status) {
            return Err(refused(handles.snapshot, incoming).await);
        }
        answer::open(handles.snapshot, (self.call, &prepared.mode), incoming, flight).await
    }
}
