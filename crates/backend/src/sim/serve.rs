//! All four simulators on one socket, below `/openai`, `/anthropic` and `/gemini`.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming as HyperBody;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use sabir_wire::Protocol;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

use super::recorder::Recorder;
use super::{Incoming, Reply, ReplyBody, Simulator, Step};
use crate::http::add_reason;

const BODY_BYTES_MAX: usize = 64 << 20;

/// The four simulators, to be served together.
#[derive(Debug)]
pub struct Server {
    openai_chat: Simulator,
    openai_responses: Simulator,
    anthropic_messages: Simulator,
    gemini: Simulator,
}

impl Default for Server {
    fn default() -> Self {
        let recorder: Arc<Recorder> = Arc::default();
        let simulator = |protocol| Simulator::recording_to(protocol, recorder.clone());
        Self {
            openai_chat: simulator(Protocol::OpenaiChat),
            openai_responses: simulator(Protocol::OpenaiResponses),
            anthropic_messages: simulator(Protocol::AnthropicMessages),
            gemini: simulator(Protocol::Gemini),
        }
    }
}

impl Server {
    /// Serves until the future is dropped. It spawns a local task for each connection, so it needs a runtime of one thread.
    pub async fn serve(self, listener: TcpListener) -> io::Result<()> {
        let server = Rc::new(self);
        loop {
            let (stream, _) = match listener.accept().await {
                Ok(accepted) => accepted,
                // A connection that was gone before it was taken is the client's matter.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                Err(error) => return Err(error),
            };
            stream.set_nodelay(true)?;
            tokio::task::spawn_local(connection(server.clone(), stream));
        }
    }

    /// The answer to a request on any of the paths.
    pub fn answer(&self, request: Incoming<'_>) -> Reply {
        match self.find(request.path) {
            Some((simulator, path)) => simulator.answer(Incoming { path, ..request }),
            None => about(),
        }
    }

    fn find<'a>(&self, path: &'a str) -> Option<(&Simulator, &'a str)> {
        if path.starts_with("/_sim/") {
            return Some((&self.openai_chat, path));
        }
        let (_, rest) = path.split_at_checked(1)?;
        let (root, _) = rest.split_once('/')?;
        let below = &path[root.len() + 1..];
        match root {
            "openai" if below.starts_with("/v1/responses") => Some((&self.openai_responses, below)),
            "openai" => Some((&self.openai_chat, below)),
            "anthropic" => Some((&self.anthropic_messages, below)),
            "gemini" => Some((&self.gemini, below)),
            _ => None,
        }
    }
}

/// What stands at other paths.
fn about() -> Reply {
    const TEXT: &str =
        "Sabir's simulators: /openai/v1, /anthropic, /gemini; what arrived: /_sim/requests\n";
    let steps = vec![Step::Send(Bytes::from_static(TEXT.as_bytes()))];
    Reply { status: StatusCode::NOT_FOUND, headers: http::HeaderMap::new(), steps }
}

async fn connection(server: Rc<Server>, stream: TcpStream) {
    let service = service_fn(|request| respond(server.clone(), request));
    // An error here is a client that left, or a disconnect that was asked for.
    let _ = http1::Builder::new().serve_connection(Socket(stream), service).await;
}

async fn respond(
    server: Rc<Server>,
    request: Request<HyperBody>,
) -> Result<Response<ReplyBody>, Infallible> {
    let (head, body) = request.into_parts();
    let body = match Limited::new(body, BODY_BYTES_MAX).collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => return Ok(too_large().into_response()),
    };
    let path = head.uri.path_and_query().map_or("/", |it| it.as_str());
    let incoming = Incoming { method: &head.method, path, headers: &head.headers, body: &body };
    let mut response = server.answer(incoming).into_response();
    add_reason(&mut response);
    Ok(response)
}

fn too_large() -> Reply {
    Reply {
        status: StatusCode::PAYLOAD_TOO_LARGE,
        headers: http::HeaderMap::new(),
        steps: Vec::new(),
    }
}

/// A socket as hyper wants it.
struct Socket(TcpStream);

impl hyper::rt::Read for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut cursor: hyper::rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        const CHUNK_BYTES: usize = 16 << 10;
        let mut chunk = [0_u8; CHUNK_BYTES];
        let wanted = cursor.remaining().min(CHUNK_BYTES);
        let mut buffer = ReadBuf::new(&mut chunk[..wanted]);
        std::task::ready!(Pin::new(&mut self.0).poll_read(context, &mut buffer))?;
        cursor.put_slice(buffer.filled());
        Poll::Ready(Ok(()))
    }
}

impl hyper::rt::Write for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
