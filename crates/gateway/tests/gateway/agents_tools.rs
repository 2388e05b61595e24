//! Tools of clients behind agent CLIs: which are offered, and processes that wait for their results.

use sabir_testkit::agents::FakeAgent;
use serde_json::{Value, json};

use crate::agents::{CALLS, WELL, toml};
use crate::harness::*;
use crate::waiting::wait_for;

const HELLO: &str = r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_2","type":"message","role":"assistant","model":"claude-fake","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":7,"output_tokens":1}}}}
{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello there"}}}
{"type":"stream_event","event":{"type":"content_block_stop","index":0}}
{"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9}}}
{"type":"stream_event","event":{"type":"message_stop"}}
"#;

/// The same, as the CLI tells each part whole before the answer ends, and asks for the results behind it.
fn calls_to_wait_for() -> String {
    let whole =
        |part: &str| format!("{{\"type\":\"assistant\",\"message\":{{\"content\":[{part}]}}}}\n");
    let thinking = r#"{"type":"thinking","thinking":"Two cities.","signature":"c2VhbGVk"}"#;
    let mut output = whole(thinking);
    for (id, city) in [("toolu_1", "Oslo"), ("toolu_2", "Rome")] {
        let call = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"city": city}});
        output += &whole(&call.to_string());
    }
    let lines = CALLS.lines().filter(|line| !line.contains("control_request"));
    output.extend(lines.map(|line| format!("{line}\n")));
    for (number, id) in [(1, "toolu_1"), (2, "toolu_2")] {
        let params = json!({"name": "Bash", "_meta": {"claudecode/toolUseId": id}});
        let message = json!({"method": "tools/call", "params": params, "id": number});
        let request = json!({"subtype": "mcp_message", "message": message});
        let line = json!({"type": "control_request", "request_id": id, "request": request});
        output += &format!("{line}\n");
    }
    output
}

#[test]
fn results_go_to_the_process_that_waits_for_them_and_to_nobody_elses() {
    let fake = FakeAgent::claude(&calls_to_wait_for()).going_on(&[HELLO]);
    let key =
        |name: &str| format!("[[auth.key]]\nname = \"{name}\"\nvalue = {{ value = \"{name}\" }}\n");
    let keys = format!("[auth]\nrequired = true\n{}{}", key("one"), key("two"));
    let gateway = Running::start(&(toml("claude-code", &fake, "") + &keys));
    let tools = json!([{"type": "function", "function": {"name": "Bash", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]);
    let mut messages = vec![json!({"role": "user", "content": "Weather?"})];
    let post = |messages: &[Value], key: &str| {
        let body = json!({"model": "cli/sonnet", "messages": messages, "tools": tools}).to_string();
        let head = format!("POST /v1/chat/completions\r\nauthorization: Bearer {key}\r\n");
        gateway.request(&head, &body).json()
    };
    let calls = post(&messages, "one")["choices"][0]["message"]["tool_calls"].clone();
    messages.push(json!({"role": "assistant", "content": null, "tool_calls": calls}));
    for (call, weather) in [(1, "sun"), (0, "snow")] {
        messages
            .push(json!({"role": "tool", "tool_call_id": calls[call]["id"], "content": weather}));
    }
    // Another's key finds nobody who waits.
    assert_eq!(post(&messages, "two")["choices"][0]["finish_reason"], "tool_calls");
    assert!(!fake.noted("input").contains("isError"));
    assert_eq!(post(&messages, "one")["choices"][0]["message"]["content"], "Hello there");
    let sent = fake.noted("input");
    assert_eq!(sent.matches("isError").count(), 2, "{sent}");
}

#[test]
fn a_process_waits_through_a_reload_unless_its_provider_changes() {
    let fake = FakeAgent::claude(&calls_to_wait_for()).going_on(&[HELLO]);
    let config = toml("claude-code", &fake, "");
    let file = ConfigFile::new(&config);
    let gateway = Running::start_from(&file);
    let tools = json!([{"type": "function", "function": {"name": "Bash", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]);
    let post = |messages: &[Value]| {
        let body = json!({"model": "cli/sonnet", "messages": messages, "tools": tools}).to_string();
        gateway.post("/v1/chat/completions", &body).json()["choices"][0].clone()
    };
    let model = "[[model]]\nname = \"x\"\ntargets = [{ provider = \"cli\", model = \"m\" }]\n";
    let changed = toml("claude-code", &fake, "deadline = \"9m\"");
    for (reloaded, ends_with) in [(config.clone() + model, "stop"), (changed, "tool_calls")] {
        let mut messages = vec![json!({"role": "user", "content": "Weather?"})];
        let calls = post(&messages)["message"]["tool_calls"].clone();
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": calls}));
        for call in [0, 1] {
            messages
                .push(json!({"role": "tool", "tool_call_id": calls[call]["id"], "content": "sun"}));
        }
        file.write(&reloaded);
        assert_eq!(gateway.post("/sabir/v1/reload", "").status, 200);
        assert_eq!(post(&messages)["finish_reason"], ends_with, "{reloaded}");
    }
    // Of the old provider nothing is left: one process of the new one waits for results, and one for a call.
    wait_for(|| match fake.running() {
        0..=2 => Ok(()),
        running => Err(format!("{running} processes run")),
    });
}

#[test]
fn only_tools_that_may_be_called_are_offered() {
    let named = json!({"type": "function", "function": {"name": "g"}});
    let allowed = |mode: &str| json!({"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": [named]}});
    for (choice, offered, is_reported) in [
        (json!("none"), "", false),
        (named.clone(), "g", true),
        (allowed("auto"), "g", false),
        (allowed("required"), "g", true),
        (json!("required"), "fg", true),
        (json!("auto"), "fg", false),
    ] {
        let fake = FakeAgent::codex(WELL);
        let gateway = Running::start(&toml("openai-codex", &fake, ""));
        let function = |name: &str| json!({"type": "function", "function": {"name": name}});
        let body = json!({
            "model": "cli/some", "tool_choice": choice, "tools": [function("f"), function("g")],
            "messages": [{"role": "user", "content": "hello"}],
        });
        let reply = gateway.post("/v1/chat/completions", &body.to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        let sent = fake.noted("input");
        for name in ["f", "g"] {
            let is_offered = sent.contains(&format!("\"type\":\"function\",\"name\":\"{name}\""));
            assert_eq!(is_offered, offered.contains(name), "{choice} {name}: {sent}");
        }
        let exchanges = gateway.get("/sabir/v1/exchanges").body;
        assert_eq!(exchanges.contains("\"/tool_choice\""), is_reported, "{choice}: {exchanges}");
    }
}

#[test]
fn tools_that_codex_shows_by_other_names_or_simplifies_are_told_of() {
    let fake = FakeAgent::codex(WELL);
    let gateway = Running::start(&toml("openai-codex", &fake, ""));
    let function = |name: &str, number: Value| {
        let parameters = json!({"type": "object", "properties": {"pattern": number}});
        json!({"type": "function", "function": {"name": name, "parameters": parameters}})
    };
    let tools = [
        function("plain", json!({"type": "integer"})),
        function("mcp__a__b", json!({"type": "integer"})),
        function("apply_patch", json!({"type": "integer", "maximum": 5})),
    ];
    let body = json!({"model": "cli/some", "tools": tools, "messages": [{"role": "user", "content": "hello"}]});
    let reply = gateway.post("/v1/chat/completions", &body.to_string());
    assert_eq!(reply.status, 200, "{}", reply.body);
    let sent = fake.noted("input");
    for name in ["plain", "_mcp__a__b", "_apply_patch"] {
        assert!(
            sent.contains(&format!("\"type\":\"function\",\"name\":\"{name}\"")),
            "{name}: {sent}"
        );
    }
    let exchange = reply.header("sabir-exchange").unwrap().to_owned();
    let losses = gateway.get(&format!("/sabir/v1/exchanges/{exchange}")).json()["losses"].clone();
    let reported: Vec<(String, String)> = losses
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            (it["pointer"].as_str().unwrap().to_owned(), it["kind"].as_str().unwrap().to_owned())
        })
        .filter(|(pointer, _)| pointer.starts_with("/tools"))
        .collect();
    let expected = [("/tools/2", "approximated"), ("/tools/1", "renamed"), ("/tools/2", "renamed")];
    let expected = expected.map(|(pointer, kind)| (pointer.to_owned(), kind.to_owned()));
    assert_eq!(reported, expected);
}
