//! Requests of Chat Completions.

use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy};
use proptest::prop_oneof;
use serde_json::{Value, json};

use super::content::{
    assistant_parts, call, legacy_call, result, texts, user_content, with_reasoning,
};
use crate::generate::History;
use crate::generate::history::{choose_from_tools, pairs, tools_named, turns};
use crate::generate::object::{Object, list, object, string_or, typed};
use crate::generate::schema::{schema, strict_schema};
use crate::generate::text::{
    any_object, count, flag, id_value, one_of, seed, share, signed, size, text, word,
};

pub(crate) fn request(history: History) -> BoxedStrategy<Value> {
    let body = object()
        .with("model", word(&["gpt-5.6", "gpt-4o", "o3", "deepseek-chat", "claude-sonnet-4-5"]))
        .with("messages", messages(history));
    let body = with_tools(with_sampling(body));
    with_vendor_options(with_output(body)).open().prop_map(choose_from_tools).boxed()
}

fn messages(history: History) -> BoxedStrategy<Value> {
    (vec(instructions(), 0..3), turns(history, turn()))
        .prop_map(|(instructions, turns)| Value::Array([instructions, turns].concat()))
        .boxed()
}

fn turn() -> BoxedStrategy<Vec<Value>> {
    prop_oneof![
        5 => user().prop_map(|message| vec![message]),
        3 => assistant().prop_map(|message| vec![message]),
        3 => tool_loop(),
        1 => instructions().prop_map(|message| vec![message]),
        1 => legacy_loop(),
    ]
    .boxed()
}

fn instructions() -> BoxedStrategy<Value> {
    object()
        .with("role", one_of(&["system", "developer"]))
        .with("content", texts())
        .rarely("name", text())
        .open()
}

fn user() -> BoxedStrategy<Value> {
    object().is("role", "user").with("content", user_content()).rarely("name", text()).open()
}

fn assistant() -> BoxedStrategy<Value> {
    let message = object()
        .is("role", "assistant")
        .with("content", string_or(text(), assistant_parts()))
        .rarely("refusal", text())
        .rarely("name", text())
        .rarely("audio", object().with("id", id_value("audio_")).open());
    with_reasoning(message).open()
}

fn tool_loop() -> BoxedStrategy<Vec<Value>> {
    let caller = object()
        .is("role", "assistant")
        .nullable("content", string_or(text(), assistant_parts()))
        .rarely("refusal", Just(Value::Null));
    (with_reasoning(caller).open(), pairs("call_", call, result))
        .prop_map(|(mut caller, pairs)| {
            let (calls, results): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            caller["tool_calls"] = Value::Array(calls);
            [vec![caller], results].concat()
        })
        .boxed()
}

fn legacy_loop() -> BoxedStrategy<Vec<Value>> {
    let caller = object()
        .is("role", "assistant")
        .with("content", Just(Value::Null))
        .with("function_call", legacy_call())
        .open();
    let answer = object().is("role", "function").is("name", "lookup").or_null("content", text());
    (caller, answer.open()).prop_map(|(caller, answer)| vec![caller, answer]).boxed()
}

fn with_sampling(body: Object) -> Object {
    body.nullable("temperature", share())
        .nullable("top_p", share())
        .rarely("seed", seed())
        .rarely("presence_penalty", signed())
        .rarely("frequency_penalty", signed())
        .rarely("logit_bias", Just(json!({"50256": -100, "11": 1.0})))
        .rarely("logprobs", flag())
        .rarely("top_logprobs", count())
        .rarely("n", size())
        .nullable("stop", string_or(text(), list(text(), 0..4)))
        .maybe("max_completion_tokens", size())
        .rarely("max_tokens", size())
}

fn with_tools(body: Object) -> Object {
    let tools = tools_named(|name| prop_oneof![4 => function(name), 1 => custom(name)].boxed());
    let legacy = object().is("name", "lookup").maybe("parameters", schema()).open();
    body.maybe("tools", tools.prop_map(Value::Array))
        .rarely("tool_choice", tool_choice())
        .rarely("parallel_tool_calls", flag())
        .rarely("functions", list(legacy, 1..2))
        .rarely(
            "function_call",
            prop_oneof![one_of(&["auto", "none"]), Just(json!({"name": "lookup"})),],
        )
}

fn function(name: &str) -> BoxedStrategy<Value> {
    let function = object()
        .is("name", name)
        .nullable("description", text())
        .nullable("parameters", schema())
        .rarely("strict", flag())
        .open();
    typed("function").with("function", function).open()
}

fn custom(name: &str) -> BoxedStrategy<Value> {
    let grammar = object().with("definition", text()).with("syntax", word(&["lark", "regex"]));
    let format = prop_oneof![
        Just(json!({"type": "text"})),
        typed("grammar").with("grammar", grammar.open()).open(),
    ];
    let custom = object().is("name", name).maybe("description", text()).maybe("format", format);
    typed("custom").with("custom", custom.open()).open()
}

fn tool_choice() -> BoxedStrategy<Value> {
    let named = Just(json!({"type": "function", "function": {"name": "lookup"}}));
    let allowed = object()
        .with("mode", one_of(&["auto", "required"]))
        .with("tools", list(named.clone(), 1..3))
        .open();
    prop_oneof![
        3 => word(&["none", "auto", "required"]),
        1 => named,
        1 => Just(json!({"type": "custom", "custom": {"name": "a_b"}})),
        1 => typed("allowed_tools").with("allowed_tools", allowed).open(),
    ]
    .boxed()
}

fn with_output(body: Object) -> Object {
    let json_schema = object()
        .is("name", "answer")
        .rarely("description", text())
        .maybe("schema", prop_oneof![schema(), strict_schema()])
        .nullable("strict", flag())
        .open();
    let format = prop_oneof![
        Just(json!({"type": "text"})),
        Just(json!({"type": "json_object"})),
        typed("json_schema").with("json_schema", json_schema).open(),
    ];
    let audio = object().is("format", "wav").is("voice", "alloy").open();
    body.rarely("response_format", format)
        .rarely("verbosity", word(&["low", "medium", "high"]))
        .rarely("reasoning_effort", word(&["none", "minimal", "low", "high", "xhigh", "max"]))
        .rarely("modalities", Just(json!(["text", "audio"])))
        .rarely("audio", audio)
        .rarely("prediction", typed("content").with("content", text()).open())
        .maybe("stream", flag())
        .rarely("stream_options", object().maybe("include_usage", flag()).open())
}

fn with_vendor_options(body: Object) -> Object {
    let metadata = Just(json!({"tenant": "a", "ünï": ""}));
    let cache = object().maybe("mode", one_of(&["implicit", "explicit"])).maybe("ttl", text());
    body.rarely("metadata", prop_oneof![metadata, Just(json!({}))])
        .rarely("service_tier", word(&["auto", "default", "flex", "priority"]))
        .rarely("store", flag())
        .rarely("user", text())
        .rarely("safety_identifier", text())
        .rarely("prompt_cache_key", text())
        .rarely("prompt_cache_options", cache.open())
        .rarely("prompt_cache_retention", one_of(&["in_memory", "24h"]))
        .rarely("moderation", any_object())
        .rarely("web_search_options", any_object())
}
