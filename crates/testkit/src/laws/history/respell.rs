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
    let mut unthinking = changed(&forget_thinking);
    if let Some(items) = unthinking[list].as_array_mut() {
        items.retain(|item| item["type"] != "reasoning");
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

fn forget_thinking(object: &mut Map<String, Value>) {
    for key in [
        "reasoning_content",
        "reasoning",
        "reasoning_details",
        "thoughtSignature",
        "thought_signature",
    ] {
        object.remove(key);
    }
    for key in ["content", "parts"] {
        if let Some(Value::Array(parts)) = object.get_mut(key) {
            parts.retain(|part| !is_thought(part));
        }
    }
}

fn is_thought(part: &Value) -> bool {
    let kind = part["type"].as_str();
    matches!(kind, Some("thinking" | "redacted_thinking")) || part["thought"] == true
}
