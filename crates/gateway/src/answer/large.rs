//! Frames of a stream that take long to translate: they go to other threads together with the decoder and the encoder, and
//! whatever follows waits behind them.

use std::cell::RefCell;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use sabir_wire::protocol::{Event, StreamDecoder};
use sabir_wire::sse::Frame;

use crate::answer::frames::Defect;
use crate::answer::translation::{Writing, step};
use crate::failure::Result;
use crate::pool::{LARGE_BYTES, Wanted};
use crate::state::Snapshot;
use crate::tap::{Tap, Taps};

/// A large frame and those that came with it, waiting or under way.
#[derive(Debug, Default)]
pub(super) struct LargeFrames {
    /// A large one first.
    waiting: Vec<OwnedFrame>,
    job: Option<Job>,
}

/// What comes back from another thread.
#[derive(Debug)]
pub(super) struct Translated {
    pub(super) decoder: Option<StreamDecoder>,
    pub(super) writing: Writing,
    pub(super) read: std::result::Result<(), Defect>,
    /// What the taps have not seen yet.
    pub(super) unseen: Unseen,
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

#[derive(Debug)]
struct OwnedFrame {
    event: Option<Box<str>>,
    data: Box<str>,
}

/// Work on another thread. Dropping it takes the work back.
struct Job(Pin<Box<dyn Future<Output = Result<Translated>> + Send>>);

impl LargeFrames {
    /// Takes a frame that is large or stands behind a large one. Taps are on this thread: they see what comes of it when it
    /// is back, and what they change is not taken.
    pub(super) fn takes(&mut self, frame: &Frame<'_>, taps: &Taps) -> bool {
        let is_taken =
            !taps.changes_events() && (frame.data.len() >= LARGE_BYTES || !self.waiting.is_empty());
        if is_taken {
            self.waiting.push(OwnedFrame::of(frame));
        }
        is_taken
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.job.is_none()
    }

    /// Begins to translate what waits, unless that is under way, with the machines that are handed over for it.
    pub(super) fn begin(
        &mut self,
        snapshot: &Arc<Snapshot>,
        is_watched: bool,
        leave: impl FnOnce() -> (Option<StreamDecoder>, Writing),
    ) {
        if self.job.is_some() {
            return;
        }
        let frames = std::mem::take(&mut self.waiting);
        let (decoder, writing) = leave();
        let snapshot = Arc::clone(snapshot);
        let work =
            move |wanted: &Wanted| translate(frames, (decoder, writing), (is_watched, wanted));
        self.job = Some(Job(Box::pin(async move { snapshot.shared.pool.run(work).await })));
    }

    /// Waits for what is under way.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Translated>> {
        let Some(Job(job)) = &mut self.job else { return Poll::Pending };
        let translated = std::task::ready!(job.as_mut().poll(cx));
        self.job = None;
        Poll::Ready(translated)
    }
}

/// Translates frames in their order, for as long as somebody waits for them.
fn translate(
    frames: Vec<OwnedFrame>,
    (mut decoder, mut writing): (Option<StreamDecoder>, Writing),
    (is_watched, wanted): (bool, &Wanted),
) -> Result<Translated> {
    let mut read = Ok(());
    let events = Rc::default();
    let mut taps = Taps::default();
    if is_watched {
        taps.add(Box::new(Notebook(Rc::clone(&events))));
    }
    for frame in &frames {
        wanted.check()?;
        let stepped = step(&mut decoder, &frame.lend(), (&mut writing, &mut taps));
        if stepped.is_err() {
            read = Err(Defect::Unreadable);
            break;
        }
    }
    let frames = if is_watched { frames } else { Vec::new() };
    let unseen = Unseen { frames, events: events.take() };
    Ok(Translated { decoder, writing, read, unseen })
}

impl OwnedFrame {
    fn of(frame: &Frame<'_>) -> Self {
        Self { event: frame.event.map(Box::from), data: frame.data.into() }
    }

    fn lend(&self) -> Frame<'_> {
        Frame { event: self.event.as_deref(), data: &self.data }
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Job(…)")
    }
}
