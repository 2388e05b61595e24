//! Streams of Gemini: a response object in each frame, or one JSON array of them.

use serde_json::{Value, json};

use super::{answer, count};
use crate::sim::api::Frames;
use crate::sim::chunk;
use crate::sim::plan::Plan;
use crate::sim::question::{Delivery, Question};

pub(super) fn frames(question: &Question, plans: &[Plan]) -> Frames {
    let mut chunks = Vec::new();
    for (index, plan) in plans.iter().enumerate() {
        for part in increments(question, plan) {
            let text = part["text"].as_str().filter(|_| part["thought"] != true);
            let text = text.unwrap_or_default().to_owned();
            let mut candidate =
                json!({"content": {"parts": [part], "role": "model"}, "index": index});
            answer::weigh(&mut candidate, question, &text);
            chunks.push(chunk(question, plans, candidate));
        }
    }
    let ending = chunks.len();
    for (index, plan) in plans.iter().enumerate() {
        let last = sealed_end(question, plan).unwrap_or_else(|| json!({"text": ""}));
        let mut candidate = json!({"content": {"parts": [last], "role": "model"}});
        answer::close(&mut candidate, plan, index);
        chunks.push(chunk(question, plans, candidate));
    }
    let count = chunks.len();
    let all = chunks.iter().enumerate();
    let all = all.map(|(index, it)| framed(it, question.delivery, index, index + 1 == count));
    Frames { all: all.collect(), first_delta: 0, ending }
}

fn chunk(question: &Question, plans: &[Plan], candidate: Value) -> Value {
    let mut chunk = answer::envelope(question);
    chunk["candidates"] = json!([candidate]);
    chunk["usageMetadata"] = count::usage(question, plans);
    chunk
}

/// The empty part with a signature that closes an answer without calls.
fn sealed_end(question: &Question, plan: &Plan) -> Option<Value> {
    let last = answer::parts(question, plan).pop()?;
    (last["text"] == "" && !last["thoughtSignature"].is_null()).then_some(last)
}

/// The parts of an answer, texts in pieces.
fn increments(question: &Question, plan: &Plan) -> Vec<Value> {
    let mut out = Vec::new();
    for part in answer::parts(question, plan) {
        let Some(text) = part["text"].as_str() else {
            out.push(part);
            continue;
        };
        for piece in chunk::deltas(text) {
            let mut increment = json!({"text": piece});
            if part["thought"] == true {
                increment["thought"] = json!(true);
            }
            out.push(increment);
        }
    }
    out
}

fn framed(chunk: &Value, delivery: Delivery, index: usize, is_last: bool) -> String {
    let chunk = escaped(chunk);
    match delivery {
        Delivery::Array => {
            let before = if index == 0 { "[" } else { ",\r\n" };
            format!("{before}{chunk}{}", if is_last { "]" } else { "" })
        }
        Delivery::Events | Delivery::Whole => format!("data: {chunk}\r\n\r\n"),
    }
}

/// JSON as Google writes it: characters that some take for the end of a line are escaped.
fn escaped(chunk: &Value) -> String {
    let text = chunk.to_string();
    text.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029").replace('\u{85}', "\\u0085")
}
