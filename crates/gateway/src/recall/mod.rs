//! What a call goes on from: an answer, a thread or a conversation that the gateway keeps is put before its messages, and a
//! turn is opened for what it adds.

mod base;
mod body;
mod history;
mod reference;
mod submission;
mod wish;

pub(crate) use reference::text_of as item_text;
pub(crate) use submission::{Submission, submission};

use std::sync::Arc;

use sabir_store::{ExchangeId, Name, Opening, Owner, Store, TurnId};
use sabir_wire::protocol::Exchange;
use sabir_wire::{FaultKind, Protocol};

use crate::answer::InFlight;
use crate::call::{Action, Call};
use crate::config::types::{GatewayKey, Level};
use crate::failure::{Failure, Result, Whose};
use crate::memory::Memory;
use crate::recall::base::Base;
use crate::recall::body::Known;
use crate::recall::reference::Resolved;
use crate::recall::wish::Wish;
use crate::recalled::{KeptBy, Missing, Recalled, Settings};
use crate::record::{Lines, Plan, Recorder, lines, record};
use crate::state::Snapshot;
use crate::surface;
use crate::surface::{Link, Trouble};
use crate::trace::TurnNames;

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
    let Some(wish) = Wish::of(asker.call)? else { return Ok(None) };
    let memory = snapshot.shared.memory.as_ref();
    let Some(memory) = memory.filter(|memory| memory.level() >= Level::Stateful) else {
        return unkept(asker.call.client, &wish);
    };
    let task = Task::begin(memory, asker, flight.trace.id());
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
    store: Store,
    owner: Owner,
    turn: String,
    exchange: String,
}

impl<'c> Task<'c> {
    fn begin(memory: &Memory, asker: Asker<'c>, exchange: &str) -> Self {
        let turn = format!("turn_{}", exchange.trim_start_matches("ex_"));
        let (store, owner) = (memory.store().clone(), memory.owner(asker.key));
        Self { asker, store, owner, turn, exchange: exchange.to_owned() }
    }

    fn client(&self) -> Protocol {
        self.asker.call.client
    }

    fn turn_id(&self) -> Result<TurnId> {
        TurnId::new(&*self.turn).map_err(|error| out_of_order(&error))
    }

    async fn run(self, wish: Wish, flight: &mut InFlight) -> Result<Option<Arc<Recalled>>> {
        let base = self.base(&wish).await?;
        let remembered = self.continue_from(&wish, base, flight).await;
        if remembered.is_err() && self.asker.action == Action::Generate {
            // Whatever the turn holds by now is free again.
            let _ = self.store.release(&self.owner, &self.turn_id()?).await;
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
        let read = {
            let exchange = self.client().decode_request_text(&body);
            exchange.map_err(Into::into).and_then(|exchange| self.read(&exchange, wish, &base))
        };
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

    /// What the call adds to the conversation.
    fn read(&self, exchange: &Exchange<'_>, wish: &Wish, base: &Base) -> Result<Read> {
        let entries = exchange.entries()?;
        let client = self.client();
        let kept = |text: &Option<String>| text.as_ref().map(|text| (client, text.clone()));
        let (system, tools) = (kept(&entries.system), kept(&entries.tools));
        let whole = lines(client, None, &entries.entries).map_err(|error| out_of_order(&error))?;
        let known = match (wish.header.is_some(), base.tip) {
            (true, Some(tip)) => {
                whole.states.iter().rposition(|it| *it == Some(tip)).map_or(0, |last| last + 1)
            }
            _ => 0,
        };
        let added = &entries.entries[known..];
        let input = lines(client, base.tip, added).map_err(|error| out_of_order(&error))?;
        let restored = base.settings.clone().unwrap_or(Settings { system: None, tools: None });
        let settings = Settings {
            system: restored.system.filter(|_| system.is_none()),
            tools: restored.tools.filter(|_| tools.is_none()),
        };
        let is_restored = settings.system.is_some() || settings.tools.is_some();
        let effective = Settings {
            system: system.or_else(|| settings.system.clone()),
            tools: tools.or_else(|| settings.tools.clone()),
        };
        let entries = entries.entries.len();
        let settings = is_restored.then_some(settings);
        Ok(Read { entries, known, input, settings, effective })
    }

    /// Opens the turn, and watches the answer.
    async fn record(
        &self,
        wish: &Wish,
        base: Base,
        read: Read,
        flight: &mut InFlight,
    ) -> Result<()> {
        let invalid = |error: sabir_store::Error| out_of_order(&error);
        let opening = Opening {
            owner: self.owner.clone(),
            id: self.turn_id()?,
            previous: base.previous,
            base: base.tip,
            protocol: Name::new(self.client().as_str()).map_err(invalid)?,
            exchange: ExchangeId::new(&*self.exchange).ok(),
        };
        let keep = |setting: Option<(Protocol, String)>| {
            setting.map(|(protocol, text)| record(protocol, &text)).transpose().map_err(invalid)
        };
        let state = &surface::of(self.client()).state;
        let settings = match state.has_responses {
            true => {
                let own = [state.own_members, &[state.messages]].concat();
                Some(body::without_members(self.asker.call.survey.source(), &own)?)
            }
            false => None,
        };
        let plan = Plan {
            client: self.client(),
            input: read.input,
            system: keep(read.effective.system)?,
            tools: keep(read.effective.tools)?,
            conversation: base.conversation.clone(),
            keeps_broken: wish.header.is_some(),
            is_named: wish.asked.is_kept,
            settings,
            opening,
        };
        self.store.open_turn(plan.opening.clone()).await.map_err(invalid)?;
        let conversation = base.conversation.filter(|_| wish.header.is_some());
        flight.trace.set_turn(TurnNames {
            turn: self.turn.clone(),
            conversation: conversation.map(|id| id.as_str().to_owned()),
            is_answer_named: wish.asked.is_kept,
        });
        flight.watch(Box::new(Recorder::new(self.store.clone(), plan)));
        Ok(())
    }
}

/// What was read of a call.
struct Read {
    /// How many elements it has, apart from leading instructions.
    entries: usize,
    /// How many of those are in the conversation already.
    known: usize,
    input: Lines,
    /// What it goes on with, having none of its own.
    settings: Option<Settings>,
    /// What is in force for it.
    effective: Settings,
}
