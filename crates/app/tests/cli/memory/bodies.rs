//! Large bodies of every protocol, out of many short elements.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use sabir_testkit::long::{Kind, Long};
use sabir_wire::Protocol;
use sabir_wire::json::{Reader, Survey};

/// How many nodes the gateway takes in any body, and the bytes that a further one must have.
const NODES_MIN: usize = 20_000;
const NODE_BYTES_MIN: usize = 48;

/// How many nodes a body has, as the gateway counts them.
fn nodes(body: &str) -> usize {
    let mut survey = Survey::new(body);
    Reader::new(body).survey(&mut survey).unwrap();
    survey.nodes()
}

/// A request's body.
pub(crate) struct Body {
    pub(crate) protocol: Protocol,
    pub(crate) unpacked_bytes: usize,
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_packed: bool,
}

impl Body {
    /// The long input of that name at about that length, for the provider's model: as many elements as a body of the length
    /// may have, the rest of it one long string.
    pub(crate) fn of(protocol: Protocol, name: &str, bytes: usize) -> Self {
        let is_it = |it: &Long| it.kind == Kind::Request && it.name == name;
        let input = Long::all(protocol).into_iter().find(is_it).unwrap();
        let [few, many] = [1_000, 2_000].map(|count| input.of(count));
        let nodes = nodes(&many).saturating_sub(nodes(&few)).max(1);
        let element = many.len() - few.len();
        let count =
            ((NODES_MIN + bytes / NODE_BYTES_MIN) * 995 / nodes).min(bytes * 1_000 / element);
        let elements = input.of(count);
        let rest = "z".repeat(bytes.saturating_sub(elements.len()));
        let text = elements.replacen('{', &format!(r#"{{"model":"up/m","x_rest":"{rest}","#), 1);
        Self { protocol, unpacked_bytes: text.len(), bytes: text.into_bytes(), is_packed: false }
    }

    /// A conversation as people have them, in Chat.
    pub(crate) fn prose(bytes: usize) -> Self {
        let text = "some words ".repeat(60);
        let turns = format!(
            r#"{{"role":"user","content":"{text}"}},{{"role":"assistant","content":"{text}"}},"#
        );
        let turns = turns.repeat(bytes / turns.len());
        let text = format!(
            r#"{{"model":"up/m","messages":[{turns}{{"role":"user","content":"hello"}}]}}"#
        );
        let (protocol, unpacked_bytes) = (Protocol::OpenaiChat, text.len());
        Self { protocol, unpacked_bytes, bytes: text.into_bytes(), is_packed: false }
    }

    /// A tool with an argument of many alternatives that must hold together, in Chat.
    pub(crate) fn all_of(bytes: usize) -> Self {
        let each = r#"{"type":"string","minLength":1}"#;
        let all = vec![each; bytes / (each.len() + 1)].join(",");
        let schema = format!(r#"{{"type":"object","properties":{{"a":{{"allOf":[{all}]}}}}}}"#);
        let tool =
            format!(r#"{{"type":"function","function":{{"name":"f","parameters":{schema}}}}}"#);
        let text = format!(
            r#"{{"model":"up/m","messages":[{{"role":"user","content":"hello"}}],"tools":[{tool}]}}"#
        );
        let (protocol, unpacked_bytes) = (Protocol::OpenaiChat, text.len());
        Self { protocol, unpacked_bytes, bytes: text.into_bytes(), is_packed: false }
    }

    pub(crate) fn plain(self) -> Self {
        self
    }

    pub(crate) fn packed(self) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&self.bytes).unwrap();
        Self { bytes: encoder.finish().unwrap(), is_packed: true, ..self }
    }
}

/// Where a request of a protocol is sent.
pub(crate) fn path(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::OpenaiChat => "/v1/chat/completions",
        Protocol::OpenaiResponses => "/v1/responses",
        Protocol::AnthropicMessages => "/v1/messages",
        Protocol::Gemini => "/v1beta/models/up%2Fm:generateContent",
    }
}

/// A request that takes nothing.
pub(crate) fn small(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::OpenaiChat => {
            r#"{"model":"up/m","messages":[{"role":"user","content":"hello"}]}"#
        }
        Protocol::OpenaiResponses => {
            r#"{"model":"up/m","input":[{"role":"user","content":"hello"}]}"#
        }
        Protocol::AnthropicMessages => {
            r#"{"model":"up/m","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}"#
        }
        Protocol::Gemini => r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#,
    }
}
