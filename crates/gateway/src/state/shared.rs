//! What outlives every configuration: counters, the last exchanges, threads for large bodies, and whether the gateway ends.

use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::task::Poll;

use tokio::sync::OnceCell;

use crate::failure::{Failure, Result};
use crate::jobs::Jobs;
use crate::memory::{Artefacts, Memory};
use crate::observe::{Exchanges, Metrics};
use crate::pool::Pool;
use crate::seal::Seal;
use crate::tap::TapMakers;

/// What all requests share, whichever configuration they began under.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) metrics: Metrics,
    pub(crate) exchanges: Exchanges,
    /// Threads for large bodies.
    pub(crate) pool: Pool,
    /// What outlives the process; none where nothing is kept.
    pub(crate) memory: Option<Memory>,
    /// By which summaries are sealed, once somebody needs it.
    pub(crate) seal: OnceCell<Seal>,
    /// What is worked on while nobody waits.
    pub(crate) jobs: Jobs,
    /// What providers sealed with their calls.
    pub(crate) artefacts: Artefacts,
    /// Who watches answers.
    pub(crate) taps: TapMakers,
    /// The name under which this gateway knows itself, so that it notices when it is its own upstream.
    pub(crate) instance: String,
    /// How many requests are served.
    pub(crate) served: AtomicUsize,
    requests: AtomicU64,
    is_stopping: AtomicBool,
    /// The time that answers had to finish is over.
    is_over: AtomicBool,
}

impl Shared {
    pub(super) fn new(memory: Option<Memory>) -> Self {
        // The standard library seeds its hashers at random, and that is all that is needed here.
        let random = RandomState::new().hash_one("instance");
        Self {
            metrics: Metrics::default(),
            exchanges: Exchanges::new(threads()),
            pool: Pool::new(threads().max(2)),
            artefacts: Artefacts::new(memory.as_ref()),
            memory,
            seal: OnceCell::new(),
            jobs: Jobs::default(),
            taps: TapMakers::default(),
            instance: format!("sabir-{random:016x}"),
            served: AtomicUsize::new(0),
            requests: AtomicU64::new(0),
            is_stopping: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        }
    }

    /// Says that no new requests are wanted.
    pub(crate) fn stop(&self) {
        self.is_stopping.store(true, Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Relaxed)
    }

    /// Says that no answer may go on.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Relaxed);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Relaxed)
    }

    /// Works until the gateway ends. Whoever ends it also wakes the connections, so that this looks again.
    ///
    /// The work stays where it is: a future that was handed over would take its room twice in that of every request.
    pub(crate) fn until_over<T>(
        &self,
        mut work: Pin<&mut impl Future<Output = Result<T>>>,
    ) -> impl Future<Output = Result<T>> {
        std::future::poll_fn(move |cx| match self.is_over() {
            true => Poll::Ready(Err(Failure::shutdown())),
            false => work.as_mut().poll(cx),
        })
    }

    /// An id for a request: sortable by time, never repeated.
    pub(crate) fn next_id(&self, now_ms: u64) -> String {
        let number = self.requests.fetch_add(1, Relaxed);
        let mut id = String::with_capacity(32);
        id.push_str("ex_");
        push_hex(&mut id, now_ms, 11);
        id.push_str(&self.instance[self.instance.len() - 6..]);
        push_hex(&mut id, number, 6);
        id
    }
}

/// How many threads serve connections.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Adds a number in hexadecimal, with zeros in front where it has fewer digits than asked for.
fn push_hex(out: &mut String, number: u64, digits_min: u32) {
    let digits = (u64::BITS - number.leading_zeros()).div_ceil(4).max(digits_min);
    for place in (0..digits).rev() {
        let digit = (number >> (4 * place)) as u32 & 0xf;
        out.extend(char::from_digit(digit, 16));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_the_standard_library_writes_them() {
        for number in [0, 9, 0xabc, 0xff_ffff, 0x100_0000, 0x1234_5678_9abc, u64::MAX] {
            let mut written = String::new();
            push_hex(&mut written, number, 6);
            assert_eq!(written, format!("{number:06x}"));
        }
    }
}
