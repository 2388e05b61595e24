//! Replies to clients: their body, and the headers that say who answered and what was lost.

use std::fmt;
use std::pin::Pin;
use std::task::Context;
use std::task::Poll;

use bytes::Bytes;
use http::HeaderValue;
use http::Response;
use http::StatusCode;
use http::header::CACHE_CONTROL;
use http::header::CONTENT_TYPE;
use http_body::Frame;
use http_body::SizeHint;
use sabir_wire::Protocol;
use tokio::time::Instant;

use crate::attempt::Opened;
use crate::call::Call;
use crate::call::Delivery;
use crate::egress::Live;
use crate::egress::headers;
use crate::observe::Ending;
use crate::observe::Trace;

pub(crate) type Reply = Response<ReplyBody>;

/// The body of a reply.
pub(crate) enum ReplyBody {
    Whole(Option<Bytes>),
    Live(Box<Live>),
}

/// A body that cannot come to its end. The connection is closed without one, so that the client sees that something is
/// missing.
#[derive(Debug)]
pub(crate) struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer broke off")
    }
}

impl std::error::Error for Cut {}

impl ReplyBody {
    /// When the body must have been sent, where it has a time of its own.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Whole(_) => None,
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
                let bytes = Pin::new(live.as_mut()).poll_bytes(cx);
                bytes.map(|bytes| bytes.map(|bytes| bytes.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.is_none(),
            Self::Live(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => {
                SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64))
            }
            Self::Live(_) => SizeHint::default(),
        }
    }
}

/// The reply to a call that is being answered.
pub(crate) fn opened(call: &Call<'_>, opened: Opened, mut trace: Trace) -> Reply {
    trace.answers(200);
    // Whoever goes on with the answer has no use for the question.
    trace.forgets_body();
    match opened {
        Opened::Whole(whole) => {
            let mut reply = roomy(ReplyBody::Whole(Some(whole.body)));
            reply.headers_mut().insert(CONTENT_TYPE, JSON);
            headers::add(reply.headers_mut(), call.client, &whole.headers, &trace);
            trace.ends(Ending::Answered);
            reply
        }
        Opened::Through { headers, first, along, feed } => {
            let mut reply = stream_reply(call.delivery);
            // The bytes are the provider's own, and so is the word for what they are.
            if let Some(kind) = headers.get(CONTENT_TYPE) {
                reply.headers_mut().insert(CONTENT_TYPE, kind.clone());
            }
            headers::add(reply.headers_mut(), call.client, &headers, &trace);
            *reply.body_mut() = ReplyBody::Live(Box::new(Live::through(first, along, feed, trace)));
            reply
        }
        Opened::Translated { headers, translation, feed } => {
            let mut reply = stream_reply(call.delivery);
            headers::add(reply.headers_mut(), call.client, &headers, &trace);
            let live = Live::translated(translation, feed, trace);
            *reply.body_mut() = ReplyBody::Live(Box::new(live));
            reply
        }
    }
}

/// A reply with room for the headers that most have, so that they never move.
fn roomy(body: ReplyBody) -> Reply {
    let mut reply = Response::new(body);
    reply.headers_mut().reserve(HEADERS);
    reply
}

/// How many headers most replies have at most.
const HEADERS: usize = 12;

fn stream_reply(delivery: Delivery) -> Reply {
    let mut reply = roomy(ReplyBody::Whole(None));
    let kind = match delivery {
        Delivery::Stream => HeaderValue::from_static("text/event-stream; charset=utf-8"),
        Delivery::Array | Delivery::Whole => JSON,
    };
    reply.headers_mut().insert(CONTENT_TYPE, kind);
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    reply
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A reply of Sabir's own.
pub(crate) fn json(status: StatusCode, body: String) -> Reply {
    whole(status, JSON, body)
}

pub(crate) fn text(body: impl Into<String>) -> Reply {
    whole(StatusCode::OK, HeaderValue::from_static("text/plain; charset=utf-8"), body.into())
}

fn whole(status: StatusCode, kind: HeaderValue, body: String) -> Reply {
    let mut reply = Response::new(ReplyBody::Whole(Some(body.into())));
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
