//! Replies to clients: their body, and the headers for who answered and what was lost.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, UPGRADE};
use http::{HeaderValue, Response, StatusCode};
use http_body::{Frame, SizeHint};
use sabir_wire::Protocol;
use tokio::time::Instant;

use crate::answer::{Answering, Cut, InFlight};
use crate::call::{Delivery, Recipient};
use crate::egress::headers;
use crate::egress::live::Live;
use crate::tap::Head;
use crate::trace::Trace;

pub(crate) type Reply = Response<ReplyBody>;

/// The body of a reply.
pub(crate) enum ReplyBody {
    Whole(Option<Bytes>),
    Live(Box<Live>),
    /// Read off what is kept.
    Kept(KeptBody),
}

/// A body that is no answer of a provider's.
pub(crate) type KeptBody = Pin<Box<dyn http_body::Body<Data = Bytes, Error = Cut>>>;

impl ReplyBody {
    /// The body of an answer. One that is all there goes at once, unless a tap holds it back.
    pub(crate) fn of(mut answering: Box<Answering>, mut flight: InFlight) -> Self {
        match answering.take_all(&mut flight) {
            Some(body) => Self::Whole(Some(body).filter(|body| !body.is_empty())),
            None => Self::Live(Box::new(Live::new(answering, flight))),
        }
    }

    /// When the body must have been sent, where it has a time of its own.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Whole(_) | Self::Kept(_) => None,
            Self::Live(live) => live.deadline(),
        }
    }
}

impl http_body::Body for ReplyBody {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        match self.get_mut() {
            Self::Whole(body) => Poll::Ready(body.take().map(|body| Ok(Frame::data(body)))),
            Self::Live(live) => {
                live.poll_bytes(cx).map(|bytes| bytes.map(|bytes| bytes.map(Frame::data)))
            }
            Self::Kept(body) => body.as_mut().poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.is_none(),
            Self::Live(_) | Self::Kept(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => {
                SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64))
            }
            Self::Live(live) => match live.exact_bytes() {
                Some(bytes) => SizeHint::with_exact(bytes as u64),
                None => SizeHint::default(),
            },
            Self::Kept(_) => SizeHint::default(),
        }
    }
}

/// The next bytes of a reply, for whoever reads it in the place of a client.
pub(crate) async fn next_bytes(reply: &mut Reply) -> Option<Result<Bytes, Cut>> {
    loop {
        let body = reply.body_mut();
        let frame = poll_fn(|cx| http_body::Body::poll_frame(Pin::new(&mut *body), cx)).await?;
        match frame.map(Frame::into_data) {
            Ok(Ok(bytes)) => return Some(Ok(bytes)),
            Ok(Err(_)) => {}
            Err(cut) => return Some(Err(cut)),
        }
    }
}

/// The reply to a call that is being answered.
pub(crate) fn answer(
    recipient: Recipient,
    mut answering: Box<Answering>,
    mut flight: InFlight,
) -> Reply {
    let head = answering.take_head();
    flight.trace.set_status(200);
    // Whoever goes on with the answer has no use for the question.
    flight.admission.release_body();
    let mut reply = Response::new(ReplyBody::Whole(None));
    let headers = reply.headers_mut();
    // Room for what most have, so that they never move.
    headers.reserve(HEADERS);
    headers.insert(CONTENT_TYPE, content_type(recipient.delivery, &head, &answering));
    if !answering.is_whole() {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    headers::add(headers, recipient.client, &head.headers, &flight.trace);
    *reply.body_mut() = ReplyBody::of(answering, flight);
    reply
}

/// A stream of events that is no answer of a provider's.
pub(crate) fn stream(body: KeptBody) -> Reply {
    let mut reply = Response::new(ReplyBody::Kept(body));
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, EVENT_STREAM);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    reply
}

/// The reply to a handshake.
pub(crate) fn upgrade() -> Reply {
    let mut reply = Response::new(ReplyBody::Whole(None));
    *reply.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("upgrade"));
    reply.headers_mut().insert(UPGRADE, HeaderValue::from_static("websocket"));
    reply
}

fn content_type(delivery: Delivery, head: &Head, answering: &Answering) -> HeaderValue {
    let own = head.headers.get(CONTENT_TYPE).filter(|_| answering.is_own());
    match (own, delivery) {
        // The bytes are the provider's own, and so is their content type.
        (Some(own), _) => own.clone(),
        (None, Delivery::Stream) if !answering.is_whole() => EVENT_STREAM,
        (None, Delivery::Stream | Delivery::Array | Delivery::Whole) => JSON,
    }
}

/// How many headers most replies have at most.
const HEADERS: usize = 12;

const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream; charset=utf-8");

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A reply of Sabir's own.
pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Reply {
    whole(status, JSON, body.into())
}

pub(crate) fn text(body: impl Into<String>) -> Reply {
    let body = body.into().into();
    whole(StatusCode::OK, HeaderValue::from_static("text/plain; charset=utf-8"), body)
}

fn whole(status: StatusCode, kind: HeaderValue, body: Bytes) -> Reply {
    let mut reply = Response::new(ReplyBody::Whole(Some(body)));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, kind);
    reply
}

/// The reply to a call that failed.
pub(crate) fn failed(status: StatusCode, body: Bytes, client: Protocol, trace: &Trace) -> Reply {
    let mut reply = Response::new(ReplyBody::Whole(Some(body)));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, JSON);
    headers::add(reply.headers_mut(), client, &http::HeaderMap::new(), trace);
    reply
}
