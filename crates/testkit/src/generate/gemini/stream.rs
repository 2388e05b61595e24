//! Streams of Gemini: each chunk is an answer whose parts continue those before.

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::generate::Cuts;
use crate::generate::object::rest;
use crate::generate::split::Frames;

pub(crate) fn stream(response: &Value, mut cuts: Cuts) -> Vec<u8> {
    let mut frames = Frames::with_returns();
    let Some(candidates) = response["candidates"].as_array() else {
        frames.data(response);
        return frames.into_bytes();
    };
    let mut queues: Vec<_> =
        candidates.iter().map(|candidate| chunks(candidate, &mut cuts)).collect();
    if candidates.len() > 1 {
        // Nothing else tells that another candidate is still to come when the first has ended.
        for (index, queue) in queues.iter_mut().enumerate() {
            queue.push_front(json!({"index": index, "content": {"role": "model", "parts": []}}));
        }
    }
    for candidate in cuts.interleave(queues) {
        let mut chunk = response.clone();
        chunk["candidates"] = json!([candidate]);
        frames.data(&chunk);
    }
    frames.into_bytes()
}

/// Joins plain texts that follow each other, and thoughts likewise.
pub(crate) fn join_texts(response: &mut Value) {
    let candidates = response["candidates"].as_array_mut().into_iter().flatten();
    for candidate in candidates {
        let Some(parts) = candidate["content"]["parts"].as_array_mut() else { continue };
        let mut joined: Vec<Value> = Vec::new();
        for part in parts.drain(..) {
            match joined.last_mut() {
                Some(last) if is_plain(last) && is_plain(&part) && is_alike(last, &part) => {
                    let texts = [&*last, &part].map(|part| part["text"].as_str().unwrap_or(""));
                    last["text"] = json!(texts.concat());
                }
                _ => joined.push(part),
            }
        }
        *parts = joined;
    }
}

/// Whether a part is text and nothing else.
fn is_plain(part: &Value) -> bool {
    part["text"].is_string() && rest(part, &["text", "thought"]).is_empty()
}

fn is_alike(one: &Value, other: &Value) -> bool {
    one["thought"] == other["thought"]
}

/// What one candidate says, chunk by chunk; the last chunk has what stands beside its content.
fn chunks(candidate: &Value, cuts: &mut Cuts) -> VecDeque<Value> {
    let parts = candidate["content"]["parts"].as_array().into_iter().flatten();
    let mut chunks: VecDeque<Value> = parts
        .flat_map(|part| increments(part, cuts))
        .map(|part| {
            let content = json!({"parts": [part], "role": "model"});
            json!({"content": content, "index": candidate["index"]})
        })
        .collect();
    let mut last = rest(candidate, &["content"]);
    if let Some(result) = last.get_mut("logprobsResult") {
        move_first_token(result, &mut chunks);
    }
    let mut content = rest(&candidate["content"], &["parts"]);
    content.insert("parts".into(), json!([{"text": ""}]));
    last.insert("content".into(), Value::Object(content));
    chunks.push_back(Value::Object(last));
    chunks
}

/// Moves the first token to the first chunk of text, if another one stays for the last chunk.
fn move_first_token(result: &mut Value, chunks: &mut VecDeque<Value>) {
    let is_text = |chunk: &&mut Value| {
        let part = &chunk["content"]["parts"][0];
        part["text"].as_str().is_some_and(|text| !text.is_empty()) && part["thought"].is_null()
    };
    let count = |list: &str| result[list].as_array().map(Vec::len);
    let (chosen, top) = (count("chosenCandidates"), count("topCandidates"));
    let can_part = chosen > Some(1) && (top.is_none() || top == chosen);
    let Some(chunk) = chunks.iter_mut().find(is_text).filter(|_| can_part) else { return };
    for list in ["chosenCandidates", "topCandidates"] {
        if let Some(tokens) = result[list].as_array_mut() {
            chunk["logprobsResult"][list] = json!([tokens.remove(0)]);
        }
    }
}

/// A part in pieces. Only plain text grows; a signature comes with the last piece, and what is signed stays whole.
fn increments(part: &Value, cuts: &mut Cuts) -> Vec<Value> {
    let growing = ["text", "thought"];
    let is_plain = rest(part, &growing).is_empty();
    match part["text"].as_str() {
        Some(text) if is_plain && !text.is_empty() => {
            let thought = part.get("thought");
            let pieces = cuts.pieces(text).into_iter();
            pieces
                .map(|piece| match thought {
                    Some(thought) => json!({"text": piece, "thought": thought}),
                    None => json!({"text": piece}),
                })
                .collect()
        }
        _ => vec![part.clone()],
    }
}
