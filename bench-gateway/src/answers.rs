//! What goes over the wire: requests of all sizes and answers in all protocols, as bytes made beforehand.

use std::net::SocketAddr;

use sabir_benches_wire::conversation::{Conversation, Turn};
use sabir_benches_wire::{bodies, streams};
use sabir_wire::Protocol;
use sabir_wire::protocol::AnswerContext;

use crate::mock::Mode;
use crate::sabir;

/// A whole answer of about 1 KB in the protocol that the others are made from.
const ANSWER: &str = r#"{"id":"chatcmpl-Q7w8E9r0T1y2U3i4O5p6A7s8D9f0G","object":"chat.completion","created":1790000000,"model":"gpt-4.1","choices":[{"index":0,"message":{"role":"assistant","content":"The parser drops the last line when the file does not end with a line feed.\n\n```rust\nlet line = \"a\";\n```\n\nI looked at the function that reads a chunk and at the test that covers it: the border between two chunks cut a character in half. It says \"unexpected end of input\", which cannot be right, since the fixture is complete. Die Prüfung läuft jetzt durch; größere Änderungen waren nicht nötig.","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":5120,"completion_tokens":140,"total_tokens":5260,"prompt_tokens_details":{"cached_tokens":4096,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},"service_tier":"default","system_fingerprint":"fp_1a2b3c4d5e"}"#;

/// Words that every answer to a whole request holds, in whatever protocol.
pub const WHOLE_MARK: &str = "unexpected end of input";
/// A piece that every streamed answer holds.
pub const STREAM_MARK: &str = " drops the last";

/// A whole answer with its head.
pub fn whole(protocol: Protocol) -> Vec<u8> {
    let source = Protocol::OpenaiChat;
    let body = match protocol == source {
        true => ANSWER.to_owned(),
        false => {
            let response =
                source.decode_response(ANSWER.as_bytes()).expect("the answer is written by hand");
            protocol.encode_response(&response, source, &AnswerContext::default()).body
        }
    };
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_0123456789abcdef\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A streamed answer, a chunk for each event.
pub fn stream(protocol: Protocol) -> Vec<Vec<u8>> {
    let chunk = |frame: String| format!("{:x}\r\n{frame}\r\n", frame.len()).into_bytes();
    streams::stream(protocol).frames.into_iter().map(chunk).collect()
}

/// How much a request says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// About 1 KB.
    Small,
    /// About 200 KB: 401 messages with 100 calls of tools.
    Large,
    /// The same with a last message of 2 KB, which is another one each time.
    Grown,
    /// About 2 MB.
    Huge,
    /// About 20 MB: 40,001 messages.
    Enormous,
    /// About 20 MB in 8,001 messages: a turn has an end to how many it may add.
    Coarse,
}

/// A request as a client sends it, with its head.
pub struct Request {
    pub bytes: Vec<u8>,
    pub body_bytes: usize,
}

impl Request {
    /// The same with another header, a line of its own.
    pub fn with_header(self, line: &str) -> Self {
        let text = String::from_utf8_lossy(&self.bytes);
        let bytes = text.replacen("\r\n", &format!("\r\n{line}\r\n"), 1).into_bytes();
        Self { bytes, ..self }
    }

    /// The same, asking for its answer to be kept.
    pub fn stored(self) -> Self {
        let text = String::from_utf8_lossy(&self.bytes);
        // As long as it was, so that the length holds.
        let bytes = text.replacen("\"store\":false", "\"store\": true", 1).into_bytes();
        Self { bytes, ..self }
    }
}

/// The digits of a request that are other ones each time it is sent.
pub const NUMBER: &str = "0000000000";

/// A request to Sabir, in the client's protocol and for the provider that answers as wanted.
pub fn to_sabir(
    address: SocketAddr,
    client: Protocol,
    upstream: Protocol,
    mode: Mode,
    size: Size,
) -> Request {
    let model = format!("{}/{}", sabir::provider(upstream, mode), bodies::model(upstream));
    let path = match client {
        Protocol::OpenaiChat => "/v1/chat/completions".to_owned(),
        Protocol::OpenaiResponses => "/v1/responses".to_owned(),
        Protocol::AnthropicMessages => "/v1/messages".to_owned(),
        Protocol::Gemini => match mode.is_stream() {
            true => format!("/v1beta/models/{model}:streamGenerateContent?alt=sse"),
            false => format!("/v1beta/models/{model}:generateContent"),
        },
    };
    with_head(address, &path, &body(client, &model, mode, size))
}

/// A request to nginx or to the mock itself, in the provider's protocol.
pub fn to_mock(address: SocketAddr, upstream: Protocol, mode: Mode, size: Size) -> Request {
    let path = format!("/{}/{}/v1", upstream.as_str(), mode.as_str());
    with_head(address, &path, &body(upstream, bodies::model(upstream), mode, size))
}

fn with_head(address: SocketAddr, path: &str, body: &str) -> Request {
    let length = body.len();
    let bytes = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nuser-agent: bench\r\naccept: */*\r\n\
         authorization: Bearer key\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    );
    Request { bytes: bytes.into_bytes(), body_bytes: length }
}

fn body(protocol: Protocol, model: &str, mode: Mode, size: Size) -> String {
    let mut conversation = match size {
        Size::Small => Conversation::of(1_000),
        Size::Large | Size::Grown => Conversation::of_rounds(100, 1_050),
        Size::Huge => Conversation::of_rounds(1_000, 1_050),
        Size::Enormous => Conversation::of_rounds(10_000, 1_050),
        Size::Coarse => Conversation::of_rounds(2_000, 6_200),
    };
    if size == Size::Grown {
        conversation.turns.pop();
        let news = format!("{NUMBER} the build still fails. ") + &"It says so. ".repeat(170);
        conversation.turns.push(Turn::User(news));
    }
    let body = bodies::body(protocol, &conversation);
    let own = format!("\"model\":\"{}\"", bodies::model(protocol));
    let body = body.replacen(&own, &format!("\"model\":\"{model}\""), 1);
    match mode.is_stream() {
        true => body,
        false => body.replacen("\"stream\":true", "\"stream\":false", 1),
    }
}
