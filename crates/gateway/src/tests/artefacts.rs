//! What providers seal with their calls, without a store: it is known for an hour, and no longer.

use std::sync::Arc;
use std::time::Duration;

use http::Request;
use sabir_wire::Protocol;
use serde_json::{Value, json};

use super::{gateway, rest, send};
use crate::state::Snapshot;

/// A call of a tool, asked for by a client that strips what it does not know, and its result.
async fn called(gateway: &Arc<Snapshot>) -> Vec<Value> {
    let question = json!({"role": "user", "content": "call tide with {}"});
    let (answer, _) = ask(gateway, std::slice::from_ref(&question)).await;
    let mut message = answer["choices"][0]["message"].clone();
    message["tool_calls"][0].as_object_mut().unwrap().remove("extra_content").unwrap();
    let id = message["tool_calls"][0]["id"].clone();
    vec![question, message, json!({"role": "tool", "tool_call_id": id, "content": "low"})]
}

/// Asks, and returns whether anything was put back.
async fn ask(gateway: &Arc<Snapshot>, messages: &[Value]) -> (Value, bool) {
    let tool = json!({"type": "function", "function": {"name": "tide"}});
    let model = format!("{}/gemini-3-pro-preview", super::simulator(Protocol::Gemini));
    let body = json!({"model": model, "messages": messages, "tools": [tool]}).to_string();
    let mut reply = send(gateway, Request::post("/v1/chat/completions"), body).await;
    let id = reply.headers()["sabir-exchange"].to_str().unwrap().to_owned();
    let answer = serde_json::from_str(&rest(&mut reply).await.0).unwrap();
    let mut exchange =
        send(gateway, Request::get(format!("/sabir/v1/exchanges/{id}")), String::new()).await;
    let is_put_back = rest(&mut exchange).await.0.contains("was put back");
    (answer, is_put_back)
}

#[tokio::test(start_paused = true)]
async fn without_a_store_it_is_known_for_an_hour_after_its_last_use() {
    let gateway = Arc::new(gateway(""));
    let messages = called(&gateway).await;
    for _ in 0..2 {
        tokio::time::advance(Duration::from_secs(59 * 60)).await;
        assert!(ask(&gateway, &messages).await.1);
    }
    tokio::time::advance(Duration::from_secs(60 * 60)).await;
    assert!(!ask(&gateway, &messages).await.1);
}
