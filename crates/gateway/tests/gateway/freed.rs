//! Calls that leave no turn behind: the conversation that they were to go on with is free for the next.

use sabir_wire::Protocol;
use serde_json::{Value, json};

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
    let chat = Protocol::OpenaiChat;
    let reply = house.send_text(chat, chat, "talk", "FACT1");
    assert_eq!(reply.status, 200, "{}", reply.body);
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
