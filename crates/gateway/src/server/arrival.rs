//! How far a connection's last request has come in: a gateway that stops does not wait for the rest of it for ever.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Request;
use http_body::{Body, Frame, SizeHint};

/// The last request of a connection; before the first there is nothing of one.
#[derive(Debug, Default)]
pub(super) struct Arrival {
    is_whole: Cell<bool>,
    /// How many pieces have come, of all requests.
    pieces: Cell<u64>,
}

impl Arrival {
    /// The head of a request is there. What comes behind it is watched.
    pub(super) fn begin<B: Body>(&self, request: Request<B>) -> Request<Arriving<'_, B>> {
        self.is_whole.set(request.body().is_end_stream());
        self.count();
        request.map(|body| Arriving { body, arrival: self })
    }

    /// Nothing more is wanted of the request.
    pub(super) fn end(&self) {
        self.is_whole.set(true);
    }

    pub(super) fn is_whole(&self) -> bool {
        self.is_whole.get()
    }

    /// A number that grows while something comes.
    pub(super) fn progress(&self) -> u64 {
        self.pieces.get()
    }

    fn count(&self) {
        self.pieces.set(self.pieces.get() + 1);
    }
}

/// A body that is watched as it comes in.
#[derive(Debug)]
pub(super) struct Arriving<'c, B> {
    body: B,
    arrival: &'c Arrival,
}

impl<B: Body + Unpin> Body for Arriving<'_, B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            Some(_) => self.arrival.count(),
            None => self.arrival.end(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
