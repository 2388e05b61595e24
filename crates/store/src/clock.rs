//! Time as the store keeps it, and where it comes from: passed in, so that tests decide when a lease ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

/// Milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

impl Time {
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(milliseconds(duration)))
    }

    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(milliseconds(duration)))
    }

    /// The day since 1970, in UTC.
    pub(crate) fn day(self) -> i64 {
        self.0.div_euclid(24 * 60 * 60 * 1000)
    }
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// What the store takes for now.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    #[default]
    System,
    /// Milliseconds that somebody else moves.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    pub fn now(&self) -> Time {
        match self {
            Self::System => {
                let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                Time(milliseconds(since.unwrap_or_default()))
            }
            Self::Manual(now) => Time(now.load(Ordering::Relaxed)),
        }
    }
}
