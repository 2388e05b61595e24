//! The last exchanges: who asked whom, how it ended and what was lost. No content.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use sabir_wire::Loss;
use sabir_wire::Protocol;
use sabir_wire::json::Writer;
use sabir_wire::protocol::Counts;

use crate::observe::Ending;

/// How many exchanges are remembered.
const EXCHANGES_MAX: usize = 1_000;

/// How many entries of one loss report are remembered.
const LOSSES_MAX: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct Exchanges(Mutex<VecDeque<Arc<Seen>>>);

/// What is remembered of one exchange.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) id: String,
    /// Unix time in milliseconds.
    pub(crate) began_ms: u64,
    pub(crate) client: Protocol,
    /// The name of the gateway key that the client sent.
    pub(crate) key: Option<String>,
    pub(crate) asked_model: String,
    pub(crate) upstream: Option<Upstream>,
    pub(crate) is_stream: bool,
    pub(crate) status: u16,
    pub(crate) ending: Ending,
    pub(crate) duration: Duration,
    pub(crate) first_byte: Option<Duration>,
    pub(crate) counts: Counts,
    pub(crate) losses: Vec<Loss>,
}

#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) provider: String,
    pub(crate) protocol: Protocol,
    pub(crate) model: String,
    pub(crate) route: String,
    pub(crate) attempts: u32,
}

impl Exchanges {
    pub(crate) fn remember(&self, mut seen: Seen) {
        seen.losses.truncate(LOSSES_MAX);
        let mut exchanges = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if exchanges.len() == EXCHANGES_MAX {
            exchanges.pop_front();
        }
        exchanges.push_back(Arc::new(seen));
    }

    pub(crate) fn find(&self, id: &str) -> Option<Arc<Seen>> {
        self.all().into_iter().find(|seen| seen.id == id)
    }

    /// The newest first.
    pub(crate) fn all(&self) -> Vec<Arc<Seen>> {
        let exchanges = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        exchanges.iter().rev().cloned().collect()
    }
}

impl Seen {
    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.object(|it| {
            it.field("id", self.id.as_str());
            it.field("began_ms", &self.began_ms);
            it.field("client_protocol", self.client.as_str());
            it.optional("key", self.key.as_deref());
            it.field("requested_model", self.asked_model.as_str());
            it.field("stream", &self.is_stream);
            it.field("status", &u64::from(self.status));
            it.field("outcome", self.ending.as_str());
            it.field("duration_ms", &millis(self.duration));
            it.optional("first_byte_ms", self.first_byte.map(millis).as_ref());
            if let Some(upstream) = &self.upstream {
                it.field("provider", upstream.provider.as_str());
                it.field("upstream_protocol", upstream.protocol.as_str());
                it.field("model", upstream.model.as_str());
                it.field("route", upstream.route.as_str());
                it.field("attempts", &u64::from(upstream.attempts));
            }
            it.key("usage");
            self.write_usage(it);
            it.key("losses");
            write_losses(&self.losses, it);
        });
    }

    fn write_usage(&self, writer: &mut Writer) {
        let Counts { input, cache_read, output, reasoning } = self.counts;
        writer.object(|it| {
            it.optional("input_tokens", input.as_ref());
            it.optional("cache_read_tokens", cache_read.as_ref());
            it.optional("output_tokens", output.as_ref());
            it.optional("reasoning_tokens", reasoning.as_ref());
        });
    }
}

/// Writes the entries of a loss report.
pub(crate) fn write_losses(losses: &[Loss], writer: &mut Writer) {
    writer.array(|list| {
        for loss in losses {
            list.object(|it| {
                it.field("pointer", loss.pointer.as_str());
                it.field("kind", loss.kind.as_str());
                it.field("reason", &*loss.reason);
            });
        }
    });
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
