//! What a call goes on from: an answer, a thread or a conversation that the gateway keeps is put before its messages, and a
//! turn is opened for what it adds.

mod base;
mod body;
mod history;
mod identity;
mod read;
mod reference;
mod sent;
mod session;
mod settings;
mod spelling;
mod submission;
mod wish;

pub(crate) use base::{end_position, found, title};
pub(crate) use body::without_members;
pub(crate) use history::{End, HistoryLine, HistoryLines, recollect_lines};
pub(crate) use identity::derived_id;
pub(crate) use reference::{before_item, resolve as resolve_references, text_of as item_text};
pub(crate) use settings::settings_in;
pub(crate) use spelling::{elements, in_words_of, output_of, own_id};
pub(crate) use submission::{Submission, submission};

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use sabir_store::{
    Advance, Begun, ExchangeId, Hash, Name, NewConversation, Opening, Owner, ResponseId, Store,
    TurnId,
};
use sabir_wire::{FaultKind, Protocol};

use crate::answer::InFlight;
use crate::call::{Action, Call, Link, unmarked};
use crate::config::types::{GatewayKey, Level};
use crate::failure::{Failure, Result, Whose};
use crate::memory::{Mark, Memory, check_form};
use crate::pool::Pool;
use crate::recall::base::Base;
use crate::recall::read::{Continued, Read, read_on};
use crate::recall::reference::Items;
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
    let memory = memory.filter(|memory| memory.level() >= Level::Stateful);
    let wish = Wish::of(asker.call)?;
    let is_followed = memory.is_some_and(|memory| memory.level() == Level::Full)
        && asker.action == Action::Generate;
    if wish.is_none() && !is_followed && !reference::may_be_in(asker.call) {
        return Ok(None);
    }
    // Files hold conversations that a header names, and nothing by the ids of answers.
    let is_named = wish.as_ref().is_some_and(|wish| wish.header.is_some());
    let memory = memory.filter(|memory| is_named || !memory.store().is_of_files());
    let Some(memory) = memory else {
        return Box::pin(unkept(&snapshot.shared.pool, asker.call, wish.as_ref())).await;
    };
    let task = Task::begin(snapshot, memory, asker, flight.trace.id());
    // Boxed, since calls without state are most of all.
    match wish {
        Some(wish) => Box::pin(task.run(wish, flight)).await,
        None => Box::pin(task.run_unasked(is_followed.then_some(flight))).await,
    }
}

/// Nothing is kept. A provider of the client's protocol may keep what the call names.
async fn unkept(
    pool: &Pool,
    call: &Call<'_>,
    wish: Option<&Wish>,
) -> Result<Option<Arc<Recalled>>> {
    let client = call.client;
    let missing = match wish.map(|wish| (&wish.header, &wish.asked.link)) {
        Some((Some(_), _)) => return Err(trouble(client, &Trouble::Unkept)),
        Some((None, Link::Answer(id))) => Some(Missing::Answer(id.clone())),
        Some((None, _)) | None => {
            let named = on_body(pool, call, None, move |body| reference::referred(client, &body));
            named.await?.into_iter().next().map(Missing::Item)
        }
    };
    Ok(missing.map(|missing| Arc::new(Recalled::without(client, missing))))
}

/// Says in the client's protocol why a conversation cannot go on.
pub(crate) fn trouble(client: Protocol, trouble: &Trouble<'_>) -> Box<Failure> {
    Failure::stating(Whose::Client, (surface::of(client).state.explain)(trouble))
}

/// What a call names is with another provider, or nowhere.
pub(crate) fn absent(client: Protocol, missing: &Missing) -> Box<Failure> {
    let named = match missing {
        Missing::Answer(id) => Trouble::UnknownAnswer(id),
        Missing::Conversation(id) => Trouble::UnknownConversation(id),
        Missing::Item(id) => Trouble::UnknownItem(id),
    };
    trouble(client, &named)
}

/// The store does not do what it should.
pub(crate) fn out_of_order(error: &sabir_store::Error) -> Box<Failure> {
    if error.kind() == sabir_store::Kind::Unsupported {
        let message = format!("{error}; `url = \"sqlite:\"` in [store] keeps it");
        let failure = Failure::client(FaultKind::BadRequest, message);
        return failure.with_code("unsupported_by_store");
    }
    let message = match error.kind() {
        // One file, or what is asked of it, and not the store.
        sabir_store::Kind::Corrupt | sabir_store::Kind::Invalid => error.to_string(),
        _ => format!("the conversation store is not available: {error}"),
    };
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
    /// Whether the turn holds something by now that nobody else would let go.
    is_holding: AtomicBool,
    /// The conversation that begins with the call.
    begun: OnceLock<Begun>,
}

/// A call that is given up here leaves nothing held.
impl Drop for Task<'_> {
    fn drop(&mut self) {
        if self.is_holding.load(Ordering::Relaxed)
            && let Ok(turn) = self.turn_id()
        {
            self.memory.take_back(self.owner.clone(), turn, self.begun.get().cloned());
        }
    }
}

impl<'c> Task<'c> {
    fn begin(snapshot: &'c Snapshot, memory: &'c Memory, asker: Asker<'c>, exchange: &str) -> Self {
        let turn = format!("turn_{}", exchange.trim_start_matches("ex_"));
        let (store, owner) = (memory.store().clone(), memory.owner(asker.key));
        let pool = &snapshot.shared.pool;
        let (exchange, is_holding) = (exchange.to_owned(), AtomicBool::new(false));
        let begun = OnceLock::new();
        Self { asker, pool, memory, store, owner, turn, exchange, is_holding, begun }
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
        self.let_go().await?;
        remembered
    }

    /// Whatever the turn holds is free again, unless somebody watches its answer.
    async fn let_go(&self) -> Result<()> {
        if self.is_holding.load(Ordering::Relaxed) {
            let (turn, begun) = (self.turn_id()?, self.begun.get());
            if self.store.abandon_turn(&self.owner, &turn, begun).await.is_ok() {
                self.is_holding.store(false, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// A call that asks for nothing to be kept. It may name items by their ids all the same, and is followed where everything
    /// is kept.
    async fn run_unasked(self, follower: Option<&mut InFlight>) -> Result<Option<Arc<Recalled>>> {
        let client = self.client();
        let body = match reference::may_be_in(self.asker.call) {
            false => None,
            true => match Box::pin(self.resolved_body(None)).await? {
                Resolved::Body(body) => body,
                Resolved::Without(id) => {
                    return Ok(Some(Arc::new(Recalled::without(client, Missing::Item(id)))));
                }
            },
        };
        let recalled = body.clone().map(|body| Arc::new(Recalled::of(client, body)));
        if let Some(flight) = follower {
            self.follow(body, flight).await;
        }
        Ok(recalled)
    }

    async fn continue_from(
        &self,
        wish: &Wish,
        base: Base,
        flight: &mut InFlight,
    ) -> Result<Option<Arc<Recalled>>> {
        let client = self.client();
        let body = match self.resolved_body(Some(wish)).await? {
            Resolved::Body(body) => body,
            // What a conversation is to keep must be known here.
            Resolved::Without(id) if base.is_fresh() && base.conversation.is_none() => {
                return Ok(Some(Arc::new(Recalled::without(client, Missing::Item(id)))));
            }
            Resolved::Without(id) => return Err(trouble(client, &Trouble::UnknownItem(&id))),
        };
        ingress::check_density(&self.asker.call.survey)?;
        let (is_own, continued) = (body.is_none(), Continued::of(wish, &base));
        let work = move |body: Cow<'_, str>| Ok(read_on(client, body, continued));
        let (read, left) = match self.on_body(body, work).await? {
            Ok(read) => read,
            // What cannot be read is for the provider to refuse, who gets it as it is.
            Err(_) if base.is_fresh() && is_own => return Ok(None),
            Err(failure) => return Err(failure),
        };
        if read.is_repeated {
            let earlier = self.before_last(base).await?;
            return Box::pin(self.continue_from(wish, earlier, flight)).await;
        }
        let recalled = match left.body {
            Some(body) => {
                let body = self.worked_on(body).await?;
                let (store, end) = ((&self.store, &self.owner), base.history_end());
                let history = Box::pin(recollect_lines(self.pool, store, end)).await?;
                let own = Recalled {
                    settings: read.settings.clone(),
                    kept_by: base.kept_by.clone(),
                    ..Recalled::of(client, body)
                };
                Some(Arc::new(history.before(own)))
            }
            None => None,
        };
        if self.asker.action == Action::Generate && !matches!(base.kept_by, KeptBy::Somebody(_)) {
            self.record(wish, base, (read, left.request), flight).await?;
        }
        Ok(recalled)
    }

    /// The body as a provider is sent it. One that is sent a conversation from here does not work on it in the background:
    /// the gateway does.
    async fn worked_on(&self, body: String) -> Result<String> {
        match surface::of(self.client()).state.background {
            Some(it) if self.asker.call.asked.in_background => {
                let strip = move |body: Cow<'_, str>| body::without_members(&body, &[it.member]);
                self.on_body(Some(body), strip).await
            }
            _ => Ok(body),
        }
    }

    /// The client's body without what is for the gateway, and with the items that it names by their ids; none if that is the
    /// body as it was sent.
    async fn resolved_body(&self, wish: Option<&Wish>) -> Result<Resolved> {
        let client = self.client();
        let is_linked =
            wish.is_some_and(|wish| wish.asked.link != Link::Nothing || wish.is_thread(client));
        let edit = move |own: Cow<'_, str>| {
            let own_members = surface::of(client).state.own_members;
            let edited = is_linked.then(|| body::without_members(&own, own_members)).transpose()?;
            let named = reference::referred(client, edited.as_deref().unwrap_or(&own))?;
            Ok((edited, named))
        };
        let (edited, named) = self.on_body(None, edit).await?;
        if named.is_empty() {
            return Ok(Resolved::Body(edited));
        }
        let items = reference::items(&self.store, &self.owner, (client, named));
        let items = match Box::pin(items).await? {
            Items::Found(items) if items.is_empty() => return Ok(Resolved::Body(edited)),
            Items::Found(items) => items,
            Items::Without(id) => return Ok(Resolved::Without(id)),
        };
        let replace = move |body: Cow<'_, str>| reference::replaced(client, &body, items);
        Ok(Resolved::Body(Some(self.on_body(edited, replace).await?)))
    }

    /// Runs work on the body, the client's own if there is no other.
    async fn on_body<T: Send + 'static>(
        &self,
        edited: Option<String>,
        work: impl FnOnce(Cow<'_, str>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        on_body(self.pool, self.asker.call, edited, work).await
    }

    /// The id of an answer that nobody waits for.
    fn job(&self) -> Option<ResponseId> {
        let call = self.asker.call;
        let background = surface::of(call.client).state.background?;
        let id = (background.id)(&self.exchange);
        ResponseId::new(id).ok().filter(|_| call.asked.in_background)
    }

    /// Remembers a call that asks for it.
    async fn record(
        &self,
        wish: &Wish,
        base: Base,
        (read, request): (Read, Option<String>),
        flight: &mut InFlight,
    ) -> Result<()> {
        let is_named_by_header = wish.header.is_some();
        let is_of_files = self.store.is_of_files();
        if is_of_files {
            check_form(&read.input.messages).map_err(|error| out_of_order(&error))?;
        }
        let draft = Draft {
            previous: base.previous,
            base: base.tip,
            input: read.input,
            settings: read.effective,
            conversation: base.conversation.map(|id| match base.replaced {
                None => Advance::after(id, base.tip),
                Some(tip) => Advance::replacing(id, tip),
            }),
            begins: None,
            beside: None,
            follows: None,
            end: None,
            keeps_broken: is_named_by_header,
            is_named: wish.asked.is_kept && !is_of_files,
            is_awaited: true,
            request,
        };
        let names = TurnNames {
            turn: self.turn.clone(),
            conversation: draft.conversation.as_ref().map(|it| it.id.as_str().to_owned()),
            is_named_by_header,
            is_answer_named: draft.is_named,
        };
        self.open(self.plan(draft)?, names, flight).await
    }

    /// What is known of the turn.
    fn plan(&self, draft: Draft) -> Result<Box<Plan>> {
        let invalid = |error: sabir_store::Error| out_of_order(&error);
        let keep = |setting: Option<(Protocol, String)>| {
            setting.map(|(protocol, text)| record(protocol, &text)).transpose().map_err(invalid)
        };
        Ok(Box::new(Plan {
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
            begins: draft.begins,
            beside: draft.beside,
            follows: draft.follows,
            end: draft.end,
            begun: self.begun.get().cloned(),
            keeps_broken: draft.keeps_broken,
            is_named: draft.is_named,
            is_awaited: draft.is_awaited,
            is_governed: self.asker.call.governs_answers(),
            is_plain: self.store.is_of_files(),
            settings: draft.request,
            job: self.job(),
        }))
    }

    /// Opens the turn, and watches the answer.
    async fn open(&self, plan: Box<Plan>, names: TurnNames, flight: &mut InFlight) -> Result<()> {
        let opening = plan.opening.clone();
        // Where a conversation, a lock or a job names it, a crash is to leave a turn that others can end.
        let is_named = plan.conversation.is_some() || plan.job.is_some();
        let opened = match plan.is_awaited && (is_named || self.is_holding.load(Ordering::Relaxed))
        {
            true => self.store.open_turn(opening).await,
            false => self.store.open_turn_late(opening).await,
        };
        opened.map_err(|error| out_of_order(&error))?;
        flight.trace.set_turn(names);
        let snapshot = Arc::clone(flight.admission.snapshot());
        flight.watch(Box::new(Recorder::new(snapshot, self.store.clone(), plan)));
        self.is_holding.store(false, Ordering::Relaxed);
        Ok(())
    }
}

/// Runs work on a body, the client's own if there is no other: here, unless that takes long.
async fn on_body<T: Send + 'static>(
    pool: &Pool,
    call: &Call<'_>,
    edited: Option<String>,
    work: impl FnOnce(Cow<'_, str>) -> Result<T> + Send + 'static,
) -> Result<T> {
    match (edited, call.large) {
        (Some(body), _) => pool.run_on(body.len(), move |_| work(Cow::Owned(body))).await,
        (None, Some(large)) => {
            let large = Arc::clone(large);
            pool.run(move |_| work(Cow::Borrowed(unmarked(&large.body)))).await
        }
        (None, None) => work(Cow::Borrowed(call.survey.source())),
    }
}

/// A body in which nothing is named by its id.
enum Resolved {
    /// None if it is the client's own.
    Body(Option<String>),
    /// An item that nobody here has, by its id.
    Without(String),
}

/// What is known of a turn that is about to be opened.
struct Draft {
    previous: Option<TurnId>,
    base: Option<Hash>,
    input: Lines,
    /// What is in force for it.
    settings: Settings,
    conversation: Option<Advance>,
    /// The same conversation, if it begins with the turn.
    begins: Option<NewConversation>,
    /// The conversation that begins with the turn where that one has gone on meanwhile.
    beside: Option<NewConversation>,
    /// The conversation that begins with the turn unless the store finds one that goes on with it.
    follows: Option<NewConversation>,
    /// By what its end is known again, and the epoch of the store.
    end: Option<(Mark, u64)>,
    keeps_broken: bool,
    is_named: bool,
    is_awaited: bool,
    /// The request without its conversation.
    request: Option<String>,
}
