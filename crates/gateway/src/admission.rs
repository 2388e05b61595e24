//! What a request may take while it is served: a place among those in flight, one with its provider, and memory for its
//! body. All of it is given back when this is dropped.

use std::sync::Arc;

use sabir_wire::FaultKind;
use tokio::sync::OwnedSemaphorePermit;

use crate::Gateway;
use crate::failure::Failure;
use crate::failure::Result;
use crate::failure::Whose;
use crate::held::Held;

/// The permits of one request.
#[derive(Debug)]
pub(crate) struct Admission {
    gateway: Arc<Gateway>,
    /// To be one of the requests that are served at once, until it ends.
    request: Option<OwnedSemaphorePermit>,
    /// To be one of the requests with its provider, until it ends or goes elsewhere.
    provider: Option<OwnedSemaphorePermit>,
    /// The bytes of its body that are held.
    body_bytes: usize,
}

impl Admission {
    /// Nothing is permitted yet.
    pub(crate) fn begin(gateway: &Arc<Gateway>) -> Self {
        Self { gateway: Arc::clone(gateway), request: None, provider: None, body_bytes: 0 }
    }

    pub(crate) fn gateway(&self) -> &Arc<Gateway> {
        &self.gateway
    }

    /// Takes a place among the requests that are served at once.
    pub(crate) fn admit(&mut self) -> Result<()> {
        let permit = Arc::clone(&self.gateway.places).try_acquire_owned().map_err(|_| {
            let message = "this gateway serves as many requests as it may; try again soon";
            let mut failure = Failure::new(Whose::Gateway, FaultKind::Overloaded, message);
            failure.fault.retry_after_s = Some(1);
            failure
        })?;
        self.request = Some(permit);
        Ok(())
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
        self.gateway.holds(bytes)
    }

    /// The body is another one now: the same, unpacked.
    pub(crate) fn replace_body(&mut self, body: Held) {
        self.release_body();
        self.body_bytes = body.hand_over();
    }

    /// The body is there no longer.
    pub(crate) fn release_body(&mut self) {
        self.gateway.releases(std::mem::take(&mut self.body_bytes));
    }

    /// Whether the gateway ends, and no answer may go on.
    pub(crate) fn is_out_of_time(&self) -> bool {
        self.gateway.is_over()
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.release_body();
    }
}
