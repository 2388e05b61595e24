//! Streams of Responses: every item from its opening to its end, then the whole answer.

use serde_json::{Value, json};

use crate::generate::Cuts;
use crate::generate::object::rest;
use crate::generate::split::Frames;

pub(crate) fn stream(response: &Value, cuts: Cuts) -> Vec<u8> {
    let mut stream = Stream { frames: Frames::new(), cuts, sequence: 0, place: json!({}) };
    let mut begun = response.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    begun["incomplete_details"] = Value::Null;
    stream.event("response.created", json!({"response": begun}));
    stream.event("response.in_progress", json!({"response": begun}));
    for (index, item) in response["output"].as_array().into_iter().flatten().enumerate() {
        stream.item(index, item);
    }
    let status = response["status"].as_str().unwrap_or_default();
    stream.event(&format!("response.{status}"), json!({"response": response}));
    stream.frames.into_bytes()
}

struct Stream {
    frames: Frames,
    cuts: Cuts,
    sequence: u64,
    /// The fields that say which item and which of its parts an event is about.
    place: Value,
}

impl Stream {
    /// Writes an event with its fields and nothing about a place.
    fn event(&mut self, kind: &str, fields: Value) {
        let mut event = json!({"type": kind, "sequence_number": self.sequence});
        for (key, value) in fields.as_object().into_iter().flatten() {
            event[key] = value.clone();
        }
        self.sequence += 1;
        self.frames.named(&event);
    }

    /// Writes an event about the current place.
    fn here(&mut self, kind: &str, mut fields: Value) {
        for (key, value) in self.place.as_object().into_iter().flatten() {
            fields[key] = value.clone();
        }
        self.event(kind, fields);
    }

    fn item(&mut self, index: usize, item: &Value) {
        let opening = opening(item);
        self.event("response.output_item.added", json!({"output_index": index, "item": opening}));
        self.place = json!({"item_id": item["id"], "output_index": index});
        match item["type"].as_str().unwrap_or_default() {
            "message" => self.parts(&item["content"]),
            "reasoning" => {
                self.summaries(&item["summary"]);
                self.parts(&item["content"]);
            }
            "function_call" => {
                self.grow("response.function_call_arguments", "arguments", &item["arguments"]);
            }
            "custom_tool_call" => {
                self.grow("response.custom_tool_call_input", "input", &item["input"]);
            }
            hosted => self.progress(hosted),
        }
        self.event("response.output_item.done", json!({"output_index": index, "item": item}));
    }

    fn parts(&mut self, parts: &Value) {
        for (index, part) in parts.as_array().into_iter().flatten().enumerate() {
            self.place["content_index"] = json!(index);
            let (name, key) = match part["type"].as_str() {
                Some("refusal") => ("response.refusal", "refusal"),
                Some("reasoning_text") => ("response.reasoning_text", "text"),
                _ => ("response.output_text", "text"),
            };
            self.here("response.content_part.added", json!({"part": empty_part(part, key)}));
            self.deltas(name, &part[key]);
            self.annotations(&part["annotations"]);
            self.here(&format!("{name}.done"), json!({key: part[key]}));
            self.here("response.content_part.done", json!({"part": part}));
        }
    }

    fn summaries(&mut self, summaries: &Value) {
        for (index, part) in summaries.as_array().into_iter().flatten().enumerate() {
            self.place["summary_index"] = json!(index);
            let empty = empty_part(part, "text");
            self.here("response.reasoning_summary_part.added", json!({"part": empty}));
            self.grow("response.reasoning_summary_text", "text", &part["text"]);
            self.here("response.reasoning_summary_part.done", json!({"part": part}));
        }
        if let Some(place) = self.place.as_object_mut() {
            place.remove("summary_index");
        }
    }

    /// The deltas of a text and the event that repeats it whole.
    fn grow(&mut self, name: &str, key: &str, whole: &Value) {
        self.deltas(name, whole);
        self.here(&format!("{name}.done"), json!({key: whole}));
    }

    fn deltas(&mut self, name: &str, whole: &Value) {
        for piece in self.cuts.pieces(whole.as_str().unwrap_or_default()) {
            self.here(&format!("{name}.delta"), json!({"delta": piece}));
        }
    }

    fn annotations(&mut self, annotations: &Value) {
        for (index, annotation) in annotations.as_array().into_iter().flatten().enumerate() {
            let fields = json!({"annotation_index": index, "annotation": annotation});
            self.here("response.output_text.annotation.added", fields);
        }
    }

    fn progress(&mut self, kind: &str) {
        for step in ["in_progress", "completed"] {
            self.here(&format!("response.{kind}.{step}"), json!({}));
        }
    }
}

/// An item as it is first announced: in progress, with nothing in it yet.
fn opening(item: &Value) -> Value {
    let mut opening = item.clone();
    if item["status"].is_string() {
        opening["status"] = json!("in_progress");
    }
    match item["type"].as_str().unwrap_or_default() {
        "message" => opening["content"] = json!([]),
        "reasoning" => opening["summary"] = json!([]),
        "function_call" => opening["arguments"] = json!(""),
        "custom_tool_call" => opening["input"] = json!(""),
        _ => {}
    }
    if item["type"] == "reasoning" && item["content"].is_array() {
        opening["content"] = json!([]);
    }
    opening
}

fn empty_part(part: &Value, key: &str) -> Value {
    let mut empty = rest(part, &[key, "annotations", "logprobs"]);
    empty.insert(key.to_owned(), json!(""));
    for list in ["annotations", "logprobs"] {
        if part[list].is_array() {
            empty.insert(list.to_owned(), json!([]));
        }
    }
    Value::Object(empty)
}
