//! What translated answers say of themselves, and what providers are asked to keep.

use serde_json::{Value, json};

use crate::harness::{
    CHAT_END, Provider, Running, Script, chat, chat_answer, chat_chunk, messages, sse,
};
use crate::memory::STORE;

const RESPONSE: &str = r#"{"id":"resp_1","object":"response","created_at":1,"model":"m","status":"completed","output":[{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"hi","annotations":[]}]}]}"#;

/// A Responses request that asks for an answer that is kept.
fn request(stream: bool) -> String {
    json!({"model": "p/m", "stream": stream, "input": "hello", "store": true}).to_string()
}

/// The response objects in a stream.
fn responses(stream: &str) -> Vec<Value> {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    let frames = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    frames.filter_map(|mut frame| frame.get_mut("response").map(Value::take)).collect()
}

#[test]
fn each_translated_answer_has_a_response_id_of_its_own() {
    let provider = Provider::whole(&chat_answer("hi"));
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let ids: Vec<String> = (0..3)
        .map(|_| gateway.post("/v1/responses", &request(false)).json()["id"].to_string())
        .collect();
    assert!(ids.iter().all(|id| id.starts_with("\"resp_")), "{ids:?}");
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
}

#[test]
fn a_translated_stream_has_one_response_id() {
    let provider = Provider::start(vec![Script::Reply(sse(&(chat_chunk("hi") + CHAT_END)))]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let reply = gateway.post("/v1/responses", &request(true));
    let listed = responses(&reply.body);
    assert_eq!(listed.len(), 3, "{}", reply.body);
    assert!(listed[0]["id"].as_str().unwrap().starts_with("resp_"), "{}", listed[0]);
    assert!(listed.iter().all(|response| response["id"] == listed[0]["id"]), "{}", reply.body);
}

#[test]
fn a_translated_answer_says_whether_it_is_kept() {
    let provider = Provider::whole(&chat_answer("hi"));
    for (level, is_kept) in [("off", false), ("metadata", false), ("stateful", true)] {
        let store = format!("[store]\nurl = \"memory:\"\nrecord = \"{level}\"\n");
        let gateway = Running::start(&(provider.toml("p", "openai-chat") + &store));
        assert_eq!(gateway.post("/v1/responses", &request(false)).json()["store"], is_kept);
        let without_store = r#"{"model":"p/m","input":"hello"}"#;
        assert_eq!(gateway.post("/v1/responses", without_store).json()["store"], is_kept);
        let refused = r#"{"model":"p/m","input":"hello","store":false}"#;
        assert_eq!(gateway.post("/v1/responses", refused).json()["store"], false);
    }
}

#[test]
fn an_answer_of_any_provider_says_whether_it_is_kept() {
    let gateway = Running::start(STORE);
    for simulator in ["sim-chat", "sim-responses", "sim-anthropic", "sim-gemini"] {
        for is_kept in [true, false] {
            let mut request =
                json!({"model": format!("{simulator}/m"), "input": "hello", "store": is_kept});
            let whole = gateway.post("/v1/responses", &request.to_string());
            assert_eq!(whole.json()["store"], is_kept, "{simulator}: {}", whole.body);
            let id = whole.json()["id"].as_str().unwrap().to_owned();
            let found = gateway.get(&format!("/v1/responses/{id}")).status;
            assert_eq!(found, if is_kept { 200 } else { 404 }, "{simulator}");
            request["stream"] = json!(true);
            let stream = gateway.post("/v1/responses", &request.to_string());
            let stated = responses(&stream.body);
            assert!(!stated.is_empty(), "{simulator}: {}", stream.body);
            assert!(stated.iter().all(|it| it["store"] == is_kept), "{simulator}: {}", stream.body);
        }
    }
}

#[test]
fn the_id_of_an_untranslated_answer_is_the_providers() {
    let provider = Provider::whole(RESPONSE);
    let gateway = Running::start(&provider.toml("p", "openai-responses"));
    assert_eq!(gateway.post("/v1/responses", &request(false)).json()["id"], "resp_1");
}

#[test]
fn a_provider_keeps_no_translated_answer_unless_the_client_asks_for_it() {
    let provider = Provider::whole(RESPONSE);
    let gateway = Running::start(&provider.toml("p", "openai-responses"));
    gateway.post("/v1/messages", &messages("p/m", false));
    gateway.post("/v1/chat/completions", &chat("p/m", false));
    let asked =
        json!({"model": "p/m", "store": true, "messages": [{"role": "user", "content": "hi"}]});
    gateway.post("/v1/chat/completions", &asked.to_string());
    gateway.post("/v1/responses", r#"{"model":"p/m","input":"hello"}"#);
    let sent = provider.received();
    let stored = |at: usize| serde_json::from_str::<Value>(&sent[at].body).unwrap()["store"].take();
    assert_eq!(stored(0), false);
    assert_eq!(stored(1), false);
    assert_eq!(stored(2), true);
    assert_eq!(stored(3), Value::Null);
}

#[test]
fn an_end_marker_without_a_finish_reason_ends_the_answer() {
    let stream = sse(&(chat_chunk("hi") + "data: [DONE]\n\n"));
    let provider = Provider::start(vec![Script::Reply(stream)]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let reply = gateway.post("/v1/messages", &messages("p/m", true));
    assert!(reply.body.contains("event: message_stop"), "{}", reply.body);
    assert!(!reply.body.contains("event: error"), "{}", reply.body);
    let exchange =
        gateway.get(&format!("/sabir/v1/exchanges/{}", reply.header("sabir-exchange").unwrap()));
    assert!(exchange.body.contains("\"repaired\""), "{}", exchange.body);
}

/// A Chat request of an agent with a system message behind a tool result.
fn late(tools: bool) -> String {
    let tool = json!({"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}});
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let mut request = json!({"model": "p/some-model", "messages": [
        {"role": "system", "content": "first"},
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "two"},
        {"role": "system", "content": "second"},
    ]});
    if tools {
        request["tools"] = json!([tool]);
    }
    request.to_string()
}

/// What a provider gets of such a request.
fn sent(protocol: &str, setting: &str, tools: bool) -> Value {
    let provider = Provider::whole("{}");
    let gateway = Running::start(&format!("{}{setting}\n", provider.toml("p", protocol)));
    gateway.post("/v1/chat/completions", &late(tools));
    serde_json::from_str(&provider.received()[0].body).unwrap()
}

#[test]
fn towards_gemini_a_late_system_message_stays_where_tools_are() {
    for (setting, tools, is_lifted) in [
        ("", true, false),
        ("", false, true),
        ("late_system = \"lift\"", true, true),
        ("late_system = \"inline\"", false, false),
    ] {
        let sent = sent("gemini", setting, tools);
        let instructions = sent["systemInstruction"]["parts"].as_array().unwrap();
        let last = &sent["contents"].as_array().unwrap().last().unwrap()["parts"];
        let marked = last[1]["text"] == "[system]\nsecond";
        assert_eq!((instructions.len() == 2, marked), (is_lifted, !is_lifted), "{setting}: {sent}");
    }
}

#[test]
fn a_model_that_nobody_knows_gets_late_system_messages_as_marked_text() {
    let sent = sent("anthropic-messages", "", true);
    assert_eq!(sent["messages"][2]["role"], "user");
    assert_eq!(sent["messages"][2]["content"][1]["text"], "[system]\nsecond");
}
