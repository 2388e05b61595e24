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

/// How many entries of all loss reports together are remembered: a long conversation alone has thousands.
const LOSSES_MAX: usize = 100_000;

#[derive(Debug, Default)]
pub(crate) struct Exchanges(Mutex<Memory>);

/// The exchanges, the oldest first.
#[derive(Debug, Default)]
struct Memory {
    exchanges: VecDeque<Arc<Seen>>,
    /// How many of the oldest have no report any more.
    bare: usize,
    /// How many entries the reports of the others have.
    losses: usize,
}

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
    /// How many entries of the report are not remembered any more.
    pub(crate) forgotten: usize,
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
        seen.forgotten = seen.losses.len().saturating_sub(LOSSES_MAX);
        seen.losses.truncate(LOSSES_MAX);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
    }

    pub(crate) fn find(&self, id: &str) -> Option<Arc<Seen>> {
        self.all().into_iter().find(|seen| seen.id == id)
    }

    /// The newest first.
    pub(crate) fn all(&self) -> Vec<Arc<Seen>> {
        let memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        memory.exchanges.iter().rev().cloned().collect()
    }
}

impl Memory {
    fn push(&mut self, seen: Seen) {
        if self.exchanges.len() == EXCHANGES_MAX
            && let Some(oldest) = self.exchanges.pop_front()
        {
            self.bare = self.bare.saturating_sub(1);
            self.losses -= oldest.losses.len();
        }
        self.losses += seen.losses.len();
        self.exchanges.push_back(Arc::new(seen));
        self.forget();
    }

    /// Forgets the oldest reports until the others are few enough. One that is being read waits for the next time.
    fn forget(&mut self) {
        while self.losses > LOSSES_MAX
            && let Some(oldest) = self.exchanges.get_mut(self.bare).and_then(Arc::get_mut)
        {
            let losses = std::mem::take(&mut oldest.losses);
            oldest.forgotten += losses.len();
            self.losses -= losses.len();
            self.bare += 1;
        }
    }
}

impl Seen {
    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.object(|it| {
            self.write_members(it);
            it.key("usage");
            self.write_usage(it);
            it.key("losses");
            write_losses(&self.losses, it);
            if self.forgotten > 0 {
                it.field("losses_forgotten", &(self.forgotten as u64));
            }
        });
    }

    fn write_members(&self, it: &mut Writer) {
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

#[cfg(test)]
mod tests {
    use sabir_wire::LossKind;
    use sabir_wire::Report;

    use super::*;

    fn seen(id: usize, count: usize) -> Seen {
        Seen {
            id: id.to_string(),
            began_ms: 0,
            client: Protocol::Gemini,
            key: None,
            asked_model: String::new(),
            upstream: None,
            is_stream: false,
            status: 200,
            ending: Ending::Answered,
            duration: Duration::ZERO,
            first_byte: None,
            counts: Counts::default(),
            losses: losses(count),
            forgotten: 0,
        }
    }

    fn losses(count: usize) -> Vec<Loss> {
        let mut report = Report::default();
        for _ in 0..count {
            report.lose(String::new(), LossKind::Dropped, "a reason");
        }
        report.into_entries()
    }

    /// How many entries of an exchange's report are there, and how many are not.
    fn report_of(exchanges: &Exchanges, id: usize) -> Option<(usize, usize)> {
        exchanges.find(&id.to_string()).map(|it| (it.losses.len(), it.forgotten))
    }

    #[test]
    fn the_oldest_reports_are_forgotten_first_and_exchanges_later() {
        let exchanges = Exchanges::default();
        for id in 0..=EXCHANGES_MAX {
            exchanges.remember(seen(id, LOSSES_MAX / 10));
        }
        assert_eq!(report_of(&exchanges, 0), None);
        let first_whole = EXCHANGES_MAX - 9;
        assert_eq!(report_of(&exchanges, first_whole - 1), Some((0, LOSSES_MAX / 10)));
        assert_eq!(report_of(&exchanges, first_whole), Some((LOSSES_MAX / 10, 0)));
        let memory = exchanges.0.lock().unwrap();
        assert_eq!((memory.bare, memory.losses), (EXCHANGES_MAX - 10, LOSSES_MAX));
    }

    #[test]
    fn a_report_that_is_too_long_by_itself_says_so() {
        let exchanges = Exchanges::default();
        exchanges.remember(seen(1, LOSSES_MAX + 2));
        assert_eq!(report_of(&exchanges, 1), Some((LOSSES_MAX, 2)));
        let mut writer = Writer::default();
        exchanges.remember(seen(2, 1));
        exchanges.find("1").unwrap().write(&mut writer);
        let text = writer.into_string();
        assert!(text.ends_with(r#""losses":[],"losses_forgotten":100002}"#), "{text}");
    }
}
