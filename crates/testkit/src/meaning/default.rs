//! What each protocol states as its defaults, and where it lets a string stand for one text part.

use sabir_wire::Protocol;
use serde_json::{Map, Value, json};

/// Whether the protocol's documentation gives this value as the one that an absent field means.
pub(super) fn is_default(protocol: Protocol, key: &str, value: &Value) -> bool {
    let stated: &[(&str, &str)] = match protocol {
        Protocol::OpenaiChat => CHAT,
        Protocol::OpenaiResponses => RESPONSES,
        Protocol::AnthropicMessages => ANTHROPIC,
        Protocol::Gemini => GEMINI,
    };
    stated
        .iter()
        .filter(|(name, _)| *name == key)
        .any(|(_, default)| serde_json::from_str::<Value>(default).is_ok_and(|it| it == *value))
}

/// The parts that a string under this key stands for; an empty string says nothing, as everywhere.
pub(super) fn parts_of(protocol: Protocol, key: &str, text: &str) -> Option<Value> {
    match (protocol, key) {
        _ if text.is_empty() => None,
        (Protocol::OpenaiChat, "content") => Some(json!([{"type": "text", "text": text}])),
        (Protocol::OpenaiChat, "stop") | (Protocol::OpenaiResponses, "stop") => Some(json!([text])),
        (Protocol::AnthropicMessages, "content" | "system") => {
            Some(json!([{"type": "text", "text": text}]))
        }
        (Protocol::OpenaiResponses, "content" | "output" | "instructions") => {
            Some(json!([{"type": "input_text", "text": text}]))
        }
        _ => None,
    }
}

/// The usual spelling of a value that a protocol also takes in a shorter or an older one.
pub(super) fn usual(protocol: Protocol, key: &str, value: &Value) -> Option<Value> {
    match (protocol, key, value) {
        // Servers that take the address of an image by itself take the object too.
        (Protocol::OpenaiChat, "image_url", Value::String(url)) => Some(json!({"url": url})),
        // Sound without a format is a string to the servers that take it.
        (Protocol::OpenaiChat, "input_audio", Value::String(data)) => Some(json!({"data": data})),
        // The older word of some servers.
        (Protocol::OpenaiChat, "tool_choice", Value::String(word)) if word == "any" => {
            Some(json!("required"))
        }
        // Some servers give JSON where the protocol has its text.
        (Protocol::OpenaiChat, "content", Value::Object(_) | Value::Number(_) | Value::Bool(_)) => {
            Some(json!([{"type": "text", "text": value}]))
        }
        _ => None,
    }
}

/// What an object says of a field that it leaves out, by what it states.
pub(super) fn implied(protocol: Protocol, key: &str, object: &Map<String, Value>) -> Value {
    let has = |name: &str| object.contains_key(name) || object.contains_key(&snake(name));
    match (protocol, key) {
        // A schema is one of JSON.
        (Protocol::Gemini, "responseMimeType")
            if has("responseJsonSchema") || has("responseSchema") =>
        {
            Value::from("application/json")
        }
        // A data URL states its type.
        (Protocol::OpenaiChat, "format") => {
            let data = object.get("data").and_then(Value::as_str).unwrap_or_default();
            let stated = data.strip_prefix("data:audio/").and_then(|it| it.split_once(';'));
            stated.map_or(Value::Null, |(format, _)| Value::from(format))
        }
        _ => Value::Null,
    }
}

fn snake(camel: &str) -> String {
    let spelled = camel.chars().map(|letter| match letter.is_ascii_uppercase() {
        true => format!("_{}", letter.to_ascii_lowercase()),
        false => letter.to_string(),
    });
    spelled.collect()
}

/// The fields beside `name` that state the same in another way; which of them is used is the writer's choice.
pub(super) fn twins_of(protocol: Protocol, name: &str) -> impl Iterator<Item = &'static str> {
    let twins = TWINS.iter().filter(move |(by, one, _)| *by == protocol && *one == name);
    twins.map(|(_, _, twin)| *twin)
}

/// A field that a translation may write, and the one in which the input states the same.
const TWINS: &[(Protocol, &str, &str)] = &[
    (Protocol::OpenaiChat, "refusal", "content"),
    (Protocol::OpenaiChat, "tool_calls", "function_call"),
    (Protocol::OpenaiChat, "tool_choice", "function_call"),
    (Protocol::OpenaiResponses, "incomplete_details", "status"),
    (Protocol::AnthropicMessages, "thinking", "output_config/effort"),
    (Protocol::Gemini, "groundingMetadata", "citationMetadata"),
    (Protocol::Gemini, "responseJsonSchema", "responseSchema"),
    (Protocol::Gemini, "responseJsonSchema", "response_schema"),
];

const CHAT: &[(&str, &str)] = &[
    ("stream", "false"),
    ("n", "1"),
    ("temperature", "1"),
    ("temperature", "1.0"),
    ("top_p", "1"),
    ("top_p", "1.0"),
    ("presence_penalty", "0"),
    ("frequency_penalty", "0"),
    ("logprobs", "false"),
    ("store", "false"),
    ("parallel_tool_calls", "true"),
    ("tool_choice", "\"auto\""),
    ("response_format", "{\"type\":\"text\"}"),
    ("service_tier", "\"auto\""),
    ("detail", "\"auto\""),
    ("strict", "false"),
    ("modalities", "[\"text\"]"),
    // Servers that know nothing but functions let their clients leave it out, of tools, calls and choices.
    ("type", "\"function\""),
];

const RESPONSES: &[(&str, &str)] = &[
    ("stream", "false"),
    ("temperature", "1"),
    ("temperature", "1.0"),
    ("top_p", "1"),
    ("top_p", "1.0"),
    ("store", "true"),
    ("background", "false"),
    ("parallel_tool_calls", "true"),
    ("tool_choice", "\"auto\""),
    ("truncation", "\"disabled\""),
    ("service_tier", "\"auto\""),
    ("detail", "\"auto\""),
    ("type", "\"message\""),
    ("format", "{\"type\":\"text\"}"),
    // What a history holds and what has arrived is complete unless it says otherwise.
    ("status", "\"completed\""),
    // Answers of older models leave some of these counts out.
    ("cached_tokens", "0"),
    ("cache_write_tokens", "0"),
    ("reasoning_tokens", "0"),
];

const ANTHROPIC: &[(&str, &str)] = &[
    ("stream", "false"),
    ("tool_choice", "{\"type\":\"auto\"}"),
    ("disable_parallel_tool_use", "false"),
    ("is_error", "false"),
    ("ttl", "\"5m\""),
    ("service_tier", "\"auto\""),
    ("type", "\"custom\""),
    ("strict", "false"),
];

const GEMINI: &[(&str, &str)] = &[
    ("thought", "false"),
    ("candidateCount", "1"),
    ("mode", "\"AUTO\""),
    ("responseMimeType", "\"text/plain\""),
    ("role", "\"user\""),
    ("args", "{}"),
    // Counts are numbers of Protocol Buffers, whose zero is the same as none.
    ("promptTokenCount", "0"),
    ("candidatesTokenCount", "0"),
    ("cachedContentTokenCount", "0"),
    ("toolUsePromptTokenCount", "0"),
    ("thoughtsTokenCount", "0"),
    ("totalTokenCount", "0"),
];
