//! Calls that leave no turn behind: the conversation that they were to go on with is free for the next.

use sabir_wire::Protocol;
use serde_json::{Value, json};

use crate::harness::*;
use crate::memory::*;
use crate::waiting::wait_for;

#[test]
fn a_call_that_leaves_no_turn_leaves_its_conversation_free() {
    let house = House::of(&["BLUE"]);
    let ask = |path: &str, body: &Value| {
        let head = format!("POST {path}\r\nsabir-conversation: talk\r\n");
        house.gateway.request(&head, &body.to_string())
    };
    let unknown = json!({"model": "openai-responses/m", "input": [{"type": "item_reference", "id": "msg_x"}]});
    let misshapen = json!({"model": "gemini/m", "messages": "Hi"});
    let cases = [("/v1/responses", &unknown, 404), ("/v1/chat/completions", &misshapen, 400)];
    for (path, body, status) in cases {
        for _ in 0..2 {
            let reply = ask(path, body);
            assert_eq!(reply.status, status, "{}", reply.body);
        }
    }
    assert_eq!(kept(&house.gateway), [""; 0]);
    let chat = Protocol::OpenaiChat;
    let reply = house.send_text(chat, chat, "talk", "FACT1");
    assert_eq!(reply.status, 200, "{}", reply.body);
}

/// The ids of what is kept.
fn kept(gateway: &Running) -> Vec<String> {
    let list = gateway.get("/sabir/v1/conversations").json();
    let ids = list["data"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap());
    ids.map(str::to_owned).collect()
}

#[test]
fn a_call_that_is_refused_leaves_no_conversation_that_began_with_it() {
    let refused = json(401, "", r#"{"error":{"message":"no"}}"#);
    let provider = Provider::start(vec![
        Script::Reply(refused.clone()),
        Script::Reply(refused.clone()),
        Script::Reply(refused.clone()),
        Script::Reply(json(200, "", &chat_answer("BLUE"))),
        Script::Reply(refused.clone()),
        Script::Reply(refused),
    ]);
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE));
    let ask = |conversation: &str, model: &str| {
        let head = format!("POST /v1/chat/completions\r\nsabir-conversation: {conversation}\r\n");
        gateway.request(&head, &chat(model, false))
    };
    let is_kept = |expected: &[&str]| {
        let kept = kept(&gateway);
        if kept == expected { Ok(()) } else { Err(format!("{kept:?}")) }
    };
    assert_eq!(ask("talk", "nobody/m").status, 404);
    assert_eq!(ask("talk", "p/m").status, 401);
    assert_eq!(ask("new", "p/m").status, 401);
    wait_for(|| is_kept(&[]));
    // One that somebody began without a call is there to stay.
    assert_eq!(gateway.post("/sabir/v1/conversations", r#"{"id":"mine"}"#).status, 200);
    assert_eq!(ask("mine", "p/m").status, 401);
    assert_eq!(ask("talk", "p/m").status, 200);
    let shown = gateway.get("/sabir/v1/conversations/talk").json();
    let turn = shown["turns"][0]["id"].as_str().unwrap();
    assert_eq!(ask(&format!("talk@{turn}"), "p/m").status, 401);
    assert_eq!(ask("talk", "p/m").status, 401);
    wait_for(|| is_kept(&["talk", "mine"]));
}

#[test]
fn a_call_that_only_counts_begins_no_conversation() {
    let provider = Provider::start(Vec::new());
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE));
    for name in ["talk", "new"] {
        let head = format!("POST /v1/messages/count_tokens\r\nsabir-conversation: {name}\r\n");
        let reply = gateway.request(&head, &messages("p/m", false));
        assert_eq!(reply.status, 200, "{}", reply.body);
    }
    assert_eq!(kept(&gateway), [""; 0]);
}

#[test]
fn clients_that_leave_before_their_call_is_opened_leave_their_conversation_free() {
    let house = House::of(&["BLUE"]);
    let chat = Protocol::OpenaiChat;
    let (path, body) = request(chat, chat.as_str(), "FACT1");
    let head = format!("POST {path}\r\nsabir-conversation: talk\r\n");
    for _ in 0..20 {
        drop(house.gateway.send(&head, &body));
    }
    wait_for(|| match house.send_text(chat, chat, "talk", "FACT1") {
        reply if reply.status == 200 => Ok(()),
        reply => Err(reply.body),
    });
}
