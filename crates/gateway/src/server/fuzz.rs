//! What must hold for any bytes that come over a client's connection: the requests that are served are those that a strict
//! reader finds, one after the other. Shared by the fuzz target and the property test.

mod strict;

use std::cell::RefCell;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::CONNECTION;
use http::{HeaderValue, Method, Request, Response};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::server::framing::{Framing, Tracker};

/// Serves the requests of a connection, and panics if one is served whose end another reader would see elsewhere.
pub(crate) fn framing(bytes: &[u8]) {
    let found = strict::requests(bytes);
    let at = usize::from(bytes.first().copied().unwrap_or_default()).min(bytes.len());
    for pieces in [vec![bytes], bytes.chunks(1).collect(), vec![&bytes[..at], &bytes[at..]]] {
        let served = served(pieces);
        assert!(served.len() <= found.len(), "{} requests are served as more", found.len());
        assert_eq!(served, found[..served.len()], "another request is served");
    }
}

/// A request as far as it matters where it ends.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    method: String,
    body: Vec<u8>,
}

/// The requests that are served whole when bytes come in these pieces.
fn served(pieces: Vec<&[u8]>) -> Vec<Found> {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime without I/O can always be made");
    }
    let (framing, served) = (Framing::default(), RefCell::new(Vec::new()));
    let service = service_fn(|request: Request<Incoming>| {
        let misframed = framing.begin();
        let (method, body) = (request.method().clone(), request.into_body());
        let served = &served;
        async move {
            let mut reply = Response::new(Empty::<Bytes>::new());
            if method == Method::CONNECT {
                *reply.status_mut() = http::StatusCode::BAD_REQUEST;
            }
            match (misframed, body.collect().await) {
                (None, Ok(body)) => {
                    let body = body.to_bytes().into();
                    served.borrow_mut().push(Found { method: method.to_string(), body });
                }
                (Some(_), _) | (_, Err(_)) => {
                    reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
            }
            Ok::<_, Infallible>(reply)
        }
    });
    let wire = Wire { pieces, framing: &framing, tracker: Tracker::default() };
    // The end of the bytes is not the end of the client's patience.
    let connection =
        http1::Builder::new().half_close(true).serve_connection(TokioIo::new(wire), service);
    let _ = RUNTIME.with(|runtime| runtime.block_on(connection));
    served.into_inner()
}

/// A connection of which only one side is there.
struct Wire<'b> {
    pieces: Vec<&'b [u8]>,
    framing: &'b Framing,
    tracker: Tracker,
}

impl AsyncRead for Wire<'_> {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { pieces, framing, tracker } = self.get_mut();
        while pieces.first().is_some_and(|piece| piece.is_empty()) {
            pieces.remove(0);
        }
        let Some(piece) = pieces.first_mut() else { return Poll::Ready(Ok(())) };
        let (now, later) = piece.split_at(piece.len().min(buffer.remaining()));
        *piece = later;
        buffer.put_slice(now);
        Poll::Ready(tracker.push(now, framing))
    }
}

impl AsyncWrite for Wire<'_> {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LINES: &[&str] = &[
        "POST /a HTTP/1.1\r\n",
        "GET /a HTTP/1.1\r\n",
        "\r\nPOST /a HTTP/1.0\r\nconnection: keep-alive\r\n",
        "CONNECT a:1 HTTP/1.1\r\n",
        "POST /a HTTP/1.1\n",
    ];

    const FIELDS: &[&str] = &[
        "host: a\r\n",
        "expect: 100-continue\r\n",
        "content-length: 3\r\n",
        "Content-Length:\t3 \r\n",
        "content-length : 3\r\n",
        "content-length: +3\r\n",
        "content-length: 3\n",
        "transfer-encoding: chunked\r\n",
        "transfer-encoding: identity, chunked\r\n",
        "connection: upgrade\r\nupgrade: x\r\n",
        " folded\r\n",
    ];

    const BODIES: &[&str] = &[
        "",
        "abc",
        "0\r\n\r\n",
        "3\r\nabc\r\n0\r\nx: y\r\n\r\n",
        "3;a=\"\\\"\"\r\nabc\r\n0\r\n\r\n",
        "3\nabc\r\n0\r\n\r\n",
        "3 \r\nabc\r\n0\r\n\r\n",
    ];

    fn requests() -> impl Strategy<Value = String> {
        let fields = proptest::collection::vec(proptest::sample::select(FIELDS), 0..4);
        let (line, body) = (proptest::sample::select(LINES), proptest::sample::select(BODIES));
        let request = (line, fields, body)
            .prop_map(|(line, fields, body)| format!("{line}{}\r\n{body}", fields.concat()));
        proptest::collection::vec(request, 1..4).prop_map(|requests| requests.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 2_000,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn no_request_is_served_that_another_reader_would_not_see(requests in requests()) {
            framing(requests.as_bytes());
        }
    }

    #[test]
    fn what_is_by_the_grammar_is_served() {
        let requests = b"POST /a HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc\r\nGET / HTTP/1.1\r\n\r\n\
                         PUT / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n2;a=b\r\nhi\r\n0\r\nx: y\r\n\r\n";
        let served = served(vec![requests]);
        let bodies: Vec<&[u8]> = served.iter().map(|it| &it.body[..]).collect();
        assert_eq!(bodies, [&b"abc"[..], b"", b"hi"]);
        assert_eq!(served, strict::requests(requests));
    }
}
