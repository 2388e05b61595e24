//! How a provider has fared of late. Health only orders targets: a sole target is always tried.

use std::sync::LazyLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::{Duration, Instant};

/// How many failures in a row make a provider one to try later.
const FAILURES_MAX: u32 = 3;

/// The back-off of a provider before it is tried in its own place again.
const STANDS_BACK: Duration = Duration::from_secs(15);

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// How one provider has fared.
#[derive(Debug, Default)]
pub(crate) struct Health {
    failures: AtomicU32,
    /// Until when it backs off, in milliseconds since the start.
    until_ms: AtomicU64,
}

impl Health {
    pub(crate) fn answered(&self) {
        if self.failures.load(Relaxed) != 0 {
            self.failures.store(0, Relaxed);
            self.until_ms.store(0, Relaxed);
        }
    }

    pub(crate) fn failed(&self) {
        if self.failures.fetch_add(1, Relaxed) + 1 >= FAILURES_MAX {
            self.until_ms.store(now_ms() + STANDS_BACK.as_millis() as u64, Relaxed);
        }
    }

    pub(crate) fn is_good(&self) -> bool {
        let until_ms = self.until_ms.load(Relaxed);
        until_ms == 0 || until_ms <= now_ms()
    }
}

/// Milliseconds since the start.
pub(super) fn now_ms() -> u64 {
    u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_stands_back_after_failures_in_a_row() {
        let health = Health::default();
        health.failed();
        health.failed();
        assert!(health.is_good());
        health.failed();
        assert!(!health.is_good());
        health.answered();
        assert!(health.is_good());
    }
}
