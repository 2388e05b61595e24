//! One request from its arrival to its end, however it ends: what is dropped without an ending was cancelled.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;
use std::time::SystemTime;

use sabir_wire::FaultKind;
use sabir_wire::Loss;
use sabir_wire::LossKind;
use sabir_wire::Protocol;
use sabir_wire::Report;
use sabir_wire::conversation::Counts;
use tokio::sync::OwnedSemaphorePermit;

use crate::Gateway;
use crate::failure::Failure;
use crate::failure::Result;
use crate::held::Held;
use crate::observe::exchanges::Exchanges;
use crate::observe::exchanges::Seen;
use crate::observe::exchanges::Upstream;
use crate::observe::metrics::Outcome;
use crate::observe::metrics::Place;

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Answered,
    Failed(Whose),
    /// The client left before the end.
    Cancelled,
}

/// Whose fault a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Client,
    Upstream,
    Gateway,
    Policy,
}

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
    tried: Option<Place>,
    status: u16,
    ending: Option<Ending>,
    first_byte: Option<Duration>,
    counts: Counts,
    losses: Vec<Loss>,
    /// The request's seat among those that are served at once, until it ends.
    seat: Option<OwnedSemaphorePermit>,
    /// The bytes of its body that are held.
    body_bytes: usize,
    /// Its place with the provider that it is sent to, until it ends or goes elsewhere.
    turn: Option<OwnedSemaphorePermit>,
}

impl Trace {
    pub(crate) fn begin(gateway: &Arc<Gateway>, client: Protocol) -> Self {
        gateway.metrics.began();
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let began_ms = since_epoch.map_or(0, |it| u64::try_from(it.as_millis()).unwrap_or(0));
        Self {
            id: gateway.next_id(began_ms),
            gateway: Arc::clone(gateway),
            client,
            key: None,
            asked_model: String::new(),
            is_stream: false,
            began: Instant::now(),
            began_ms,
            upstream: None,
            tried: None,
            status: 0,
            ending: None,
            first_byte: None,
            counts: Counts::default(),
            losses: Vec::new(),
            seat: None,
            body_bytes: 0,
            turn: None,
        }
    }

    /// The gateway key that the request came with, by its place among all.
    pub(crate) fn with_key(mut self, key: Option<usize>) -> Self {
        self.key = key;
        self
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Unix time in seconds.
    pub(crate) fn began_s(&self) -> u64 {
        self.began_ms / 1_000
    }

    pub(crate) fn asks(&mut self, model: &str, is_stream: bool) {
        self.asked_model = model.to_owned();
        self.is_stream = is_stream;
    }

    /// Another provider is asked: the last one, if there was any, has nothing more to do for this request.
    pub(crate) fn goes_to(&mut self, provider: usize, upstream: Upstream) {
        self.turn = None;
        self.leaves();
        self.upstream = Some((provider, upstream));
        self.gateway.metrics.reached(self.place());
    }

    /// The provider, if one was reached, has nothing more to do for the request.
    fn leaves(&self) {
        if self.upstream.is_some() {
            self.gateway.metrics.left(self.place());
        }
    }

    pub(crate) fn upstream(&self) -> Option<&Upstream> {
        self.upstream.as_ref().map(|(_, upstream)| upstream)
    }

    /// A try begins. If there was one before, it failed.
    pub(crate) fn tries(&mut self) {
        self.tries_nobody();
        self.tried = Some(self.place());
        if let Some((_, upstream)) = &mut self.upstream {
            upstream.attempts += 1;
        }
    }

    /// The answer is known without a try. If there was one before, it failed.
    pub(crate) fn tries_nobody(&mut self) {
        if let Some(before) = self.tried.take() {
            self.gateway.metrics.failed(before);
        }
    }

    /// Which counters the request belongs to, as things stand.
    fn place(&self) -> Place {
        let upstream = self.upstream.as_ref().map(|(index, it)| (*index, it.protocol));
        Place { client: self.client, upstream }
    }

    /// Takes a place among the requests that are served at once.
    pub(crate) fn enters(&mut self) -> Result<()> {
        let seat = Arc::clone(&self.gateway.places).try_acquire_owned().map_err(|_| {
            let message = "this gateway serves as many requests as it may; try again soon";
            let mut failure = Failure::new(Whose::Gateway, FaultKind::Overloaded, message);
            failure.fault.retry_after_s = Some(1);
            failure
        })?;
        self.seat = Some(seat);
        Ok(())
    }

    /// The body has so many bytes more.
    pub(crate) fn receives(&mut self, bytes: usize) -> Result<()> {
        self.body_bytes += bytes;
        self.gateway.holds(bytes)
    }

    /// The body is another one now: the same, unpacked.
    pub(crate) fn unpacks(&mut self, body: Held) {
        self.forgets_body();
        self.body_bytes = body.hand_over();
    }

    /// The body is there no longer.
    pub(crate) fn forgets_body(&mut self) {
        self.gateway.releases(std::mem::take(&mut self.body_bytes));
    }

    pub(crate) fn gateway(&self) -> &Arc<Gateway> {
        &self.gateway
    }

    /// Takes a place with the provider.
    pub(crate) fn holds(&mut self, permit: OwnedSemaphorePermit) {
        self.turn = Some(permit);
    }

    pub(crate) fn answers(&mut self, status: u16) {
        self.status = status;
        self.first_byte.get_or_insert(self.began.elapsed());
    }

    pub(crate) fn counts(&mut self, counts: Counts) {
        self.counts.update(counts);
    }

    pub(crate) fn loses(&mut self, report: Report) {
        self.losses.extend(report.into_entries());
    }

    pub(crate) fn loses_all(&mut self, losses: Vec<Loss>) {
        match self.losses.is_empty() {
            true => self.losses = losses,
            false => self.losses.extend(losses),
        }
    }

    /// Another target is tried: what the last translation lost does not count.
    pub(crate) fn starts_over(&mut self) {
        self.losses.clear();
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

    /// Whether the gateway ends, and no answer may go on.
    pub(crate) fn is_out_of_time(&self) -> bool {
        self.gateway.is_over()
    }

    /// The first ending counts: what follows a failure is its aftermath.
    pub(crate) fn ends(&mut self, ending: Ending) {
        self.ending.get_or_insert(ending);
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        self.forgets_body();
        let ending = self.ending.unwrap_or(Ending::Cancelled);
        let duration = self.began.elapsed();
        let outcome = Outcome {
            ending,
            counts: self.counts,
            losses: &self.losses,
            duration,
            first_byte: self.first_byte,
        };
        self.gateway.metrics.ended(self.place(), &outcome);
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
            ending,
            duration,
            first_byte: self.first_byte,
            counts: self.counts,
            losses,
            forgotten,
        };
        super::log::exchange(&seen);
        self.gateway.exchanges.remember(seen);
    }
}

impl Ending {
    pub(crate) const ALL: [Self; 6] = [
        Self::Answered,
        Self::Failed(Whose::Client),
        Self::Failed(Whose::Upstream),
        Self::Failed(Whose::Gateway),
        Self::Failed(Whose::Policy),
        Self::Cancelled,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Failed(Whose::Client) => "client_error",
            Self::Failed(Whose::Upstream) => "upstream_error",
            Self::Failed(Whose::Gateway) => "gateway_error",
            Self::Failed(Whose::Policy) => "refused",
            Self::Cancelled => "cancelled",
        }
    }

    /// The place in [`Ending::ALL`].
    pub(crate) fn index(self) -> usize {
        match self {
            Self::Answered => 0,
            Self::Failed(Whose::Client) => 1,
            Self::Failed(Whose::Upstream) => 2,
            Self::Failed(Whose::Gateway) => 3,
            Self::Failed(Whose::Policy) => 4,
            Self::Cancelled => 5,
        }
    }
}

impl Whose {
    pub(crate) const ALL: [Self; 4] = [Self::Client, Self::Upstream, Self::Gateway, Self::Policy];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Upstream => "upstream",
            Self::Gateway => "gateway",
            Self::Policy => "policy",
        }
    }

    /// Whose fault it is that a provider refused: a bad request is the client's, the rest is not.
    pub(crate) fn of_upstream(kind: FaultKind) -> Self {
        match kind {
            FaultKind::BadRequest
            | FaultKind::ContextTooLong
            | FaultKind::TooLarge
            | FaultKind::Conflict
            | FaultKind::Unprocessable => Self::Client,
            FaultKind::Authentication
            | FaultKind::Billing
            | FaultKind::Permission
            | FaultKind::NotFound
            | FaultKind::RateLimit
            | FaultKind::Internal
            | FaultKind::Overloaded
            | FaultKind::Timeout
            | FaultKind::Cancelled
            | FaultKind::Truncated => Self::Upstream,
        }
    }
}
