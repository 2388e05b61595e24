//! One connection of a client, from its first request to its last.

use std::cell::RefCell;
use std::convert::Infallible;
use std::net::TcpStream;

use http::header::CONNECTION;
use http::{HeaderValue, Request, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::server::conn::http1::Parts;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};

use crate::server::arrival::Arrival;
use crate::server::framing::Framing;
use crate::server::sending::Sending;
use crate::server::socket::Upgraded;
use crate::server::watched::Watched;
use crate::server::worker::{LAST_WRITE_MAX, Phase, WorkerState};
use crate::stack;
use crate::stack::Entry;

/// How much of a body is read at once, if the headers may not be longer anyway.
const READ_BYTES_MAX: usize = 128 * 1024;

/// Heads that are longer than this many times their limit are cut off without a message. Below that they are read, so that
/// the refusal can be in the client's protocol.
const HEADS_READ: usize = 2;

/// The same for their lines: room for so many is made for every request, so it is no more than a few times what is allowed.
const LINES_READ: usize = 256;

/// Serves requests until the last, or until the connection becomes a WebSocket.
pub(super) async fn serve(state: &WorkerState, stream: TcpStream) -> Option<Box<Upgraded>> {
    // Without this the last small piece of every stream would wait 40 ms for an acknowledgement.
    let Ok(stream) = stream
        .set_nodelay(true)
        .and_then(|()| stream.set_nonblocking(true))
        .and_then(|()| tokio::net::TcpStream::from_std(stream))
    else {
        return None;
    };
    keep_little_unsent(&stream);
    let is_local = stream.peer_addr().is_ok_and(|peer| peer.ip().to_canonical().is_loopback());
    let limits = &{ state.latest.snapshot().config().limits };
    let arrival = Arrival::default();
    let sending = Sending::new(limits);
    let framing = Framing::default();
    let handshake = RefCell::new(None);
    let service = service_fn(|request: Request<Incoming>| {
        let (mut head, mut body) = arrival.begin(request).into_parts();
        let misframed = framing.begin();
        if let Some(misframed) = misframed {
            head.extensions.insert(misframed);
        }
        let (arrival, sending, handshake) = (&arrival, &sending, &handshake);
        async move {
            let entry = Entry {
                gateway: state.latest.gateway(),
                snapshot: &state.latest.snapshot(),
                client: &state.client,
                supervisor: &state.supervisor,
                is_local,
            };
            let mut reply = stack::handle(entry, &head, &mut body).await;
            if misframed.is_some() {
                reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            arrival.end();
            sending.begin(reply.body().deadline());
            if reply.status() == StatusCode::SWITCHING_PROTOCOLS {
                handshake.replace(Some(head));
            }
            Ok::<_, Infallible>(reply)
        }
    });
    let head_bytes_max = limits.header_bytes_max.saturating_mul(HEADS_READ);
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_read_timeout)
        .max_headers(LINES_READ)
        .max_header_size(head_bytes_max)
        .max_buf_size(head_bytes_max.max(READ_BYTES_MAX))
        .serve_connection(TokioIo::new(Watched::new(stream, &sending, &framing)), service);
    let outcome = tokio::select! {
        outcome = &mut connection => outcome,
        () = state.reached(Phase::Stopping) => {
            Pin::new(&mut connection).graceful_shutdown();
            tokio::select! {
                outcome = &mut connection => outcome,
                () = silence(&arrival) => return None,
                // The answers look at the gateway, see that it ends, and say so.
                () = state.reached(Phase::Over) => (&mut connection).await,
            }
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(target: "sabir", %error, "a connection ended early");
    }
    let head = handshake.take()?;
    let Parts { io, read_buf: read, .. } = connection.into_parts();
    Some(Box::new(Upgraded { stream: io.into_inner().into_stream(), read, head, is_local }))
}

/// Has the system take no more of an answer than a little beyond what is on its way. It would take megabytes, and report
/// nothing until a third of them is gone: a slow client that reads all the time would look like one that does not read.
#[cfg(target_os = "linux")]
fn keep_little_unsent(stream: &tokio::net::TcpStream) {
    // Without it everything works, for clients that are not too slow.
    let _ = socket2::SockRef::from(stream).set_tcp_notsent_lowat(UNSENT_BYTES_MAX);
}

/// Half of it must go within the time that a client may take nothing: about 1 KiB each second by default.
#[cfg(target_os = "linux")]
const UNSENT_BYTES_MAX: u32 = 128 * 1024;

#[cfg(not(target_os = "linux"))]
fn keep_little_unsent(_: &tokio::net::TcpStream) {}

/// Waits until it is plain that the client does not go on asking: nobody waits for an answer to half a request.
async fn silence(arrival: &Arrival) {
    loop {
        let before = arrival.progress();
        tokio::time::sleep(LAST_WRITE_MAX).await;
        if !arrival.is_whole() && arrival.progress() == before {
            return;
        }
    }
}
