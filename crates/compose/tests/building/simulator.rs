//! The strict simulators of the four provider APIs, asked whether they take what was built.

use http::{HeaderMap, Method};
use sabir_backend::sim::{Incoming, Simulator, Step};
use sabir_wire::Protocol;
use sabir_wire::conversation::Message;
use sabir_wire::target::Target;

const CHAT: &str = r#"{"model":"sim","max_completion_tokens":50,"messages":[],
    "tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object","properties":{}}}}]}"#;
const RESPONSES: &str = r#"{"model":"sim","max_output_tokens":50,"input":[],
    "tools":[{"type":"function","name":"look","parameters":{"type":"object","properties":{}},"strict":false}]}"#;

/// The request with these messages, in a protocol.
pub(crate) fn request(protocol: Protocol, messages: &[Message<'_>]) -> String {
    let (source, body) = match protocol {
        Protocol::OpenaiChat => (Protocol::OpenaiResponses, RESPONSES),
        _ => (Protocol::OpenaiChat, CHAT),
    };
    let mut decoded = source.decode_request(body.as_bytes()).unwrap();
    decoded.edit().messages = messages.to_vec();
    decoded.encode(protocol, &Target::default()).unwrap().body
}

/// Sends messages to the simulator of a protocol, which must take them; the answer is what was sent.
#[track_caller]
pub(crate) fn takes(protocol: Protocol, messages: &[Message<'_>]) -> String {
    let body = request(protocol, messages);
    let path = match protocol {
        Protocol::OpenaiChat => "/v1/chat/completions",
        Protocol::OpenaiResponses => "/v1/responses",
        Protocol::AnthropicMessages => "/v1/messages",
        Protocol::Gemini => "/v1beta/models/sim:generateContent",
    };
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("authorization", "Bearer key"),
        ("x-api-key", "key"),
        ("x-goog-api-key", "key"),
        ("anthropic-version", "2023-06-01"),
    ] {
        headers.insert(name, value.parse().unwrap());
    }
    let request =
        Incoming { method: &Method::POST, path, headers: &headers, body: body.as_bytes() };
    let reply = Simulator::new(protocol).answer(request);
    let sent = reply.steps.iter().filter_map(|step| match step {
        Step::Send(bytes) => Some(String::from_utf8_lossy(bytes)),
        _ => None,
    });
    let answer: String = sent.collect();
    assert_eq!(reply.status, 200, "{protocol:?} refuses {body}\nwith {answer}");
    body
}
