//! Strict simulators of the four provider APIs: what they accept, refuse and answer depends on the request alone.

mod answer;
mod anthropic_messages;
mod api;
mod body;
mod chunk;
mod embeddings;
mod gemini;
mod media;
mod openai;
mod openai_chat;
mod openai_responses;
mod plan;
mod problem;
mod question;
mod recorder;
mod sampler;
mod script;
mod seal;
mod serve;
mod shape;
mod simulator;
mod tokens;
mod transport;
mod trigger;
mod values;

use std::time::Duration;

use bytes::Bytes;

pub use body::ReplyBody;
pub use recorder::Received;
pub use serve::Server;
pub use simulator::Simulator;

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
