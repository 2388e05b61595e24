//! Miniature: requests, answers, streams and errors.

use proptest::prelude::{BoxedStrategy, Just, Strategy};
use proptest::sample::select;
use serde_json::{Value, json};

use super::{Generator, history};
use super::history::History;
use super::object::object;
use super::split::{Cuts, Frames};
use super::text::{count, flag, id_value, one_of, size, text, word};

pub(super) const GENERATOR: Generator = Generator {
    request,
    response,
    stream,
    odd_name: || Just("none".to_owned()).boxed(),
    join: |_| {},
    error,
};

fn request(history: History) -> BoxedStrategy<Value> {
    let turn = object().with("who", one_of(&["system", "user", "model"])).with("text", text()).open();
    let turns = history::turns(history, turn.prop_map(|turn| vec![turn]));
    object()
        .with("model", word(&["miniature-1"]))
        .with("turns", turns.prop_map(Value::Array))
        .maybe("limit", size())
        .maybe("stream", flag())
        .open()
}

fn response() -> BoxedStrategy<Value> {
    let usage = object().with("in", count()).with("out", count()).closed();
    object()
        .with("id", id_value("a"))
        .with("model", word(&["miniature-1"]))
        .with("text", text())
        .with("end", word(&["done", "cut"]))
        .maybe("usage", usage)
        .open()
}

/// The fields of the answer, one or a few a frame.
fn stream(response: &Value, mut cuts: Cuts) -> Vec<u8> {
    let mut frames = Frames::new();
    let mut last = response.clone();
    let mut first = json!({});
    for key in ["id", "model"] {
        if let Some(value) = last.as_object_mut().and_then(|it| it.remove(key)) {
            first[key] = value;
        }
    }
    frames.data(&first);
    for piece in cuts.pieces(response["text"].as_str().unwrap_or_default()) {
        frames.data(&json!({"text": piece}));
    }
    last.as_object_mut().map(|it| it.remove("text"));
    frames.data(&last);
    frames.into_bytes()
}

fn error() -> BoxedStrategy<(u16, Value)> {
    let kinds = select(&[(400, "bad-request"), (401, "authentication"), (429, "rate-limit")][..]);
    (kinds, text())
        .prop_map(|((status, kind), message)| {
            (status, json!({"error": {"kind": kind, "message": message}}))
        })
        .boxed()
}
