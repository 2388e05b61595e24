//! What goes with a request from its arrival to its end: the facts about it, what it may take, and who watches its answer.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use sabir_wire::conversation::Counts;
use sabir_wire::protocol::{AnswerContext, CallArtefacts};
use sabir_wire::{Fault, FaultKind, Protocol};

use crate::admission::Admission;
use crate::config::types::GatewayKey;
use crate::failure::Failure;
use crate::memory::Issuer;
use crate::observe::{Losses, Outcome};
use crate::state::Snapshot;
use crate::tap::{End, Head, Origin, Tap, Taps};
use crate::trace::Trace;

/// A request in flight. Dropping it gives back what it took and records it.
pub(crate) struct InFlight {
    pub(crate) trace: Trace,
    pub(crate) admission: Admission,
    pub(super) taps: Taps,
    /// Whether the taps know how the request ended.
    are_taps_informed: bool,
    /// What the gateway has put between the request and its answer, as an answer of the client's protocol.
    pub(crate) inserted: Option<String>,
}

/// How an answer ended, with what is known of it only then.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    pub(crate) fault: Option<FaultKind>,
    pub(crate) counts: Counts,
    pub(crate) losses: Losses,
}

impl Ended {
    /// An end that nothing more is known of.
    pub(crate) fn plain(outcome: Outcome) -> Self {
        Self { outcome, fault: None, counts: Counts::default(), losses: Losses::default() }
    }

    fn as_end<'a>(&self, losses: &'a Losses) -> End<'a> {
        let Self { outcome, fault, counts, losses: _ } = self;
        let (inserted, compacted) = (None, None);
        End { outcome: *outcome, fault: *fault, counts: *counts, losses, inserted, compacted }
    }
}

impl InFlight {
    pub(crate) fn begin(
        snapshot: &Arc<Snapshot>,
        client: Protocol,
        key: Option<&Arc<GatewayKey>>,
    ) -> Self {
        let trace = Trace::begin(snapshot, client, key);
        let taps = snapshot.shared.taps.make(&Origin { id: trace.id(), client, key });
        let admission = Admission::begin(snapshot);
        Self { trace, admission, taps, are_taps_informed: false, inserted: None }
    }

    /// One more watches the answer.
    pub(crate) fn watch(&mut self, tap: Box<dyn Tap>) {
        self.taps.add(tap);
    }

    /// One more watches the answer, and changes what the others see.
    pub(crate) fn change(&mut self, tap: Box<dyn Tap>) {
        self.taps.add_first(tap);
    }

    /// A provider begins to answer.
    pub(crate) fn begin_answer(&mut self, head: &Head, asked: Option<&AnswerContext<'static>>) {
        if let Some(upstream) = self.trace.upstream() {
            self.taps.begin(head, upstream, asked);
        }
    }

    /// Keeps what the provider sealed with the calls of its answer, before the client can ask again.
    pub(super) fn remember(&self, calls: Vec<CallArtefacts>) {
        let Some(upstream) = self.trace.upstream().filter(|_| !calls.is_empty()) else { return };
        let issuer = Issuer::new(self.trace.key(), &upstream.provider, upstream.protocol);
        self.admission.snapshot().shared.artefacts.remember(&issuer, calls);
    }

    /// The body of an answer that is no stream.
    pub(crate) fn body(&mut self, body: &Bytes) {
        self.taps.body(body);
    }

    /// The request has failed before anything was answered: whoever watches it undoes what it began before the client can
    /// ask again.
    pub(crate) async fn give_up(&mut self, failure: &Failure) {
        if self.taps.holds_end() {
            let outcome = Outcome::Failed(failure.whose);
            let mut ended = Ended { fault: Some(failure.fault.kind), ..Ended::plain(outcome) };
            self.notify_taps(&mut ended);
            // What cannot be undone is no part of the failure.
            let _ = poll_fn(|cx| self.poll_ready(cx)).await;
        }
    }

    /// The request has ended, and nothing holds its end back.
    pub(crate) fn end(&mut self, mut ended: Ended) {
        self.notify_taps(&mut ended);
        self.record(&ended);
    }

    /// Notifies the taps how the answer ended. What it lost is known to all from here on.
    pub(super) fn notify_taps(&mut self, ended: &mut Ended) {
        self.trace.add_losses(std::mem::take(&mut ended.losses));
        if !self.taps.is_empty() && !std::mem::replace(&mut self.are_taps_informed, true) {
            self.taps.end(&End {
                inserted: self.inserted.as_deref(),
                compacted: self.trace.compacted(),
                ..ended.as_end(self.trace.losses())
            });
        }
    }

    /// Records how the answer ended for the client.
    pub(super) fn record(&mut self, ended: &Ended) {
        self.trace.end(&ended.as_end(&Losses::default()));
    }

    /// Whether the end of the answer must wait for [`InFlight::poll_ready`].
    pub(crate) fn holds_end(&self) -> bool {
        self.taps.holds_end()
    }

    /// Whether the end of the answer may leave.
    pub(super) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Fault<'static>>> {
        self.taps.poll_ready(cx)
    }
}
