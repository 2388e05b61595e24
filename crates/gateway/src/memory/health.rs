//! Whether the store works, and what was lost while it did not: said once when that changes, and counted.

use std::fmt::Write;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU64};

use sabir_store::Result;

#[derive(Debug, Default)]
pub(super) struct Health {
    /// The duties whose last write failed, a bit for each. A full disk may take a lease and no rows.
    failing: AtomicU8,
    dropped: AtomicU64,
    failures: AtomicU64,
}

/// What is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duty {
    Lease = 1,
    Sweep = 2,
    Rows = 4,
    Recovery = 8,
    Artefacts = 16,
}

impl Health {
    pub(super) fn is_up(&self) -> bool {
        self.failing.load(Relaxed) == 0
    }

    /// So many rows will never be written.
    pub(super) fn dropped(&self, rows: usize) {
        self.dropped.fetch_add(rows as u64, Relaxed);
    }

    /// Takes note of how a write went.
    pub(super) fn note<T>(&self, duty: Duty, written: &Result<T>) {
        let duty = duty as u8;
        match written {
            Ok(_) if self.failing.fetch_and(!duty, Relaxed) == duty => {
                tracing::info!(target: "sabir", "the store works again");
            }
            Ok(_) => {}
            Err(error) => {
                self.failures.fetch_add(1, Relaxed);
                if self.failing.fetch_or(duty, Relaxed) == 0 {
                    tracing::error!(target: "sabir", "the store fails: {error}");
                }
            }
        }
    }

    pub(super) fn render(&self, out: &mut String) {
        let up = u8::from(self.is_up());
        let (dropped, failed) = (self.dropped.load(Relaxed), self.failures.load(Relaxed));
        let _ = writeln!(
            out,
            "# HELP sabir_store_up Whether the store did what it was last asked to.\n\
             # TYPE sabir_store_up gauge\nsabir_store_up {up}\n\
             # HELP sabir_store_rows_dropped_total Rows of exchanges and artefacts that could not be kept.\n\
             # TYPE sabir_store_rows_dropped_total counter\nsabir_store_rows_dropped_total {dropped}\n\
             # HELP sabir_store_write_failures_total Writes that the store did not take.\n\
             # TYPE sabir_store_write_failures_total counter\nsabir_store_write_failures_total {failed}"
        );
    }
}
