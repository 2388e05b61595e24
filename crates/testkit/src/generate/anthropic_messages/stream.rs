//! Streams of Anthropic Messages: one block after another.

use serde_json::{Value, json};

use crate::generate::Cuts;
use crate::generate::object::rest;
use crate::generate::split::Frames;

/// Fields that become known at the end.
const ENDING: &[&str] = &["stop_reason", "stop_sequence", "stop_details", "container"];

pub(crate) fn stream(response: &Value, mut cuts: Cuts) -> Vec<u8> {
    let mut frames = Frames::new();
    frames.named(&json!({"type": "message_start", "message": opening(response)}));
    for (index, block) in response["content"].as_array().into_iter().flatten().enumerate() {
        if cuts.once_in(8) {
            frames.named(&json!({"type": "ping"}));
        }
        write_block(&mut frames, index, block, &mut cuts);
    }
    let delta: Value = ENDING
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), response.get(*key)?.clone())))
        .collect();
    let usage = &response["usage"];
    frames.named(&json!({"type": "message_delta", "delta": delta, "usage": usage}));
    frames.named(&json!({"type": "message_stop"}));
    frames.into_bytes()
}

fn opening(response: &Value) -> Value {
    let mut message = response.clone();
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    message["stop_sequence"] = Value::Null;
    message["usage"]["output_tokens"] = json!(1);
    if let Some(message) = message.as_object_mut() {
        message.remove("stop_details");
    }
    message
}

fn write_block(frames: &mut Frames, index: usize, block: &Value, cuts: &mut Cuts) {
    let start =
        json!({"type": "content_block_start", "index": index, "content_block": begun(block)});
    frames.named(&start);
    for delta in deltas(block, cuts) {
        frames.named(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }
    frames.named(&json!({"type": "content_block_stop", "index": index}));
}

/// A block as it starts: what grows is empty, the rest is there.
fn begun(block: &Value) -> Value {
    let mut begun = rest(block, &["citations"]);
    match block["type"].as_str().unwrap_or_default() {
        "text" => {
            begun.insert("text".into(), json!(""));
            if block["citations"].is_array() {
                begun.insert("citations".into(), json!([]));
            } else if let Some(citations) = block.get("citations") {
                begun.insert("citations".into(), citations.clone());
            }
        }
        "thinking" => {
            begun.insert("thinking".into(), json!(""));
            begun.insert("signature".into(), json!(""));
        }
        "tool_use" | "server_tool_use" => {
            begun.insert("input".into(), json!({}));
        }
        _ => return block.clone(),
    }
    Value::Object(begun)
}

fn deltas(block: &Value, cuts: &mut Cuts) -> Vec<Value> {
    let text = |key: &str| block[key].as_str().unwrap_or_default();
    match block["type"].as_str().unwrap_or_default() {
        "text" => {
            let mut deltas = pieces("text_delta", "text", text("text"), cuts);
            let citations = block["citations"].as_array().into_iter().flatten();
            deltas.extend(
                citations.map(|citation| json!({"type": "citations_delta", "citation": citation})),
            );
            deltas
        }
        "thinking" => {
            let mut deltas = pieces("thinking_delta", "thinking", text("thinking"), cuts);
            deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
            deltas
        }
        "tool_use" | "server_tool_use" => input_deltas(&block["input"], cuts),
        _ => Vec::new(),
    }
}

/// The input as pieces of JSON text; an empty one may be a single empty piece.
fn input_deltas(input: &Value, cuts: &mut Cuts) -> Vec<Value> {
    let is_empty = input.as_object().is_some_and(serde_json::Map::is_empty);
    if is_empty && cuts.once_in(2) {
        return vec![json!({"type": "input_json_delta", "partial_json": ""})];
    }
    pieces("input_json_delta", "partial_json", &input.to_string(), cuts)
}

fn pieces(kind: &str, key: &str, text: &str, cuts: &mut Cuts) -> Vec<Value> {
    cuts.pieces(text).into_iter().map(|piece| json!({"type": kind, key: piece})).collect()
}
