//! The memory that bodies take, counted for all requests together: whatever clients send, there is a limit to it.

use std::sync::Arc;

use sabir_wire::FaultKind;

use crate::failure::{Failure, Result, Whose};
use crate::state::Snapshot;

/// Bytes of bodies that are held, counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    snapshot: Arc<Snapshot>,
    bytes: usize,
}

impl Held {
    pub(crate) fn nothing(snapshot: &Arc<Snapshot>) -> Self {
        Self { snapshot: Arc::clone(snapshot), bytes: 0 }
    }

    /// Holds so many bytes more, unless all requests together would then hold too many.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes;
        self.snapshot.holds(bytes)
    }

    pub(crate) fn release(&mut self) {
        self.snapshot.releases(std::mem::take(&mut self.bytes));
    }

    /// Leaves it to somebody else to release them, and says how many there are.
    pub(crate) fn hand_over(mut self) -> usize {
        std::mem::take(&mut self.bytes)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.release();
    }
}

impl Snapshot {
    /// Counts bytes that are held from now on, and refuses them if all requests together hold too many. They count all the
    /// same, until they are [released](Self::releases).
    pub(crate) fn holds(&self, bytes: usize) -> Result<()> {
        match self.shared.metrics.holds(bytes) > self.config().limits.bodies_bytes_max {
            true => Err(full()),
            false => Ok(()),
        }
    }

    pub(crate) fn releases(&self, bytes: usize) {
        self.shared.metrics.releases(bytes);
    }
}

/// All requests together hold as much as they may.
pub(crate) fn full() -> Box<Failure> {
    let message = "this gateway holds as many bytes of requests as it may; try again soon";
    let mut failure = Failure::new(Whose::Gateway, FaultKind::Overloaded, message);
    failure.fault.retry_after_s = Some(RETRY_AFTER_S);
    failure
}

/// Bodies are held until their answers begin, which takes a few seconds mostly.
const RETRY_AFTER_S: u64 = 2;
