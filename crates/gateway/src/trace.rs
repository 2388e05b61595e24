//! The facts about one request from its arrival to its end, however it ends: what is dropped without an outcome was cancelled.
//! As a tap it learns from the answer what it cost, what it lost and how it ended.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;
use std::time::SystemTime;

use sabir_wire::Loss;
use sabir_wire::LossKind;
use sabir_wire::Protocol;
use sabir_wire::conversation::Counts;

use crate::Gateway;
use crate::observe::Exchanges;
use crate::observe::Measured;
use crate::observe::Outcome;
use crate::observe::Seen;
use crate::observe::SeriesKey;
use crate::observe::Upstream;
use crate::observe::log_exchange;
use crate::tap::End;
use crate::tap::Tap;

/// Records a request when it is dropped.
pub(crate) struct Trace {
    gateway: Arc<Gateway>,
    id: String,
    client: Protocol,
    /// The place of the gateway key that the client sent.
    key: Option<usize>,
    asked_model: String,
    is_stream: bool,
    began: Instant,
    began_ms: u64,
    upstream: Option<(usize, Upstream)>,
    /// Where the last try was made.
    tried: Option<SeriesKey>,
    status: u16,
    outcome: Option<Outcome>,
    first_byte: Option<Duration>,
    counts: Counts,
    losses: Vec<Loss>,
}

impl Trace {
    pub(crate) fn begin(gateway: &Arc<Gateway>, client: Protocol, key: Option<usize>) -> Self {
        gateway.metrics.began();
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let began_ms = since_epoch.map_or(0, |it| u64::try_from(it.as_millis()).unwrap_or(0));
        Self {
            id: gateway.next_id(began_ms),
            gateway: Arc::clone(gateway),
            client,
            key,
            asked_model: String::new(),
            is_stream: false,
            began: Instant::now(),
            began_ms,
            upstream: None,
            tried: None,
            status: 0,
            outcome: None,
            first_byte: None,
            counts: Counts::default(),
            losses: Vec::new(),
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Unix time in seconds.
    pub(crate) fn began_s(&self) -> u64 {
        self.began_ms / 1_000
    }

    pub(crate) fn set_model(&mut self, model: &str, is_stream: bool) {
        self.asked_model = model.to_owned();
        self.is_stream = is_stream;
    }

    /// Another provider is asked: the last one, if there was any, has nothing more to do for this request.
    pub(crate) fn set_upstream(&mut self, provider: usize, upstream: Upstream) {
        self.leaves();
        self.upstream = Some((provider, upstream));
        self.gateway.metrics.reached(self.series());
    }

    /// The provider, if one was reached, has nothing more to do for the request.
    fn leaves(&self) {
        if self.upstream.is_some() {
            self.gateway.metrics.left(self.series());
        }
    }

    pub(crate) fn upstream(&self) -> Option<&Upstream> {
        self.upstream.as_ref().map(|(_, upstream)| upstream)
    }

    /// An attempt begins. If there was one before, it failed.
    pub(crate) fn begin_attempt(&mut self) {
        self.skip_attempt();
        self.tried = Some(self.series());
        if let Some((_, upstream)) = &mut self.upstream {
            upstream.attempts += 1;
        }
    }

    /// The answer is known without an attempt. If there was one before, it failed.
    pub(crate) fn skip_attempt(&mut self) {
        if let Some(before) = self.tried.take() {
            self.gateway.metrics.failed(before);
        }
    }

    /// Which counters the request belongs to, as things stand.
    fn series(&self) -> SeriesKey {
        let upstream = self.upstream.as_ref().map(|(index, it)| (*index, it.protocol));
        SeriesKey { client: self.client, upstream }
    }

    pub(crate) fn set_status(&mut self, status: u16) {
        self.status = status;
        self.first_byte.get_or_insert(self.began.elapsed());
    }

    pub(crate) fn add_losses(&mut self, losses: Vec<Loss>) {
        match self.losses.is_empty() {
            true => self.losses = losses,
            false => self.losses.extend(losses),
        }
    }

    /// Another target is tried: what the last translation lost does not count.
    pub(crate) fn clear_losses(&mut self) {
        self.losses.clear();
    }

    /// What the translations of the request and of its answer lost.
    pub(crate) fn losses(&self) -> &[Loss] {
        &self.losses
    }

    pub(crate) fn add_usage(&mut self, counts: Counts) {
        self.counts.update(counts);
    }

    /// The counts of what can change an answer, as the header `sabir-loss` tells them.
    pub(crate) fn loss_summary(&self) -> Cow<'static, str> {
        if !self.losses.iter().any(|loss| loss.kind.matters()) {
            return "none".into();
        }
        let kinds =
            [LossKind::Dropped, LossKind::Approximated, LossKind::Withheld, LossKind::Repaired];
        let count = |kind| self.losses.iter().filter(|loss| loss.kind == kind).count();
        let told: Vec<String> = kinds
            .into_iter()
            .map(|kind| (kind, count(kind)))
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| format!("{kind}={count}"))
            .collect();
        told.join(", ").into()
    }
}

impl Tap for Trace {
    /// The first outcome counts: what follows a failure is its aftermath.
    fn end(&mut self, end: &End<'_>) {
        self.outcome.get_or_insert(end.outcome);
        self.counts.update(end.counts);
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
        self.gateway.metrics.ended(self.series(), &measured);
        self.leaves();
        let keys = &self.gateway.config.auth.keys;
        let key = self.key.and_then(|place| keys.get(place)).map(|key| key.name.clone());
        let (losses, forgotten) = Exchanges::report(std::mem::take(&mut self.losses));
        let seen = Seen {
            id: std::mem::take(&mut self.id),
            began_ms: self.began_ms,
            client: self.client,
            key,
            asked_model: std::mem::take(&mut self.asked_model),
            upstream: self.upstream.take().map(|(_, upstream)| upstream),
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
        self.gateway.exchanges.remember(seen);
    }
}
