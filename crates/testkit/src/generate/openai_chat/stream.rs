//! Streams of Chat Completions: choices in turn, and the calls of a choice in turn.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use crate::generate::Cuts;
use crate::generate::object::rest;
use crate::generate::split::Frames;

/// Fields of a message that are streamed in pieces.
const STREAMED: &[&str] = &[
    "role",
    "content",
    "refusal",
    "tool_calls",
    "function_call",
    "annotations",
    "audio",
    "reasoning_content",
    "reasoning",
    "reasoning_details",
];

pub(crate) fn stream(response: &Value, mut cuts: Cuts) -> Vec<u8> {
    let choices = response["choices"].as_array().into_iter().flatten();
    let queues = choices.map(|choice| choice_chunks(choice, &mut cuts)).collect();
    let mut frames = Frames::new();
    for choice in cuts.interleave(queues) {
        if cuts.once_in(20) {
            frames.comment();
        }
        frames.data(&chunk(response, json!([choice]), Value::Null));
    }
    if !response["usage"].is_null() {
        frames.data(&chunk(response, json!([]), response["usage"].clone()));
    }
    frames.raw("[DONE]");
    frames.into_bytes()
}

fn chunk(response: &Value, choices: Value, usage: Value) -> Value {
    let mut chunk = rest(response, &["object", "choices", "usage"]);
    chunk.insert("object".into(), json!("chat.completion.chunk"));
    chunk.insert("choices".into(), choices);
    if !response["usage"].is_null() {
        chunk.insert("usage".into(), usage);
    }
    Value::Object(chunk)
}

/// What one choice says, chunk by chunk, ending with its finish reason.
fn choice_chunks(choice: &Value, cuts: &mut Cuts) -> VecDeque<Value> {
    let message = &choice["message"];
    let mut first = rest(message, STREAMED);
    first.insert("role".into(), json!("assistant"));
    let mut deltas = vec![Value::Object(first)];
    deltas.extend(text_deltas(message, cuts));
    deltas.extend(call_deltas(message, cuts));
    deltas.extend(audio_deltas(&message["audio"], cuts));
    if message["annotations"].is_array() {
        deltas.push(json!({"annotations": message["annotations"]}));
    }
    let index = &choice["index"];
    let mut chunks: VecDeque<Value> = deltas
        .into_iter()
        .map(|delta| json!({"index": index, "delta": delta, "finish_reason": null}))
        .collect();
    chunks.push_back(last_chunk(choice));
    chunks
}

/// The last chunk of a choice has what stands beside the message.
fn last_chunk(choice: &Value) -> Value {
    let mut last = rest(choice, &["message"]);
    last.insert("delta".into(), json!({}));
    Value::Object(last)
}

fn text_deltas(message: &Value, cuts: &mut Cuts) -> Vec<Value> {
    let mut deltas = Vec::new();
    for key in ["reasoning_content", "reasoning"] {
        deltas.extend(pieces(key, &message[key], cuts));
    }
    for detail in message["reasoning_details"].as_array().into_iter().flatten() {
        deltas.push(json!({"reasoning_details": [detail]}));
    }
    for key in ["content", "refusal"] {
        deltas.extend(pieces(key, &message[key], cuts));
    }
    deltas
}

fn pieces(key: &str, text: &Value, cuts: &mut Cuts) -> Vec<Value> {
    let Some(text) = text.as_str() else { return Vec::new() };
    let pieces = match text {
        "" => vec![String::new()],
        text => cuts.pieces(text),
    };
    pieces.into_iter().map(|piece| json!({key: piece})).collect()
}

fn call_deltas(message: &Value, cuts: &mut Cuts) -> Vec<Value> {
    let calls = message["tool_calls"].as_array().into_iter().flatten().enumerate();
    let queues = calls.map(|(index, call)| one_call(index, call, cuts)).collect();
    let mut deltas: Vec<Value> =
        cuts.interleave(queues).into_iter().map(|call| json!({"tool_calls": [call]})).collect();
    let legacy = &message["function_call"];
    if legacy.is_object() {
        deltas.push(json!({"function_call": emptied(legacy, "arguments")}));
        let pieces = cuts.pieces(legacy["arguments"].as_str().unwrap_or_default());
        deltas.extend(pieces.iter().map(|piece| json!({"function_call": {"arguments": piece}})));
    }
    deltas
}

/// The opening of a call, then its arguments in pieces.
fn one_call(index: usize, call: &Value, cuts: &mut Cuts) -> VecDeque<Value> {
    let (kind, grows) = match call["type"].as_str() {
        Some("custom") => ("custom", "input"),
        _ => ("function", "arguments"),
    };
    let mut opening = rest(call, &[kind]);
    opening.insert("index".into(), json!(index));
    opening.insert(kind.into(), emptied(&call[kind], grows));
    let pieces = cuts.pieces(call[kind][grows].as_str().unwrap_or_default());
    let growing = pieces.iter().map(|piece| json!({"index": index, kind: {grows: piece}}));
    std::iter::once(Value::Object(opening)).chain(growing).collect()
}

/// The object with one member emptied, which the pieces fill again.
fn emptied(object: &Value, key: &str) -> Value {
    let mut emptied: Map<String, Value> = rest(object, &[key]);
    emptied.insert(key.to_owned(), json!(""));
    Value::Object(emptied)
}

fn audio_deltas(audio: &Value, cuts: &mut Cuts) -> Vec<Value> {
    if !audio.is_object() {
        return Vec::new();
    }
    let mut deltas = vec![Value::Object(rest(audio, &["data", "transcript", "expires_at"]))];
    for key in ["transcript", "data"] {
        deltas.extend(pieces(key, &audio[key], cuts));
    }
    deltas.push(json!({"expires_at": audio["expires_at"]}));
    deltas.into_iter().map(|delta| json!({"audio": delta})).collect()
}
