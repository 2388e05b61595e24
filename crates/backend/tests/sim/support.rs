//! Sending requests to a simulator and reading what it answers.

use http::{HeaderMap, HeaderValue, Method};
use sabir_backend::sim::{Incoming, Reply, Simulator, Step};
use sabir_wire::Protocol;
use serde_json::{Value, json};

/// What a body is sent for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Whole,
    Stream,
}

/// A reply with its bytes in one piece, up to the first step that is no bytes or a pause.
#[derive(Debug)]
pub(crate) struct SimulatedResponse {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
    pub(crate) steps: Vec<Step>,
}

impl SimulatedResponse {
    pub(crate) fn of(reply: Reply) -> Self {
        let mut bytes = Vec::new();
        for step in &reply.steps {
            if let Step::Send(more) = step {
                bytes.extend_from_slice(more);
            }
        }
        Self { status: reply.status.as_u16(), headers: reply.headers, bytes, steps: reply.steps }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes)
            .unwrap_or_else(|_| panic!("not JSON: {}", String::from_utf8_lossy(&self.bytes)))
    }

    /// The words of an error, wherever the API has them.
    pub(crate) fn message(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.bytes.clone()).expect("the answer is text")
    }
}

/// Headers with a key for any of the APIs.
pub(crate) fn headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("authorization", HeaderValue::from_static("Bearer key"));
    headers.insert("x-api-key", HeaderValue::from_static("key"));
    headers.insert("x-goog-api-key", HeaderValue::from_static("key"));
    headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    headers
}

pub(crate) fn send(
    simulator: &Simulator,
    method: Method,
    path: &str,
    body: &[u8],
) -> SimulatedResponse {
    let headers = headers();
    SimulatedResponse::of(simulator.answer(Incoming {
        method: &method,
        path,
        headers: &headers,
        body,
    }))
}

/// The path on which an API answers.
pub(crate) fn path(protocol: Protocol, model: &str, mode: Mode) -> String {
    match (protocol, mode) {
        (Protocol::OpenaiChat, _) => "/v1/chat/completions".to_owned(),
        (Protocol::OpenaiResponses, _) => "/v1/responses".to_owned(),
        (Protocol::AnthropicMessages, _) => "/v1/messages".to_owned(),
        (Protocol::Gemini, Mode::Whole) => format!("/v1beta/models/{model}:generateContent"),
        (Protocol::Gemini, Mode::Stream) => {
            format!("/v1beta/models/{model}:streamGenerateContent?alt=sse")
        }
    }
}

/// Asks a new simulator. Gemini's model goes from the body into the URL, the others' stream-ness into the body.
pub(crate) fn ask(protocol: Protocol, body: &Value, mode: Mode) -> SimulatedResponse {
    ask_again(&Simulator::new(protocol), protocol, body, mode)
}

pub(crate) fn ask_again(
    simulator: &Simulator,
    protocol: Protocol,
    body: &Value,
    mode: Mode,
) -> SimulatedResponse {
    let mut body = body.clone();
    let model = body["model"].as_str().unwrap_or("sim").to_owned();
    let model = model.strip_prefix("models/").unwrap_or(&model);
    if protocol != Protocol::Gemini {
        let members = body.as_object_mut().expect("a body is an object");
        members.remove("stream");
        if mode == Mode::Stream {
            members.insert("stream".to_owned(), json!(true));
        } else {
            members.remove("stream_options");
        }
    }
    let path = path(protocol, model, mode);
    send(simulator, Method::POST, &path, body.to_string().as_bytes())
}
