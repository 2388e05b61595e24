//! The facts about one request from its arrival to its end, however it ends: what is dropped without an outcome was cancelled.
//! As a tap it learns from the answer what it cost, what it lost and how it ended.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use sabir_compose::budget::Counted;
use sabir_compose::class::Classified;
use sabir_wire::conversation::{Count, Counts};
use sabir_wire::{LossKind, Protocol};

use crate::config::types::GatewayKey;
use crate::memory::{AskedModel, Row, Try};
use crate::observe::{
    ClassSeen, Exchanges, Losses, Measured, Outcome, Seen, SeriesKey, SwitchSeen, Upstream,
    log_exchange,
};
use crate::route::{Candidate, Choice, Model, Switch};
use crate::state::Snapshot;
use crate::tap::{End, Tap};
use crate::upstream::Provider;

/// Records a request when it is dropped.
pub(crate) struct Trace {
    snapshot: Arc<Snapshot>,
    id: String,
    client: Protocol,
    /// The gateway key that the client sent.
    key: Option<Arc<GatewayKey>>,
    asked_model: String,
    is_stream: bool,
    is_call: bool,
    began: Instant,
    began_ms: u64,
    upstream: Option<(Arc<Provider>, Upstream)>,
    chosen: Option<Box<Chosen>>,
    /// The last try.
    tried: Option<Tried>,
    /// Those before it.
    failed: Vec<Try>,
    status: u16,
    outcome: Option<Outcome>,
    first_byte: Option<Duration>,
    counts: Counts,
    losses: Losses,
    turn: Option<Box<TurnNames>>,
    /// The exchange in which the conversation was summarised.
    compacted: Option<String>,
    /// Whether its tokens belong to another exchange.
    is_counted_elsewhere: bool,
}

/// Under which names a call is remembered.
#[derive(Debug)]
pub(crate) struct TurnNames {
    pub(crate) turn: String,
    /// The conversation that it advances, where the client named or began one.
    pub(crate) conversation: Option<String>,
    /// Whether it did so by header, and is answered by one.
    pub(crate) is_named_by_header: bool,
    /// Whether its answer can be asked for by its id.
    pub(crate) is_answer_named: bool,
}

/// What was chosen by the class of the request, for the model that leaves its targets to that.
#[derive(Debug)]
struct Chosen {
    model: Arc<Model>,
    weight: u64,
    seen: Box<ClassSeen>,
}

/// Where a try was made, and when.
struct Tried {
    provider: Arc<Provider>,
    protocol: Protocol,
    began: Instant,
    /// Once the next provider is about to be asked; until then it is that of `upstream`.
    model: Option<String>,
}

impl Trace {
    pub(crate) fn begin(
        snapshot: &Arc<Snapshot>,
        client: Protocol,
        key: Option<&Arc<GatewayKey>>,
    ) -> Self {
        snapshot.shared.metrics.began();
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let began_ms = since_epoch.map_or(0, |it| u64::try_from(it.as_millis()).unwrap_or(0));
        Self {
            id: snapshot.shared.next_id(began_ms),
            snapshot: Arc::clone(snapshot),
            client,
            key: key.cloned(),
            asked_model: String::new(),
            is_stream: false,
            is_call: true,
            began: Instant::now(),
            began_ms,
            upstream: None,
            chosen: None,
            tried: None,
            failed: Vec::new(),
            status: 0,
            outcome: None,
            first_byte: None,
            counts: Counts::default(),
            losses: Losses::default(),
            turn: None,
            compacted: None,
            is_counted_elsewhere: false,
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The gateway key that the client sent.
    pub(crate) fn key(&self) -> Option<&Arc<GatewayKey>> {
        self.key.as_ref()
    }

    /// Unix time in seconds.
    pub(crate) fn began_s(&self) -> u64 {
        self.began_ms / 1_000
    }

    pub(crate) fn set_model(&mut self, model: &str, is_stream: bool) {
        self.asked_model = model.to_owned();
        self.is_stream = is_stream;
    }

    /// The class of the request has decided where it goes.
    pub(crate) fn set_choice(&mut self, model: &Arc<Model>, choice: &Choice) {
        let Classified { class, reason } = choice.classified;
        let candidates = choice.candidates.iter().map(Candidate::label).collect();
        let seen = Box::new(ClassSeen { class: class.name(), reason, candidates, switch: None });
        let chosen = Chosen { model: Arc::clone(model), weight: choice.weight, seen };
        self.chosen = Some(Box::new(chosen));
    }

    /// The conversation of the request goes to another target than before.
    pub(crate) fn set_switch(&mut self, switch: Option<Switch>) {
        if let Some(chosen) = &mut self.chosen {
            chosen.seen.switch = switch.map(|it| SwitchSeen { from: it.from, reason: it.reason });
        }
    }

    /// What the request cost shows how long the next ones are.
    fn learn(&self, chosen: &Chosen) {
        if let Some(tokens) = self.counts[Count::Input] {
            chosen.model.correct(Counted { bytes: chosen.weight, tokens });
        }
    }

    /// Nothing is asked of a model: what is kept is looked at.
    pub(crate) fn set_no_call(&mut self) {
        self.is_call = false;
    }

    /// Another provider is asked: the last one, if there was any, has nothing more to do for this request.
    pub(crate) fn set_upstream(&mut self, provider: &Arc<Provider>, upstream: Upstream) {
        self.leaves();
        let last = self.upstream.replace((Arc::clone(provider), upstream));
        if let (Some(tried), Some((_, last))) = (&mut self.tried, last) {
            tried.model.get_or_insert(last.model);
        }
        self.snapshot.shared.metrics.reached(self.series());
    }

    /// The provider, if one was reached, has nothing more to do for the request.
    fn leaves(&self) {
        if self.upstream.is_some() {
            self.snapshot.shared.metrics.left(self.series());
        }
    }

    /// Who was asked last, and for what.
    pub(crate) fn asked(&self) -> Option<(Arc<Provider>, Upstream)> {
        self.upstream.clone()
    }

    pub(crate) fn upstream(&self) -> Option<&Upstream> {
        self.upstream.as_ref().map(|(_, upstream)| upstream)
    }

    /// An attempt begins. If there was one before, it failed.
    pub(crate) fn begin_attempt(&mut self) {
        self.skip_attempt();
        if let Some((provider, upstream)) = &mut self.upstream {
            upstream.attempts += 1;
            self.tried = Some(Tried {
                provider: Arc::clone(provider),
                protocol: upstream.protocol,
                began: Instant::now(),
                model: None,
            });
        }
    }

    /// The answer is known without an attempt. If there was one before, it failed.
    pub(crate) fn skip_attempt(&mut self) {
        if let Some(tried) = self.tried.take() {
            let upstream = Some((&*tried.provider.metrics, tried.protocol));
            self.snapshot.shared.metrics.failed(SeriesKey { client: self.client, upstream });
            self.keep_failed(tried);
        }
    }

    /// Remembers a try that another one follows, where somebody keeps rows of exchanges.
    fn keep_failed(&mut self, tried: Tried) {
        if self.snapshot.shared.memory.is_none() {
            return;
        }
        let last = || self.upstream().map(|upstream| upstream.model.clone());
        let model = tried.model.or_else(last).unwrap_or_default();
        let asked = AskedModel { provider: Arc::clone(&tried.provider.name), model };
        self.failed.push(Try { asked, duration: tried.began.elapsed() });
    }

    /// Has the exchange kept as it ended, where somebody keeps rows of exchanges.
    fn record(&mut self, outcome: Outcome, duration: Duration) {
        let snapshot = Arc::clone(&self.snapshot);
        if let Some(memory) = &snapshot.shared.memory {
            memory.record(self.row(outcome, duration));
        }
    }

    fn row(&mut self, outcome: Outcome, duration: Duration) -> Row {
        let last_try = self.end_last_try();
        let asked = self
            .upstream()
            .map(|it| AskedModel { provider: Arc::clone(&it.provider), model: it.model.clone() });
        Row {
            id: self.id.clone(),
            began_ms: self.began_ms,
            key: self.key.clone(),
            client: self.client,
            turn: self.turn.take().map(|names| names.turn),
            outcome,
            is_call: self.is_call,
            duration,
            first_byte: self.first_byte,
            counts: self.counts,
            losses: self.losses.len(),
            asked,
            failed: std::mem::take(&mut self.failed),
            last_try,
        }
    }

    /// How long the last try took, unless a provider that was not tried any more was to follow it.
    fn end_last_try(&mut self) -> Option<Duration> {
        let tried = self.tried.take()?;
        if tried.model.is_some() {
            self.keep_failed(tried);
            return None;
        }
        Some(tried.began.elapsed())
    }

    /// Which counters the request belongs to, as things stand.
    fn series(&self) -> SeriesKey<'_> {
        let upstream = self.upstream.as_ref().map(|(to, it)| (&*to.metrics, it.protocol));
        SeriesKey { client: self.client, upstream }
    }

    /// The call is remembered as a turn.
    pub(crate) fn set_turn(&mut self, names: TurnNames) {
        self.turn = Some(Box::new(names));
    }

    /// What the answer states of its cost is counted elsewhere.
    pub(crate) fn count_nothing(&mut self) {
        self.is_counted_elsewhere = true;
    }

    /// The conversation was summarised for the call.
    pub(crate) fn set_compacted(&mut self, exchange: String) {
        self.compacted = Some(exchange);
    }

    pub(crate) fn compacted(&self) -> Option<&str> {
        self.compacted.as_deref()
    }

    pub(crate) fn turn(&self) -> Option<&TurnNames> {
        self.turn.as_deref()
    }

    pub(crate) fn set_status(&mut self, status: u16) {
        self.status = status;
        self.first_byte.get_or_insert(self.began.elapsed());
    }

    pub(crate) fn add_losses(&mut self, losses: Losses) {
        self.losses.extend(losses);
    }

    /// Another target is tried: what the last translation lost does not count.
    pub(crate) fn clear_losses(&mut self) {
        self.losses.clear();
    }

    /// What the translations of the request and of its answer lost.
    pub(crate) fn losses(&self) -> &Losses {
        &self.losses
    }

    pub(crate) fn add_usage(&mut self, counts: Counts) {
        if !self.is_counted_elsewhere {
            self.counts.update(counts);
        }
    }

    /// The counts of what can change an answer, as the header `sabir-loss` states them.
    pub(crate) fn loss_summary(&self) -> Cow<'static, str> {
        if self.losses.that_matter() == 0 {
            return "none".into();
        }
        let kinds =
            [LossKind::Dropped, LossKind::Approximated, LossKind::Withheld, LossKind::Repaired];
        let count = |kind| self.losses.kinds().filter(|it| *it == kind).count();
        let counts: Vec<String> = kinds
            .into_iter()
            .map(|kind| (kind, count(kind)))
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| format!("{kind}={count}"))
            .collect();
        counts.join(", ").into()
    }
}

impl Tap for Trace {
    /// The first outcome counts: what follows a failure is its aftermath.
    fn end(&mut self, end: &End<'_>) {
        self.outcome.get_or_insert(end.outcome);
        self.add_usage(end.counts);
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        let outcome = self.outcome.unwrap_or(Outcome::Cancelled);
        let duration = self.began.elapsed();
        let measured = Measured {
            outcome,
            counts: self.counts,
            losses: &self.losses,
            duration,
            first_byte: self.first_byte,
        };
        self.snapshot.shared.metrics.ended(self.series(), &measured);
        self.leaves();
        self.record(outcome, duration);
        let (losses, forgotten) = Exchanges::report(&self.losses);
        let chosen = self.chosen.take();
        chosen.iter().for_each(|chosen| self.learn(chosen));
        let seen = Seen {
            id: std::mem::take(&mut self.id),
            began_ms: self.began_ms,
            client: self.client,
            key: self.key.take().map(|key| key.name.clone()),
            asked_model: std::mem::take(&mut self.asked_model),
            upstream: self.upstream.take().map(|(_, upstream)| upstream),
            class: chosen.map(|chosen| chosen.seen),
            is_stream: self.is_stream,
            status: self.status,
            outcome,
            duration,
            first_byte: self.first_byte,
            counts: self.counts,
            losses,
            forgotten,
        };
        log_exchange(&seen);
        self.snapshot.shared.exchanges.remember(seen);
    }
}
