//! Durations in buckets, counted without a lock.

use std::fmt::Write;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The upper bounds of the buckets in milliseconds: from a cached answer to a long one.
const BOUNDS_MS: [u64; 14] =
    [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000, 60_000, 600_000];

#[derive(Debug, Default)]
pub(super) struct Histogram {
    buckets: [AtomicU64; BOUNDS_MS.len()],
    count: AtomicU64,
    sum_us: AtomicU64,
}

impl Histogram {
    pub(super) fn note(&self, duration: Duration) {
        let us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_MS.iter().position(|bound| us <= bound * 1_000);
        if let Some(bucket) = bucket {
            self.buckets[bucket].fetch_add(1, Relaxed);
        }
        self.count.fetch_add(1, Relaxed);
        self.sum_us.fetch_add(us, Relaxed);
    }

    /// Writes the series in the Prometheus text form.
    pub(super) fn render(&self, out: &mut String, name: &str, labels: &str) {
        let mut below = 0;
        for (bound, bucket) in BOUNDS_MS.iter().zip(&self.buckets) {
            below += bucket.load(Relaxed);
            let bound_s = *bound as f64 / 1_000.0;
            let _ = writeln!(out, "{name}_bucket{{{labels},le=\"{bound_s}\"}} {below}");
        }
        let count = self.count.load(Relaxed);
        let sum_s = self.sum_us.load(Relaxed) as f64 / 1e6;
        let _ = writeln!(out, "{name}_bucket{{{labels},le=\"+Inf\"}} {count}");
        let _ = writeln!(out, "{name}_sum{{{labels}}} {sum_s}");
        let _ = writeln!(out, "{name}_count{{{labels}}} {count}");
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count.load(Relaxed) == 0
    }
}
