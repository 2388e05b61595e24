//! An answer on its way from a provider to a client: pulled when the client is ready for more, by one loop, to one end.

use std::future::poll_fn;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use sabir_backend::Error;
use sabir_wire::json::Text;
use sabir_wire::{Fault, FaultKind};
use tokio::time::Instant;

use crate::answer::flight::{Ended, InFlight};
use crate::answer::form::Form;
use crate::answer::output::Output;
use crate::answer::{Cut, Feed, failed_at_first, refused, unreadable};
use crate::failure::{Failure, Result, Whose};
use crate::observe::Outcome;
use crate::tap::Head;
use crate::upstream::{Piece, unreached};

/// How long the start of a stream waits for what follows it. Prompts that do not fit are refused well within.
const START_HELD_MAX: Duration = Duration::from_secs(1);

/// An answer. Dropping it ends the provider's work.
#[derive(Debug)]
pub(crate) struct Answering {
    head: Head,
    form: Form,
    /// Absent once the provider has sent all, or nothing more of it is wanted.
    feed: Option<Box<Feed>>,
    /// How it ended, until that is recorded. Boxed, since an open stream has no use for the room.
    ended: Option<Box<Ended>>,
    are_taps_notified: bool,
    progress: Progress,
    /// It broke off, and its form has no error for that.
    is_cut: bool,
}

/// How far an answer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Going,
    /// It has ended; the taps may hold its end back.
    Over,
    /// All of it may leave.
    Released,
    /// The client has all that it gets, and must see that something is missing.
    Cutting,
}

impl Answering {
    pub(super) fn new(head: Head, form: Form, feed: Option<Box<Feed>>) -> Self {
        Self {
            head,
            form,
            feed,
            ended: None,
            are_taps_notified: false,
            progress: Progress::Going,
            is_cut: false,
        }
    }

    /// An answer of which nothing is missing, and what is known of its end.
    pub(super) fn ended(head: Head, form: Form, ended: Ended) -> Self {
        let mut answering = Self::new(head, form, None);
        answering.ended = Some(Box::new(ended));
        answering.progress = Progress::Over;
        answering
    }

    /// An answer that is not looked into.
    pub(super) fn raw(head: Head, feed: Box<Feed>) -> Box<Self> {
        Box::new(Self::new(head, Form::Raw(Output::default()), Some(feed)))
    }

    /// An answer that is all there, and how it ended.
    pub(crate) fn whole(head: Head, body: Bytes, outcome: Outcome) -> Box<Self> {
        Box::new(Self::ended(head, Form::Whole(body.into()), Ended::plain(outcome)))
    }

    /// The provider's head, for the reply. An open stream has no use for it, and it takes as much memory as all the rest.
    pub(crate) fn take_head(&mut self) -> Head {
        Head { status: self.head.status, headers: std::mem::take(&mut self.head.headers) }
    }

    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.form, Form::Whole(_))
    }

    /// Whether the bytes are the provider's own.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self.form, Form::PassThrough(_) | Form::Raw(_))
    }

    /// When the answer must be over, where a provider still writes it.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.feed.as_ref().map(|feed| feed.deadline())
    }

    /// How many bytes there are in all, where all are there.
    pub(crate) fn exact_bytes(&self) -> Option<usize> {
        match &self.form {
            Form::Whole(output) => Some(output.len()),
            Form::PassThrough(_) | Form::Translation(_) | Form::Raw(_) => None,
        }
    }

    /// Waits for the first event. An error in its place, or anything else, is a failure of the attempt; so is more than
    /// `early_bytes_max` before it.
    pub(super) async fn first(
        &mut self,
        flight: &mut InFlight,
        early_bytes_max: usize,
    ) -> Result<()> {
        while self.progress == Progress::Going
            && !self.form.has_begun()
            && self.form.early_bytes() <= early_bytes_max
        {
            let read = poll_fn(|cx| self.poll_read(cx, flight));
            read.await.map_err(unreached)?;
            if self.form.holds_start() {
                // A provider that takes its time has nothing against the request.
                let rest = tokio::time::timeout(START_HELD_MAX, self.behind_start(flight)).await;
                rest.unwrap_or(Ok(()))?;
                self.form.release_start();
            }
        }
        if let Some(fault) = self.form.take_first_fault() {
            return Err(match self.form.is_refused() {
                true => refused(fault),
                false => failed_at_first(fault),
            });
        }
        match self.form.has_begun() || self.form.has_finished() {
            true => Ok(()),
            false => Err(unreadable()),
        }
    }

    /// Reads on until something stands behind the start.
    async fn behind_start(&mut self, flight: &mut InFlight) -> Result<()> {
        while self.progress == Progress::Going && self.form.holds_start() {
            poll_fn(|cx| self.poll_read(cx, flight)).await.map_err(unreached)?;
        }
        Ok(())
    }

    /// The next bytes for the client; ready with none at the end.
    pub(crate) fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        flight: &mut InFlight,
    ) -> Poll<Option<std::result::Result<Bytes, Cut>>> {
        loop {
            if self.progress == Progress::Over {
                ready!(self.poll_release(cx, flight));
            }
            flight.remember(self.form.take_calls());
            if !self.is_held_back(flight)
                && let Some(bytes) = self.form.take_output()
            {
                return Poll::Ready(Some(Ok(bytes)));
            }
            match self.progress {
                Progress::Going if flight.admission.is_out_of_time() => {
                    self.break_off(flight, Whose::Gateway, Failure::shutdown().fault);
                }
                Progress::Going => {
                    if let Err(error) = ready!(self.poll_read(cx, flight)) {
                        self.break_off(flight, Whose::Upstream, fault_of(&error));
                    }
                }
                Progress::Released if self.is_cut => {
                    // What has come so far is sent first: the server drops what it holds as soon as it learns of the cut.
                    self.progress = Progress::Cutting;
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Progress::Cutting => return Poll::Ready(Some(Err(Cut))),
                Progress::Over | Progress::Released => return Poll::Ready(None),
            }
        }
    }

    /// Waits until an answer that is all there may leave: before its head does, so that what goes wrong can be reported by a
    /// status.
    pub(crate) async fn settle(&mut self, flight: &mut InFlight) -> Result<()> {
        if !self.is_whole() || !flight.holds_end() {
            return Ok(());
        }
        self.notify_taps(flight);
        let ready = poll_fn(|cx| flight.poll_ready(cx)).await;
        ready.map_err(|fault| Failure::stating(Whose::Gateway, fault).with_status(503))
    }

    /// All bytes, if they are there and nobody holds them back.
    pub(crate) fn take_all(&mut self, flight: &mut InFlight) -> Option<Bytes> {
        if !self.is_whole() || flight.holds_end() {
            return None;
        }
        self.release(flight);
        Some(self.form.take_output().unwrap_or_default())
    }

    /// The client has left. What the provider has counted so far was used all the same.
    pub(crate) fn abandon(&mut self, flight: &mut InFlight) {
        if self.progress == Progress::Going {
            self.close(Outcome::Cancelled, None);
        }
        self.notify_taps(flight);
        if let Some(ended) = &mut self.ended
            && ended.outcome == Outcome::Answered
        {
            ended.outcome = Outcome::Cancelled;
        }
        self.release(flight);
    }

    /// Reads what the provider has next.
    fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        flight: &mut InFlight,
    ) -> Poll<std::result::Result<(), Error>> {
        if self.form.has_large() {
            let InFlight { admission, taps, .. } = flight;
            let large = self.form.poll_large(cx, (admission.snapshot(), taps));
            if let Err(failure) = ready!(large) {
                self.fail(failure.whose, failure.fault);
            }
            return Poll::Ready(Ok(()));
        }
        let Self { form, feed: Some(feed), .. } = self else {
            self.finish(flight);
            return Poll::Ready(Ok(()));
        };
        if form.is_ending() {
            feed.hasten();
        }
        let mut pushed = Ok(());
        let mut push = |piece: Piece<'_>| {
            if pushed.is_ok() {
                pushed = form.push(piece, &mut flight.taps);
            }
        };
        match ready!(feed.poll(cx, &mut push)) {
            Some(Err(error)) => return Poll::Ready(Err(error)),
            Some(Ok(())) => {
                if let Err(defect) = pushed {
                    self.fail(Whose::Upstream, defect.fault());
                } else if self.form.is_refused() {
                    // Nothing more of it is wanted.
                    self.feed = None;
                }
            }
            // The next poll finishes it, when nothing of it is on another thread.
            None => {
                form.read_last(&mut flight.taps);
                self.feed = None;
            }
        }
        Poll::Ready(Ok(()))
    }

    /// The provider has sent all.
    fn finish(&mut self, flight: &mut InFlight) {
        match self.form.end(&mut flight.taps) {
            Err(defect) => self.fail(Whose::Upstream, defect.fault()),
            Ok(()) => match self.form.fault() {
                Some(kind) => {
                    let is_refused = self.form.is_refused();
                    let whose = if is_refused { Whose::Policy } else { Whose::Upstream };
                    self.close(Outcome::Failed(whose), Some(kind));
                }
                None => self.close(Outcome::Answered, None),
            },
        }
    }

    /// Nothing more comes. What fails behind the end of an answer is not missing from it.
    fn break_off(&mut self, flight: &mut InFlight, whose: Whose, fault: Fault<'static>) {
        match self.form.is_complete() {
            true => self.finish(flight),
            false => self.fail(whose, fault),
        }
    }

    fn fail(&mut self, whose: Whose, fault: Fault<'static>) {
        let kind = fault.kind;
        self.is_cut = !self.form.fail(fault);
        self.close(Outcome::Failed(whose), Some(kind));
    }

    /// The one place that knows how an answer ended.
    fn close(&mut self, outcome: Outcome, fault: Option<FaultKind>) {
        self.feed = None;
        let (counts, losses) = (self.form.counts(), self.form.take_losses());
        self.ended = Some(Box::new(Ended { outcome, fault, counts, losses }));
        self.progress = Progress::Over;
    }

    /// Notifies the taps of the end, once.
    fn notify_taps(&mut self, flight: &mut InFlight) {
        if let Some(ended) = &mut self.ended
            && !std::mem::replace(&mut self.are_taps_notified, true)
        {
            flight.notify_taps(ended);
        }
    }

    /// Whether the end is there and a tap is not ready for it.
    fn is_held_back(&self, flight: &InFlight) -> bool {
        self.progress == Progress::Going && flight.holds_end() && self.form.has_finished()
    }

    /// Waits until the taps let the end leave. What one of them could not do, or not in time, fails the answer.
    fn poll_release(&mut self, cx: &mut Context<'_>, flight: &mut InFlight) -> Poll<()> {
        self.notify_taps(flight);
        let ready = match flight.poll_ready(cx) {
            Poll::Pending if flight.admission.is_out_of_time() => Err(Failure::shutdown().fault),
            polled => ready!(polled),
        };
        // An answer that has failed reports so already.
        let has_failed = self.ended.as_ref().is_some_and(|it| it.outcome != Outcome::Answered);
        if let Err(fault) = ready
            && !has_failed
        {
            if let Some(ended) = &mut self.ended {
                ended.outcome = Outcome::Failed(Whose::Gateway);
                ended.fault = Some(fault.kind);
            }
            self.is_cut = !self.form.replace_end(fault);
        }
        self.release(flight);
        Poll::Ready(())
    }

    /// The end may leave: it is recorded as it is.
    fn release(&mut self, flight: &mut InFlight) {
        self.notify_taps(flight);
        if let Some(ended) = self.ended.take() {
            flight.record(&ended);
        }
        self.progress = Progress::Released;
    }
}

fn fault_of(error: &Error) -> Fault<'static> {
    let kind = match error.kind() {
        sabir_backend::ErrorKind::IdleTimeout => FaultKind::Timeout,
        _ => FaultKind::Truncated,
    };
    Fault::new(kind, Text::plain(error.to_string()))
}
