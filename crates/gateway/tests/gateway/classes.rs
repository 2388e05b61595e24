//! Models whose targets depend on what kind of work a request is: who is asked, what the client learns of it, and what is kept.

use serde_json::{Value, json};

use crate::harness::*;

const CHAT: &str = "/v1/chat/completions";

/// Two providers, and a model that sends writing to one and all else to the other.
struct House {
    coder: Provider,
    other: Provider,
    gateway: Running,
}

impl House {
    fn new(more: &str) -> Self {
        Self::of(Provider::whole(&chat_answer("from the coder")), more)
    }

    fn of(coder: Provider, more: &str) -> Self {
        let other = Provider::whole(&chat_answer("from the other"));
        let toml = [
            coder.toml("coder", "openai-chat"),
            other.toml("other", "openai-chat"),
            "\n[[model]]\nname = \"auto\"\nstrategy = \"class\"\n".to_owned(),
            more.to_owned(),
            "[model.classes]\ndefault = [{ provider = \"other\", model = \"plain\" }]\n".to_owned(),
            "coding = [{ provider = \"coder\", model = \"fine\" }]\n".to_owned(),
        ];
        Self { coder, other, gateway: Running::start(&toml.concat()) }
    }

    fn ask(&self, headers: &str, body: &Value) -> Reply {
        self.gateway.request(&format!("POST {CHAT}\r\n{headers}"), &body.to_string())
    }

    fn asked(&self) -> [usize; 2] {
        [self.coder.received().len(), self.other.received().len()]
    }
}

fn question(text: &str) -> Value {
    json!({"model": "auto", "messages": [{"role": "user", "content": text}]})
}

/// A request that goes on with what a tool answered.
fn with_result(tool: &str, arguments: &str) -> Value {
    let function = json!({"name": tool, "arguments": arguments});
    json!({"model": "auto", "messages": [
        {"role": "user", "content": "do it"},
        {"role": "assistant", "content": null,
         "tool_calls": [{"id": "call_1", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "done"},
    ]})
}

#[test]
fn the_class_of_a_request_decides_and_the_client_learns_why() {
    let house = House::new("");
    let reply = house.ask("", &with_result("apply_patch", "{}"));
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_eq!(reply.header("sabir-provider"), Some("coder"));
    assert_eq!(reply.header("sabir-model"), Some("fine"));
    assert_eq!(reply.header("sabir-route"), Some("class:coding (last tool wrote a file)"));
    let id = reply.header("sabir-exchange").unwrap();
    let exchange = house.gateway.get(&format!("/sabir/v1/exchanges/{id}")).json();
    assert_eq!(exchange["class"], "coding");
    assert_eq!(exchange["reason"], "last tool wrote a file");
    assert_eq!(exchange["candidates"], json!(["coder/fine", "other/plain"]));
    let reply = house.ask("", &question("hello"));
    assert_eq!(reply.header("sabir-route"), Some("class:default (no other class fits)"));
    assert_eq!(house.asked(), [1, 1]);
}

#[test]
fn clients_of_every_protocol_are_told_apart_alike() {
    let house = House::new("");
    let messages = json!({"model": "auto", "max_tokens": 9, "messages": [
        {"role": "user", "content": "do it"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Edit", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]},
    ]});
    let responses = json!({"model": "auto", "store": false, "input": [
        {"role": "user", "content": "do it"},
        {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{\"command\":[\"bash\",\"-lc\",\"rm x\"]}"},
        {"type": "function_call_output", "call_id": "c1", "output": ""},
    ]});
    let gemini = json!({"contents": [
        {"role": "user", "parts": [{"text": "do it"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "write_file", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "write_file", "response": {"output": "ok"}}}]},
    ]});
    for (path, body) in [
        ("/v1/messages", messages),
        ("/v1/responses", responses),
        ("/v1beta/models/auto:generateContent", gemini),
    ] {
        let reply = house.gateway.post(path, &body.to_string());
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        assert_eq!(reply.header("sabir-provider"), Some("coder"), "{path}");
    }
}

#[test]
fn the_default_targets_are_asked_when_those_of_the_class_cannot() {
    let failing = json(500, "", r#"{"error":{"message":"not now","type":"server_error"}}"#);
    let house = House::of(Provider::start(vec![Script::Reply(failing)]), "");
    let reply = house.ask("", &with_result("apply_patch", "{}"));
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_eq!(reply.header("sabir-provider"), Some("other"));
    assert_eq!(reply.header("sabir-route"), Some("fallback:2"));
}

#[test]
fn a_client_may_decide_on_the_class() {
    let house = House::new("");
    let reply = house.ask("sabir-class: coding\r\n", &question("hello"));
    assert_eq!(reply.header("sabir-route"), Some("class:coding (asked for by the client)"));
    let reply = house.ask("sabir-class: vision\r\n", &question("hello"));
    assert_eq!(
        reply.header("sabir-route"),
        Some("class:default (the class that the client asks for has no targets)")
    );
    let reply = house.ask("sabir-class: poetry\r\n", &question("hello"));
    assert_eq!(reply.status, 400, "{}", reply.body);
    assert_eq!(reply.json()["error"]["code"], "unknown_class");
    assert!(reply.body.contains("multimodal"), "{}", reply.body);
}

#[test]
fn a_class_that_sticks_holds_through_the_tool_loop() {
    let reply = House::new("sticky = true\n").ask("", &with_result("apply_patch", "{}"));
    assert_eq!(reply.header("sabir-provider"), Some("other"));
}

#[test]
fn what_exceeds_the_windows_of_its_class_goes_to_the_targets_for_long_input() {
    let [narrow, wide] = ["narrow", "wide"].map(|text| Provider::whole(&chat_answer(text)));
    let toml = [
        narrow.toml("narrow", "openai-chat"),
        "context_window = 1000\n".to_owned(),
        wide.toml("wide", "openai-chat"),
        "\n[[model]]\nname = \"auto\"\nstrategy = \"class\"\n[model.classes]\n".to_owned(),
        "default = [{ provider = \"narrow\", model = \"m\" }]\n".to_owned(),
        "long_context = [{ provider = \"wide\", model = \"m\" }]\n".to_owned(),
    ];
    let gateway = Running::start(&toml.concat());
    let short = gateway.post(CHAT, &question("hello").to_string());
    assert_eq!(short.header("sabir-provider"), Some("narrow"));
    let long = gateway.post(CHAT, &question(&"word ".repeat(2_000)).to_string());
    assert_eq!(long.header("sabir-provider"), Some("wide"));
    assert_eq!(
        long.header("sabir-route"),
        Some("class:long_context (the input exceeds the windows of its class)")
    );
}

#[test]
fn a_large_request_is_classed_on_another_thread() {
    let house = House::new("");
    let mut body = with_result("apply_patch", "{}");
    body["messages"][0]["content"] = "x".repeat(400_000).into();
    let reply = house.ask("", &body);
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_eq!(reply.header("sabir-provider"), Some("coder"));
}

#[test]
fn names_for_background_work_and_words_for_a_search_can_be_added() {
    let [cheap, web, plain] =
        ["cheap", "web", "plain"].map(|text| Provider::whole(&chat_answer(text)));
    let toml = [
        cheap.toml("cheap", "openai-chat"),
        web.toml("web", "openai-chat"),
        plain.toml("plain", "openai-chat"),
        "\n[route]\nbackground = [\"*-mini\"]\nweb_search = [\"ask the oracle\"]\n".to_owned(),
        "[[model]]\nname = \"auto*\"\nstrategy = \"class\"\n[model.classes]\n".to_owned(),
        "default = [{ provider = \"plain\", model = \"m\" }]\n".to_owned(),
        "web_search = [{ provider = \"web\", model = \"m\" }]\n".to_owned(),
        "background = [{ provider = \"cheap\", model = \"m\" }]\n".to_owned(),
    ];
    let gateway = Running::start(&toml.concat());
    let provider = |model: &str, text: &str| {
        let mut body = question(text);
        body["model"] = model.into();
        let reply = gateway.post(CHAT, &body.to_string());
        reply.header("sabir-provider").unwrap().to_owned()
    };
    assert_eq!(provider("auto-mini", "a title, please"), "cheap");
    assert_eq!(provider("auto", "ask the oracle who won"), "web");
    assert_eq!(provider("auto", "do not ask the oracle"), "plain");
}

#[test]
fn a_conversation_is_classed_with_all_that_was_said_before() {
    let house = House::new("");
    let reply = house.ask("sabir-conversation: talk\r\n", &with_result("get_weather", "{}"));
    assert_eq!(reply.header("sabir-provider"), Some("other"), "{}", reply.body);
    let function = json!({"name": "Edit", "arguments": "{}"});
    let rest = json!({"model": "auto", "messages": [
        {"role": "assistant", "content": null,
         "tool_calls": [{"id": "call_2", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "call_2", "content": "done"},
    ]});
    let reply = house.ask("sabir-conversation: talk\r\n", &rest);
    assert_eq!(reply.header("sabir-provider"), Some("coder"), "{}", reply.body);
}
