//! Keeps a call and its answer: reads along until the end, and lets the end leave when all of it is stored.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use sabir_store::{Begun, NewJob, Owner, Store, TurnId};
use sabir_wire::json::Text;
use sabir_wire::protocol::{AnswerContext, Event};
use sabir_wire::sse::Frame;
use sabir_wire::{Fault, FaultKind, Protocol};
use tokio::task::JoinHandle;

use crate::failure::Failure;
use crate::memory::Saving;
use crate::observe::{Outcome, Upstream};
use crate::pool::LARGE_BYTES;
use crate::record::Plan;
use crate::record::closing::{Ended, Left, left};
use crate::record::received::{Answerer, Received, ReceivedAnswer};
use crate::state::Snapshot;
use crate::tap::{End, Head, Tap};

/// Records one call. One that never ends leaves no turn.
pub(crate) struct Recorder {
    snapshot: Arc<Snapshot>,
    store: Store,
    is_awaited: bool,
    /// Until it is known how the call ended.
    plan: Option<Box<Plan>>,
    answerer: Option<Answerer>,
    reading: Reading,
    saving: Option<JoinHandle<Result<(), Unsaved>>>,
}

impl Recorder {
    pub(crate) fn new(snapshot: Arc<Snapshot>, store: Store, plan: Box<Plan>) -> Self {
        let (is_awaited, reading) = (plan.is_awaited, Reading::default());
        let plan = Some(plan);
        Self { snapshot, store, is_awaited, plan, answerer: None, reading, saving: None }
    }

    fn close(&mut self, end: &End<'_>) {
        let Some(plan) = self.plan.take() else { return };
        let is_whole = end.outcome == Outcome::Answered;
        // A provider that works on an answer while nobody waits goes on without its client.
        let goes_on = |it: &Answerer| plan.job.is_some() && it.asked.is_none();
        let answerer = self.answerer.take();
        let answerer = answerer.filter(|it| is_whole || plan.keeps_broken || goes_on(it));
        let Some(answerer) = answerer else {
            self.saving = self.abandon(&plan);
            return;
        };
        let (losses, reading) = (end.losses.clone(), std::mem::take(&mut self.reading));
        let inserted = end.inserted.map(str::to_owned);
        let compacted = end.compacted.map(str::to_owned);
        let (snapshot, store) = (Arc::clone(&self.snapshot), self.store.clone());
        let (opened, is_awaited, end) = (Opened::of(&plan), self.is_awaited, plan.end);
        let saving = self.underway(&plan);
        self.saving = Some(tokio::task::spawn_local(async move {
            // What is kept of a large answer is written on another thread.
            let bytes = reading.bytes();
            let work = move |_: &_| {
                let written = reading.take_written();
                let ended = |answer| Ended {
                    is_whole,
                    answer,
                    written,
                    answerer,
                    losses,
                    inserted,
                    compacted,
                };
                Ok(reading.into_answer().map(|answer| left(*plan, ended(answer))).transpose())
            };
            let saved = match snapshot.shared.pool.run_on(bytes, work).await {
                Ok(Ok(Some(Left::Turn(closing)))) => {
                    let closed = match is_awaited {
                        true => store.close_turn(closing).await,
                        false => store.close_turn_late(closing).await,
                    };
                    if let (Ok(()), Some((mark, epoch)), Some(memory)) =
                        (&closed, end, &snapshot.shared.memory)
                    {
                        memory.readings().keep(mark, epoch);
                    }
                    closed.map_err(Unsaved::Store)
                }
                Ok(Ok(Some(Left::Job(job)))) => {
                    Box::pin(pass_on(&store, job)).await.map_err(Unsaved::Store)
                }
                Ok(Ok(None)) => opened.abandon(&store).await,
                Ok(Err(error)) => Err(Unsaved::Store(error)),
                Err(failure) => Err(Unsaved::Gateway(failure)),
            };
            drop(saving);
            saved.inspect_err(|_| opened.take_back(&snapshot))
        }));
    }

    /// Those who go on from a turn that is not awaited wait for it themselves.
    fn underway(&self, plan: &Plan) -> Option<Saving> {
        let memory = self.snapshot.shared.memory.as_ref().filter(|_| !self.is_awaited)?;
        Some(memory.underway().begin(plan.opening.owner.clone(), plan.input.end.meaning?))
    }

    /// The turn never was.
    fn abandon(&self, plan: &Plan) -> Option<JoinHandle<Result<(), Unsaved>>> {
        let (opened, snapshot) = (Opened::of(plan), Arc::clone(&self.snapshot));
        let store = self.store.clone();
        tokio::runtime::Handle::try_current().ok()?;
        Some(tokio::task::spawn_local(async move {
            opened.abandon(&store).await.inspect_err(|_| opened.take_back(&snapshot))
        }))
    }
}

/// What reads along, on whichever thread the answer is read.
#[derive(Clone, Default)]
struct Reading {
    /// The protocol of an answer whose bytes pass.
    passes: Option<Protocol>,
    received: Arc<Mutex<Received>>,
}

impl Reading {
    fn received(&self) -> MutexGuard<'_, Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// About how much there is to read: much, if another thread is at it.
    fn bytes(&self) -> usize {
        self.received.try_lock().map_or(LARGE_BYTES, |received| received.bytes())
    }

    fn take_written(&self) -> Option<Bytes> {
        self.received().take_written()
    }

    fn into_answer(self) -> Option<ReceivedAnswer> {
        std::mem::take(&mut *self.received()).into_answer()
    }
}

impl Tap for Reading {
    fn frame(&mut self, frame: &Frame<'_>) {
        if let Some(protocol) = self.passes {
            self.received().frame(protocol, frame);
        }
    }

    fn event(&mut self, event: Event<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        self.received().event(event.clone());
        emit(event);
    }
}

/// A turn that stands in the store until it is ended, and holds its conversation.
struct Opened {
    owner: Owner,
    turn: TurnId,
    begun: Option<Begun>,
}

impl Opened {
    fn of(plan: &Plan) -> Self {
        let (owner, turn) = (plan.opening.owner.clone(), plan.opening.id.clone());
        Self { owner, turn, begun: plan.begun.clone() }
    }

    /// The turn never was.
    async fn abandon(&self, store: &Store) -> Result<(), Unsaved> {
        let abandoned = store.abandon_turn(&self.owner, &self.turn, self.begun.as_ref()).await;
        abandoned.map_err(Unsaved::Store)
    }

    /// Ends it as soon as the store can be written.
    fn take_back(&self, snapshot: &Snapshot) {
        if let Some(memory) = &snapshot.shared.memory {
            memory.take_back(self.owner.clone(), self.turn.clone(), self.begun.clone());
        }
    }
}

/// Remembers whose an answer is that is not there yet; there is no turn without it.
async fn pass_on(store: &Store, job: NewJob) -> sabir_store::Result<()> {
    let (owner, turn) = (job.owner.clone(), job.turn.clone());
    store.add_job(job).await?;
    store.abandon_turn(&owner, &turn, None).await
}

impl Tap for Recorder {
    fn begin(&mut self, _head: &Head, upstream: &Upstream, asked: Option<&AnswerContext<'static>>) {
        let passes = asked.is_none().then_some(upstream.protocol);
        self.reading = Reading { passes, received: Arc::default() };
        self.answerer = Some(Answerer {
            protocol: upstream.protocol,
            provider: upstream.provider.to_string(),
            model: upstream.model.clone(),
            is_agent: upstream.is_agent,
            asked: asked.map(|asked| Box::new(asked.clone())),
        });
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        self.reading.frame(frame);
    }

    fn body(&mut self, body: &Bytes) {
        self.reading.received().body(body);
    }

    fn written(&mut self, body: &Bytes) {
        self.reading.received().written(body);
    }

    fn event(&mut self, event: Event<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        self.reading.event(event, emit);
    }

    fn stand_in(&self) -> Option<Box<dyn Tap + Send>> {
        Some(Box::new(self.reading.clone()))
    }

    fn holds_end(&self) -> bool {
        // The end of a call that is not awaited leaves as soon as those who go on from it know of the turn.
        self.plan.is_some() || self.is_awaited && self.saving.is_some()
    }

    fn end(&mut self, end: &End<'_>) {
        self.close(end);
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Fault<'static>>> {
        let saving = self.saving.as_mut().filter(|_| self.is_awaited);
        let Some(saving) = saving else { return Poll::Ready(Ok(())) };
        let saved = ready!(Pin::new(saving).poll(cx));
        self.saving = None;
        Poll::Ready(match saved {
            Ok(Ok(())) => Ok(()),
            Ok(Err(Unsaved::Store(error))) => Err(unstored(&error.to_string())),
            Ok(Err(Unsaved::Gateway(failure))) => Err(unstored(&failure.fault.message.to_str())),
            Err(_) => Err(unstored("the gateway ends")),
        })
    }
}

/// Why an answer is not kept.
enum Unsaved {
    Store(sabir_store::Error),
    Gateway(Box<Failure>),
}

/// The fault of an answer that could not be kept.
fn unstored(why: &str) -> Fault<'static> {
    let message = format!("the answer could not be stored: {why}");
    let mut fault = Fault::new(FaultKind::Overloaded, Text::plain(message));
    fault.code = Some(Text::literal("storage_error"));
    fault
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if let Some(plan) = self.plan.take() {
            self.abandon(&plan);
        }
    }
}
