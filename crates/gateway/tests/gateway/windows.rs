//! Models by class whose targets have windows: who is asked when a request fits some of them by estimate, or none.

use serde_json::{Value, json};

use crate::harness::*;
use crate::overflow::REFUSALS;

const CHAT: &str = "/v1/chat/completions";

/// The narrow target first, then the wide one.
const BOTH: &str = "default = [{ provider = \"narrow\", model = \"m\" }, { provider = \"wide\", model = \"m\" }]\n";

/// The narrow target for all, the wide one for long input.
const APART: &str = "default = [{ provider = \"narrow\", model = \"m\" }]\n\
    long_context = [{ provider = \"wide\", model = \"m\" }]\n";

fn start([narrow, wide]: [&Provider; 2], classes: &str) -> Running {
    let toml = [
        narrow.toml("narrow", "openai-chat"),
        "context_window = 1000\n".to_owned(),
        wide.toml("wide", "openai-chat"),
        "context_window = 100000\n".to_owned(),
        "\n[[model]]\nname = \"auto\"\nstrategy = \"class\"\n[model.classes]\n".to_owned(),
        classes.to_owned(),
    ];
    Running::start(&toml.concat())
}

fn question(text: &str) -> Value {
    json!({"model": "auto", "messages": [{"role": "user", "content": text}]})
}

/// About 3 600 tokens by estimate, and 900 at least.
fn long_question() -> String {
    question(&"abcdefghijklmno ".repeat(900)).to_string()
}

fn failing() -> Provider {
    let failure = r#"{"error":{"message":"not now","type":"server_error"}}"#;
    Provider::start(vec![Script::Reply(json(500, "", failure))])
}

fn refusing() -> Provider {
    Provider::start(vec![Script::Reply(json(400, "", REFUSALS[0].1))])
}

#[test]
fn who_has_no_room_does_not_go_before_who_has_failed_of_late() {
    let (narrow, wide) = (Provider::whole(&chat_answer("narrow")), failing());
    let gateway = start([&narrow, &wide], BOTH);
    for _ in 0..5 {
        let reply = gateway.post(CHAT, &long_question());
        assert_eq!((reply.status, reply.header("sabir-provider")), (200, Some("narrow")));
    }
    assert_eq!(wide.received().len(), 5);
}

#[test]
fn the_failure_of_who_has_room_is_reported_and_not_that_others_have_none() {
    let (narrow, wide) = (refusing(), failing());
    let gateway = start([&narrow, &wide], BOTH);
    let reply = gateway.post(CHAT, &long_question());
    assert!(reply.status >= 500, "{}: {}", reply.status, reply.body);
}

#[test]
fn a_refusal_for_the_window_leads_to_the_targets_for_long_input() {
    let (narrow, wide) = (refusing(), Provider::whole(&chat_answer("wide")));
    let gateway = start([&narrow, &wide], APART);
    let reply = gateway.post(CHAT, &question("hello").to_string());
    assert_eq!((reply.status, reply.header("sabir-provider")), (200, Some("wide")));
    assert_eq!(reply.header("sabir-route"), Some("fallback:2"));
}

#[test]
fn other_failures_do_not_lead_to_the_targets_for_long_input() {
    let (narrow, wide) = (failing(), Provider::whole(&chat_answer("wide")));
    let gateway = start([&narrow, &wide], APART);
    let reply = gateway.post(CHAT, &question("hello").to_string());
    assert!(reply.status >= 500, "{}: {}", reply.status, reply.body);
    assert_eq!(wide.received().len(), 0);
}

#[test]
fn the_schemas_of_tools_take_room() {
    let [narrow, wide] = ["narrow", "wide"].map(|text| Provider::whole(&chat_answer(text)));
    let gateway = start([&narrow, &wide], BOTH);
    let function = json!({"name": "find", "description": "word ".repeat(2_000),
        "parameters": {"type": "object"}});
    let mut body = question("hello");
    body["tools"] = json!([{"type": "function", "function": function}]);
    let reply = gateway.post(CHAT, &body.to_string());
    assert_eq!((reply.status, reply.header("sabir-provider")), (200, Some("wide")));
}
