//! Frames of a stream that take long to read: they go to other threads together with whatever reads them, and all that follows
//! waits behind them.

use std::cell::RefCell;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use sabir_wire::protocol::Event;
use sabir_wire::sse::Frame;

use crate::failure::Result;
use crate::pool::{LARGE_BYTES, Wanted};
use crate::state::Snapshot;
use crate::tap::{Tap, Taps};

/// A large frame and those that came with it, waiting or under way, and what comes back from another thread.
#[derive(Debug)]
pub(super) struct LargeFrames<T> {
    /// A large one first.
    waiting: Vec<OwnedFrame>,
    job: Option<Job<T>>,
}

/// Frames and events that came of large ones, for the taps of an answer.
#[derive(Debug, Default)]
pub(super) struct Unseen {
    frames: Vec<OwnedFrame>,
    events: Vec<Event<'static>>,
}

impl Unseen {
    pub(super) fn show(self, taps: &mut Taps) {
        self.frames.iter().for_each(|frame| taps.frame(&frame.lend()));
        self.events.into_iter().for_each(|event| taps.event(event, &mut |_| {}));
    }
}

/// Notes events on another thread.
struct Notebook(Rc<RefCell<Vec<Event<'static>>>>);

impl Tap for Notebook {
    fn event(&mut self, event: Event<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        self.0.borrow_mut().push(event.clone().into_owned());
        emit(event);
    }
}

/// Notes what the taps of an answer are to see, on another thread.
pub(super) struct Notes {
    events: Rc<RefCell<Vec<Event<'static>>>>,
    is_watched: bool,
}

impl Notes {
    /// Notes of nothing, unless somebody watches.
    pub(super) fn new(is_watched: bool) -> Self {
        Self { events: Rc::default(), is_watched }
    }

    /// What stands for the taps meanwhile.
    pub(super) fn taps(&self) -> Taps {
        let mut taps = Taps::default();
        if self.is_watched {
            taps.add(Box::new(Notebook(Rc::clone(&self.events))));
        }
        taps
    }

    pub(super) fn unseen(self, frames: Vec<OwnedFrame>) -> Unseen {
        let frames = if self.is_watched { frames } else { Vec::new() };
        Unseen { frames, events: self.events.take() }
    }
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
    /// Takes a frame that is large or stands behind a large one. Taps are on this thread: what they change is not taken, and
    /// the rest they see when it is back.
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
