//! Rows that wait to be written. Whoever adds one wakes nobody, unless it is time: waking a thread for each request would
//! cost more than the row.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::memory::row::Row;

/// How many rows wait at most: those of a second at any rate that one machine serves, or of an hour of a store that is away
/// under a person's use.
pub(super) const ROWS_MAX: usize = 32_768;

/// So many are written at once rather than when the second is over.
const ROWS_MANY: usize = ROWS_MAX / 4;

#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Vec<Row>>,
    many: Notify,
    closed: Notify,
}

/// There was no room for a row.
#[derive(Debug)]
pub(super) struct Full;

impl Queue {
    pub(super) fn push(&self, row: Row) -> Result<(), Full> {
        let count = {
            let mut waiting = self.waiting();
            if waiting.len() >= ROWS_MAX {
                return Err(Full);
            }
            waiting.push(row);
            waiting.len()
        };
        if count == ROWS_MANY {
            self.many.notify_one();
        }
        Ok(())
    }

    /// All that waits.
    pub(super) fn take(&self) -> Vec<Row> {
        std::mem::take(&mut self.waiting())
    }

    pub(super) fn close(&self) {
        self.closed.notify_one();
    }

    /// Waits until there are many rows.
    pub(super) async fn many(&self) {
        self.many.notified().await;
    }

    /// Waits until nobody adds rows any more.
    pub(super) async fn closed(&self) {
        self.closed.notified().await;
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Row>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
