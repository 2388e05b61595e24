//! What a request may take while it is served: a place among those in flight, one with its provider, and memory for its
//! body. All of it is given back when this is dropped.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use sabir_wire::FaultKind;
use tokio::sync::OwnedSemaphorePermit;

use crate::failure::{Failure, Result, Whose};
use crate::held::Held;
use crate::state::Snapshot;

/// The permits of one request.
#[derive(Debug)]
pub(crate) struct Admission {
    snapshot: Arc<Snapshot>,
    /// Whether it is one of the requests that are served at once, until it ends.
    is_admitted: bool,
    /// To be one of the requests with its provider, until it ends or goes elsewhere.
    provider: Option<OwnedSemaphorePermit>,
    /// The bytes of its body that are held.
    body_bytes: usize,
}

impl Admission {
    /// Nothing is permitted yet.
    pub(crate) fn begin(snapshot: &Arc<Snapshot>) -> Self {
        Self { snapshot: Arc::clone(snapshot), is_admitted: false, provider: None, body_bytes: 0 }
    }

    pub(crate) fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// Takes a place among the requests that are served at once.
    pub(crate) fn admit(&mut self) -> Result<()> {
        let served_max = self.snapshot.config().limits.requests_max;
        if self.snapshot.shared.served.fetch_add(1, Relaxed) < served_max {
            self.is_admitted = true;
            return Ok(());
        }
        self.snapshot.shared.served.fetch_sub(1, Relaxed);
        let message = "this gateway serves as many requests as it may; try again soon";
        let mut failure = Failure::new(Whose::Gateway, FaultKind::Overloaded, message);
        failure.fault.retry_after_s = Some(1);
        Err(failure)
    }

    /// Takes a place with a provider.
    pub(crate) fn hold_permit(&mut self, permit: OwnedSemaphorePermit) {
        self.provider = Some(permit);
    }

    /// Gives back the place with the provider, which has nothing more to do for the request.
    pub(crate) fn release_permit(&mut self) {
        self.provider = None;
    }

    /// The body has so many bytes more.
    pub(crate) fn hold_body(&mut self, bytes: usize) -> Result<()> {
        self.body_bytes += bytes;
        self.snapshot.holds(bytes)
    }

    /// The body is another one now: the same, unpacked.
    pub(crate) fn replace_body(&mut self, body: Held) {
        self.release_body();
        self.body_bytes = body.hand_over();
    }

    /// The body is there no longer.
    pub(crate) fn release_body(&mut self) {
        self.snapshot.releases(std::mem::take(&mut self.body_bytes));
    }

    /// Whether the gateway ends, and no answer may go on.
    pub(crate) fn is_out_of_time(&self) -> bool {
        self.snapshot.shared.is_over()
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.release_body();
        if self.is_admitted {
            self.snapshot.shared.served.fetch_sub(1, Relaxed);
        }
    }
}
