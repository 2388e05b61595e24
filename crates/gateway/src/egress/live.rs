//! The body of an answer that is being sent: pulled as the client takes it, and gone with the client.

use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::time::Instant;

use crate::answer::{Answering, Cut, InFlight};

/// An answer with the request that it belongs to. Dropping it ends the provider's work and records the request.
pub(crate) struct Live {
    answering: Box<Answering>,
    flight: InFlight,
}

impl Live {
    pub(super) fn new(answering: Box<Answering>, flight: InFlight) -> Self {
        Self { answering, flight }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.answering.deadline()
    }

    pub(super) fn exact_bytes(&self) -> Option<usize> {
        self.answering.exact_bytes()
    }

    pub(super) fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Cut>>> {
        self.answering.poll_next(cx, &mut self.flight)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.answering.abandon(&mut self.flight);
    }
}
