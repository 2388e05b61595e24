//! Frames of a stream that take long to read: they go to other threads together with whatever reads them, and all that follows
//! waits behind them.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use sabir_wire::sse::Frame;

use crate::failure::Result;
use crate::pool::{LARGE_BYTES, Wanted};
use crate::state::Snapshot;
use crate::tap::Taps;

/// A large frame and those that came with it, waiting or under way, and what comes back from another thread.
#[derive(Debug)]
pub(super) struct LargeFrames<T> {
    /// A large one first.
    waiting: Vec<OwnedFrame>,
    job: Option<Job<T>>,
}

#[derive(Debug)]
pub(super) struct OwnedFrame {
    event: Option<Box<str>>,
    data: Box<str>,
}

/// Work on another thread. Dropping it takes the work back.
struct Job<T>(Pin<Box<dyn Future<Output = Result<T>> + Send>>);

impl<T> Default for LargeFrames<T> {
    fn default() -> Self {
        Self { waiting: Vec::new(), job: None }
    }
}

impl<T: Send + 'static> LargeFrames<T> {
    /// Takes a frame that is large or stands behind a large one. Taps that change events are on this thread alone.
    pub(super) fn takes(&mut self, frame: &Frame<'_>, taps: &Taps) -> bool {
        let is_taken =
            !taps.changes_events() && (frame.data.len() >= LARGE_BYTES || !self.waiting.is_empty());
        if is_taken {
            self.take(frame);
        }
        is_taken
    }

    /// Takes a frame, whatever its length.
    pub(super) fn take(&mut self, frame: &Frame<'_>) {
        self.waiting.push(OwnedFrame::of(frame));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.job.is_none()
    }

    /// Begins to read what waits, unless that is under way, by the work that is handed over for it.
    pub(super) fn begin<W>(&mut self, snapshot: &Arc<Snapshot>, leave: impl FnOnce() -> W)
    where
        W: FnOnce(Vec<OwnedFrame>, &Wanted) -> Result<T> + Send + 'static,
    {
        if self.job.is_some() {
            return;
        }
        let (frames, read) = (std::mem::take(&mut self.waiting), leave());
        let snapshot = Arc::clone(snapshot);
        let work = move |wanted: &Wanted| read(frames, wanted);
        self.job = Some(Job(Box::pin(async move { snapshot.shared.pool.run(work).await })));
    }

    /// Waits for what is under way.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<T>> {
        let Some(Job(job)) = &mut self.job else { return Poll::Pending };
        let read = std::task::ready!(job.as_mut().poll(cx));
        self.job = None;
        Poll::Ready(read)
    }
}

impl OwnedFrame {
    fn of(frame: &Frame<'_>) -> Self {
        Self { event: frame.event.map(Box::from), data: frame.data.into() }
    }

    pub(super) fn lend(&self) -> Frame<'_> {
        Frame { event: self.event.as_deref(), data: &self.data }
    }
}

impl<T> fmt::Debug for Job<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Job(…)")
    }
}
