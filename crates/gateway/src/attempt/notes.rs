//! What a translation needs to know of its request and leaves behind for it, apart from the request itself: translations of
//! large bodies run on other threads.

use std::borrow::Cow;

use sabir_wire::Report;

use crate::failure::Result;
use crate::observe::Losses;
use crate::pool::Wanted;
use crate::trace::Trace;

/// What one translation notes for the trace of its request.
#[derive(Debug)]
pub(super) struct Notes<'t> {
    id: Cow<'t, str>,
    began_s: u64,
    /// Whether the answer can be asked for again.
    is_kept: bool,
    losses: Losses,
    wanted: Option<&'t Wanted>,
}

/// What is known of a request, for another thread.
#[derive(Clone, Debug)]
pub(super) struct Stamp {
    id: String,
    began_s: u64,
    is_kept: bool,
}

impl Stamp {
    pub(super) fn of(trace: &Trace) -> Self {
        let is_kept = trace.turn().is_some_and(|turn| turn.is_answer_named);
        Self { id: trace.id().to_owned(), began_s: trace.began_s(), is_kept }
    }

    /// Notes of work that ends when nobody wants it any more.
    pub(super) fn notes(self, wanted: &Wanted) -> Notes<'_> {
        let Self { id, began_s, is_kept } = self;
        let (losses, wanted) = (Losses::default(), Some(wanted));
        Notes { id: id.into(), began_s, is_kept, losses, wanted }
    }
}

impl<'t> Notes<'t> {
    pub(super) fn of(trace: &'t Trace) -> Self {
        let (id, began_s) = (trace.id().into(), trace.began_s());
        let is_kept = trace.turn().is_some_and(|turn| turn.is_answer_named);
        Self { id, began_s, is_kept, losses: Losses::default(), wanted: None }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Unix time in seconds.
    pub(super) fn began_s(&self) -> u64 {
        self.began_s
    }

    pub(super) fn is_kept(&self) -> bool {
        self.is_kept
    }

    pub(super) fn add_losses(&mut self, report: Report) {
        self.losses.extend(report.into());
    }

    /// Stands between two steps of long work, which ends here if nobody waits for it.
    pub(super) fn check(&self) -> Result<()> {
        self.wanted.map_or(Ok(()), Wanted::check)
    }

    pub(super) fn into_losses(self) -> Losses {
        self.losses
    }
}
