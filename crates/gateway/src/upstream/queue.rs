//! A bounded line in front of a provider that takes only so many requests at once.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use sabir_wire::FaultKind;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::failure::{Failure, Result, Whose};

#[derive(Debug)]
pub(crate) struct Queue {
    /// None where any number may be asked at once.
    places: Option<Arc<Semaphore>>,
    in_flight_max: Option<usize>,
    waiting: AtomicUsize,
    waiting_max: usize,
    wait_max: Duration,
}

impl Queue {
    pub(crate) fn new(
        in_flight_max: Option<usize>,
        waiting_max: usize,
        wait_max: Duration,
    ) -> Self {
        let places = in_flight_max.map(|places| Arc::new(Semaphore::new(places)));
        Self { places, in_flight_max, waiting: AtomicUsize::new(0), waiting_max, wait_max }
    }

    /// Whether both take as many requests, in as long a line.
    pub(super) fn has_limits_of(&self, other: &Self) -> bool {
        let limits = |it: &Self| (it.in_flight_max, it.waiting_max, it.wait_max);
        limits(self) == limits(other)
    }

    /// Waits for a place; none is needed where there is no limit.
    pub(crate) async fn enter(&self) -> Result<Option<OwnedSemaphorePermit>> {
        let Some(places) = &self.places else { return Ok(None) };
        if let Ok(permit) = Arc::clone(places).try_acquire_owned() {
            return Ok(Some(permit));
        }
        let Some(_waiting) = QueueSlot::begin(self) else {
            return Err(full("too many requests wait for this provider already"));
        };
        match tokio::time::timeout(self.wait_max, Arc::clone(places).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(Some(permit)),
            Ok(Err(_)) | Err(_) => Err(full("the provider was busy for too long")),
        }
    }
}

/// A request in line; it leaves the line however its wait ends.
struct QueueSlot<'q>(&'q Queue);

impl<'q> QueueSlot<'q> {
    fn begin(queue: &'q Queue) -> Option<Self> {
        if queue.waiting.fetch_add(1, Relaxed) < queue.waiting_max {
            return Some(Self(queue));
        }
        queue.waiting.fetch_sub(1, Relaxed);
        None
    }
}

impl Drop for QueueSlot<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Relaxed);
    }
}

fn full(message: &'static str) -> Box<Failure> {
    let mut failure = Failure::new(Whose::Upstream, FaultKind::Overloaded, message);
    // Another try would only join the same line: another target, or the client after a while.
    failure.fault.retry_after_s = Some(5);
    failure
}
