//! What must come back to its provider byte for byte: signatures, encrypted reasoning and the ids of calls.

use serde_json::Value;

/// A value that only its issuer understands, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Seal {
    pub pointer: String,
    /// What it is, by the key that holds it.
    pub key: &'static str,
    pub text: String,
}

impl Seal {
    /// What its issuer made: other protocols carry it behind the issuer's name, and the issuer's own has it plain.
    pub(super) fn data(&self) -> &str {
        let carried = self.text.strip_prefix("sabir1:");
        carried.and_then(|it| it.splitn(3, ':').nth(2)).unwrap_or(&self.text)
    }
}

/// Keys that hold a seal wherever they stand.
const KEYS: [&str; 7] = [
    "signature",
    "thoughtSignature",
    "thought_signature",
    "encrypted_content",
    "call_id",
    "tool_call_id",
    "tool_use_id",
];

/// Keys below which stands what tools and users say, which may look like anything, or what is one artefact as a whole.
const CONTENT: [&str; 7] =
    ["arguments", "args", "input", "output", "response", "text", "reasoning_details"];

/// Every seal below a value, in their order.
pub(super) fn of(value: &Value, pointer: &str) -> Vec<Seal> {
    let mut seals = Vec::new();
    visit(value, pointer, "", &mut seals);
    seals
}

/// The places of all strings that hold a text.
pub(super) fn places_of(text: &str, value: &Value, pointer: &str) -> Vec<String> {
    match value {
        Value::String(string) if string.contains(text) => vec![pointer.to_owned()],
        Value::Array(list) => (list.iter().enumerate())
            .flat_map(|(index, value)| places_of(text, value, &format!("{pointer}/{index}")))
            .collect(),
        Value::Object(object) => (object.iter())
            .flat_map(|(key, value)| places_of(text, value, &format!("{pointer}/{key}")))
            .collect(),
        _ => Vec::new(),
    }
}

fn visit(value: &Value, pointer: &str, holder: &str, seals: &mut Vec<Seal>) {
    match value {
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                visit(value, &format!("{pointer}/{index}"), holder, seals);
            }
        }
        Value::Object(object) => {
            for (key, inner) in object.iter().filter(|(key, _)| !CONTENT.contains(&key.as_str())) {
                let pointer = format!("{pointer}/{key}");
                match (key_of_seal(key, value, holder), inner.as_str()) {
                    (Some(key), Some(text)) if !text.is_empty() => {
                        seals.push(Seal { pointer, key, text: text.to_owned() });
                    }
                    _ => visit(inner, &pointer, key, seals),
                }
            }
        }
        _ => {}
    }
}

fn key_of_seal(key: &str, object: &Value, holder: &str) -> Option<&'static str> {
    let is_call = matches!(holder, "tool_calls" | "functionCall" | "functionResponse")
        || object["type"] == "tool_use";
    match key {
        "id" if is_call => Some("id"),
        "data" if object["type"] == "redacted_thinking" => Some("data"),
        key => KEYS.into_iter().find(|it| *it == key),
    }
}
