//! Rules on tools where the gateway keeps what was said: in conversations, in the background and over sockets.

use sabir_wire::Protocol;
use serde_json::{Value, json};

use crate::governing::{PROTOCOLS, caller, offering};
use crate::harness::*;
use crate::memory::STORE;
use crate::sockets::Client;
use crate::waiting::wait_for;

const RULES: &str = "[tools]\nrename = { \"fs.look\" = \"look\" }\ndeny = [\"rm\"]\nresult_bytes_max = 4\nrounds_max = 1\n";

/// A gateway with rules and a memory before a provider that calls `look` whenever it is asked.
fn house(upstream: Protocol) -> (Provider, Running) {
    let provider = caller(upstream);
    let toml = format!("{}{STORE}{RULES}", provider.toml("p", upstream.as_str()));
    let gateway = Running::start(&toml);
    (provider, gateway)
}

/// A request that offers two tools, one of which is denied.
fn asking(input: Value, more: Value) -> Value {
    let mut body = offering(Protocol::OpenaiResponses, &["fs.look", "rm"], false);
    body["store"] = true.into();
    body["input"] = input;
    let Value::Object(more) = more else { panic!("an object") };
    body.as_object_mut().unwrap().extend(more);
    body
}

/// The call that an answer waits for, under the name that the client knows.
fn call_id(answer: &Value) -> Value {
    let output = answer["output"].as_array().unwrap();
    let call = output.iter().find(|item| item["type"] == "function_call").unwrap();
    assert_eq!(call["name"], "fs.look", "{answer}");
    call["call_id"].clone()
}

fn result_of(answer: &Value) -> Value {
    json!([{"type": "function_call_output", "call_id": call_id(answer), "output": "a long result"}])
}

/// The provider was sent its own names, and of the result what the rules leave of it.
fn check_sent(provider: &Provider) {
    let sent = provider.received().pop().unwrap().body;
    assert!(sent.contains("a lo\\n[truncated: 4 of 13 bytes]"), "{sent}");
    assert!(sent.contains("\"look\"") && !sent.contains("fs.look"), "{sent}");
    assert!(!sent.contains("\"rm\""), "{sent}");
}

fn answered(gateway: &Running, body: &Value) -> Value {
    let reply = gateway.post("/v1/responses", &body.to_string());
    assert_eq!(reply.status, 200, "{}", reply.body);
    reply.json()
}

#[test]
fn a_conversation_that_the_gateway_keeps_has_the_names_of_its_client() {
    for upstream in PROTOCOLS {
        let (provider, gateway) = house(upstream);
        let conversation = gateway.post("/v1/conversations", "{}").json()["id"].clone();
        let more = json!({"conversation": conversation});
        let first = answered(&gateway, &asking(json!("hi"), more.clone()));
        let second = answered(&gateway, &asking(result_of(&first), more.clone()));
        check_sent(&provider);
        let conversation = conversation.as_str().unwrap();
        let items = gateway.get(&format!("/v1/conversations/{conversation}/items")).body;
        assert!(items.contains("fs.look") && !items.contains("\"look\""), "{items}");
        // The rounds that were kept count with those that are sent.
        let third = asking(result_of(&second), more);
        let third = gateway.post("/v1/responses", &third.to_string());
        assert_eq!(
            (third.status, third.json()["error"]["code"].clone()),
            (400, json!("rounds_max"))
        );
    }
}

#[test]
fn what_is_answered_in_the_background_is_governed() {
    for upstream in PROTOCOLS {
        let (provider, gateway) = house(upstream);
        let ended = |body: &Value| {
            let id = answered(&gateway, body)["id"].as_str().unwrap().to_owned();
            wait_for(|| {
                let answer = gateway.get(&format!("/v1/responses/{id}")).json();
                match answer["status"].as_str() {
                    Some("completed") => Ok(answer),
                    _ => Err(format!("never completed: {answer}")),
                }
            })
        };
        let first = ended(&asking(json!("hi"), json!({"background": true})));
        let more = json!({"background": true, "previous_response_id": first["id"]});
        ended(&asking(result_of(&first), more));
        check_sent(&provider);
    }
}

#[tokio::test]
async fn what_comes_over_a_socket_is_governed() {
    for upstream in PROTOCOLS {
        let (provider, gateway) = house(upstream);
        let mut client = Client::open(&gateway).await;
        let tools = asking(json!("hi"), json!({}))["tools"].clone();
        client.create("p/m", json!("hi"), json!({"tools": tools})).await;
        let first = client.answer().await;
        let more = json!({"tools": tools, "previous_response_id": first["id"]});
        client.create("p/m", result_of(&first), more).await;
        call_id(&client.answer().await);
        check_sent(&provider);
    }
}
