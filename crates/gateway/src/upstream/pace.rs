//! How long a target takes until its answers begin, by those of late.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// What the newest answer counts: a quarter, and those before it what is left.
const NEWEST_SHARE: u64 = 4;

/// The time until the first event, in which old answers count less with every new one.
#[derive(Debug, Default)]
pub(crate) struct Pace(AtomicU64);

impl Pace {
    /// An answer has begun.
    pub(crate) fn measured(&self, took: Duration) {
        let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX / NEWEST_SHARE).max(1);
        let update = |before: u64| {
            Some(match before {
                0 => took_us,
                before => (before - before / NEWEST_SHARE + took_us / NEWEST_SHARE).max(1),
            })
        };
        // Two that end at once both count, in either order.
        let _ = self.0.fetch_update(Relaxed, Relaxed, update);
    }

    /// In microseconds; none if nobody has asked the target yet.
    pub(crate) fn first_event_us(&self) -> Option<u64> {
        Some(self.0.load(Relaxed)).filter(|us| *us != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_answers_count_less_with_every_new_one() {
        let pace = Pace::default();
        assert_eq!(pace.first_event_us(), None);
        pace.measured(Duration::from_millis(800));
        assert_eq!(pace.first_event_us(), Some(800_000));
        for _ in 0..20 {
            pace.measured(Duration::from_millis(100));
        }
        assert!(pace.first_event_us().is_some_and(|us| us < 110_000));
    }
}
