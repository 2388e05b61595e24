//! Keeps a call and its answer: reads along until the end, and lets the end leave when all of it is stored.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use sabir_store::{Owner, Store, TurnId};
use sabir_wire::json::Text;
use sabir_wire::protocol::{Asked, Event};
use sabir_wire::sse::Frame;
use sabir_wire::{Fault, FaultKind};
use tokio::task::JoinHandle;

use crate::observe::{Outcome, Upstream};
use crate::record::Plan;
use crate::record::closing::{Ended, closing};
use crate::record::received::{Answerer, Received};
use crate::tap::{End, Head, Tap};

/// Records one call. One that never ends leaves no turn.
pub(crate) struct Recorder {
    store: Store,
    /// Until it is known how the call ended.
    plan: Option<Box<Plan>>,
    answerer: Option<Answerer>,
    received: Received,
    saving: Option<JoinHandle<sabir_store::Result<()>>>,
}

impl Recorder {
    pub(crate) fn new(store: Store, plan: Plan) -> Self {
        let (plan, received) = (Some(Box::new(plan)), Received::default());
        Self { store, plan, answerer: None, received, saving: None }
    }

    fn close(&mut self, end: &End<'_>) {
        let Some(plan) = self.plan.take() else { return };
        let is_whole = end.outcome == Outcome::Answered;
        let answer = std::mem::take(&mut self.received).into_answer();
        let (Some(answer), Some(answerer)) = (answer, self.answerer.take()) else {
            return self.abandon(&plan);
        };
        if !is_whole && !plan.keeps_broken {
            return self.abandon(&plan);
        }
        let losses = end.losses.to_json();
        let ended = Ended { is_whole, answer, answerer, losses };
        let store = self.store.clone();
        self.saving = Some(tokio::task::spawn_local(async move {
            store.close_turn(closing(*plan, ended)?).await
        }));
    }

    /// The turn never was.
    fn abandon(&self, plan: &Plan) {
        let (owner, turn) = (plan.opening.owner.clone(), plan.opening.id.clone());
        abandon(self.store.clone(), owner, turn);
    }
}

/// Takes a turn back, in its own time. If that fails, the turn is found open when its node has gone.
fn abandon(store: Store, owner: Owner, turn: TurnId) {
    if tokio::runtime::Handle::try_current().is_ok() {
        tokio::task::spawn_local(async move {
            let _ = store.abandon_turn(&owner, &turn).await;
        });
    }
}

impl Tap for Recorder {
    fn begin(&mut self, _head: &Head, upstream: &Upstream, asked: Option<&Asked<'static>>) {
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
        self.plan.is_some() || self.saving.is_some()
    }

    fn end(&mut self, end: &End<'_>) {
        self.close(end);
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Fault<'static>>> {
        let Some(saving) = &mut self.saving else { return Poll::Ready(Ok(())) };
        let saved = ready!(Pin::new(saving).poll(cx));
        self.saving = None;
        Poll::Ready(match saved {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(unstored(&error.to_string())),
            Err(_) => Err(unstored("the gateway ends")),
        })
    }
}

/// What a client is facts whose answer could not be kept.
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
