//! The answer of an agent as it comes: pulled, without a task of its own. The work goes on while somebody asks for the next event, and
//! ends when nobody does.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use sabir_wire::FaultKind;
use sabir_wire::protocol::{Delta, Event};
use tokio::time::{Instant, Sleep};

use super::faults::{Failed, fault};

/// How long an answer may take.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Until its first event.
    pub first_event: Duration,
    /// In all.
    pub deadline: Duration,
}

/// How much is handed on at once, about, in bytes: whoever takes it has others to see to.
const BATCH_BYTES: usize = 64 * 1024;

/// What an event counts beside its text.
const EVENT_BYTES: usize = 256;

/// Events as they come.
pub struct Answer {
    /// Absent once it is over.
    work: Option<Work>,
    events: Sink,
    /// Room for those that are being handed on.
    taken: Vec<Event<'static>>,
    has_begun: bool,
    patience: Patience,
    deadline: Instant,
    alarm: Pin<Box<Sleep>>,
}

type Work = Pin<Box<dyn Future<Output = Result<(), Failed>> + Send>>;

/// Where the work puts its events.
#[derive(Clone, Default)]
pub(super) struct Sink(Arc<Mutex<Shelf>>);

#[derive(Default)]
struct Shelf {
    events: Vec<Event<'static>>,
    /// Whether there was ever one.
    has_begun: bool,
}

impl Sink {
    /// Hands an event on.
    pub(super) fn put(&self, event: Event<'static>) {
        let mut shelf = self.shelf();
        shelf.has_begun = true;
        shelf.events.push(event);
    }

    /// Whether anything was handed on.
    pub(super) fn has_begun(&self) -> bool {
        self.shelf().has_begun
    }

    /// Waits until all events were taken: the pace is that of whoever takes them.
    pub(super) async fn drained(&self) {
        // Whoever took the last event asks for the next, and so comes back here.
        poll_fn(|_| if self.is_empty() { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    /// Puts all that was handed on into an empty list.
    fn take(&self, into: &mut Vec<Event<'static>>) {
        std::mem::swap(&mut self.shelf().events, into);
    }

    fn is_empty(&self) -> bool {
        self.shelf().events.is_empty()
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answer {
    /// The answer that some work puts into a sink. What the work fails with is the last event.
    pub(super) fn new<W>(patience: Patience, work: impl FnOnce(Sink) -> W) -> Self
    where
        W: Future<Output = Result<(), Failed>> + Send + 'static,
    {
        let events = Sink::default();
        let now = Instant::now();
        let deadline = now + patience.deadline;
        let first = (now + patience.first_event).min(deadline);
        Self {
            work: Some(Box::pin(work(events.clone()))),
            events,
            taken: Vec::new(),
            has_begun: false,
            patience,
            deadline,
            alarm: Box::pin(tokio::time::sleep_until(first)),
        }
    }

    /// Hands on the events that are there; ready with none at the end.
    pub fn poll_events(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(Event<'static>),
    ) -> Poll<Option<()>> {
        let mut bytes = 0;
        loop {
            bytes += self.hand_on(take);
            if bytes >= BATCH_BYTES {
                return Poll::Ready(Some(()));
            }
            let Some(work) = &mut self.work else {
                return Poll::Ready((bytes > 0).then_some(()));
            };
            match work.as_mut().poll(cx) {
                Poll::Ready(outcome) => self.end(outcome.err()),
                Poll::Pending if !self.events.is_empty() => {}
                Poll::Pending if bytes > 0 => return Poll::Ready(Some(())),
                Poll::Pending if self.alarm.as_mut().poll(cx).is_ready() => {
                    self.end(Some(self.late()));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Hands on what was put, and says how much that was.
    fn hand_on(&mut self, take: &mut dyn FnMut(Event<'static>)) -> usize {
        self.events.take(&mut self.taken);
        if !self.taken.is_empty() {
            self.begin();
        }
        let bytes = self.taken.iter().map(bytes_of).sum();
        self.taken.drain(..).for_each(take);
        bytes
    }

    fn begin(&mut self) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.alarm.as_mut().reset(self.deadline);
        }
    }

    /// Nothing more is done for it: its process goes.
    fn end(&mut self, fault: Option<Failed>) {
        self.work = None;
        if let Some(fault) = fault {
            self.events.put(Event::Fault(*fault));
        }
    }

    fn late(&self) -> Failed {
        let message = match self.has_begun {
            true => format!("the agent was not ready within {:?}", self.patience.deadline),
            false => format!("the agent said nothing within {:?}", self.patience.first_event),
        };
        fault(FaultKind::Timeout, message)
    }
}

fn bytes_of(event: &Event<'_>) -> usize {
    let text = match event {
        Event::Delta(_, Delta::Text(text)) => text.len_hint(),
        _ => 0,
    };
    EVENT_BYTES + text
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Answer(is over: {})", self.work.is_none())
    }
}
