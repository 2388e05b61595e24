//! Answers and errors of Chat Completions.

use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy};
use proptest::prop_oneof;
use proptest::sample::select;
use serde_json::{Value, json};

use super::content::{call, legacy_call, with_reasoning};
use crate::generate::object::{list, object, typed};
use crate::generate::text::{base64_value, count, id, id_value, signed, string, text, url, word};

pub(crate) fn response() -> BoxedStrategy<Value> {
    object()
        .with("id", id_value("chatcmpl-"))
        .is("object", "chat.completion")
        .with("created", Just(json!(1_789_000_000)))
        .with("model", word(&["gpt-5.6", "gpt-4o-2024-08-06", "deepseek-chat"]))
        .with("choices", choices())
        .maybe("usage", usage())
        .nullable("service_tier", word(&["default", "priority"]))
        .nullable("system_fingerprint", id_value("fp_"))
        .open()
}

/// One choice mostly, or some, numbered.
fn choices() -> BoxedStrategy<Value> {
    prop_oneof![6 => vec(choice(), 1..2), 1 => vec(choice(), 2..4)]
        .prop_map(|mut choices| {
            for (index, choice) in choices.iter_mut().enumerate() {
                choice["index"] = json!(index);
            }
            Value::Array(choices)
        })
        .boxed()
}

/// A server has one field for its reasoning.
fn with_one_reasoning(mut message: Value) -> Value {
    if let Some(message) = message.as_object_mut().filter(|it| it.contains_key("reasoning_content"))
    {
        message.remove("reasoning");
        message.remove("reasoning_details");
    }
    message
}

fn choice() -> BoxedStrategy<Value> {
    let finish = word(&["stop", "length", "tool_calls", "content_filter", "function_call"]);
    object()
        .with("index", Just(json!(0)))
        .with("message", message())
        .nullable("logprobs", logprobs())
        .with("finish_reason", finish)
        .open()
}

fn message() -> BoxedStrategy<Value> {
    let calls = vec(id("call_").prop_flat_map(|id| call(&id)), 1..4).prop_map(Value::Array);
    let message = object()
        .is("role", "assistant")
        .or_null("content", text())
        .nullable("refusal", text())
        .maybe("tool_calls", calls)
        .rarely("annotations", list(annotation(), 0..3))
        .rarely("audio", audio())
        .rarely("function_call", legacy_call());
    with_reasoning(message).open().prop_map(with_one_reasoning).boxed()
}

fn annotation() -> BoxedStrategy<Value> {
    let citation = object()
        .with("url", url())
        .with("title", text())
        .with("start_index", count())
        .with("end_index", count())
        .open();
    typed("url_citation").with("url_citation", citation).open()
}

fn audio() -> BoxedStrategy<Value> {
    object()
        .with("id", id_value("audio_"))
        .with("data", base64_value())
        .with("expires_at", Just(json!(1_789_003_600)))
        .with("transcript", text())
        .open()
}

fn logprobs() -> BoxedStrategy<Value> {
    let alternative = object().with("token", text()).with("logprob", signed()).closed();
    let token = object()
        .with("token", text())
        .with("logprob", signed())
        .nullable("bytes", list(count(), 0..3))
        .with("top_logprobs", list(alternative, 0..2))
        .open();
    let token = prop_oneof![token, token_in_bytes()];
    object().or_null("content", list(token, 1..3)).with("refusal", Just(Value::Null)).open()
}

/// An entry whose bytes are those of its token, as the vendor has them.
fn token_in_bytes() -> BoxedStrategy<Value> {
    let entry = || {
        (string(), signed()).prop_map(|(token, logprob)| {
            json!({"token": token, "logprob": logprob, "bytes": token.as_bytes()})
        })
    };
    let top = list(entry(), 0..3);
    (entry(), top)
        .prop_map(|(mut entry, top)| {
            entry["top_logprobs"] = top;
            entry
        })
        .boxed()
}

fn usage() -> BoxedStrategy<Value> {
    let prompt = object()
        .maybe("cached_tokens", count())
        .maybe("cache_write_tokens", count())
        .rarely("audio_tokens", count())
        .open();
    let completion = object()
        .maybe("reasoning_tokens", count())
        .rarely("audio_tokens", count())
        .rarely("accepted_prediction_tokens", count())
        .rarely("rejected_prediction_tokens", count())
        .open();
    object()
        .with("prompt_tokens", count())
        .with("completion_tokens", count())
        .with("total_tokens", count())
        .nullable("prompt_tokens_details", prompt)
        .nullable("completion_tokens_details", completion)
        .open()
}

const STATUSES: &[u16] = &[400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504];

pub(crate) fn error() -> BoxedStrategy<(u16, Value)> {
    let kind = word(&[
        "invalid_request_error",
        "authentication_error",
        "permission_error",
        "server_error",
        "tokens",
        "insufficient_quota",
    ]);
    let code = word(&[
        "context_length_exceeded",
        "invalid_api_key",
        "model_not_found",
        "rate_limit_exceeded",
        "insufficient_quota",
    ]);
    let error = object()
        .with("message", text())
        .nullable("type", kind)
        .nullable("param", text())
        .nullable("code", code)
        .open();
    (select(STATUSES), object().with("error", error).open()).boxed()
}
