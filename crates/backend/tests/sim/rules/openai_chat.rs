//! What Chat Completions refuses, one broken rule at a time.

use sabir_wire::Protocol;
use serde_json::{Value, json};

use super::{accepts, refuses, with};

fn plain() -> Value {
    json!({"model": "sim", "messages": [{"role": "user", "content": "hi"}]})
}

fn tool(name: &str) -> Value {
    json!({"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}})
}

fn with_parameters(parameters: Value) -> Value {
    json!({"tools": [{"type": "function", "function": {"name": "f", "parameters": parameters}}]})
}

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}})
}

fn messages(messages: Value) -> Value {
    with(plain(), json!({"messages": messages}))
}

#[test]
fn the_body_has_its_shape() {
    for (changes, words) in [
        (json!({"top_k": 5}), "Unknown parameter: 'top_k'."),
        (json!({"n": 0}), "Expected a value >= 1, but got 0"),
        (json!({"n": "1"}), "Invalid type for 'n': expected an integer, but got a string instead."),
        (json!({"temperature": 2.5}), "Expected a value <= 2, but got 2.5"),
        (
            json!({"reasoning_effort": "huge"}),
            "Invalid value: 'huge'. Supported values are: 'none', 'minimal'",
        ),
        (json!({"messages": []}), "empty array"),
        (
            json!({"stream_options": {"include_usage": true}}),
            "only allowed when 'stream' is enabled",
        ),
        (
            json!({"tool_choice": "auto"}),
            "'tool_choice' is only allowed when 'tools' are specified",
        ),
        (json!({"parallel_tool_calls": true}), "'parallel_tool_calls' is only allowed"),
        (json!({"tools": []}), "Invalid 'tools'"),
        (json!({"tools": [tool("a"), tool("a")]}), "Duplicate tool name"),
        (json!({"tools": [tool("a b")]}), "does not match pattern"),
        (
            json!({"tools": [tool("a")], "tool_choice": {"type": "function", "function": {"name": "b"}}}),
            "not found in 'tools'",
        ),
        (
            json!({"tools": [tool("a")], "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "b"}}]}}}),
            "'b' not found in 'tools'",
        ),
        (with_parameters(json!({"type": "object"})), "object schema missing properties"),
        (
            with_parameters(json!({"type": "object", "properties": {"a": {"type": "array"}}})),
            "array schema missing items",
        ),
        (
            json!({"web_search_options": {"filters": {"allowed_domains": []}}}),
            "Unknown parameter: 'web_search_options.filters'",
        ),
        (json!({"model": "gpt-5", "logprobs": true}), "Unsupported parameter: 'logprobs'"),
        (json!({"stop": ["1", "2", "3", "4", "5"]}), "Invalid 'stop'"),
        (json!({"top_logprobs": 3}), "only allowed when 'logprobs' is enabled"),
        (json!({"response_format": {"type": "json_object"}}), "must contain the word 'json'"),
        (json!({"model": "o3", "max_tokens": 5}), "Use 'max_completion_tokens' instead"),
        (json!({"model": "gpt-5", "temperature": 0.5}), "Unsupported parameter: 'temperature'"),
        (json!({"model": "gpt-5.6", "tools": [tool("a")]}), "Please use /v1/responses instead"),
    ] {
        refuses_unstreamed(&with(plain(), changes), words);
    }
}

/// Sends the body as it is: `stream_options` without `stream` is one of the mistakes.
#[track_caller]
fn refuses_unstreamed(body: &Value, words: &str) {
    let simulator = sabir_backend::sim::Simulator::new(Protocol::OpenaiChat);
    let bytes = body.to_string();
    let path = "/v1/chat/completions";
    let answer = crate::support::send(&simulator, http::Method::POST, path, bytes.as_bytes());
    assert_eq!(answer.status, 400, "{body}");
    assert!(answer.message().contains(words), "{}\nexpected: {words}", answer.message());
    assert_eq!(answer.json()["error"]["type"], "invalid_request_error");
}

#[test]
fn neighbours_of_the_mistakes_are_fine() {
    for changes in [
        json!({"n": 1, "temperature": 2, "reasoning_effort": null, "stop": "x"}),
        json!({"tools": [tool("a"), tool("b")], "tool_choice": {"type": "function", "function": {"name": "b"}}, "parallel_tool_calls": false}),
        json!({"response_format": {"type": "json_object"}, "messages": [{"role": "user", "content": "JSON please"}]}),
        json!({"model": "gpt-5.6", "tools": [tool("a")], "reasoning_effort": "none", "temperature": 0.5}),
        json!({"model": "o3", "max_completion_tokens": 5}),
    ] {
        accepts(Protocol::OpenaiChat, &with(plain(), changes));
    }
}

#[test]
fn calls_and_results_belong_together() {
    let user = json!({"role": "user", "content": "hi"});
    let calls = json!({"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]});
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "r"});
    accepts(Protocol::OpenaiChat, &messages(json!([user, calls, result("b"), result("a")])));
    for (turns, words) in [
        (json!([user, calls, result("a")]), "did not have response messages: b"),
        (json!([user, calls, result("a"), user, result("b")]), "did not have response messages: b"),
        (json!([user, result("a")]), "must be a response to a preceeding message"),
        (json!([user, {"role": "assistant", "content": null}]), "'content'"),
        (json!([user, {"role": "assistant", "tool_calls": []}]), "empty array"),
        (
            json!([user, {"role": "assistant", "tool_calls": [call(&"x".repeat(41))]}, result(&"x".repeat(41))]),
            "maximum length 40",
        ),
        (
            json!([{"role": "tool", "tool_call_id": "a", "content": [{"type": "image_url"}]}]),
            "Supported values are: 'text'",
        ),
    ] {
        refuses(Protocol::OpenaiChat, &messages(turns), words);
    }
}

#[test]
fn media_are_looked_at() {
    let image = |url: &str| {
        messages(
            json!([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]),
        )
    };
    accepts(Protocol::OpenaiChat, &image("https://example.com/a.png"));
    accepts(Protocol::OpenaiChat, &image("data:image/png;base64,iVBORw0K"));
    refuses(Protocol::OpenaiChat, &image("data:image/png;base64,iVBOR!0K"), "Invalid base64");
    refuses(Protocol::OpenaiChat, &image("data:image/tiff;base64,iVBORw0K"), "image/tiff");
    refuses(Protocol::OpenaiChat, &image("file:///a.png"), "Expected a valid URL");
}

#[test]
fn strict_schemas_are_closed() {
    let format = |schema: Value| json!({"response_format": {"type": "json_schema", "json_schema": {"name": "n", "strict": true, "schema": schema}}});
    accepts(
        Protocol::OpenaiChat,
        &with(
            plain(),
            format(
                json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false}),
            ),
        ),
    );
    refuses(
        Protocol::OpenaiChat,
        &with(
            plain(),
            format(
                json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
            ),
        ),
        "additionalProperties",
    );
    refuses(
        Protocol::OpenaiChat,
        &with(
            plain(),
            format(
                json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": [], "additionalProperties": false}),
            ),
        ),
        "Missing 'a'",
    );
    refuses(
        Protocol::OpenaiChat,
        &with(plain(), format(json!({"type": "array", "items": {}}))),
        "type: \"object\"",
    );
}
