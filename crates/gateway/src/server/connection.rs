//! One connection of a client, from its first request to its last.

use std::convert::Infallible;
use std::net::TcpStream;
use std::rc::Rc;

use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::rt::TokioTimer;
use tokio::sync::watch;

use crate::server::worker::Desk;
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
    let service = service_fn(|request: Request<Incoming>| async move {
        Ok::<_, Infallible>(stack::handle(&desk.gateway, &desk.client, request).await)
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
            connection.await
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(target: "sabir", %error, "a connection ended early");
    }
}
