//! Calls of tools in conversations that the gateway keeps: their results come from any client, and reach whoever called.

use sabir_wire::Protocol;
use serde_json::{Value, json};

use crate::harness::*;
use crate::memory::{STORE, answer, request};

/// An answer of a protocol that calls a tool, under an id that the provider made up; Gemini's may have none.
fn calling_by(protocol: Protocol, id: Option<&str>) -> String {
    let arguments = r#"{"at":"door"}"#;
    let body = match protocol {
        Protocol::OpenaiChat => {
            json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1,
            "model": "m", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function",
                    "function": {"name": "look", "arguments": arguments}}]}}]})
        }
        Protocol::OpenaiResponses => {
            json!({"id": format!("resp_{}", id.unwrap()), "object": "response",
            "created_at": 1, "status": "completed", "model": "m", "output": [{"type": "function_call",
                "id": format!("fc_{}", id.unwrap()), "call_id": id, "name": "look", "status": "completed",
                "arguments": arguments}]})
        }
        Protocol::AnthropicMessages => {
            json!({"id": format!("msg_{}", id.unwrap()), "type": "message",
            "role": "assistant", "model": "m", "stop_reason": "tool_use", "stop_sequence": null,
            "content": [{"type": "tool_use", "id": id, "name": "look", "input": {"at": "door"}}],
            "usage": {"input_tokens": 1, "output_tokens": 1}})
        }
        _ => {
            let mut call = json!({"name": "look", "args": {"at": "door"}});
            id.into_iter().for_each(|id| call["id"] = json!(id));
            json!({"candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model",
                "parts": [{"functionCall": call}]}}], "modelVersion": "m"})
        }
    };
    body.to_string()
}

/// Asks for a call by Responses, answers it, and returns what the provider was sent then.
fn answered_call(gateway: &Running, provider: &Provider, result: &str) -> String {
    let tools = json!([{"type": "function", "name": "look", "strict": false,
        "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}]);
    let ask = |input: Value, previous: Option<&Value>| {
        let body = json!({"model": "p/m", "input": input, "tools": tools, "previous_response_id": previous});
        let reply = gateway.post("/v1/responses", &body.to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.json()
    };
    let first = ask(json!("look around"), None);
    let output = json!({"type": "function_call_output", "output": result,
        "call_id": first["output"][0]["call_id"]});
    ask(json!([output]), Some(&first["id"]));
    provider.received().last().unwrap().body.clone()
}

#[test]
fn a_call_is_answered_in_its_own_conversation() {
    for upstream in [Protocol::OpenaiChat, Protocol::AnthropicMessages, Protocol::Gemini] {
        let reply = |body: String| Script::Reply(json(200, "", &body));
        let done = answer(upstream, "BLUE", 1);
        // The same question and the same call twice, as after a retry: only the ids differ.
        let provider = Provider::start(vec![
            reply(calling_by(upstream, Some("call_one"))),
            reply(done.clone()),
            reply(calling_by(upstream, Some("call_two"))),
            reply(done),
        ]);
        let gateway = Running::start(&(provider.toml("p", upstream.as_str()) + STORE));
        for (id, other, result) in
            [("call_one", "call_two", "RESULT1"), ("call_two", "call_one", "RESULT2")]
        {
            let sent = answered_call(&gateway, &provider, result);
            assert!(sent.contains(result) && sent.contains(id), "{upstream:?}: {sent}");
            assert!(!sent.contains(other), "{upstream:?}: {sent}");
            assert!(!sent.contains("no result"), "{upstream:?}: {sent}");
        }
    }
}

#[test]
fn a_call_without_an_id_is_answered() {
    let reply = |body: String| Script::Reply(json(200, "", &body));
    let done = answer(Protocol::Gemini, "BLUE", 1);
    let provider = Provider::start(vec![reply(calling_by(Protocol::Gemini, None)), reply(done)]);
    let gateway = Running::start(&(provider.toml("p", "gemini") + STORE));
    let sent = answered_call(&gateway, &provider, "RESULT1");
    assert!(sent.contains("RESULT1") && !sent.contains("no result"), "{sent}");
}

#[test]
fn results_of_other_protocols_name_their_tools_for_gemini() {
    let reply = |body: String| Script::Reply(json(200, "", &body));
    let chat = Provider::start(vec![
        reply(calling_by(Protocol::OpenaiChat, Some("call_one"))),
        reply(answer(Protocol::OpenaiChat, "BLUE", 1)),
    ]);
    let gemini = Provider::start(vec![reply(answer(Protocol::Gemini, "GREEN", 1))]);
    let toml = chat.toml("c", "openai-chat") + &gemini.toml("g", "gemini") + STORE;
    let gateway = Running::start(&toml);
    let tools = json!([{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]);
    for message in [
        json!({"role": "user", "content": "look"}),
        json!({"role": "tool", "tool_call_id": "call_one", "content": "RESULT1"}),
    ] {
        let body = json!({"model": "c/m", "messages": [message], "tools": tools});
        let head = "POST /v1/chat/completions\r\nsabir-conversation: mine\r\n";
        assert_eq!(gateway.request(head, &body.to_string()).status, 200);
    }
    let (path, body) = request(Protocol::Gemini, "g", "FACT2");
    let reply = gateway.request(&format!("POST {path}\r\nsabir-conversation: mine\r\n"), &body);
    assert_eq!(reply.status, 200, "{}", reply.body);
    let sent: Value = serde_json::from_str(&gemini.received()[0].body).unwrap();
    let result = &sent["contents"][2]["parts"][0]["functionResponse"];
    assert_eq!(result["name"], "look", "{sent}");
}

#[test]
fn tool_rounds_go_on_with_another_protocol() {
    let call = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "thinking", "thinking": "hmm", "signature": "SEAL"},
            {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"where": "SHED"}}],
        "stop_reason": "tool_use", "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}});
    let answers = [call.to_string(), answer(Protocol::AnthropicMessages, "DONE", 2)];
    let provider = Provider::start(answers.map(|body| Script::Reply(json(200, "", &body))).into());
    let gateway = Running::start(&(provider.toml("p", "anthropic-messages") + STORE));
    let tools = json!([{"functionDeclarations": [{"name": "look", "parameters": {"type": "OBJECT",
        "properties": {"where": {"type": "STRING"}}}}]}]);
    let body =
        json!({"contents": [{"role": "user", "parts": [{"text": "FACT1"}]}], "tools": tools});
    let head = "POST /v1beta/models/p/m:generateContent\r\nsabir-conversation: tools\r\n";
    let reply = gateway.request(head, &body.to_string());
    assert_eq!(reply.status, 200, "{}", reply.body);
    // The result comes from a client of Responses, which knows the call by the id that Gemini's client was given.
    let parts = reply.json()["candidates"][0]["content"]["parts"].clone();
    let calls = parts.as_array().unwrap().iter().find_map(|part| part.get("functionCall"));
    let id = calls.unwrap().get("id").and_then(Value::as_str).unwrap_or("toolu_1").to_owned();
    let result = json!({"model": "p/m", "input": [{"type": "function_call_output", "call_id": id, "output": "FOUND"}]});
    let head = "POST /v1/responses\r\nsabir-conversation: tools\r\n";
    let reply = gateway.request(head, &result.to_string());
    assert_eq!(reply.status, 200, "{}", reply.body);
    let sent: Value = serde_json::from_str(&provider.received()[1].body).unwrap();
    // The issuer sees its own thinking again, signature included, and its call with the result.
    assert_eq!(
        sent["messages"][1],
        json!({"role": "assistant", "content": call["content"]}),
        "{sent}"
    );
    assert_eq!(sent["messages"][2]["content"][0]["tool_use_id"], "toolu_1", "{sent}");
    assert!(sent["messages"][2].to_string().contains("FOUND"), "{sent}");
    assert_eq!(sent["tools"][0]["name"], "look", "{sent}");
}

/// An answer that calls a tool, in the words of a protocol.
fn calling(protocol: Protocol) -> String {
    let chat = json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0,
        "finish_reason": "tool_calls", "message": {"role": "assistant", "content": null, "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]}}]});
    let asked = sabir_wire::protocol::AnswerContext::default();
    let body = chat.to_string();
    protocol.translate_response(body.as_bytes(), Protocol::OpenaiChat, &asked).unwrap().body
}

#[test]
fn results_are_submitted_once_to_an_answer_that_asks_for_them() {
    for upstream in Protocol::ALL {
        let answers = [calling(upstream), answer(upstream, "DONE", 2)];
        let provider =
            Provider::start(answers.map(|body| Script::Reply(json(200, "", &body))).into());
        let gateway = Running::start(&(provider.toml("p", upstream.as_str()) + STORE));
        let body = json!({"model": "p/m", "input": "FACT1", "instructions": "be KIND", "tools": [
            {"type": "function", "name": "look", "parameters": {"type": "object", "properties": {}}, "strict": false}]});
        let head = "POST /v1/responses\r\nsabir-requires-action: true\r\n";
        let first = gateway.request(head, &body.to_string());
        assert_eq!(first.status, 200, "{upstream:?}: {}", first.body);
        let first = first.json();
        assert_eq!(first["status"], "requires_action", "{upstream:?}: {first}");
        let call = &first["required_action"]["submit_tool_outputs"]["tool_calls"][0];
        assert_eq!(call["function"], json!({"name": "look", "arguments": "{}"}));
        let (id, call) = (first["id"].as_str().unwrap(), call["id"].as_str().unwrap());
        let path = format!("/v1/responses/{id}/submit_tool_outputs");
        let missing = gateway.post(&path, "{}");
        assert_eq!(missing.status, 400);
        let words = "tool_outputs array is required when submitting Responses tool results";
        assert_eq!(missing.json()["error"]["message"], words);
        let outputs =
            json!({"tool_outputs": [{"tool_call_id": call, "output": "FOUND"}]}).to_string();
        let second = gateway.post(&path, &outputs);
        assert_eq!(second.status, 200, "{upstream:?}: {}", second.body);
        assert!(second.body.contains("DONE"), "{}", second.body);
        let sent = &provider.received()[1].body;
        for fact in ["FACT1", "FOUND", "KIND"] {
            assert!(sent.contains(fact), "{upstream:?} {fact}: {sent}");
        }
        let again = gateway.post(&path, &outputs);
        assert_eq!(again.status, 404, "{}", again.body);
        assert_eq!(again.json()["error"]["message"], "Responses conversation expired or not found");
        let unknown = gateway.post("/v1/responses/resp_no/submit_tool_outputs", &outputs);
        assert_eq!(unknown.status, 404);
        let invalid = gateway.post("/v1/responses/resp%20no/submit_tool_outputs", &outputs);
        assert_eq!(
            invalid.json()["error"]["message"],
            "Responses conversation requires valid response_id"
        );
    }
}
