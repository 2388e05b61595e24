//! The body of a reply, wherever it comes from: bytes as a server sends them, or events of a backend that has no wire format.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::Body as _;
use sabir_backend::sim::ReplyBody;
use sabir_backend::{Error, ErrorKind, Result};
use sabir_wire::protocol::Event;

/// A body that is being read.
#[derive(Debug)]
pub(crate) enum Body {
    Http(sabir_backend::http::Body),
    Simulated(Box<ReplyBody>),
    /// What this gateway has written itself.
    Own(Option<Bytes>),
    Events(Box<dyn Events>),
}

/// What a body gives at a time.
#[derive(Debug)]
pub(crate) enum Piece<'a> {
    Bytes(&'a [u8]),
    Event(Event<'a>),
}

/// Events of an answer as they come. Whoever makes them keeps secrets out of them: only bytes are redacted.
pub(crate) trait Events: std::fmt::Debug {
    /// Hands on the events that are there; ready with none at the end.
    fn poll_events(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(Event<'static>),
    ) -> Poll<Option<Result<()>>>;
}

impl Body {
    /// Whether it gives events instead of bytes.
    pub(crate) fn is_events(&self) -> bool {
        match self {
            Self::Http(_) | Self::Simulated(_) | Self::Own(_) => false,
            Self::Events(_) => true,
        }
    }

    /// Hands on what comes next; ready with none at the end.
    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(Piece<'_>),
    ) -> Poll<Option<Result<()>>> {
        match self {
            Self::Http(body) => body.poll_data(cx, &mut |data| take(Piece::Bytes(data))),
            Self::Simulated(body) => {
                let frame = ready!(Pin::new(body.as_mut()).poll_frame(cx));
                Poll::Ready(frame.map(|frame| {
                    let frame = frame.map_err(|_| {
                        Error::new(ErrorKind::Truncated, "the simulator broke the connection off")
                    })?;
                    if let Ok(data) = frame.into_data() {
                        take(Piece::Bytes(&data));
                    }
                    Ok(())
                }))
            }
            Self::Own(bytes) => Poll::Ready(bytes.take().map(|bytes| {
                take(Piece::Bytes(&bytes));
                Ok(())
            })),
            Self::Events(events) => events.poll_events(cx, &mut |event| take(Piece::Event(event))),
        }
    }
}
