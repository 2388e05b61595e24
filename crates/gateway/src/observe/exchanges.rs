//! The last exchanges: who asked whom, how it ended and what was lost. No content.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sabir_wire::Protocol;
use sabir_wire::conversation::{Count, Counts};
use sabir_wire::json::Writer;

use crate::observe::Outcome;
use crate::observe::losses::Losses;

/// How many exchanges are remembered.
const EXCHANGES_MAX: u64 = 1_000;

/// What all loss reports together may take: that of one long conversation alone has thousands of entries.
const REPORT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What is remembered, on one shelf for each thread: what a thread allocates it also frees. Memory that wanders from thread
/// to thread makes them wait for one another in the allocator.
#[derive(Debug)]
pub(crate) struct Exchanges {
    shelves: Box<[Mutex<Shelf>]>,
    /// How many were ever remembered.
    count: AtomicU64,
    /// What all reports together take.
    report_bytes: AtomicUsize,
}

/// The exchanges of a thread, the oldest first. Those that are not among the last of all threads stay until the thread has
/// another one.
#[derive(Debug, Default)]
struct Shelf {
    exchanges: VecDeque<Numbered>,
    /// How many of the oldest have no report any more.
    bare: usize,
}

/// An exchange and how many were remembered before it.
#[derive(Clone, Debug)]
struct Numbered {
    number: u64,
    seen: Arc<Seen>,
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
    pub(crate) class: Option<Box<ClassSeen>>,
    pub(crate) is_stream: bool,
    pub(crate) status: u16,
    pub(crate) outcome: Outcome,
    pub(crate) duration: Duration,
    pub(crate) first_byte: Option<Duration>,
    pub(crate) counts: Counts,
    pub(crate) losses: Losses,
    /// How many entries of the report are not remembered any more.
    pub(crate) forgotten: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Upstream {
    pub(crate) provider: Arc<str>,
    pub(crate) protocol: Protocol,
    pub(crate) model: String,
    pub(crate) route: Cow<'static, str>,
    pub(crate) attempts: u32,
    /// Whether it is an agent CLI, which keeps nothing for anybody.
    pub(crate) is_agent: bool,
}

/// Why an exchange went where it went, where its class decided that.
#[derive(Clone, Debug)]
pub(crate) struct ClassSeen {
    pub(crate) class: &'static str,
    pub(crate) reason: &'static str,
    /// As `provider/model`, in the order to try them.
    pub(crate) candidates: Vec<String>,
    pub(crate) switch: Option<SwitchSeen>,
}

/// Where the conversation of an exchange went before, and why it does not any more.
#[derive(Clone, Debug)]
pub(crate) struct SwitchSeen {
    /// As `provider/model`.
    pub(crate) from: Arc<str>,
    pub(crate) reason: &'static str,
}

thread_local! {
    /// The thread's number among all that ever had an exchange.
    static THREAD: usize = {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        THREADS.fetch_add(1, Relaxed)
    };
}

impl Exchanges {
    /// With a shelf for each of so many threads; if there are more of them, some share one.
    pub(crate) fn new(threads: usize) -> Self {
        let shelves = std::iter::repeat_with(Mutex::default).take(threads.max(1)).collect();
        Self { shelves, count: AtomicU64::new(0), report_bytes: AtomicUsize::new(0) }
    }

    /// As much of a report as may be remembered, and how many entries are left out.
    pub(crate) fn report(losses: &Losses) -> (Losses, usize) {
        let kept = losses.fitting(REPORT_BYTES_MAX);
        let forgotten = losses.len() - kept.len();
        (kept, forgotten)
    }

    pub(crate) fn remember(&self, seen: Seen) {
        let number = self.count.fetch_add(1, Relaxed);
        self.report_bytes.fetch_add(seen.losses.bytes(), Relaxed);
        let shelf = &self.shelves[THREAD.with(|thread| thread % self.shelves.len())];
        let freed = open(shelf).push(Numbered { number, seen: Arc::new(seen) });
        self.report_bytes.fetch_sub(freed, Relaxed);
        while self.report_bytes.load(Relaxed) > REPORT_BYTES_MAX && self.forget_oldest() {}
    }

    /// Forgets the oldest report of all threads. One that is being read waits for the next time.
    fn forget_oldest(&self) -> bool {
        let oldest = |shelf| open(shelf).oldest_report();
        let numbered = self.shelves.iter().filter_map(|it| Some((oldest(it)?, it)));
        let forgotten = numbered.min_by_key(|(number, _)| *number);
        let freed = forgotten.and_then(|(_, shelf)| open(shelf).forget());
        self.report_bytes.fetch_sub(freed.unwrap_or_default(), Relaxed);
        freed.is_some()
    }

    pub(crate) fn find(&self, id: &str) -> Option<Arc<Seen>> {
        self.all().into_iter().find(|seen| seen.id == id)
    }

    /// The newest first.
    pub(crate) fn all(&self) -> Vec<Arc<Seen>> {
        let mut all = Vec::new();
        for shelf in &self.shelves {
            all.extend(open(shelf).exchanges.iter().cloned());
        }
        all.sort_unstable_by_key(|it: &Numbered| Reverse(it.number));
        all.truncate(EXCHANGES_MAX as usize);
        all.into_iter().map(|it| it.seen).collect()
    }
}

fn open(shelf: &Mutex<Shelf>) -> MutexGuard<'_, Shelf> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shelf {
    /// Adds the newest and takes away what is not among the last any more. Says what their reports took.
    fn push(&mut self, newest: Numbered) -> usize {
        let mut freed = 0;
        while let Some(oldest) =
            self.exchanges.pop_front_if(|it| it.number + EXCHANGES_MAX <= newest.number)
        {
            self.bare = self.bare.saturating_sub(1);
            freed += oldest.seen.losses.bytes();
        }
        self.exchanges.push_back(newest);
        freed
    }

    /// The number of the oldest exchange that may have a report.
    fn oldest_report(&self) -> Option<u64> {
        self.exchanges.get(self.bare).map(|it| it.number)
    }

    /// Forgets its report and says what it took, unless it is being read.
    fn forget(&mut self) -> Option<usize> {
        let oldest = Arc::get_mut(&mut self.exchanges.get_mut(self.bare)?.seen)?;
        let losses = std::mem::take(&mut oldest.losses);
        oldest.forgotten += losses.len();
        self.bare += 1;
        Some(losses.bytes())
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
        it.field("outcome", self.outcome.as_str());
        it.field("duration_ms", &millis(self.duration));
        it.optional("first_byte_ms", self.first_byte.map(millis).as_ref());
        if let Some(upstream) = &self.upstream {
            it.field("provider", &*upstream.provider);
            it.field("upstream_protocol", upstream.protocol.as_str());
            it.field("model", upstream.model.as_str());
            it.field("route", &*upstream.route);
            it.field("attempts", &u64::from(upstream.attempts));
        }
        if let Some(class) = &self.class {
            it.field("class", class.class);
            it.field("reason", class.reason);
            it.key("candidates");
            it.array(|it| class.candidates.iter().for_each(|name| it.value(name.as_str())));
            if let Some(SwitchSeen { from, reason }) = &class.switch {
                it.field("switched_from", &**from);
                it.field("switch_reason", *reason);
            }
        }
    }

    fn write_usage(&self, writer: &mut Writer) {
        writer.object(|it| {
            it.optional("input_tokens", self.counts[Count::Input].as_ref());
            it.optional("cache_read_tokens", self.counts[Count::CacheRead].as_ref());
            it.optional("output_tokens", self.counts[Count::Output].as_ref());
            it.optional("reasoning_tokens", self.counts[Count::Reasoning].as_ref());
        });
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use sabir_wire::{LossKind, Report};

    use super::*;

    fn exchanges() -> Exchanges {
        Exchanges::new(1)
    }

    fn seen(id: usize, count: usize) -> Seen {
        let (losses, forgotten) = Exchanges::report(&losses(count));
        Seen {
            id: id.to_string(),
            began_ms: 0,
            client: Protocol::Gemini,
            key: None,
            asked_model: String::new(),
            upstream: None,
            class: None,
            is_stream: false,
            status: 200,
            outcome: Outcome::Answered,
            duration: Duration::ZERO,
            first_byte: None,
            counts: Counts::default(),
            losses,
            forgotten,
        }
    }

    fn remember(exchanges: &Exchanges, id: usize, losses: usize) {
        exchanges.remember(seen(id, losses));
    }

    fn losses(count: usize) -> Losses {
        let mut losses = Losses::default();
        for _ in 0..count {
            let mut report = Report::default();
            report.lose("/a/place", LossKind::Dropped, "a reason");
            losses.extend(report.into());
        }
        losses
    }

    /// How many entries of the tests fit.
    fn losses_max() -> usize {
        REPORT_BYTES_MAX / losses(1).bytes()
    }

    /// How many entries of an exchange's report are there, and how many are not.
    fn report_of(exchanges: &Exchanges, id: usize) -> Option<(usize, usize)> {
        exchanges.find(&id.to_string()).map(|it| (it.losses.len(), it.forgotten))
    }

    #[test]
    fn the_oldest_reports_are_forgotten_first_and_exchanges_later() {
        let exchanges = exchanges();
        let tenth = losses_max() / 10;
        let last = EXCHANGES_MAX as usize;
        for id in 0..=last {
            remember(&exchanges, id, tenth);
        }
        assert_eq!(report_of(&exchanges, 0), None);
        let first_whole = last - 9;
        assert_eq!(report_of(&exchanges, first_whole - 1), Some((0, tenth)));
        assert_eq!(report_of(&exchanges, first_whole), Some((tenth, 0)));
        assert_eq!(open(&exchanges.shelves[0]).bare, last - 10);
        assert!(exchanges.report_bytes.load(Relaxed) <= REPORT_BYTES_MAX);
    }

    #[test]
    fn a_report_that_is_too_long_by_itself_says_so() {
        let exchanges = exchanges();
        remember(&exchanges, 1, losses_max() + 2);
        assert_eq!(report_of(&exchanges, 1), Some((losses_max(), 2)));
        let mut writer = Writer::default();
        remember(&exchanges, 2, 1);
        exchanges.find("1").unwrap().write(&mut writer);
        let text = writer.into_string();
        let end = format!(r#""losses":[],"losses_forgotten":{}}}"#, losses_max() + 2);
        assert!(text.ends_with(&end), "{text}");
    }

    #[test]
    fn the_oldest_report_of_all_threads_goes_first() {
        let exchanges = Exchanges::new(2);
        let third = losses_max() / 3;
        let elsewhere = |id| {
            let remember = || remember(&exchanges, id, third);
            std::thread::scope(|scope| drop(scope.spawn(remember)));
        };
        elsewhere(0);
        for id in 1..=4 {
            remember(&exchanges, id, third);
            elsewhere(id + 10);
        }
        let kept = |id| report_of(&exchanges, id).unwrap().0;
        assert_eq!([0, 1, 11, 2, 12].map(kept), [0; 5]);
        assert_eq!([13, 4, 14].map(kept), [third; 3]);
    }

    #[test]
    fn the_last_of_all_threads_are_remembered_in_their_order() {
        let exchanges = Exchanges::new(2);
        let last = EXCHANGES_MAX as usize + 100;
        for id in 0..=last {
            let in_thread = || remember(&exchanges, id, 0);
            match id % 3 {
                0 => in_thread(),
                _ => std::thread::scope(|scope| drop(scope.spawn(in_thread))),
            }
        }
        let ids: Vec<String> = exchanges.all().iter().map(|seen| seen.id.clone()).collect();
        let expected: Vec<String> = (101..=last).rev().map(|id| id.to_string()).collect();
        assert_eq!(ids, expected);
        assert_eq!(report_of(&exchanges, 100), None);
        assert_eq!(report_of(&exchanges, 101), Some((0, 0)));
    }
}
