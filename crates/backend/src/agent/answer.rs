//! The answer of an agent as it comes: pulled, without a task of its own. The work goes on while somebody asks for the next event, and
//! ends when nobody does.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use sabir_wire::FaultKind;
use sabir_wire::protocol::Event;
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

/// Events as they come.
pub struct Answer {
    /// Absent once it is over.
    work: Option<Work>,
    events: Sink,
    has_begun: bool,
    patience: Patience,
    deadline: Instant,
    alarm: Pin<Box<Sleep>>,
}

type Work = Pin<Box<dyn Future<Output = Result<(), Failed>> + Send>>;

/// Where the work puts its events.
#[derive(Clone, Default)]
pub(super) struct Sink(Arc<Mutex<VecDeque<Event<'static>>>>);

impl Sink {
    /// Hands an event on.
    pub(super) fn put(&self, event: Event<'static>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(event);
    }

    /// Waits until all events were taken: the pace is that of whoever takes them.
    pub(super) async fn drained(&self) {
        // Whoever took the last event asks for the next, and so comes back here.
        poll_fn(|_| if self.is_empty() { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    fn take(&self) -> Option<Event<'static>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
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
            has_begun: false,
            patience,
            deadline,
            alarm: Box::pin(tokio::time::sleep_until(first)),
        }
    }

    /// The next event; ready with none at the end.
    pub fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event<'static>>> {
        loop {
            if let Some(event) = self.events.take() {
                self.begin();
                return Poll::Ready(Some(event));
            }
            let Some(work) = &mut self.work else { return Poll::Ready(None) };
            match work.as_mut().poll(cx) {
                Poll::Ready(outcome) => self.end(outcome.err()),
                Poll::Pending if !self.events.is_empty() => {}
                Poll::Pending if self.alarm.as_mut().poll(cx).is_ready() => {
                    self.end(Some(self.late()));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
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

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Answer(is over: {})", self.work.is_none())
    }
}
