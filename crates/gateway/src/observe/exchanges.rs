//! The last exchanges: who asked whom, how it ended and what was lost. No content.

use std::borrow::Cow;
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
use crate::observe::losses::Losses;

/// How many exchanges are remembered.
const EXCHANGES_MAX: usize = 1_000;

/// What all loss reports together may take: that of one long conversation alone has thousands of entries.
const REPORT_BYTES_MAX: usize = 8 * 1024 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Exchanges(Mutex<Memory>);

/// The exchanges, the oldest first.
#[derive(Debug, Default)]
struct Memory {
    exchanges: VecDeque<Arc<Seen>>,
    /// How many of the oldest have no report any more.
    bare: usize,
    /// What the reports of the others take.
    report_bytes: usize,
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
    pub(crate) losses: Losses,
    /// How many entries of the report are not remembered any more.
    pub(crate) forgotten: usize,
}

#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) provider: Arc<str>,
    pub(crate) protocol: Protocol,
    pub(crate) model: String,
    pub(crate) route: Cow<'static, str>,
    pub(crate) attempts: u32,
}

impl Exchanges {
    /// As much of a report as may be remembered, and how many entries are left out.
    pub(crate) fn report(losses: Vec<Loss>) -> (Losses, usize) {
        let count = losses.len();
        let kept = Losses::of(losses, REPORT_BYTES_MAX);
        let forgotten = count - kept.len();
        (kept, forgotten)
    }

    pub(crate) fn remember(&self, seen: Seen) {
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
            self.report_bytes -= oldest.losses.bytes();
        }
        self.report_bytes += seen.losses.bytes();
        self.exchanges.push_back(Arc::new(seen));
        self.forget();
    }

    /// Forgets the oldest reports until the others are few enough. One that is being read waits for the next time.
    fn forget(&mut self) {
        while self.report_bytes > REPORT_BYTES_MAX
            && let Some(oldest) = self.exchanges.get_mut(self.bare).and_then(Arc::get_mut)
        {
            let losses = std::mem::take(&mut oldest.losses);
            oldest.forgotten += losses.len();
            self.report_bytes -= losses.bytes();
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
            self.losses.write(it);
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
            it.field("provider", &*upstream.provider);
            it.field("upstream_protocol", upstream.protocol.as_str());
            it.field("model", upstream.model.as_str());
            it.field("route", &*upstream.route);
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

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use sabir_wire::LossKind;
    use sabir_wire::Report;

    use super::*;

    fn seen(id: usize, count: usize) -> Seen {
        let (losses, forgotten) = Exchanges::report(losses(count));
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
            losses,
            forgotten,
        }
    }

    fn losses(count: usize) -> Vec<Loss> {
        let mut report = Report::default();
        for _ in 0..count {
            report.lose(String::new(), LossKind::Dropped, "a reason");
        }
        report.into_entries()
    }

    /// How many entries of the tests fit.
    fn losses_max() -> usize {
        REPORT_BYTES_MAX / Losses::of(losses(1), usize::MAX).bytes()
    }

    /// How many entries of an exchange's report are there, and how many are not.
    fn report_of(exchanges: &Exchanges, id: usize) -> Option<(usize, usize)> {
        exchanges.find(&id.to_string()).map(|it| (it.losses.len(), it.forgotten))
    }

    #[test]
    fn the_oldest_reports_are_forgotten_first_and_exchanges_later() {
        let exchanges = Exchanges::default();
        let tenth = losses_max() / 10;
        for id in 0..=EXCHANGES_MAX {
            exchanges.remember(seen(id, tenth));
        }
        assert_eq!(report_of(&exchanges, 0), None);
        let first_whole = EXCHANGES_MAX - 9;
        assert_eq!(report_of(&exchanges, first_whole - 1), Some((0, tenth)));
        assert_eq!(report_of(&exchanges, first_whole), Some((tenth, 0)));
        let memory = exchanges.0.lock().unwrap();
        assert_eq!(memory.bare, EXCHANGES_MAX - 10);
        assert!(memory.report_bytes <= REPORT_BYTES_MAX);
    }

    #[test]
    fn a_report_that_is_too_long_by_itself_says_so() {
        let exchanges = Exchanges::default();
        exchanges.remember(seen(1, losses_max() + 2));
        assert_eq!(report_of(&exchanges, 1), Some((losses_max(), 2)));
        let mut writer = Writer::default();
        exchanges.remember(seen(2, 1));
        exchanges.find("1").unwrap().write(&mut writer);
        let text = writer.into_string();
        let end = format!(r#""losses":[],"losses_forgotten":{}}}"#, losses_max() + 2);
        assert!(text.ends_with(&end), "{text}");
    }
}
