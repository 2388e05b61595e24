//! What a translation needs to know of its request and leaves behind for it, apart from the request itself: translations of
//! large bodies run on other threads.

use std::borrow::Cow;
use std::sync::Arc;

use sabir_wire::Report;

use crate::config::types::GatewayKey;
use crate::failure::Result;
use crate::memory::Lacking;
use crate::observe::Losses;
use crate::pool::Wanted;
use crate::trace::Trace;

/// What one translation notes for the trace of its request.
#[derive(Debug)]
pub(super) struct Notes<'t> {
    id: Cow<'t, str>,
    began_s: u64,
    kept: Kept,
    key: Option<Arc<GatewayKey>>,
    losses: Losses,
    lacking: Option<Lacking>,
    wanted: Option<&'t Wanted>,
}

/// What is known of a request, for another thread.
#[derive(Clone, Debug)]
pub(super) struct Stamp {
    id: String,
    began_s: u64,
    kept: Kept,
    key: Option<Arc<GatewayKey>>,
}

/// What is kept of the answer.
#[derive(Clone, Debug, Default)]
struct Kept {
    /// Whether it can be asked for again.
    is_named: bool,
    /// The conversation that the client asked it for.
    conversation: Option<String>,
}

impl Kept {
    fn of(trace: &Trace) -> Self {
        let Some(turn) = trace.turn() else { return Self::default() };
        Self { is_named: turn.is_answer_named, conversation: turn.conversation.clone() }
    }
}

impl Stamp {
    pub(super) fn of(trace: &Trace) -> Self {
        let (id, key) = (trace.id().to_owned(), trace.key().cloned());
        Self { id, began_s: trace.began_s(), kept: Kept::of(trace), key }
    }

    /// Notes of work that ends when nobody wants it any more.
    pub(super) fn notes(self, wanted: &Wanted) -> Notes<'_> {
        let Self { id, began_s, kept, key } = self;
        let (losses, wanted) = (Losses::default(), Some(wanted));
        Notes { id: id.into(), began_s, kept, key, losses, lacking: None, wanted }
    }
}

impl<'t> Notes<'t> {
    pub(super) fn of(trace: &'t Trace) -> Self {
        let (id, began_s) = (trace.id().into(), trace.began_s());
        let (kept, key) = (Kept::of(trace), trace.key().cloned());
        Self { id, began_s, kept, key, losses: Losses::default(), lacking: None, wanted: None }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Unix time in seconds.
    pub(super) fn began_s(&self) -> u64 {
        self.began_s
    }

    /// Whether the answer can be asked for again.
    pub(super) fn is_kept(&self) -> bool {
        self.kept.is_named
    }

    /// The conversation that the client asked the answer for.
    pub(super) fn conversation(&self) -> Option<&str> {
        self.kept.conversation.as_deref()
    }

    /// The gateway key that the client sent.
    pub(super) fn key(&self) -> Option<&Arc<GatewayKey>> {
        self.key.as_ref()
    }

    pub(super) fn add_losses(&mut self, report: Report) {
        self.losses.extend(report.into());
    }

    /// Stands between two steps of long work, which ends here if nobody waits for it.
    pub(super) fn check(&self) -> Result<()> {
        self.wanted.map_or(Ok(()), Wanted::check)
    }

    /// The store may have something for the request.
    pub(super) fn lack(&mut self, lacking: Lacking) {
        self.lacking = Some(lacking);
    }

    pub(super) fn into_losses(self) -> Losses {
        self.losses
    }

    /// The same with what the store may have for the request.
    pub(super) fn into_parts(self) -> (Losses, Option<Lacking>) {
        (self.losses, self.lacking)
    }
}
