//! Keeps a call and its answer: reads along until the end, and lets the end leave when all of it is stored.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use sabir_store::{Closing, Kind, Owner, Store, TurnId};
use sabir_wire::json::Text;
use sabir_wire::protocol::{AnswerContext, Event};
use sabir_wire::sse::Frame;
use sabir_wire::{Fault, FaultKind};
use tokio::task::JoinHandle;

use crate::failure::Failure;
use crate::observe::{Outcome, Upstream};
use crate::record::Plan;
use crate::record::closing::{Ended, closing};
use crate::record::received::{Answerer, Received};
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
    received: Received,
    saving: Option<JoinHandle<Result<(), Unsaved>>>,
}

impl Recorder {
    pub(crate) fn new(snapshot: Arc<Snapshot>, store: Store, plan: Plan) -> Self {
        let (is_awaited, received) = (plan.is_awaited, Received::default());
        let plan = Some(Box::new(plan));
        Self { snapshot, store, is_awaited, plan, answerer: None, received, saving: None }
    }

    fn close(&mut self, end: &End<'_>) {
        let Some(plan) = self.plan.take() else { return };
        let is_whole = end.outcome == Outcome::Answered;
        let answer = std::mem::take(&mut self.received).into_answer();
        let (Some(answer), Some(answerer)) = (answer, self.answerer.take()) else {
            self.saving = self.abandon(&plan);
            return;
        };
        if !is_whole && !plan.keeps_broken {
            self.saving = self.abandon(&plan);
            return;
        }
        let losses = end.losses.to_json();
        let ended = Ended { is_whole, answer, answerer, losses };
        let (snapshot, store) = (Arc::clone(&self.snapshot), self.store.clone());
        let (is_awaited, opened) = (self.is_awaited, Opened::of(&plan));
        self.saving = Some(tokio::task::spawn_local(async move {
            // What is kept of a large answer is written on another thread.
            let bytes = ended.bytes();
            let work = move |_: &_| Ok(closing(*plan, ended));
            let saved = match snapshot.shared.pool.run_on(bytes, work).await {
                Ok(Ok(closing)) => close(&store, closing, is_awaited).await.map_err(Unsaved::Store),
                Ok(Err(error)) => Err(Unsaved::Store(error)),
                Err(failure) => Err(Unsaved::Gateway(failure)),
            };
            saved.inspect_err(|_| opened.take_back(&snapshot))
        }));
    }

    /// The turn never was.
    fn abandon(&self, plan: &Plan) -> Option<JoinHandle<Result<(), Unsaved>>> {
        let (opened, snapshot) = (Opened::of(plan), Arc::clone(&self.snapshot));
        let store = self.store.clone();
        tokio::runtime::Handle::try_current().ok()?;
        Some(tokio::task::spawn_local(async move {
            let abandoned = store.abandon_turn(&opened.owner, &opened.turn).await;
            abandoned.map_err(Unsaved::Store).inspect_err(|_| opened.take_back(&snapshot))
        }))
    }
}

/// A turn that stands in the store until it is ended, and holds its conversation.
struct Opened {
    owner: Owner,
    turn: TurnId,
}

impl Opened {
    fn of(plan: &Plan) -> Self {
        Self { owner: plan.opening.owner.clone(), turn: plan.opening.id.clone() }
    }

    /// Ends it as soon as the store can be written.
    fn take_back(self, snapshot: &Snapshot) {
        if let Some(memory) = &snapshot.shared.memory {
            memory.take_back(self.owner, self.turn);
        }
    }
}

/// Closes a turn. One that nobody waits for stands beside its conversation if that has gone on meanwhile.
async fn close(store: &Store, closing: Closing, is_awaited: bool) -> sabir_store::Result<()> {
    if is_awaited || closing.conversation.is_none() {
        return store.close_turn(closing).await;
    }
    let beside = Closing { conversation: None, ..closing.clone() };
    match store.close_turn(closing).await {
        Err(error) if error.kind() == Kind::Conflict => store.close_turn(beside).await,
        closed => closed,
    }
}

impl Tap for Recorder {
    fn begin(&mut self, _head: &Head, upstream: &Upstream, asked: Option<&AnswerContext<'static>>) {
        self.received = Received::default();
        self.answerer = Some(Answerer {
            protocol: upstream.protocol,
            provider: upstream.provider.to_string(),
            model: upstream.model.clone(),
            asked: asked.map(|asked| Box::new(asked.clone())),
        });
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        if let Some(Answerer { protocol, asked: None, .. }) = &self.answerer {
            self.received.frame(*protocol, frame);
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        self.received.body(bytes);
    }

    fn event(&mut self, event: Event<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        self.received.event(event.clone());
        emit(event);
    }

    fn holds_end(&self) -> bool {
        self.is_awaited && (self.plan.is_some() || self.saving.is_some())
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
