//! Sending a request and reading the head of its answer.

use std::io;
use std::io::IoSlice;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use tokio::io::AsyncWrite;

use crate::error::{Error, ErrorKind, Result};
use crate::http::body::Line;
use crate::http::connect::Connection;
use crate::http::head::{Framing, Head, Receiver};
use crate::http::pool::Pool;
use crate::http::proxy::{Http, Proxy, ProxyProtocol};
use crate::http::reuse::Conduct;
use crate::http::{Address, Afterwards, Body, Proxies, connect, scratch, tls};

/// A client of one thread: its connections are its own.
#[derive(Clone, Debug, Default)]
pub struct Client {
    pub(super) pool: Pool,
    proxies: std::rc::Rc<Proxies>,
}

/// A request to send. The client adds `host` and `content-length`; everything else is the caller's.
#[derive(Debug)]
pub struct Outgoing<'a> {
    pub method: &'a Method,
    pub address: &'a Address,
    /// The path with its query.
    pub path: &'a str,
    pub headers: &'a HeaderMap,
    /// In pieces, which are sent one behind the other.
    pub body: &'a [&'a [u8]],
    pub afterwards: Afterwards,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// From the moment that the request is on its way to the head of the answer.
    pub first_byte: Duration,
}

/// What a provider answers: the head, and a body to be read.
#[derive(Debug)]
pub struct HttpResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Body,
}

/// What of an answer has been read when its head is complete.
pub(super) struct Arrived {
    pub(super) head: Head,
    /// What came behind the head.
    early: Bytes,
    sending: Sending,
    /// Whether the whole request was written before anything came.
    pub(super) is_in_turn: bool,
    /// Whether no interim answer came before it.
    pub(super) is_single: bool,
}

/// How far a request has come on its way.
enum Sending {
    Going,
    Sent,
    /// The connection takes no more of it, for this reason.
    Failed(String),
}

impl Client {
    pub fn new(proxies: Proxies) -> Self {
        Self { pool: Pool::default(), proxies: std::rc::Rc::new(proxies) }
    }

    /// Sends a request, once: on a kept connection that is still open, or on a new one. Whether it may be sent again is
    /// known by the kind of the error.
    pub async fn send(&self, outgoing: &Outgoing<'_>, timeouts: Timeouts) -> Result<HttpResponse> {
        let head = self.head_of(outgoing);
        let mut pieces = pieces_of(&head, outgoing);
        let mut unsent = &mut pieces[..];
        let begin = |cx: &mut Context<'_>| self.begin_on_kept(outgoing.address, cx, &mut unsent);
        let connection = match std::future::poll_fn(begin).await {
            Some(connection) => connection,
            None => {
                let proxy = self.proxies.for_address(outgoing.address)?;
                // Boxed, since few requests need a connection of their own and all would make room for it.
                let connecting = connect::connect(outgoing.address, proxy, timeouts.connect);
                Box::pin(connecting).await?
            }
        };
        self.exchange((connection, unsent), outgoing, timeouts.first_byte).await
    }

    /// A kept connection with the first bytes of a request on it, if there is one that is still good. The look at it and the
    /// first write are one step: whatever comes before that write is no answer to this request.
    fn begin_on_kept(
        &self,
        address: &Address,
        cx: &mut Context<'_>,
        unsent: &mut &mut [IoSlice<'_>],
    ) -> Poll<Option<Connection>> {
        while let Some(mut connection) = self.pool.take(address, cx) {
            match poll_write_some(&mut connection, cx, unsent, TURN_BYTES) {
                Poll::Ready(Ok(length)) => IoSlice::advance_slices(unsent, length),
                // It is met again by whoever sends the rest.
                Poll::Ready(Err(_)) => {}
                // Nothing is written, and an idle connection that takes nothing is odd.
                Poll::Pending => continue,
            }
            return Poll::Ready(Some(connection));
        }
        Poll::Ready(None)
    }

    /// Closes connections that have waited too long for another request.
    pub fn sweep(&self) {
        self.pool.sweep();
    }

    /// Sends what is left of a request on a connection and reads the head of its answer.
    pub(super) async fn exchange(
        &self,
        (mut connection, mut unsent): (Connection, &mut [IoSlice<'_>]),
        outgoing: &Outgoing<'_>,
        deadline: Duration,
    ) -> Result<HttpResponse> {
        let asking = ask(&mut connection, &mut unsent);
        let Ok(arrived) = tokio::time::timeout(deadline, asking).await else {
            let detail = format!("no answer from {} within {deadline:?}", outgoing.address);
            return Err(Error::new(ErrorKind::FirstByteTimeout, detail));
        };
        let arrived = arrived?;
        let conduct = Conduct::of(outgoing, &arrived);
        let Arrived { head, early, sending, .. } = arrived;
        let framing = match (head.framing()?, outgoing.method) {
            (_, &Method::HEAD) => Framing::Length(0),
            (framing, _) => framing,
        };
        let unsent = match sending {
            // An answer may begin before its request has ended; a refusal needs no more of it.
            Sending::Going if head.status.is_success() => Some(joined(unsent)),
            Sending::Going | Sending::Sent | Sending::Failed(_) => None,
        };
        let line = Line {
            connection,
            address: outgoing.address.clone(),
            pool: self.pool.clone(),
            keep_alive: head.keep_alive(),
            conduct,
            unsent,
        };
        let body = Body::new(framing, early, line);
        match head.status {
            StatusCode::PROXY_AUTHENTICATION_REQUIRED => Err(self.unwelcome(outgoing.address)),
            status => Ok(HttpResponse { status, headers: head.headers, body }),
        }
    }

    /// The proxy that gets the requests for an address themselves, not a tunnel around them, and its credentials.
    fn plain_proxy(&self, address: &Address) -> Option<(&Proxy, &Http)> {
        let proxy = self.proxies.for_address(address).ok().flatten();
        match proxy.filter(|_| !address.is_tls())? {
            proxy @ Proxy { protocol: ProxyProtocol::Http(http), .. } => Some((proxy, http)),
            Proxy { protocol: ProxyProtocol::Socks(_), .. } => None,
        }
    }

    /// Only proxies ask for this: what the client of this gateway sent has nothing to do with it.
    fn unwelcome(&self, address: &Address) -> Error {
        let detail = match self.plain_proxy(address) {
            Some((proxy, _)) => format!(
                "the proxy {} does not let requests to {address} pass: status 407; it wants \
                 credentials, as in http://user:password@host:port",
                proxy.address
            ),
            None => format!("{address} answers like a proxy: status 407"),
        };
        Error::new(ErrorKind::Connect, detail)
    }

    /// The request's head as bytes. A plain request through a proxy names the whole address.
    pub(super) fn head_of(&self, outgoing: &Outgoing<'_>) -> Vec<u8> {
        let Outgoing { method, address, path, headers, body, .. } = outgoing;
        let mut head = Vec::with_capacity(512);
        let mut put = |text: &[u8]| head.extend_from_slice(text);
        put(method.as_str().as_bytes());
        put(b" ");
        let proxy = self.plain_proxy(address);
        if proxy.is_some() {
            put(b"http://");
            put(address.authority().as_bytes());
        }
        put(path.as_bytes());
        put(b" HTTP/1.1\r\nhost: ");
        put(address.authority().as_bytes());
        if let Some(credentials) = proxy.and_then(|(_, http)| http.credentials.as_ref()) {
            put(b"\r\nproxy-authorization: ");
            put(credentials.as_bytes());
        }
        let body_bytes: usize = body.iter().map(|piece| piece.len()).sum();
        if body_bytes > 0 || *method == Method::POST {
            put(b"\r\ncontent-length: ");
            put(body_bytes.to_string().as_bytes());
        }
        for (name, value) in *headers {
            put(b"\r\n");
            put(name.as_str().as_bytes());
            put(b": ");
            put(value.as_bytes());
        }
        put(b"\r\n\r\n");
        head
    }
}

/// All that a request consists of, in pieces.
pub(super) fn pieces_of<'p>(head: &'p [u8], outgoing: &Outgoing<'p>) -> Vec<IoSlice<'p>> {
    std::iter::once(head).chain(outgoing.body.iter().copied()).map(IoSlice::new).collect()
}

/// Sends the request and reads the answer's head. Reads while it writes: a provider may refuse a long body before it
/// has seen all of it, and would wait for ever to be read.
async fn ask<'b>(connection: &mut Connection, unsent: &mut &mut [IoSlice<'b>]) -> Result<Arrived> {
    let mut receiver = Receiver::default();
    let mut sending = Sending::Going;
    let mut is_in_turn = true;
    std::future::poll_fn(|cx| {
        if let Sending::Going = sending {
            sending = poll_send(connection, cx, unsent);
        }
        // What the provider had to say before it broke off is there to be read, whether or not more can be sent.
        loop {
            let came = scratch::poll_read(connection, cx, |bytes| match bytes {
                [] => None,
                bytes => Some(receiver.push(bytes)),
            });
            let arrived = match std::task::ready!(came) {
                Ok(Some(arrived)) => arrived?,
                Ok(None) => {
                    let closed = "it closed the connection";
                    return Poll::Ready(Err(disconnected(&receiver, &sending, closed)));
                }
                Err(error) => {
                    let error = disconnected(&receiver, &sending, &tls::reason(&error));
                    return Poll::Ready(Err(error));
                }
            };
            is_in_turn &= matches!(sending, Sending::Sent);
            if let Some((head, early)) = arrived {
                let sending = std::mem::replace(&mut sending, Sending::Sent);
                let is_single = !receiver.has_interim();
                return Poll::Ready(Ok(Arrived { head, early, sending, is_in_turn, is_single }));
            }
        }
    })
    .await
}

fn poll_send(
    connection: &mut Connection,
    cx: &mut Context<'_>,
    unsent: &mut &mut [IoSlice<'_>],
) -> Sending {
    match poll_write(connection, cx, unsent) {
        Poll::Pending => Sending::Going,
        Poll::Ready(Ok(())) => Sending::Sent,
        Poll::Ready(Err(error)) => Sending::Failed(tls::reason(&error)),
    }
}

/// How much of a request is written before the others of this thread have their turn: a fast provider always takes more.
const TURN_BYTES: usize = 128 * 1024;

fn poll_write(
    connection: &mut Connection,
    cx: &mut Context<'_>,
    unsent: &mut &mut [IoSlice<'_>],
) -> Poll<io::Result<()>> {
    let mut left = TURN_BYTES;
    while !unsent.is_empty() {
        if left == 0 {
            return yield_turn(cx);
        }
        match poll_write_some(connection, cx, unsent, left) {
            Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
            Poll::Ready(Ok(length)) => {
                IoSlice::advance_slices(unsent, length);
                left -= length;
            }
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => return Poll::Pending,
        }
    }
    Pin::new(connection).poll_flush(cx)
}

/// Writes at most so many bytes: the system would copy megabytes in one go.
fn poll_write_some(
    connection: &mut Connection,
    cx: &mut Context<'_>,
    unsent: &[IoSlice<'_>],
    bytes_max: usize,
) -> Poll<io::Result<usize>> {
    let mut sum = 0;
    let within = unsent.iter().take_while(|piece| {
        sum += piece.len();
        sum <= bytes_max
    });
    match within.count() {
        0 => Pin::new(connection).poll_write(cx, &unsent[0][..bytes_max]),
        count => Pin::new(connection).poll_write_vectored(cx, &unsent[..count]),
    }
}

/// Goes on after the thread has looked for input. A waker alone would put this task at the end of a queue that never
/// gets empty while two of them write, and the thread would look for input after 61 of their turns.
fn yield_turn<T>(cx: &mut Context<'_>) -> Poll<T> {
    let _ = std::pin::pin!(tokio::task::yield_now()).poll(cx);
    Poll::Pending
}

fn joined(pieces: &[IoSlice<'_>]) -> Bytes {
    let pieces: Vec<&[u8]> = pieces.iter().map(|piece| &**piece).collect();
    pieces.concat().into()
}

/// Why there is no answer, and how far the request had come by then.
fn disconnected(receiver: &Receiver, sending: &Sending, detail: &str) -> Error {
    let kind = match sending {
        _ if !receiver.is_empty() => ErrorKind::Truncated,
        Sending::Sent => ErrorKind::Disconnected,
        Sending::Going | Sending::Failed(_) => ErrorKind::Unsent,
    };
    let detail = match sending {
        Sending::Failed(reason) => reason,
        Sending::Going | Sending::Sent => detail,
    };
    Error::new(kind, format!("no answer from the provider: {detail}"))
}
