//! Streams of Messages: named events, one block at a time.

use serde_json::{Value, json};

use super::{answer, count};
use crate::sim::api::Frames;
use crate::sim::chunk;
use crate::sim::plan::Plan;
use crate::sim::question::Question;

pub(super) fn frames(question: &Question, plans: &[Plan]) -> Frames {
    let mut frames = Frames::default();
    let Some(plan) = plans.first() else { return frames };
    push(&mut frames, json!({"type": "message_start", "message": answer::envelope(question)}));
    frames.first_delta = frames.all.len();
    for (index, block) in answer::blocks(question, plan).iter().enumerate() {
        self::block(&mut frames, index, block);
    }
    if frames.all.len() > 3 {
        // The first event of an answer is a block's start; what it says comes behind.
        frames.first_delta += 2;
    }
    frames.ending = frames.all.len();
    let mut usage = count::usage(question, plan);
    for name in ["cache_creation", "service_tier", "inference_geo"] {
        usage.as_object_mut().map(|it| it.remove(name));
    }
    push(
        &mut frames,
        json!({"type": "message_delta", "delta": answer::ending(plan), "usage": usage}),
    );
    push(&mut frames, json!({"type": "message_stop"}));
    frames
}

fn push(frames: &mut Frames, event: Value) {
    let name = event["type"].as_str().unwrap_or_default();
    frames.all.push(format!("event: {name}\ndata: {event}\n\n"));
}

fn block(frames: &mut Frames, index: usize, block: &Value) {
    let (empty, deltas) = opened(block);
    push(frames, json!({"type": "content_block_start", "index": index, "content_block": empty}));
    if index == 0 {
        push(frames, json!({"type": "ping"}));
    }
    for delta in deltas {
        push(frames, json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }
    push(frames, json!({"type": "content_block_stop", "index": index}));
}

/// A block as it is when it opens, and what is then added to it.
fn opened(block: &Value) -> (Value, Vec<Value>) {
    let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
    let pieces = |kind: &str, member: &str, text: &str| -> Vec<Value> {
        let pieces = chunk::deltas(text).into_iter();
        pieces.map(|piece| json!({"type": kind, member: piece})).collect()
    };
    let mut empty = block.clone();
    match block["type"].as_str().unwrap_or_default() {
        "text" => {
            empty["text"] = json!("");
            (empty, pieces("text_delta", "text", &text("text")))
        }
        "thinking" => {
            empty["thinking"] = json!("");
            empty["signature"] = json!("");
            let mut deltas = pieces("thinking_delta", "thinking", &text("thinking"));
            deltas.push(json!({"type": "signature_delta", "signature": text("signature")}));
            (empty, deltas)
        }
        "tool_use" => {
            let input = block["input"].to_string();
            empty["input"] = json!({});
            let mut deltas = vec![json!({"type": "input_json_delta", "partial_json": ""})];
            if input != "{}" {
                deltas.extend(pieces("input_json_delta", "partial_json", &input));
            }
            (empty, deltas)
        }
        _ => (empty, Vec::new()),
    }
}
