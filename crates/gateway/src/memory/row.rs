//! The row of an exchange: as a request leaves it behind, cheaply, and as the store keeps it.

use std::sync::Arc;
use std::time::Duration;

use sabir_store::{Attempt, Exchange, ExchangeId, ID_BYTES_MAX, Name, Time, Tokens, TurnId};
use sabir_wire::Protocol;
use sabir_wire::conversation::{Count, Counts};

use crate::config::types::GatewayKey;
use crate::memory::open::owner;
use crate::observe::Outcome;

/// What is kept of an exchange at every level: no content, no key.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) id: String,
    /// Unix time in milliseconds.
    pub(crate) began_ms: u64,
    pub(crate) key: Option<Arc<GatewayKey>>,
    pub(crate) client: Protocol,
    /// The turn that it is remembered as, where it is.
    pub(crate) turn: Option<String>,
    pub(crate) outcome: Outcome,
    /// Whether a model was to be asked, and not what the gateway keeps.
    pub(crate) is_call: bool,
    pub(crate) duration: Duration,
    pub(crate) first_byte: Option<Duration>,
    pub(crate) counts: Counts,
    pub(crate) losses: usize,
    /// Who was asked last, if anybody was.
    pub(crate) asked: Option<AskedModel>,
    /// Tries that failed and were followed by another. None in most exchanges, and then nothing is allocated.
    pub(crate) failed: Vec<Try>,
    /// How long the last try took, if there was one. It ended as the exchange did.
    pub(crate) last_try: Option<Duration>,
}

/// A provider and the model that it was asked for.
#[derive(Debug)]
pub(crate) struct AskedModel {
    pub(crate) provider: Arc<str>,
    pub(crate) model: String,
}

/// A try at a provider that was followed by another.
#[derive(Debug)]
pub(crate) struct Try {
    pub(crate) asked: AskedModel,
    pub(crate) duration: Duration,
}

/// How a try ended that was followed by another.
const FAILED: &str = "failed";

impl Row {
    pub(super) fn to_exchange(&self) -> Exchange {
        let asked = self.asked.as_ref();
        Exchange {
            owner: owner(self.key.as_ref()),
            id: ExchangeId::new(self.id.as_str()).expect("the gateway's own ids are ids"),
            at: Time(i64::try_from(self.began_ms).unwrap_or(i64::MAX)),
            turn: self.turn.as_deref().and_then(|turn| TurnId::new(turn).ok()),
            protocol: name(self.client.as_str()),
            provider: asked.map(|it| name(&it.provider)),
            model: asked.map(|it| name(&it.model)),
            outcome: name(self.outcome.as_str()),
            has_failed: self.is_call && matches!(self.outcome, Outcome::Failed(_)),
            milliseconds: milliseconds(self.duration),
            first_milliseconds: self.first_byte.map(milliseconds),
            tokens: tokens(&self.counts),
            losses: u32::try_from(self.losses).unwrap_or(u32::MAX),
            attempts: self.attempts(),
        }
    }

    fn attempts(&self) -> Vec<Attempt> {
        let failed = self.failed.iter().map(|it| it.asked.attempt(FAILED, it.duration));
        let last = self.asked.as_ref().zip(self.last_try);
        let last = last.map(|(asked, duration)| asked.attempt(self.outcome.as_str(), duration));
        failed.chain(last).collect()
    }
}

impl AskedModel {
    fn attempt(&self, outcome: &'static str, duration: Duration) -> Attempt {
        let (provider, model) = (name(&self.provider), name(&self.model));
        Attempt { provider, model, outcome: name(outcome), milliseconds: milliseconds(duration) }
    }
}

/// A name as the store takes it: clients ask for models by any text.
fn name(text: &str) -> Name {
    Name::new(text).unwrap_or_else(|_| {
        let clean: String = text.chars().filter(|it| !it.is_control()).collect();
        let cut = &clean[..clean.floor_char_boundary(ID_BYTES_MAX)];
        let kept = if cut.is_empty() { "?" } else { cut };
        Name::new(kept).expect("a short text without control characters is a name")
    })
}

fn milliseconds(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}

fn tokens(counts: &Counts) -> Tokens {
    let count = |count: Count| counts[count].unwrap_or_default();
    Tokens {
        input: count(Count::Input),
        output: count(Count::Output),
        cache_read: count(Count::CacheRead),
        cache_write: count(Count::CacheWrite),
        reasoning: count(Count::Reasoning),
    }
}
