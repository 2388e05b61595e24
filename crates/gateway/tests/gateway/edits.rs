//! What clients of Messages have cleared of long conversations, on providers that clear nothing.

use sabir_wire::Protocol;
use serde_json::{Value, json};

use crate::harness::*;
use crate::memory::{House, answer};

const UPSTREAMS: [Protocol; 3] =
    [Protocol::OpenaiChat, Protocol::OpenaiResponses, Protocol::Gemini];

/// A conversation with three rounds of tools.
fn request(model: &str, edits: Value) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "FACT0"})];
    for round in 1..=3 {
        messages.push(json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": format!("THOUGHT{round}"), "signature": "c2ln"},
            {"type": "tool_use", "id": format!("c{round}"), "name": "look", "input": {"at": format!("PLACE{round}")}}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": format!("c{round}"), "content": format!("FACT{round} {}", "word ".repeat(200))}]}));
    }
    json!({"model": model, "max_tokens": 2000, "messages": messages,
        "tools": [{"name": "look", "input_schema": {"type": "object"}}],
        "context_management": {"edits": edits}})
}

fn tool_uses(more: Value) -> Value {
    let mut edit = json!({"type": "clear_tool_uses_20250919", "trigger": {"type": "input_tokens", "value": 300},
        "keep": {"type": "tool_uses", "value": 1}});
    edit.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!([edit])
}

#[test]
fn old_results_are_cleared_and_the_answer_says_so() {
    for upstream in UPSTREAMS {
        let house = House::of(&["BLUE"]);
        let model = format!("{}/m", upstream.as_str());
        let body = request(&model, tool_uses(json!({})));
        let reply = house.gateway.post("/v1/messages", &body.to_string());
        assert_eq!(reply.status, 200, "{upstream:?}: {}", reply.body);
        let sent = house.sent(upstream);
        for (fact, is_there) in
            [("FACT0", true), ("FACT1", false), ("FACT2", false), ("FACT3", true), ("PLACE1", true)]
        {
            assert_eq!(sent.contains(fact), is_there, "{upstream:?} {fact}: {sent}");
        }
        assert_eq!(sent.matches("was cleared").count(), 2, "{sent}");
        let applied = &reply.json()["context_management"]["applied_edits"];
        assert_eq!(applied[0]["type"], "clear_tool_uses_20250919", "{}", reply.body);
        assert_eq!(applied[0]["cleared_tool_uses"], 2);
        assert!(applied[0]["cleared_input_tokens"].as_u64().unwrap() > 300, "{applied}");
        // Nothing of the wish is lost.
        let exchange = reply.header("sabir-exchange").unwrap();
        let exchange = house.gateway.get(&format!("/sabir/v1/exchanges/{exchange}")).body;
        assert!(!exchange.contains("context_management"), "{exchange}");
    }
}

#[test]
fn a_stream_says_it_at_its_end() {
    let provider = Provider::start(vec![Script::Reply(sse(&(chat_chunk("BLUE") + CHAT_END)))]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let mut body = request("p/m", tool_uses(json!({"clear_tool_inputs": true})));
    body["stream"] = json!(true);
    let reply = gateway.post("/v1/messages", &body.to_string());
    let data = reply.body.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = data.map(|data| serde_json::from_str(data).unwrap()).collect();
    let delta = events.iter().find(|event| event["type"] == "message_delta").unwrap();
    let applied = &delta["context_management"]["applied_edits"][0];
    assert_eq!(applied["cleared_tool_uses"], 2, "{delta}");
    let sent = &provider.received()[0].body;
    assert!(!sent.contains("PLACE1") && sent.contains("PLACE3"), "{sent}");
}

#[test]
fn what_is_not_due_is_left_and_said() {
    for edits in [
        tool_uses(json!({"trigger": {"type": "input_tokens", "value": 90_000}})),
        tool_uses(json!({"trigger": {"type": "tool_uses", "value": 3}})),
        tool_uses(json!({"clear_at_least": {"type": "input_tokens", "value": 90_000}})),
        tool_uses(json!({"exclude_tools": ["look"]})),
        json!([{"type": "clear_thinking_20251015", "keep": "all"}]),
    ] {
        let house = House::of(&["BLUE"]);
        let body = request("openai-chat/m", edits.clone());
        let reply = house.gateway.post("/v1/messages", &body.to_string());
        let stated = &reply.json()["context_management"];
        assert_eq!(*stated, json!({"applied_edits": []}), "{edits}: {}", reply.body);
        assert!(house.sent(Protocol::OpenaiChat).contains("FACT1"));
    }
}

#[test]
fn old_thinking_is_cleared() {
    let house = House::of(&["BLUE"]);
    let mut body = request("openai-chat/m", json!([{"type": "clear_thinking_20251015"}]));
    // Another turn, so that the first is an old one.
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": "done"}]}));
    messages.push(json!({"role": "user", "content": "more"}));
    messages.push(json!({"role": "assistant", "content": [
        {"type": "thinking", "thinking": "THOUGHT4", "signature": "c2ln"}, {"type": "text", "text": "yes"}]}));
    messages.push(json!({"role": "user", "content": "and?"}));
    let reply = house.gateway.post("/v1/messages", &body.to_string());
    let applied = &reply.json()["context_management"]["applied_edits"][0];
    assert_eq!(applied["type"], "clear_thinking_20251015", "{}", reply.body);
    assert_eq!(applied["cleared_thinking_turns"], 1);
    assert!(applied["cleared_input_tokens"].as_u64().unwrap() > 0);
}

#[test]
fn a_count_has_both_numbers() {
    for upstream in [Protocol::OpenaiChat, Protocol::Gemini] {
        let provider =
            Provider::start(vec![Script::Reply(json(200, "", r#"{"totalTokens":500}"#))]);
        let gateway = Running::start(&provider.toml("p", upstream.as_str()));
        let mut body = request("p/m", tool_uses(json!({})));
        body.as_object_mut().unwrap().remove("max_tokens");
        let reply = gateway.post("/v1/messages/count_tokens", &body.to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        let counted = reply.json();
        let (now, before) = (
            counted["input_tokens"].as_u64().unwrap(),
            counted["context_management"]["original_input_tokens"].as_u64().unwrap(),
        );
        assert!(before > now + 300, "{upstream:?}: {counted}");
        if upstream == Protocol::Gemini {
            assert_eq!(now, 500);
            assert!(!provider.received()[0].body.contains("FACT1"));
        }
    }
}

#[test]
fn the_vendor_itself_is_left_to_it() {
    let house = House::of(&["BLUE"]);
    let body = request("anthropic-messages/m", tool_uses(json!({})));
    let reply = house.gateway.post("/v1/messages", &body.to_string());
    assert_eq!(reply.status, 200);
    let sent = house.sent(Protocol::AnthropicMessages);
    assert!(sent.contains("clear_tool_uses_20250919") && sent.contains("FACT1"), "{sent}");
    assert!(reply.json()["context_management"].is_null());
}

#[test]
fn a_server_of_another_vendor_has_it_done_for_it() {
    let answers = [
        answer(Protocol::AnthropicMessages, "BLUE", 1),
        answer(Protocol::AnthropicMessages, "RED", 2),
    ];
    let provider =
        Provider::start(answers.iter().map(|it| Script::Reply(json(200, "", it))).collect());
    let toml = provider.toml("p", "anthropic-messages") + "dialect = \"deepseek\"\n";
    let gateway = Running::start(&toml);
    let reply = gateway.post("/v1/messages", &request("p/m", tool_uses(json!({}))).to_string());
    assert_eq!(reply.status, 200, "{}", reply.body);
    let applied = &reply.json()["context_management"]["applied_edits"][0];
    assert_eq!(applied["cleared_tool_uses"], 2, "{}", reply.body);
    assert_eq!(reply.json()["content"][0]["text"], "BLUE");
    let sent = provider.received().remove(0).body;
    for (fact, is_there) in
        [("FACT1", false), ("FACT2", false), ("FACT3", true), ("context_management", false)]
    {
        assert_eq!(sent.contains(fact), is_there, "{fact}: {sent}");
    }
    assert_eq!(reply.header("sabir-loss"), Some("none"));
    // Whoever asks for nothing passes as ever.
    let mut plain = request("p/m", json!([]));
    plain.as_object_mut().unwrap().remove("context_management");
    plain["model"] = json!("p/m");
    let reply = gateway.post("/v1/messages", &plain.to_string());
    assert_eq!(reply.body, answers[1]);
}

#[test]
fn it_is_done_under_rules_on_tools_as_well() {
    let cases = [
        ("count_max = 9\n", json!({}), 2),
        ("rename = { \"look\" = \"peek\" }\n", json!({"exclude_tools": ["peek"]}), 2),
        // Tools are excluded by the names that the client has for them.
        ("rename = { \"look\" = \"peek\" }\n", json!({"exclude_tools": ["look"]}), 0),
    ];
    for (rules, more, cleared) in cases {
        let answer = answer(Protocol::AnthropicMessages, "BLUE", 1);
        let provider = Provider::start(vec![Script::Reply(json(200, "", &answer))]);
        let toml = provider.toml("p", "anthropic-messages") + "dialect = \"deepseek\"\n";
        let gateway = Running::start(&format!("{toml}[tools]\n{rules}"));
        let reply = gateway.post("/v1/messages", &request("p/m", tool_uses(more)).to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert_eq!(reply.json()["content"][0]["text"], "BLUE");
        let applied = &reply.json()["context_management"]["applied_edits"];
        let count = applied[0]["cleared_tool_uses"].as_u64().unwrap_or(0);
        assert!(applied.is_array() && count == cleared, "{rules}: {}", reply.body);
        let sent = provider.received().remove(0).body;
        assert_eq!(sent.contains("FACT1"), cleared == 0, "{rules}: {sent}");
        assert!(sent.contains("FACT3") && !sent.contains("context_management"), "{sent}");
        assert_eq!(sent.contains("peek"), rules.contains("peek"), "{sent}");
    }
}

#[test]
fn wrong_types_are_refused_in_the_clients_shape() {
    let house = House::of(&["BLUE"]);
    for edits in [
        json!([{"type": "clear_tool_uses_20250919", "trigger": 5}]),
        json!([{"type": "clear_tool_uses_20250919", "exclude_tools": "look"}]),
        json!([{"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": -1}}]),
        json!([{"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": "many"}}]),
        json!([{"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": -5}}]),
    ] {
        let reply =
            house.gateway.post("/v1/messages", &request("openai-chat/m", edits).to_string());
        assert_eq!(reply.status, 400, "{}", reply.body);
        assert_eq!(reply.json()["error"]["type"], "invalid_request_error");
    }
    for threshold in [json!("many"), json!(-5), json!(1000.5)] {
        let management = json!([{"type": "compaction", "compact_threshold": threshold}]);
        let body =
            json!({"model": "openai-chat/m", "input": "x", "context_management": management});
        let reply = house.responses(&body);
        assert_eq!(
            (reply.status, &reply.json()["error"]["type"]),
            (400, &json!("invalid_request_error"))
        );
    }
    assert!(house.providers[0].1.received().is_empty());
}
