//! Streams of Responses: named and numbered events, each item opened, filled and closed.

use serde_json::{Value, json};

use super::answer;
use crate::sim::api::Frames;
use crate::sim::chunk;
use crate::sim::plan::{End, Plan};
use crate::sim::question::Question;

pub(super) fn frames(question: &Question, plans: &[Plan]) -> Frames {
    let mut out = Writer { frames: Frames::default(), output_index: 0, item_id: String::new() };
    let Some(plan) = plans.first() else { return out.frames };
    let begun = answer::envelope(question);
    out.event("response.created", json!({"response": begun}));
    out.event("response.in_progress", json!({"response": begun}));
    for (index, item) in answer::items(question, plan).iter().enumerate() {
        out.output_index = index;
        out.item_id = item["id"].as_str().unwrap_or_default().to_owned();
        out.item(item);
    }
    out.frames.ending = out.frames.all.len();
    out.frames.first_delta = out.first_delta();
    let ended = if plan.end == End::Length { "response.incomplete" } else { "response.completed" };
    out.event(ended, json!({"response": answer::finished(question, plan)}));
    out.frames
}

struct Writer {
    frames: Frames,
    output_index: usize,
    item_id: String,
}

impl Writer {
    fn event(&mut self, name: &str, members: Value) {
        let mut event = json!({"type": name, "sequence_number": self.frames.all.len()});
        if let (Some(event), Value::Object(members)) = (event.as_object_mut(), members) {
            event.extend(members);
        }
        self.frames.all.push(format!("event: {name}\ndata: {event}\n\n"));
    }

    /// An event about the item in hand.
    fn about(&mut self, name: &str, mut members: Value) {
        members["item_id"] = json!(self.item_id);
        members["output_index"] = json!(self.output_index);
        self.event(name, members);
    }

    fn first_delta(&self) -> usize {
        let found =
            self.frames.all.iter().position(|frame| {
                frame.lines().next().is_some_and(|line| line.ends_with(".delta"))
            });
        found.unwrap_or(self.frames.ending)
    }

    fn item(&mut self, item: &Value) {
        self.event(
            "response.output_item.added",
            json!({"output_index": self.output_index, "item": opened(item)}),
        );
        match item["type"].as_str().unwrap_or_default() {
            "message" => self.part(&item["content"][0]),
            "reasoning" => {
                for (index, part) in item["summary"].as_array().into_iter().flatten().enumerate() {
                    self.summary(index, part);
                }
            }
            "function_call" => self.written("response.function_call_arguments", "arguments", item),
            _ => self.written("response.custom_tool_call_input", "input", item),
        }
        self.event(
            "response.output_item.done",
            json!({"output_index": self.output_index, "item": item}),
        );
    }

    fn part(&mut self, part: &Value) {
        match part["type"].as_str() {
            Some("refusal") => self.refusal(part),
            _ => self.text(part),
        }
    }

    fn refusal(&mut self, part: &Value) {
        let empty = json!({"type": "refusal", "refusal": ""});
        self.about("response.content_part.added", json!({"content_index": 0, "part": empty}));
        let text = part["refusal"].as_str().unwrap_or_default();
        for piece in chunk::deltas(text) {
            self.about("response.refusal.delta", json!({"content_index": 0, "delta": piece}));
        }
        self.about("response.refusal.done", json!({"content_index": 0, "refusal": text}));
        self.about("response.content_part.done", json!({"content_index": 0, "part": part}));
    }

    fn text(&mut self, part: &Value) {
        let mut empty = part.clone();
        empty["text"] = json!("");
        empty["logprobs"] = json!([]);
        self.about("response.content_part.added", json!({"content_index": 0, "part": empty}));
        let text = part["text"].as_str().unwrap_or_default();
        let logprobs: Vec<Value> =
            part["logprobs"].as_array().into_iter().flatten().map(without_bytes).collect();
        for (index, piece) in chunk::deltas(text).into_iter().enumerate() {
            let logprobs: Vec<&Value> = logprobs.get(index).into_iter().collect();
            let members = json!({"content_index": 0, "delta": piece, "logprobs": logprobs});
            self.about("response.output_text.delta", members);
        }
        let members = json!({"content_index": 0, "text": text, "logprobs": logprobs});
        self.about("response.output_text.done", members);
        self.about("response.content_part.done", json!({"content_index": 0, "part": part}));
    }

    fn summary(&mut self, index: usize, part: &Value) {
        let empty = json!({"type": "summary_text", "text": ""});
        let text = part["text"].as_str().unwrap_or_default();
        self.about(
            "response.reasoning_summary_part.added",
            json!({"summary_index": index, "part": empty}),
        );
        for piece in chunk::deltas(text) {
            self.about(
                "response.reasoning_summary_text.delta",
                json!({"summary_index": index, "delta": piece}),
            );
        }
        self.about(
            "response.reasoning_summary_text.done",
            json!({"summary_index": index, "text": text}),
        );
        self.about(
            "response.reasoning_summary_part.done",
            json!({"summary_index": index, "part": part}),
        );
    }

    /// What a call is given, piece by piece.
    fn written(&mut self, name: &str, member: &str, item: &Value) {
        let text = item[member].as_str().unwrap_or_default();
        for piece in chunk::deltas(text) {
            self.about(&format!("{name}.delta"), json!({"delta": piece}));
        }
        self.about(&format!("{name}.done"), json!({member: text}));
    }
}

/// An item as it is when it opens. What is sealed comes whole only at its end.
fn opened(item: &Value) -> Value {
    let mut empty = item.clone();
    match item["type"].as_str().unwrap_or_default() {
        "message" => empty["content"] = json!([]),
        "reasoning" => empty["summary"] = json!([]),
        "function_call" => empty["arguments"] = json!(""),
        _ => empty["input"] = json!(""),
    }
    if !item["status"].is_null() {
        empty["status"] = json!("in_progress");
    }
    empty
}

/// A log probability as events about a text state it.
fn without_bytes(logprob: &Value) -> Value {
    let others = logprob["top_logprobs"].as_array().into_iter().flatten();
    let others: Vec<Value> =
        others.map(|it| json!({"token": it["token"], "logprob": it["logprob"]})).collect();
    json!({"token": logprob["token"], "logprob": logprob["logprob"], "top_logprobs": others})
}
