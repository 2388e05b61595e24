//! Answers of Responses.

use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy};
use proptest::prop_oneof;
use serde_json::{Value, json};

use super::item::{call, hosted, output_message, reasoning};
use crate::generate::object::object;
use crate::generate::text::{count, flag, id, id_value, share, size, text, word};

pub(crate) fn response() -> BoxedStrategy<Value> {
    let body = object()
        .with("id", id_value("resp_"))
        .is("object", "response")
        .with("created_at", prop_oneof![Just(json!(1_789_000_000)), Just(json!(1789000000.0))])
        .with("model", word(&["gpt-5.6", "gpt-4.1-2025-04-14"]))
        .with("output", vec(item(), 0..4).prop_map(Value::Array))
        .or_null("usage", usage())
        .nullable("instructions", text())
        .nullable("max_output_tokens", size())
        .maybe("parallel_tool_calls", flag())
        .nullable("previous_response_id", id_value("resp_"))
        .nullable("temperature", share())
        .maybe("tools", Just(json!([])))
        .maybe("tool_choice", Just(json!("auto")))
        .maybe("reasoning", Just(json!({"effort": "low", "summary": null})))
        .maybe("text", Just(json!({"format": {"type": "text"}})))
        .maybe("metadata", Just(json!({})))
        .nullable("service_tier", word(&["default", "priority"]))
        .maybe("store", flag());
    (body.open(), ending()).prop_map(with_ending).boxed()
}

fn item() -> BoxedStrategy<Value> {
    prop_oneof![
        4 => output_message(),
        2 => reasoning(),
        3 => id("call_").prop_flat_map(|id| call(&id)),
        1 => hosted(),
    ]
    .boxed()
}

/// How it ended: the status and what explains it.
fn ending() -> BoxedStrategy<Value> {
    let incomplete = |reason: &str| {
        let details = json!({"reason": reason});
        Just(json!({"status": "incomplete", "incomplete_details": details, "error": null}))
    };
    prop_oneof![
        6 => Just(json!({"status": "completed", "error": null, "incomplete_details": null})),
        1 => incomplete("max_output_tokens"),
        1 => incomplete("content_filter"),
        1 => Just(json!({
            "status": "failed",
            "error": {"code": "server_error", "message": "It broke."},
            "incomplete_details": null,
        })),
    ]
    .boxed()
}

fn with_ending((mut response, ending): (Value, Value)) -> Value {
    for (key, value) in ending.as_object().into_iter().flatten() {
        response[key] = value.clone();
    }
    response
}

fn usage() -> BoxedStrategy<Value> {
    let input = object().with("cached_tokens", count()).maybe("cache_write_tokens", count()).open();
    let output = object().with("reasoning_tokens", count()).open();
    object()
        .with("input_tokens", count())
        .nullable("input_tokens_details", input)
        .with("output_tokens", count())
        .nullable("output_tokens_details", output)
        .with("total_tokens", count())
        .open()
}
