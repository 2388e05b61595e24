//! Strict simulators of the four provider APIs: what they accept, refuse and answer depends on the request alone.

use std::time::Duration;

use bytes::Bytes;

/// A request as a provider would see it.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    pub method: &'a http::Method,
    /// The path with its query, below the simulator's own root: `/v1/messages`, `/v1beta/models/m:generateContent?alt=sse`.
    pub path: &'a str,
    pub headers: &'a http::HeaderMap,
    pub body: &'a [u8],
}

/// An answer, as what to send and when.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: http::StatusCode,
    pub headers: http::HeaderMap,
    pub steps: Vec<Step>,
}

/// One step of an answer.
#[derive(Clone, Debug)]
pub enum Step {
    Send(Bytes),
    Wait(Duration),
    /// The connection breaks off here.
    Disconnect,
    /// The bytes, again and again with a pause between, until the client leaves.
    Forever {
        bytes: Bytes,
        pause: Duration,
    },
}

#[derive(Debug)]
pub struct Simulator;
impl Simulator {
    pub fn new(_p: sabir_wire::Protocol) -> Self { Self }
    pub fn answer(&self, _r: Incoming<'_>) -> Reply { unimplemented!() }
}
#[derive(Debug)]
pub struct ReplyBody;
impl ReplyBody { pub fn new(_r: Reply) -> Self { Self } }
impl http_body::Body for ReplyBody {
    type Data = Bytes;
    type Error = std::io::Error;
    fn poll_frame(self: std::pin::Pin<&mut Self>, _cx: &mut std::task::Context<'_>) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, std::io::Error>>> { std::task::Poll::Ready(None) }
}
