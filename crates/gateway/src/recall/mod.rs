//! What a call goes on from: an answer, a thread or a conversation that the gateway keeps is put before its messages, and a
//! turn is opened for what it adds.

mod base;
mod body;
mod history;
mod read;
mod reference;
mod session;
mod settings;
mod submission;
mod wish;

pub(crate) use base::{found, title};
pub(crate) use history::recollect;
pub(crate) use reference::{Resolved, resolve as resolve_references, text_of as item_text};
pub(crate) use settings::settings_in;
pub(crate) use submission::{Submission, submission};

use std::sync::Arc;

use sabir_store::{Advance, ExchangeId, Hash, Name, Opening, Owner, Store, TurnId};
use sabir_wire::{FaultKind, Protocol};

use crate::answer::InFlight;
use crate::call::{Action, Call, Link};
use crate::config::types::{GatewayKey, Level};
use crate::failure::{Failure, Result, Whose};
use crate::memory::Memory;
use crate::pool::Pool;
use crate::recall::base::Base;
use crate::recall::body::Known;
use crate::recall::read::{Continued, Read};
use crate::recall::wish::Wish;
use crate::recalled::{KeptBy, Missing, Recalled, Settings};
use crate::record::{Lines, Plan, Recorder, record};
use crate::state::Snapshot;
use crate::surface::Trouble;
use crate::trace::TurnNames;
use crate::{ingress, surface};

/// Whoever asks, and what for.
#[derive(Clone, Copy)]
pub(crate) struct Asker<'c> {
    pub(crate) call: &'c Call<'c>,
    pub(crate) action: Action,
    pub(crate) key: Option<&'c Arc<GatewayKey>>,
    /// The turn whose calls it answers, which is done once.
    pub(crate) submits_to: Option<&'c TurnId>,
}

/// What was recalled for a call; none where it asks for nothing that is kept. Where its answer is to be kept, somebody
/// watches it from here on.
pub(crate) async fn recall(
    snapshot: &Snapshot,
    asker: Asker<'_>,
    flight: &mut InFlight,
) -> Result<Option<Arc<Recalled>>> {
    let memory = snapshot.shared.memory.as_ref();
    let Some(wish) = Wish::of(asker.call)? else {
        if let Some(memory) = memory.filter(|memory| memory.level() == Level::Full)
            && asker.action == Action::Generate
        {
            let task = Task::begin(snapshot, memory, asker, flight.trace.id());
            Box::pin(task.follow(flight)).await;
        }
        return Ok(None);
    };
    let Some(memory) = memory.filter(|memory| memory.level() >= Level::Stateful) else {
        return unkept(asker.call.client, &wish);
    };
    let task = Task::begin(snapshot, memory, asker, flight.trace.id());
    // Boxed, since calls without state are most of all.
    Box::pin(task.run(wish, flight)).await
}

/// Nothing is kept. A provider of the client's protocol may keep what the call names.
fn unkept(client: Protocol, wish: &Wish) -> Result<Option<Arc<Recalled>>> {
    match (&wish.header, &wish.asked.link) {
        (Some(_), _) => Err(trouble(client, &Trouble::Unkept)),
        (None, Link::Answer(id)) => {
            Ok(Some(Arc::new(Recalled::without(client, Missing::Answer(id.clone())))))
        }
        (None, _) => Ok(None),
    }
}

/// Says in the client's protocol why a conversation cannot go on.
pub(crate) fn trouble(client: Protocol, trouble: &Trouble<'_>) -> Box<Failure> {
    Failure::stating(Whose::Client, (surface::of(client).state.explain)(trouble))
}

/// The store does not do what it should.
pub(crate) fn out_of_order(error: &sabir_store::Error) -> Box<Failure> {
    let message = format!("the conversation store is not available: {error}");
    let failure = Failure::new(Whose::Gateway, FaultKind::Overloaded, message);
    failure.with_status(503).with_code("storage_error")
}

/// One call and what it is to be remembered by.
struct Task<'c> {
    asker: Asker<'c>,
    pool: &'c Pool,
    memory: &'c Memory,
    store: Store,
    owner: Owner,
    turn: String,
    exchange: String,
}

impl<'c> Task<'c> {
    fn begin(snapshot: &'c Snapshot, memory: &'c Memory, asker: Asker<'c>, exchange: &str) -> Self {
        let turn = format!("turn_{}", exchange.trim_start_matches("ex_"));
        let (store, owner) = (memory.store().clone(), memory.owner(asker.key));
        let pool = &snapshot.shared.pool;
        Self { asker, pool, memory, store, owner, turn, exchange: exchange.to_owned() }
    }

    fn client(&self) -> Protocol {
        self.asker.call.client
    }

    fn turn_id(&self) -> Result<TurnId> {
        TurnId::new(&*self.turn).map_err(|error| out_of_order(&error))
    }

    async fn run(self, wish: Wish, flight: &mut InFlight) -> Result<Option<Arc<Recalled>>> {
        let remembered = match self.base(&wish).await {
            Ok(base) => self.continue_from(&wish, base, flight).await,
            Err(failure) => Err(failure),
        };
        if remembered.is_err() && self.asker.action == Action::Generate {
            // Whatever the turn holds by now is free again.
            let turn = self.turn_id()?;
            if self.store.release(&self.owner, &turn).await.is_err() {
                self.memory.take_back(self.owner.clone(), turn);
            }
        }
        remembered
    }

    async fn continue_from(
        &self,
        wish: &Wish,
        base: Base,
        flight: &mut InFlight,
    ) -> Result<Option<Arc<Recalled>>> {
        let call = self.asker.call;
        let body = match self.resolved_body(wish).await? {
            Resolved::Body(body) => body,
            Resolved::Without(id) if base.is_fresh() => {
                let recalled = Recalled::without(self.client(), Missing::Item(id));
                return Ok(Some(Arc::new(recalled)));
            }
            Resolved::Without(id) => {
                return Err(trouble(self.client(), &Trouble::UnknownItem(&id)));
            }
        };
        ingress::check_density(&call.survey)?;
        let client = self.client();
        let continued = Continued {
            end: base.end,
            settings: base.settings.clone(),
            may_repeat: wish.header.is_some(),
        };
        let work = move |_: &_| {
            let read = read::read(client, &body, continued);
            Ok((body, read))
        };
        let (body, read) = self.pool.run_on(call.body.len(), work).await?;
        let read = match read {
            Ok(read) => read,
            // What cannot be read is for the provider to refuse, who gets it as it is.
            Err(_) if base.is_fresh() && body == call.survey.source() => return Ok(None),
            Err(failure) => return Err(failure),
        };
        let stretches = history::stretches(&self.store, &self.owner, &base).await?;
        let body = match read.known {
            0 => body,
            known => {
                let known = Known { known, entries: read.entries };
                body::without_known(&body, surface::of(self.client()).state.messages, &known)?
            }
        };
        let recalled = Recalled {
            client: self.client(),
            body,
            stretches: stretches.stretches,
            turns: stretches.turns,
            settings: read.settings.clone(),
            kept_by: base.kept_by.clone(),
        };
        if self.asker.action == Action::Generate && !matches!(base.kept_by, KeptBy::Somebody(_)) {
            self.record(wish, base, read, flight).await?;
        }
        let is_needed = !recalled.is_fresh()
            || recalled.missing().is_some()
            || recalled.body != call.survey.source();
        Ok(is_needed.then(|| Arc::new(recalled)))
    }

    /// The client's body without what is for the gateway, and with the items that it names by their ids.
    async fn resolved_body(&self, wish: &Wish) -> Result<Resolved> {
        let call = self.asker.call;
        let state = &surface::of(self.client()).state;
        let body = match wish.asked.link {
            Link::Nothing if !wish.is_thread(self.client()) => call.survey.source().to_owned(),
            _ => body::without_members(call.survey.source(), state.own_members)?,
        };
        reference::resolve(&self.store, &self.owner, self.client(), body).await
    }

    /// Remembers a call that asks for it.
    async fn record(
        &self,
        wish: &Wish,
        base: Base,
        read: Read,
        flight: &mut InFlight,
    ) -> Result<()> {
        let state = &surface::of(self.client()).state;
        let request = match state.has_responses {
            true => {
                let own = [state.own_members, &[state.messages]].concat();
                Some(body::without_members(self.asker.call.survey.source(), &own)?)
            }
            false => None,
        };
        let is_named_by_header = wish.header.is_some();
        let draft = Draft {
            previous: base.previous,
            base: base.tip,
            input: read.input,
            settings: read.effective,
            conversation: base.conversation.map(|id| Advance { id, from: base.tip }),
            keeps_broken: is_named_by_header,
            is_named: wish.asked.is_kept,
            is_awaited: true,
            request,
        };
        let conversation = draft.conversation.as_ref().filter(|_| is_named_by_header);
        let conversation = conversation.map(|it| it.id.as_str().to_owned());
        self.open(draft, conversation, flight).await
    }

    /// Opens the turn, and watches the answer. The client is told the conversation that it named.
    async fn open(
        &self,
        draft: Draft,
        conversation: Option<String>,
        flight: &mut InFlight,
    ) -> Result<()> {
        let invalid = |error: sabir_store::Error| out_of_order(&error);
        let keep = |setting: Option<(Protocol, String)>| {
            setting.map(|(protocol, text)| record(protocol, &text)).transpose().map_err(invalid)
        };
        let is_answer_named = draft.is_named;
        let plan = Plan {
            opening: Opening {
                owner: self.owner.clone(),
                id: self.turn_id()?,
                previous: draft.previous,
                base: draft.base,
                protocol: Name::new(self.client().as_str()).map_err(invalid)?,
                exchange: ExchangeId::new(&*self.exchange).ok(),
            },
            client: self.client(),
            input: draft.input,
            system: keep(draft.settings.system)?,
            tools: keep(draft.settings.tools)?,
            conversation: draft.conversation,
            keeps_broken: draft.keeps_broken,
            is_named: is_answer_named,
            is_awaited: draft.is_awaited,
            settings: draft.request,
        };
        self.store.open_turn(plan.opening.clone()).await.map_err(invalid)?;
        let turn = self.turn.clone();
        flight.trace.set_turn(TurnNames { turn, conversation, is_answer_named });
        let snapshot = Arc::clone(flight.admission.snapshot());
        flight.watch(Box::new(Recorder::new(snapshot, self.store.clone(), plan)));
        Ok(())
    }
}

/// What is known of a turn that is about to be opened.
struct Draft {
    previous: Option<TurnId>,
    base: Option<Hash>,
    input: Lines,
    /// What is in force for it.
    settings: Settings,
    conversation: Option<Advance>,
    keeps_broken: bool,
    is_named: bool,
    is_awaited: bool,
    /// The request without its conversation.
    request: Option<String>,
}
