//! Answers and errors of Anthropic Messages.

use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy};
use proptest::prop_oneof;
use proptest::sample::select;
use serde_json::{Value, json};

use super::block::{assistant_block, call};
use crate::generate::object::{object, typed};
use crate::generate::text::{count, id, id_value, text, word};

pub(crate) fn response() -> BoxedStrategy<Value> {
    let block =
        prop_oneof![5 => assistant_block(), 2 => id("toolu_").prop_flat_map(|id| call(&id))];
    let body = object()
        .with("id", id_value("msg_"))
        .is("type", "message")
        .is("role", "assistant")
        .with("model", word(&["claude-opus-4-8", "claude-sonnet-4-5"]))
        .with("content", vec(block, 0..5).prop_map(Value::Array))
        .with("usage", usage())
        .nullable("container", object().with("id", id_value("container_")).open());
    (body.open(), ending()).prop_map(with_ending).boxed()
}

fn ending() -> BoxedStrategy<Value> {
    let plain = word(&["end_turn", "max_tokens", "tool_use", "pause_turn", "refusal"])
        .prop_map(|reason| json!({"stop_reason": reason, "stop_sequence": null}));
    let sequence =
        text().prop_map(|text| json!({"stop_reason": "stop_sequence", "stop_sequence": text}));
    let refusal = text().prop_map(|text| {
        let details = json!({"type": "refusal", "category": "cyber", "explanation": text});
        json!({"stop_reason": "refusal", "stop_sequence": null, "stop_details": details})
    });
    prop_oneof![8 => plain, 1 => sequence, 1 => refusal].boxed()
}

fn with_ending((mut response, ending): (Value, Value)) -> Value {
    for (key, value) in ending.as_object().into_iter().flatten() {
        response[key] = value.clone();
    }
    response
}

fn usage() -> BoxedStrategy<Value> {
    let creation = object()
        .with("ephemeral_5m_input_tokens", count())
        .with("ephemeral_1h_input_tokens", count())
        .open();
    object()
        .with("input_tokens", count())
        .nullable("cache_creation_input_tokens", count())
        .nullable("cache_read_input_tokens", count())
        .maybe("cache_creation", creation)
        .with("output_tokens", count())
        .rarely("output_tokens_details", object().with("thinking_tokens", count()).open())
        .nullable("server_tool_use", object().with("web_search_requests", count()).open())
        .nullable("service_tier", word(&["standard", "priority", "batch"]))
        .open()
}

const ERRORS: &[(u16, &str)] = &[
    (400, "invalid_request_error"),
    (401, "authentication_error"),
    (402, "billing_error"),
    (403, "permission_error"),
    (404, "not_found_error"),
    (409, "conflict_error"),
    (413, "request_too_large"),
    (429, "rate_limit_error"),
    (500, "api_error"),
    (504, "timeout_error"),
    (529, "overloaded_error"),
    (418, "teapot_error"),
];

pub(crate) fn error() -> BoxedStrategy<(u16, Value)> {
    select(ERRORS)
        .prop_flat_map(|(status, kind)| {
            let details = Just(json!({"error_code": "file_expired"}));
            let error = typed(kind).with("message", text()).rarely("details", details).open();
            let body = typed("error").with("error", error).nullable("request_id", id_value("req_"));
            (Just(status), body.open())
        })
        .boxed()
}
