//! Requests of Responses.

use proptest::prelude::{BoxedStrategy, Just, Strategy};
use proptest::prop_oneof;
use serde_json::{Value, json};

use super::item::{
    call, easy_answer, easy_message, hosted, output, output_message, pair_up, reasoning,
};
use crate::generate::History;
use crate::generate::history::{choose_from_tools, pairs, tools_named, turns};
use crate::generate::object::{Object, list, object, string_or, typed};
use crate::generate::schema::{schema, strict_schema};
use crate::generate::text::{
    any_object, count, flag, id_value, one_of, share, size, text, url, word,
};

pub(crate) fn request(history: History) -> BoxedStrategy<Value> {
    let input = turns(history, turn()).prop_map(Value::Array);
    let body = object()
        .with("model", word(&["gpt-5.6", "gpt-4.1", "o4-mini", "gpt-oss-120b"]))
        .with("input", prop_oneof![1 => text(), 9 => input])
        .nullable("instructions", text());
    let body = with_tools(with_sampling(body));
    with_vendor_options(with_session(body)).open().prop_map(choose_from_tools).boxed()
}

fn turn() -> BoxedStrategy<Vec<Value>> {
    let one = |item: Value| vec![item];
    prop_oneof![
        5 => easy_message(&["user"]).prop_map(one),
        1 => easy_message(&["system", "developer"]).prop_map(one),
        2 => easy_answer().prop_map(one),
        2 => output_message().prop_map(one),
        2 => (reasoning(), output_message()).prop_map(|(thought, message)| vec![thought, message]),
        3 => tool_loop(),
        1 => hosted().prop_map(one),
        1 => special().prop_map(one),
    ]
    .boxed()
}

fn tool_loop() -> BoxedStrategy<Vec<Value>> {
    let before = prop_oneof![
        2 => Just(Vec::new()),
        1 => reasoning().prop_map(|item| vec![item]),
        1 => output_message().prop_map(|item| vec![item]),
    ];
    (before, pairs("call_", call, output))
        .prop_map(|(before, pairs)| {
            let (calls, outputs): (Vec<_>, Vec<_>) = pairs.into_iter().map(pair_up).unzip();
            [before, calls, outputs].concat()
        })
        .boxed()
}

/// Items that are about the conversation and no part of it.
fn special() -> BoxedStrategy<Value> {
    prop_oneof![
        object().maybe("type", Just(json!("item_reference"))).with("id", id_value("msg_")).open(),
        typed("configuration_update").with("reasoning", any_object()).open(),
        typed("compaction_trigger").open(),
    ]
    .boxed()
}

fn with_sampling(body: Object) -> Object {
    let reasoning = object()
        .nullable("effort", word(&["none", "minimal", "low", "medium", "high", "xhigh", "max"]))
        .nullable("summary", word(&["auto", "concise", "detailed"]))
        .rarely("context", word(&["auto", "all_turns"]))
        .open();
    let text_options =
        object().maybe("format", format()).maybe("verbosity", word(&["low", "high"])).open();
    body.nullable("temperature", share())
        .nullable("top_p", share())
        .rarely("top_logprobs", count())
        .maybe("max_output_tokens", size())
        .maybe("reasoning", reasoning)
        .rarely("text", text_options)
        .maybe("stream", flag())
        .rarely("stream_options", object().maybe("include_obfuscation", flag()).open())
}

fn format() -> BoxedStrategy<Value> {
    prop_oneof![
        Just(json!({"type": "text"})),
        Just(json!({"type": "json_object"})),
        typed("json_schema")
            .is("name", "answer")
            .with("schema", prop_oneof![schema(), strict_schema()])
            .rarely("description", text())
            .nullable("strict", flag())
            .open(),
    ]
    .boxed()
}

fn with_tools(body: Object) -> Object {
    let own = tools_named(|name| {
        prop_oneof![6 => function(name), 1 => custom(name), 1 => namespace(name)].boxed()
    });
    let tools = (own, prop_oneof![3 => Just(None), 1 => hosted_tool().prop_map(Some)])
        .prop_map(|(own, hosted)| Value::Array(own.into_iter().chain(hosted).collect()));
    body.maybe("tools", prop_oneof![9 => tools.boxed(), 1 => Just(json!([])).boxed()])
        .rarely("tool_choice", tool_choice())
        .rarely("parallel_tool_calls", flag())
        .rarely("max_tool_calls", count())
}

fn function(name: &str) -> BoxedStrategy<Value> {
    typed("function")
        .is("name", name)
        .nullable("description", text())
        .or_null("parameters", schema())
        .nullable("strict", flag())
        .rarely("output_schema", schema())
        .rarely("defer_loading", flag())
        .open()
}

fn custom(name: &str) -> BoxedStrategy<Value> {
    let grammar =
        typed("grammar").with("definition", text()).with("syntax", word(&["lark", "regex"])).open();
    let format = prop_oneof![Just(json!({"type": "text"})), grammar];
    typed("custom").is("name", name).maybe("description", text()).maybe("format", format).open()
}

fn namespace(name: &str) -> BoxedStrategy<Value> {
    let tools = prop_oneof![
        Just(Vec::new()),
        function("inner").prop_map(|tool| vec![tool]),
        (function("inner"), custom("inner_text")).prop_map(|(one, other)| vec![one, other]),
    ];
    typed("namespace")
        .is("name", &format!("{name}_group"))
        .with("description", text())
        .with("tools", tools.prop_map(Value::Array))
        .open()
}

fn hosted_tool() -> BoxedStrategy<Value> {
    prop_oneof![
        typed("web_search").maybe("search_context_size", word(&["low", "high"])).open(),
        typed("web_search_preview").open(),
        typed("file_search").with("vector_store_ids", list(id_value("vs_"), 1..2)).open(),
        typed("code_interpreter").with("container", Just(json!({"type": "auto"}))).open(),
        typed("image_generation").open(),
        typed("mcp").is("server_label", "tides").with("server_url", url()).open(),
        typed("teleporter").with("range", any_object()).open(),
    ]
    .boxed()
}

fn tool_choice() -> BoxedStrategy<Value> {
    let named = Just(json!({"type": "function", "name": "lookup"}));
    prop_oneof![
        3 => word(&["none", "auto", "required"]),
        1 => named.clone(),
        1 => Just(json!({"type": "custom", "name": "a_b"})),
        1 => typed("allowed_tools")
            .with("mode", one_of(&["auto", "required"]))
            .with("tools", list(named, 1..3))
            .open(),
        1 => Just(json!({"type": "web_search_preview"})),
        1 => Just(json!({"type": "mcp", "server_label": "tides"})),
    ]
    .boxed()
}

fn with_session(body: Object) -> Object {
    let conversation = object().with("id", id_value("conv_")).open();
    let include = one_of(&["reasoning.encrypted_content", "message.output_text.logprobs"]);
    let prompt = object().with("id", id_value("pmpt_")).maybe("variables", any_object()).open();
    body.rarely("previous_response_id", id_value("resp_"))
        .rarely("conversation", string_or(id_value("conv_"), conversation))
        .maybe("store", flag())
        .rarely("background", flag())
        .rarely("include", list(include, 0..3))
        .rarely("truncation", word(&["auto", "disabled"]))
        .rarely("prompt", prompt)
}

fn with_vendor_options(body: Object) -> Object {
    body.rarely("metadata", prop_oneof![Just(json!({"tenant": "a"})), Just(json!({}))])
        .rarely("service_tier", word(&["auto", "default", "flex", "priority"]))
        .rarely("user", text())
        .rarely("safety_identifier", text())
        .rarely("prompt_cache_key", text())
        .rarely("prompt_cache_options", any_object())
        .rarely("prompt_cache_retention", one_of(&["in_memory", "24h"]))
        .rarely("context_management", list(any_object(), 1..2))
        .rarely("moderation", any_object())
}
