//! What Messages refuses, one broken rule at a time.

use http::{HeaderValue, Method};
use sabir_backend::sim::{Incoming, Simulator};
use sabir_wire::Protocol;
use serde_json::{Value, json};

use super::{accepts, refuses, with};
use crate::support::{Mode, SimulatedResponse, ask, headers};

fn plain() -> Value {
    json!({"model": "sim", "max_tokens": 4000, "messages": [{"role": "user", "content": "hi"}]})
}

fn messages(messages: Value) -> Value {
    let tool = json!({"name": "f", "input_schema": {"type": "object"}});
    with(plain(), json!({"messages": messages, "tools": [tool]}))
}

#[test]
fn the_body_has_its_shape() {
    let tool = |schema: Value| json!({"tools": [{"name": "f", "input_schema": schema}]});
    for (changes, words) in [
        (json!({"n": 1}), "n: Extra inputs are not permitted"),
        (
            json!({"tools": [{"type": "web_search_20250305", "name": "web_search", "allowed_domains": ["a.org"], "blocked_domains": ["b.org"]}]}),
            "Cannot specify both",
        ),
        (json!({"max_tokens": "5"}), "max_tokens: Input should be a valid integer"),
        (json!({"messages": []}), "at least one message is required"),
        (json!({"metadata": {"team": "a"}}), "metadata.team: Extra inputs are not permitted"),
        (json!({"temperature": 1.5}), "temperature: Input should be less than or equal to 1"),
        (json!({"stop_sequences": [" "]}), "must contain non-whitespace"),
        (tool(json!({"properties": {}})), "tools.0.custom.input_schema.type: Field required"),
        (
            tool(json!({"type": "string"})),
            "tools.0.custom.input_schema.type: Input should be 'object'",
        ),
        (tool(json!({"type": "object", "anyOf": []})), "at the top level"),
        (json!({"tool_choice": {"type": "auto"}}), "may only be specified while providing tools"),
        (
            json!({"thinking": {"type": "enabled", "budget_tokens": 1000}}),
            "greater than or equal to 1024",
        ),
        (json!({"thinking": {"type": "enabled", "budget_tokens": 4000}}), "must be greater than"),
        (
            json!({"model": "claude-sonnet-5-1", "thinking": {"type": "enabled", "budget_tokens": 2000}}),
            "adaptive",
        ),
        (
            json!({"model": "claude-haiku-4-5", "thinking": {"type": "adaptive"}}),
            "adaptive thinking is not supported",
        ),
        (json!({"model": "claude-opus-4-8", "temperature": 0.5}), "`temperature` is deprecated"),
        (
            json!({"model": "claude-sonnet-4-5", "temperature": 0.5, "top_p": 0.5}),
            "cannot both be specified",
        ),
        (
            json!({"thinking": {"type": "enabled", "budget_tokens": 2000}, "temperature": 0.5}),
            "may only be set to 1",
        ),
    ] {
        refuses(Protocol::AnthropicMessages, &with(plain(), changes), words);
    }
    let mut without = plain();
    without.as_object_mut().expect("an object").remove("max_tokens");
    refuses(Protocol::AnthropicMessages, &without, "max_tokens: Field required");
}

#[test]
fn texts_are_not_empty() {
    let user = |content: Value| messages(json!([{"role": "user", "content": content}]));
    accepts(Protocol::AnthropicMessages, &user(json!([{"type": "text", "text": "x"}])));
    refuses(Protocol::AnthropicMessages, &user(json!("")), "non-empty content");
    refuses(Protocol::AnthropicMessages, &user(json!([])), "non-empty content");
    refuses(
        Protocol::AnthropicMessages,
        &user(json!([{"type": "text", "text": ""}])),
        "must be non-empty",
    );
    refuses(
        Protocol::AnthropicMessages,
        &user(json!([{"type": "text", "text": " \n"}])),
        "non-whitespace",
    );
}

#[test]
fn calls_and_results_belong_together() {
    let user = json!({"role": "user", "content": "hi"});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "f", "input": {}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "r"});
    let text = json!({"type": "text", "text": "and"});
    let calls = json!({"role": "assistant", "content": [call("a"), call("b")]});
    let answers =
        |content: Value| messages(json!([user, calls, {"role": "user", "content": content}]));
    accepts(Protocol::AnthropicMessages, &answers(json!([result("b"), result("a"), text])));
    for (content, words) in [
        (json!([result("a")]), "without `tool_result` blocks immediately after: b"),
        (json!([result("a"), result("b"), result("a")]), "single result"),
        (json!([result("a"), result("b"), result("c")]), "unexpected `tool_use_id`"),
        (json!([text, result("a"), result("b")]), "must come first"),
    ] {
        refuses(Protocol::AnthropicMessages, &answers(content), words);
    }
    refuses(
        Protocol::AnthropicMessages,
        &messages(json!([user, {"role": "assistant", "content": [call("a:1")]}])),
        "should match pattern",
    );
    let mut toolless = answers(json!([result("a"), result("b")]));
    toolless.as_object_mut().expect("an object").remove("tools");
    refuses(Protocol::AnthropicMessages, &toolless, "must define tools");
}

#[test]
fn turns_begin_and_end_where_they_may() {
    let (user, assistant) =
        (json!({"role": "user", "content": "hi"}), json!({"role": "assistant", "content": "so"}));
    let system = json!({"role": "system", "content": "be brief"});
    accepts(Protocol::AnthropicMessages, &messages(json!([user, user, assistant])));
    refuses(
        Protocol::AnthropicMessages,
        &messages(json!([assistant, user])),
        "must use the \"user\" role",
    );
    refuses(
        Protocol::AnthropicMessages,
        &messages(json!([user, {"role": "assistant", "content": "so "}])),
        "trailing whitespace",
    );
    let newer = |turns: Value| with(messages(turns), json!({"model": "claude-sonnet-5-1"}));
    refuses(
        Protocol::AnthropicMessages,
        &newer(json!([user, assistant])),
        "must end with a user message",
    );
    accepts(Protocol::AnthropicMessages, &newer(json!([user, system])));
    accepts(Protocol::AnthropicMessages, &newer(json!([user, system, assistant, user])));
    refuses(
        Protocol::AnthropicMessages,
        &newer(json!([user, assistant, system, user])),
        "must directly follow a user message",
    );
    refuses(
        Protocol::AnthropicMessages,
        &newer(json!([user, system, user])),
        "must be last or be followed by an assistant",
    );
    let older = with(messages(json!([user, system])), json!({"model": "claude-haiku-4-5"}));
    refuses(Protocol::AnthropicMessages, &older, "role 'system' is not supported on this model");
}

#[test]
fn cache_markers_are_few_and_in_order() {
    let marked = |lifetimes: &[&str]| {
        let blocks: Vec<Value> = lifetimes.iter().map(|ttl| json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": ttl}})).collect();
        messages(json!([{"role": "user", "content": blocks}]))
    };
    accepts(Protocol::AnthropicMessages, &marked(&["1h", "1h", "5m", "5m"]));
    refuses(
        Protocol::AnthropicMessages,
        &marked(&["5m", "5m", "5m", "5m", "5m"]),
        "maximum of 4 blocks with cache_control may be provided. Found 5",
    );
    refuses(Protocol::AnthropicMessages, &marked(&["5m", "1h"]), "must not come after");
}

#[test]
fn images_are_what_they_say() {
    let image = |kind: &str, data: &str| {
        messages(
            json!([{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}]}]),
        )
    };
    accepts(Protocol::AnthropicMessages, &image("image/png", "iVBORw0KGgo="));
    refuses(
        Protocol::AnthropicMessages,
        &image("image/jpeg", "iVBORw0KGgo="),
        "appears to be a image/png file",
    );
    refuses(Protocol::AnthropicMessages, &image("image/png", "iVBORw0KGg"), "not valid base64");
    refuses(
        Protocol::AnthropicMessages,
        &image("image/bmp", "iVBORw0KGgo="),
        "Input should be 'image/jpeg'",
    );
}

#[test]
fn thinking_comes_back_as_it_went_out() {
    let thinking = json!({"thinking": {"type": "enabled", "budget_tokens": 2000}});
    let user = json!({"role": "user", "content": "use f and redacted thinking"});
    let first = with(messages(json!([user])), thinking.clone());
    let answered = ask(Protocol::AnthropicMessages, &first, Mode::Whole).json()["content"].clone();
    assert_eq!(answered[1]["type"], "redacted_thinking", "{answered}");
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": answered[2]["id"], "content": "r"}]});
    let again = |content: Value| {
        with(
            messages(json!([user, {"role": "assistant", "content": content}, result])),
            thinking.clone(),
        )
    };
    accepts(Protocol::AnthropicMessages, &again(answered.clone()));
    let edited = with(answered[0].clone(), json!({"thinking": "something else"}));
    refuses(
        Protocol::AnthropicMessages,
        &again(json!([edited, answered[2]])),
        "Invalid `signature` in `thinking` block",
    );
    let foreign = json!({"type": "redacted_thinking", "data": "Zm9yZWlnbg=="});
    refuses(Protocol::AnthropicMessages, &again(json!([foreign, answered[2]])), "Invalid `data`");
    refuses(
        Protocol::AnthropicMessages,
        &again(json!([answered[2]])),
        "Expected `thinking` or `redacted_thinking`, but found `tool_use`",
    );
    // Adaptive thinking may leave a turn without, and Claude Code takes it out when the model's name has changed.
    let adaptive = json!({"thinking": {"type": "adaptive"}});
    accepts(Protocol::AnthropicMessages, &with(again(json!([answered[2]])), adaptive));
}

#[test]
fn output_schemas_are_of_the_supported_part() {
    let format = |schema: Value| {
        with(
            plain(),
            json!({"output_config": {"format": {"type": "json_schema", "schema": schema}}}),
        )
    };
    let closed = |properties: Value| json!({"type": "object", "properties": properties, "additionalProperties": false});
    accepts(
        Protocol::AnthropicMessages,
        &format(closed(json!({"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}))),
    );
    refuses(
        Protocol::AnthropicMessages,
        &format(json!({"type": "object", "properties": {}})),
        "additionalProperties",
    );
    refuses(
        Protocol::AnthropicMessages,
        &format(closed(json!({"a": {"type": "integer", "minimum": 1}}))),
        "'minimum' is not supported",
    );
    refuses(
        Protocol::AnthropicMessages,
        &format(closed(json!({"a": {"type": "array", "minItems": 2, "items": {}}}))),
        "minItems",
    );
    let recursive = json!({"$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "additionalProperties": false}}, "$ref": "#/$defs/n"});
    refuses(Protocol::AnthropicMessages, &format(recursive), "Circular reference");
}

#[test]
fn a_thread_begins_with_its_beta_and_never_goes_on() {
    let simulator = Simulator::new(Protocol::AnthropicMessages);
    let ask = |beta: &'static str, thread: Value| {
        let mut headers = headers();
        headers.insert("anthropic-beta", HeaderValue::from_static(beta));
        let body = with(plain(), json!({"thread": thread})).to_string();
        let (method, path, body) = (&Method::POST, "/v1/messages", body.as_bytes());
        SimulatedResponse::of(simulator.answer(Incoming { method, path, headers: &headers, body }))
    };
    let create = json!({"type": "create"});
    let refused = ask("other", create.clone());
    assert_eq!(refused.message(), "thread: Extra inputs are not permitted");
    assert_eq!(ask("message-threads-2026-08-12", create).status, 200);
    let lost = json!({"type": "continue", "previous_message_id": "msg_1"});
    let lost = ask("message-threads-2026-08-12", lost);
    assert_eq!(lost.status, 404);
    assert_eq!(lost.json()["error"]["details"]["error_code"], "thread_not_found");
}
