//! What is known of a request before its first target is asked, by whoever had to read it to choose the targets: decoded, or for a
//! large body, which other threads read, written for the target that comes first.

use std::sync::Arc;

use sabir_wire::protocol::DecodedRequest;

use crate::attempt::fallback::AffectsHealth;
use crate::attempt::notes::Stamp;
use crate::attempt::order;
use crate::attempt::prepare::Written;
use crate::call::Call;
use crate::pool::Wanted;
use crate::route::{Candidate, Resolved};
use crate::state::Snapshot;
use crate::trace::Trace;

/// A request that was read before.
#[derive(Debug)]
pub(crate) enum ReadAhead<'c> {
    Decoded(Box<DecodedRequest<'c>>),
    Written(Box<WrittenAhead>),
}

/// A large body as its first target wants it.
#[derive(Debug)]
pub(crate) struct WrittenAhead {
    target: Candidate,
    written: Written,
}

/// What other threads must know to write a body ahead.
#[derive(Debug)]
pub(crate) struct WritingAhead {
    snapshot: Arc<Snapshot>,
    stamp: Stamp,
}

impl WritingAhead {
    pub(crate) fn new(snapshot: &Arc<Snapshot>, trace: &Trace) -> Self {
        Self { snapshot: Arc::clone(snapshot), stamp: Stamp::of(trace) }
    }

    /// Writes a body for the first of its targets; none if that can only be done when it is asked.
    pub(crate) fn write<'c>(
        self,
        (call, decoded): (&'c Call<'c>, Box<DecodedRequest<'c>>),
        resolved: &Resolved,
        wanted: &Wanted,
    ) -> Option<Box<WrittenAhead>> {
        let order = order::of(resolved, AffectsHealth::No);
        let target = order.into_iter().next()?.candidate.clone();
        // What an agent can do is found out before it is asked.
        if target.provider.endpoints.iter().any(|endpoint| endpoint.agent().is_some()) {
            return None;
        }
        let notes = self.stamp.notes(wanted);
        let written = Written::of(&self.snapshot, (call, Some(decoded)), &target, notes);
        Some(Box::new(WrittenAhead { target, written }))
    }
}

impl WrittenAhead {
    /// The same with all small blocks of memory made anew.
    pub(crate) fn settled(self) -> Self {
        Self { target: self.target.clone(), written: self.written.settled() }
    }

    /// What was written, if it was for this target.
    pub(super) fn for_target(self, candidate: &Candidate) -> Option<Written> {
        self.target.is_same(candidate).then_some(self.written)
    }
}
