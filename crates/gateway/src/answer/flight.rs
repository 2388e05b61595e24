//! What goes with a request from its arrival to its end: the facts about it, what it may take, and who watches its answer.

use std::sync::Arc;
use std::task::{Context, Poll};

use sabir_wire::conversation::Counts;
use sabir_wire::{Fault, FaultKind, Protocol};

use crate::admission::Admission;
use crate::config::types::GatewayKey;
use crate::observe::{Losses, Outcome};
use crate::state::Snapshot;
use crate::tap::{End, Head, Origin, Tap as _, Taps};
use crate::trace::Trace;

/// A request in flight. Dropping it gives back what it took and records it.
pub(crate) struct InFlight {
    pub(crate) trace: Trace,
    pub(crate) admission: Admission,
    pub(super) taps: Taps,
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
        End { outcome: self.outcome, fault: self.fault, counts: self.counts, losses }
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
        Self { trace, admission: Admission::begin(snapshot), taps }
    }

    /// A provider begins to answer.
    pub(crate) fn begin_answer(&mut self, head: &Head) {
        if let Some(upstream) = self.trace.upstream() {
            self.taps.begin(head, upstream);
        }
    }

    /// The body of an answer that is no stream.
    pub(crate) fn body(&mut self, body: &[u8]) {
        self.taps.body(body);
    }

    /// The request has ended, and nothing holds its end back.
    pub(crate) fn end(&mut self, mut ended: Ended) {
        self.notify_taps(&mut ended);
        self.record(&ended);
    }

    /// Tells the taps how the answer ended. What it lost is known to all from here on.
    pub(super) fn notify_taps(&mut self, ended: &mut Ended) {
        self.trace.add_losses(std::mem::take(&mut ended.losses));
        if !self.taps.is_empty() {
            self.taps.end(&ended.as_end(self.trace.losses()));
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
