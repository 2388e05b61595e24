//! The same request as other clients would send it: without cache markers, with other ids of calls, without thinking.

use sabir_wire::Protocol;
use serde_json::{Map, Value};

pub(super) fn all(protocol: Protocol, body: &Value) -> [(&'static str, Value); 3] {
    let list = protocol.facts().messages();
    let changed = |change: &dyn Fn(&mut Map<String, Value>)| {
        let mut body = body.clone();
        visit(&mut body[list], change);
        body
    };
    let mut unthinking = body.clone();
    if let Some(elements) = unthinking[list].as_array_mut() {
        forget_thinking(protocol, elements);
    }
    [
        ("without cache markers", changed(&unmark)),
        ("with other ids", changed(&rename)),
        ("without thinking", unthinking),
    ]
}

/// Arguments, results as objects and what only one protocol says are content, in which nothing is changed.
fn visit(value: &mut Value, change: &dyn Fn(&mut Map<String, Value>)) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(|it| visit(it, change)),
        Value::Object(object) => {
            change(object);
            for (key, value) in object.iter_mut() {
                if !matches!(&**key, "input" | "args" | "arguments" | "response") {
                    visit(value, change);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn unmark(object: &mut Map<String, Value>) {
    object.remove("cache_control");
    object.remove("prompt_cache_breakpoint");
}

fn rename(object: &mut Map<String, Value>) {
    let key = match object.get("type").and_then(Value::as_str) {
        Some("tool_use" | "function" | "custom") => "id",
        Some("tool_result") => "tool_use_id",
        Some(
            "function_call"
            | "function_call_output"
            | "custom_tool_call"
            | "custom_tool_call_output",
        ) => "call_id",
        _ if object.get("role").is_some_and(|role| role == "tool") => "tool_call_id",
        _ => return,
    };
    if let Some(Value::String(id)) = object.get_mut(key) {
        id.push_str("_other");
    }
}

/// The members of a Chat message that hold thinking.
const THOUGHTS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

fn forget_thinking(protocol: Protocol, elements: &mut Vec<Value>) {
    let (list, thoughts): (_, &[&str]) = match protocol {
        Protocol::OpenaiResponses => return elements.retain(|item| item["type"] != "reasoning"),
        Protocol::OpenaiChat => ("content", &THOUGHTS),
        Protocol::AnthropicMessages => ("content", &[]),
        Protocol::Gemini => ("parts", &[]),
    };
    for element in elements.iter_mut().filter_map(Value::as_object_mut) {
        element.retain(|key, _| !thoughts.contains(&&**key));
        if let Some(Value::Array(parts)) = element.get_mut(list) {
            parts.retain(|part| !is_thought(part));
        }
    }
}

fn is_thought(part: &Value) -> bool {
    let kind = part["type"].as_str();
    matches!(kind, Some("thinking" | "redacted_thinking")) || part["thought"] == true
}
