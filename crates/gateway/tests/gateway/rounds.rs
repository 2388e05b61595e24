//! Calls of tools in conversations that the gateway keeps: their results come from any client, and reach whoever called.

use sabir_wire::Protocol;
use sabir_wire::protocol::{AnswerContext, StreamEncoder, unfold};
use serde_json::{Value, json};

use crate::harness::*;
use crate::memory::{STORE, answer, request};

/// An answer of a protocol that calls a tool, under an id that the provider made up; Gemini's may have none.
pub(crate) fn calling_by(protocol: Protocol, id: Option<&str>) -> String {
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
fn a_call_in_which_an_answer_breaks_off_is_not_kept() {
    let chunk = |delta: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": null});
        let chunk = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]});
        format!("data: {chunk}\n\n")
    };
    let call = json!({"index": 0, "id": "call_1", "type": "function",
        "function": {"name": "look", "arguments": "{\"at\":\"do"}});
    let frames = chunk(json!({"role": "assistant", "content": "I look."}))
        + &chunk(json!({"tool_calls": [call]}));
    let provider = Provider::start(vec![
        Script::Reply(sse(&frames)),
        Script::Reply(json(200, "", &answer(Protocol::OpenaiChat, "BLUE", 1))),
    ]);
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE));
    let ask = |stream: bool| {
        let body = json!({"model": "p/m", "stream": stream, "messages": [{"role": "user", "content": "look"}]});
        let head = "POST /v1/chat/completions\r\nsabir-conversation: mine\r\n";
        gateway.request(head, &body.to_string())
    };
    ask(true);
    let kept = gateway.get("/sabir/v1/conversations/mine/messages").json();
    assert_eq!(
        (&kept[1]["content"], &kept[1]["tool_calls"]),
        (&json!("I look."), &Value::Null),
        "{kept}"
    );
    let turns = gateway.get("/sabir/v1/conversations/mine").json();
    let losses = turns["turns"][0]["losses"].to_string();
    assert!(losses.contains("broke off in the arguments of a call"), "{turns}");
    assert_eq!(ask(false).status, 200);
    let sent = &provider.received()[1].body;
    assert!(!sent.contains("call_1"), "{sent}");
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
    let asked = AnswerContext::default();
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
        // The one that keeps the answer itself gets its id.
        let earlier = if upstream == Protocol::OpenaiResponses { id } else { "FACT1" };
        for fact in [earlier, "FOUND", "KIND", call] {
            assert!(sent.contains(fact), "{upstream:?} {fact}: {sent}");
        }
        let sent: Value = serde_json::from_str(sent).unwrap();
        assert!(sent["tools"].to_string().contains("look"), "{upstream:?}: {sent}");
        assert_eq!(second.json()["previous_response_id"].is_string(), earlier != id);
        let again = gateway.post(&path, &outputs);
        assert_eq!(again.status, 404, "{}", again.body);
        assert_eq!(again.json()["error"]["message"], "Responses conversation expired or not found");
        let done = second.json()["id"].as_str().unwrap().to_owned();
        let nothing = gateway
            .post(&format!("/v1/responses/{done}/submit_tool_outputs"), r#"{"tool_outputs":[]}"#);
        assert_eq!(nothing.status, 400, "{}", nothing.body);
        let words = "Submit tool outputs requires at least one tool output entry";
        assert_eq!(nothing.json()["error"]["message"], words);
        let unknown = gateway.post("/v1/responses/resp_no/submit_tool_outputs", &outputs);
        assert_eq!(unknown.status, 404);
        let invalid = gateway.post("/v1/responses/resp%20no/submit_tool_outputs", &outputs);
        assert_eq!(
            invalid.json()["error"]["message"],
            "Responses conversation requires valid response_id"
        );
    }
}

/// An answer of Responses as a provider of any protocol streams it.
pub(crate) fn streamed(upstream: Protocol, whole: &Value) -> Script {
    let source = Protocol::OpenaiResponses;
    let mut encoder = Some(StreamEncoder::new(upstream, source, AnswerContext::default()));
    let mut frames = String::new();
    let response = source.decode_response(whole.to_string().as_bytes()).unwrap().into_owned();
    unfold(response, &mut |event| {
        encoder = encoder.take().map(|encoder| encoder.step(event, &mut frames));
    });
    let _ = encoder.unwrap().end(&mut frames);
    Script::Reply(sse(&frames))
}

/// An answer of Responses with these items.
pub(crate) fn response(id: &str, output: &Value) -> Value {
    json!({"id": id, "object": "response", "created_at": 1, "status": "completed", "model": "m",
        "output": output, "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}})
}

/// The last event of a stream.
pub(crate) fn last(reply: &Reply) -> Value {
    let frames = reply.body.lines().filter_map(|line| line.strip_prefix("data: "));
    let mut events = frames.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    events.next_back().unwrap()
}

#[test]
fn a_loop_of_patches_is_streamed_to_its_end() {
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+FACT1\n*** End Patch\n";
    let call = json!([{"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "status": "completed",
        "name": "apply_patch", "input": patch}]);
    let done = json!([{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "DONE", "annotations": []}]}]);
    for upstream in Protocol::ALL {
        let answers = [response("resp_1", &call), response("resp_2", &done)];
        let provider =
            Provider::start(answers.iter().map(|whole| streamed(upstream, whole)).collect());
        let gateway = Running::start(&(provider.toml("p", upstream.as_str()) + STORE));
        let tools =
            json!([{"type": "custom", "name": "apply_patch", "description": "edits files"}]);
        let ask = |input: Value, previous: &Value| {
            let body = json!({"model": "p/m", "input": input, "tools": tools, "stream": true,
                "previous_response_id": previous});
            let reply = gateway.post("/v1/responses", &body.to_string());
            assert_eq!(reply.status, 200, "{upstream:?}: {}", reply.body);
            let last = last(&reply);
            assert_eq!(last["type"], "response.completed", "{upstream:?}: {}", reply.body);
            last["response"].clone()
        };
        let first = ask(json!("write FACT1"), &Value::Null);
        let called = &first["output"][0];
        assert_eq!(called["type"], "custom_tool_call", "{upstream:?}: {first}");
        assert_eq!((&called["name"], &called["input"]), (&json!("apply_patch"), &json!(patch)));
        let output = json!([{"type": "custom_tool_call_output", "call_id": called["call_id"], "output": "Success"}]);
        let second = ask(output, &first["id"]);
        assert_eq!(second["output"][0]["content"][0]["text"], "DONE", "{upstream:?}: {second}");
        let sent = &provider.received()[1].body;
        assert!(sent.contains("Success"), "{upstream:?}: {sent}");
        assert_eq!(sent.contains("Begin Patch"), upstream != Protocol::OpenaiResponses, "{sent}");
    }
}

#[test]
fn one_conversation_goes_through_all_protocols_to_a_submission() {
    let chat = [calling(Protocol::OpenaiChat), answer(Protocol::OpenaiChat, "BLUE", 2)];
    let messages = [answer(Protocol::AnthropicMessages, "GREEN", 1)];
    let gemini =
        [("RED", 1), ("GOLD", 3)].map(|(text, number)| answer(Protocol::Gemini, text, number));
    let gemini = [gemini[0].clone(), calling(Protocol::Gemini), gemini[1].clone()];
    let start = |answers: &[String]| {
        let replies = answers.iter().map(|body| Script::Reply(json(200, "", body)));
        Provider::start(replies.collect())
    };
    let (chat, messages, gemini) = (start(&chat), start(&messages), start(&gemini));
    let tables = [(&chat, "openai-chat"), (&messages, "anthropic-messages"), (&gemini, "gemini")];
    let toml: String = tables.iter().map(|(it, protocol)| it.toml(protocol, protocol)).collect();
    let gateway = Running::start(&(toml + STORE));
    let post = |path: &str, head: &str, body: Value| {
        let reply = gateway.request(&format!("POST {path}\r\n{head}"), &body.to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply
    };
    let holds = |provider: &Provider, facts: &[&str]| {
        let sent = provider.received().last().unwrap().body.clone();
        for fact in facts {
            assert_eq!(sent.matches(fact).count(), 1, "{fact}: {sent}");
        }
    };
    let named = "sabir-conversation: w1\r\n";
    let tools = json!([{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]);
    let begin = json!({"model": "openai-chat/m", "tools": tools, "messages": [
        {"role": "system", "content": "be KIND"}, {"role": "user", "content": "FACT1"}]});
    post("/v1/chat/completions", named, begin);
    let result = json!({"model": "openai-chat/m", "messages": [
        {"role": "tool", "tool_call_id": "call_1", "content": "FACT2"}]});
    post("/v1/chat/completions", named, result);
    holds(&chat, &["KIND", "FACT1", "FACT2"]);
    let user = |text: &str| json!([{"role": "user", "content": text}]);
    let body =
        json!({"model": "anthropic-messages/m", "max_tokens": 99, "messages": user("FACT3")});
    post("/v1/messages", named, body);
    holds(&messages, &["KIND", "FACT1", "FACT2", "BLUE", "FACT3"]);
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "FACT4"}]}]});
    post("/v1beta/models/gemini/m:generateContent", named, body);
    holds(&gemini, &["KIND", "FACT1", "FACT2", "BLUE", "FACT3", "GREEN", "FACT4"]);
    let head = format!("{named}sabir-requires-action: true\r\n");
    let asked = post("/v1/responses", &head, json!({"model": "gemini/m", "input": "FACT5"})).json();
    assert_eq!(asked["status"], "requires_action", "{asked}");
    let call = &asked["required_action"]["submit_tool_outputs"]["tool_calls"][0]["id"];
    let path = format!("/v1/responses/{}/submit_tool_outputs", asked["id"].as_str().unwrap());
    let facts = ["KIND", "FACT1", "FACT2", "BLUE", "FACT3", "GREEN", "FACT4", "RED", "FACT5"];
    holds(&gemini, &facts);
    // The submission goes on in the same conversation; its provider is the one of the answer.
    let outputs = json!({"tool_outputs": [{"tool_call_id": call, "output": "FACT6"}]});
    let submitted = post(&path, "", outputs);
    assert!(submitted.body.contains("GOLD"), "{}", submitted.body);
    holds(&gemini, &[&facts[..], &["FACT6"]].concat());
    let turns = gateway.get("/sabir/v1/conversations/w1").json()["turns"].clone();
    assert_eq!(turns.as_array().map(Vec::len), Some(6), "{turns}");
    assert!(turns.as_array().unwrap().iter().all(|turn| turn["losses"].is_array()), "{turns}");
    // What is kept of it is one transcript, whoever spoke.
    let kept = gateway.get("/sabir/v1/conversations/w1/messages").json();
    let roles: Vec<&str> =
        kept.as_array().unwrap().iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles[..5], ["system", "user", "assistant", "tool", "assistant"], "{kept}");
    assert!(kept.as_array().unwrap().iter().all(|it| it["timestamp"].is_number()), "{kept}");
}
