//! Requests of Anthropic Messages.

use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy};
use proptest::prop_oneof;
use serde_json::{Value, json};

use super::block::{
    assistant_block, cache_control, call, result, shown_block, text_block, thinking,
};
use crate::generate::History;
use crate::generate::history::{choose_from_tools, pairs, tools_named, turns};
use crate::generate::object::{Object, list, object, string_or, typed};
use crate::generate::schema::{schema, strict_schema};
use crate::generate::text::{any_object, flag, id_value, long_text, share, size, text, word};

pub(crate) fn request(history: History) -> BoxedStrategy<Value> {
    let body = object()
        .with("model", word(&["claude-opus-4-8", "claude-sonnet-4-5", "claude-3-7-sonnet"]))
        .with("max_tokens", size())
        .with("messages", turns(history, turn()).prop_map(Value::Array))
        .maybe("system", string_or(text(), list(text_block(), 0..3)));
    with_vendor_options(with_sampling(with_tools(body)))
        .open()
        .prop_map(as_the_model_takes_it)
        .boxed()
}

/// Takes out what is documented to be refused: the oldest model has no output formats, and the limit is above the budget.
fn as_the_model_takes_it(mut body: Value) -> Value {
    if body["model"] == "claude-3-7-sonnet"
        && let Some(output) = body.get_mut("output_config").and_then(Value::as_object_mut)
    {
        output.remove("format");
    }
    if let Some(budget) = body["thinking"]["budget_tokens"].as_f64() {
        body["max_tokens"] = json!(budget as u64 + 1024);
    }
    choose_from_tools(body)
}

fn turn() -> BoxedStrategy<Vec<Value>> {
    prop_oneof![
        5 => user().prop_map(|message| vec![message]),
        4 => assistant().prop_map(|message| vec![message]),
        4 => tool_loop(),
        1 => message("system", list(text_block(), 1..2)).prop_map(|message| vec![message]),
    ]
    .boxed()
}

fn message(role: &str, blocks: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    object().is("role", role).with("content", string_or(long_text(), blocks)).open()
}

fn user() -> BoxedStrategy<Value> {
    message("user", list(shown_block(), 0..4))
}

fn assistant() -> BoxedStrategy<Value> {
    message("assistant", list(assistant_block(), 1..4))
}

/// The assistant thinks, speaks and calls; the user answers every call, and may say more after that.
fn tool_loop() -> BoxedStrategy<Vec<Value>> {
    let before = prop_oneof![
        2 => Just(Vec::new()),
        2 => thinking().prop_map(|block| vec![block]),
        2 => vec(assistant_block(), 1..3),
    ];
    (before, pairs("toolu_", call, result), vec(shown_block(), 0..2))
        .prop_map(|(before, pairs, after)| {
            let (calls, results): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            vec![
                json!({"role": "assistant", "content": ([before, calls].concat())}),
                json!({"role": "user", "content": ([results, after].concat())}),
            ]
        })
        .boxed()
}

fn with_tools(body: Object) -> Object {
    let own = tools_named(tool);
    let tools = (own, prop_oneof![3 => Just(None), 1 => vendor_tool().prop_map(Some)])
        .prop_map(|(own, vendor)| Value::Array(own.into_iter().chain(vendor).collect()));
    body.maybe("tools", prop_oneof![9 => tools.boxed(), 1 => Just(json!([])).boxed()])
        .rarely("tool_choice", tool_choice())
}

fn tool(name: &str) -> BoxedStrategy<Value> {
    object()
        .rarely("type", Just(json!("custom")))
        .is("name", name)
        .nullable("description", text())
        .with("input_schema", schema())
        .rarely("strict", flag())
        .rarely("cache_control", cache_control())
        .rarely("input_examples", list(any_object(), 0..2))
        .rarely("defer_loading", flag())
        .open()
}

fn vendor_tool() -> BoxedStrategy<Value> {
    prop_oneof![
        typed("web_search_20250305").is("name", "web_search").maybe("max_uses", size()).open(),
        typed("web_fetch_20250910").is("name", "web_fetch").open(),
        typed("code_execution_20250825").is("name", "code_execution").open(),
        typed("bash_20250124").is("name", "bash").open(),
        typed("orrery_20990101").is("name", "orrery").open(),
    ]
    .boxed()
}

fn tool_choice() -> BoxedStrategy<Value> {
    let choice = |kind: &str| typed(kind).rarely("disable_parallel_tool_use", flag());
    prop_oneof![
        choice("auto").open(),
        choice("any").open(),
        choice("tool").is("name", "lookup").open(),
        typed("none").open(),
    ]
    .boxed()
}

fn with_sampling(body: Object) -> Object {
    let thinking = prop_oneof![
        typed("enabled").with("budget_tokens", (1024_u64..9000).prop_map(Value::from)).open(),
        typed("adaptive").maybe("display", word(&["summarized", "omitted"])).open(),
        typed("disabled").open(),
        typed("between_tools").open(),
    ];
    let format = typed("json_schema").with("schema", prop_oneof![schema(), strict_schema()]).open();
    let output = object()
        .maybe("effort", word(&["low", "medium", "high", "xhigh", "max"]))
        .rarely("format", format)
        .open();
    body.maybe("temperature", share())
        .rarely("top_p", share())
        .rarely("top_k", size())
        .maybe("thinking", thinking)
        .maybe("output_config", output)
        .rarely("stop_sequences", list(text(), 0..4))
        .maybe("stream", flag())
}

fn with_vendor_options(body: Object) -> Object {
    body.rarely("metadata", object().nullable("user_id", text()).open())
        .rarely("service_tier", word(&["auto", "standard_only"]))
        .rarely("speed", word(&["standard", "fast"]))
        .rarely("cache_control", cache_control())
        .rarely("inference_geo", text())
        .rarely("container", string_or(id_value("container_"), any_object()))
        .rarely("context_management", any_object())
        .rarely("mcp_servers", list(any_object(), 0..2))
}
