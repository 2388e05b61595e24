//! One connection of a client, from its first request to its last.

use std::convert::Infallible;
use std::net::TcpStream;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Context;
use std::task::Poll;

use bytes::Bytes;
use http::Request;
use http_body::Body;
use http_body::Frame;
use http_body::SizeHint;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::rt::TokioTimer;
use tokio::sync::watch;

use crate::egress::Cut;
use crate::egress::ReplyBody;
use crate::server::worker::Desk;
use crate::server::worker::FAREWELL_MAX;
use crate::stack;

/// How much of a body is read at once, if the headers may not be longer anyway.
const READ_BYTES_MAX: usize = 128 * 1024;

pub(super) async fn serve(desk: &Rc<Desk>, stream: TcpStream, mut stop: watch::Receiver<bool>) {
    // Without this the last small piece of every stream would wait 40 ms for an acknowledgement.
    let Ok(stream) = stream
        .set_nodelay(true)
        .and_then(|()| stream.set_nonblocking(true))
        .and_then(|()| tokio::net::TcpStream::from_std(stream))
    else {
        return;
    };
    let busy = Rc::new(());
    let service = service_fn(|request: Request<Incoming>| {
        let busy = Rc::clone(&busy);
        async move {
            let reply = stack::handle(&desk.gateway, &desk.client, request).await;
            Ok::<_, Infallible>(reply.map(|body| Attended { body, _busy: busy }))
        }
    });
    let limits = &desk.gateway.config.limits;
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_read_timeout)
        .max_header_size(limits.header_bytes_max)
        .max_buf_size(limits.header_bytes_max.max(READ_BYTES_MAX))
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let told = async {
        let _ = stop.wait_for(|is_told| *is_told).await;
    };
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        () = told => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                outcome = connection.as_mut() => outcome,
                // Nobody waits for an answer to half a request.
                () = tokio::time::sleep(FAREWELL_MAX), if Rc::strong_count(&busy) == 1 => return,
                // The answers look at the gateway, see that it ends, and say so.
                () = over(desk) => connection.await,
            }
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(target: "sabir", %error, "a connection ended early");
    }
}

async fn over(desk: &Desk) {
    let _ = desk.over.subscribe().wait_for(|is_over| *is_over).await;
}

/// The body of a reply, during which its connection is busy.
struct Attended {
    body: ReplyBody,
    _busy: Rc<()>,
}

impl Body for Attended {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
