//! Rules on tools: what providers are offered, what clients see of their calls, and what is refused in whose words.

use std::sync::mpsc;
use std::sync::{Arc, Mutex};

use sabir_wire::Protocol;
use sabir_wire::protocol::{AnswerContext, StreamEncoder, unfold};
use serde_json::{Value, json};

use crate::harness::*;
use crate::rounds::{calling_by, last, response};

/// Those that the requests below are written in.
pub(crate) const PROTOCOLS: [Protocol; 4] = [
    Protocol::OpenaiChat,
    Protocol::OpenaiResponses,
    Protocol::AnthropicMessages,
    Protocol::Gemini,
];

/// The path of a protocol's calls of the model `p/m`.
pub(crate) fn path(client: Protocol, streams: bool) -> &'static str {
    match (client, streams) {
        (Protocol::OpenaiChat, _) => "/v1/chat/completions",
        (Protocol::OpenaiResponses, _) => "/v1/responses",
        (Protocol::AnthropicMessages, _) => "/v1/messages",
        (_, false) => "/v1beta/models/p%2Fm:generateContent",
        (_, true) => "/v1beta/models/p%2Fm:streamGenerateContent?alt=sse",
    }
}

/// A request that offers functions of these names.
pub(crate) fn offering(client: Protocol, names: &[&str], streams: bool) -> Value {
    let schema =
        json!({"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]});
    let each =
        |tool: &dyn Fn(&str) -> Value| names.iter().map(|name| tool(name)).collect::<Vec<_>>();
    match client {
        Protocol::OpenaiChat => json!({"model": "p/m", "stream": streams,
            "messages": [{"role": "user", "content": "hi"}],
            "tools": each(&|name| json!({"type": "function", "function": {"name": name, "parameters": schema}}))}),
        Protocol::OpenaiResponses => {
            json!({"model": "p/m", "stream": streams, "input": "hi", "store": false,
            "tools": each(&|name| json!({"type": "function", "name": name, "strict": false, "parameters": schema}))})
        }
        Protocol::AnthropicMessages => json!({"model": "p/m", "stream": streams, "max_tokens": 99,
            "messages": [{"role": "user", "content": "hi"}],
            "tools": each(&|name| json!({"name": name, "input_schema": schema}))}),
        _ => json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}],
            "tools": [{"functionDeclarations":
                each(&|name| json!({"name": name, "parametersJsonSchema": schema}))}]}),
    }
}

/// A provider of a protocol that calls `look`, whole or streamed as it is asked.
pub(crate) fn caller(upstream: Protocol) -> Provider {
    let whole = calling_by(upstream, Some("call_1"));
    let stream = streamed(upstream, &whole);
    Provider::start(vec![Script::Answer(Arc::new(move |received: &Received| {
        let streams = received.line.contains("stream") || received.body.contains("\"stream\":true");
        match streams {
            true => sse(&stream),
            false => crate::harness::json(200, "", &whole),
        }
    }))])
}

/// A whole answer as its provider streams it.
pub(crate) fn streamed(protocol: Protocol, whole: &str) -> String {
    let mut encoder = Some(StreamEncoder::new(protocol, protocol, AnswerContext::default()));
    let mut frames = String::new();
    let response = protocol.decode_response(whole.as_bytes()).unwrap();
    unfold(response, &mut |event| {
        encoder = encoder.take().map(|encoder| encoder.step(event, &mut frames));
    });
    let _ = encoder.unwrap().end(&mut frames);
    frames
}

fn house(upstream: Protocol, rules: &str) -> (Provider, Running) {
    let provider = caller(upstream);
    let toml = format!("{}\n[tools]\n{rules}\n", provider.toml("p", upstream.as_str()));
    let gateway = Running::start(&toml);
    (provider, gateway)
}

fn sent(provider: &Provider) -> String {
    provider.received().last().unwrap().body.clone()
}

/// Every pair of protocols, whole and streamed.
fn each_cell(check: impl Fn(Protocol, Protocol, bool)) {
    for client in PROTOCOLS {
        for upstream in PROTOCOLS {
            for streams in [false, true] {
                check(client, upstream, streams);
            }
        }
    }
}

#[test]
fn a_renamed_tool_has_one_name_for_the_model_and_another_for_the_client() {
    each_cell(|client, upstream, streams| {
        let (provider, gateway) = house(upstream, "rename = { \"fs.look\" = \"look\" }");
        let body = offering(client, &["fs.look"], streams).to_string();
        let reply = gateway.post(path(client, streams), &body);
        let cell = format!("{client:?} {upstream:?} {streams}: {}", reply.body);
        assert_eq!(reply.status, 200, "{cell}");
        assert!(reply.body.contains("fs.look") && !reply.body.contains("\"look\""), "{cell}");
        let sent = sent(&provider);
        assert!(sent.contains("\"look\"") && !sent.contains("fs.look"), "{cell}\n{sent}");
    });
}

#[test]
fn a_tool_that_only_the_history_names_is_renamed_on_every_way() {
    for upstream in PROTOCOLS {
        let (provider, gateway) = house(upstream, "rename = { earlier = \"later\" }");
        let mut body = offering(Protocol::OpenaiChat, &["look"], false);
        let call = json!({"id": "call_9", "type": "function",
            "function": {"name": "earlier", "arguments": "{}"}});
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": "call_9", "content": "done"}));
        let reply = gateway.post(path(Protocol::OpenaiChat, false), &body.to_string());
        assert_eq!(reply.status, 200, "{upstream:?}: {}", reply.body);
        let sent = sent(&provider);
        assert!(
            sent.contains("\"later\"") && !sent.contains("\"earlier\""),
            "{upstream:?}: {sent}"
        );
    }
}

#[test]
fn a_denied_tool_is_not_offered_and_a_call_of_it_is_told_as_text() {
    each_cell(|client, upstream, streams| {
        let (provider, gateway) = house(upstream, "deny = [\"lo*\"]");
        let body = offering(client, &["look", "write"], streams).to_string();
        let reply = gateway.post(path(client, streams), &body);
        let cell = format!("{client:?} {upstream:?} {streams}: {}", reply.body);
        assert_eq!(reply.status, 200, "{cell}");
        assert!(
            !sent(&provider).contains("\"look\"") && sent(&provider).contains("write"),
            "{cell}"
        );
        assert!(reply.body.contains("which is not offered here"), "{cell}");
        for call in
            ["\"tool_calls\":", "tool_use\"", "function_call\"", "functionCall", "\"tool_calls\""]
        {
            assert!(!reply.body.contains(call), "{call} in {cell}");
        }
        assert!(reply.header("sabir-loss").unwrap().contains("dropped=1"), "{cell}");
        let id = reply.header("sabir-exchange").unwrap();
        let exchange = gateway.get(&format!("/sabir/v1/exchanges/{id}")).json().to_string();
        assert!(exchange.contains("told as text"), "{exchange}");
    });
}

/// The parts that a client of Gemini gets under rules where these are what the provider answers.
fn parts_under(rules: &str, parts: Value) -> Value {
    let content = json!({"role": "model", "parts": parts});
    let answer = json!({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]});
    let answer = answer.to_string();
    let script = Script::Answer(Arc::new(move |_: &Received| json(200, "", &answer)));
    let provider = Provider::start(vec![script]);
    let gateway = Running::start(&format!("{}\n[tools]\n{rules}\n", provider.toml("p", "gemini")));
    let request = offering(Protocol::Gemini, &["shut", "look"], false).to_string();
    let reply = gateway.post(path(Protocol::Gemini, false), &request);
    reply.json()["candidates"][0]["content"]["parts"].clone()
}

#[test]
fn rules_hold_for_calls_that_come_in_pieces() {
    let begin = |name: &str, id: &str| {
        let piece = json!({"jsonPath": "$.at", "stringValue": "x", "willContinue": true});
        json!({"functionCall": {"id": id, "name": name, "partialArgs": [piece], "willContinue": true}})
    };
    let end = |id: &str| {
        let piece = json!({"jsonPath": "$.at", "stringValue": "y"});
        json!({"functionCall": {"id": id, "partialArgs": [piece]}})
    };
    let look = |id: &str| json!({"functionCall": {"id": id, "name": "look", "args": {"at": "xy"}}});

    let by_turns = json!([begin("shut", "1"), begin("look", "2"), end("1"), end("2")]);
    let parts = parts_under("deny = [\"shut\"]", by_turns.clone());
    assert!(parts[0]["text"].as_str().unwrap().contains("`shut`"), "{parts}");
    assert_eq!(parts[1], look("2"));
    assert_eq!(parts.as_array().unwrap().len(), 2, "{parts}");

    let parts = parts_under("rename = { look = \"see\" }", json!([begin("see", "1"), end("1")]));
    assert_eq!(parts, json!([look("1")]));

    // What breaks off names a tool and is no call: no rule can let it pass.
    let parts = parts_under("deny = [\"shut\"]", json!([{"text": "Well."}, begin("shut", "1")]));
    assert_eq!(parts, json!([{"text": "Well."}]));

    // What no rule changes is in pieces as it came.
    assert_eq!(parts_under("deny = [\"other\"]", by_turns.clone()), by_turns);
}

#[test]
fn a_call_that_was_not_offered_is_refused_in_the_clients_words() {
    each_cell(|client, upstream, streams| {
        let (_provider, gateway) = house(upstream, "undeclared = \"refuse\"");
        let body = offering(client, &["write"], streams).to_string();
        let reply = gateway.post(path(client, streams), &body);
        let cell = format!("{client:?} {upstream:?} {streams}: {}", reply.body);
        match streams {
            false => assert_eq!(reply.status, 502, "{cell}"),
            true => assert_eq!(reply.status, 200, "{cell}"),
        }
        assert!(reply.body.contains("which it was not offered"), "{cell}");
        assert!(reply.body.contains("error"), "{cell}");
    });
}

#[test]
fn a_request_beyond_a_limit_is_refused_before_anything_is_sent() {
    for client in PROTOCOLS {
        let (provider, gateway) = house(Protocol::OpenaiChat, "count_max = 1");
        let body = offering(client, &["a", "b"], false).to_string();
        let reply = gateway.post(path(client, false), &body);
        assert_eq!(reply.status, 400, "{client:?} {}", reply.body);
        assert!(reply.body.contains("expected at most 1 tools, found 2"), "{}", reply.body);
        assert_eq!(provider.received().len(), 0);
        if matches!(client, Protocol::OpenaiChat | Protocol::OpenaiResponses) {
            assert_eq!(reply.json()["error"]["code"], "count_max");
        }
    }
}

#[test]
fn names_that_are_too_long_are_refused_where_that_is_wanted() {
    let long = "x".repeat(70);
    let (_provider, gateway) = house(Protocol::OpenaiChat, "long_names = \"reject\"");
    for client in PROTOCOLS {
        let reply =
            gateway.post(path(client, false), &offering(client, &[&long], false).to_string());
        assert_eq!(reply.status, 400, "{client:?} {}", reply.body);
        assert!(reply.body.contains("Tool name exceeds max length of 64"), "{}", reply.body);
    }
}

#[test]
fn hosted_tools_that_the_target_has_not_are_refused_where_that_is_wanted() {
    let (provider, gateway) = house(Protocol::AnthropicMessages, "hosted = \"refuse\"");
    let mut body = offering(Protocol::OpenaiResponses, &["look"], false);
    body["tools"]
        .as_array_mut()
        .unwrap()
        .push(json!({"type": "file_search", "vector_store_ids": ["v"]}));
    let reply = gateway.post("/v1/responses", &body.to_string());
    assert_eq!(reply.status, 400, "{}", reply.body);
    assert_eq!(reply.json()["error"]["code"], "hosted");
    assert_eq!(provider.received().len(), 0);
}

#[test]
fn tool_rounds_without_a_word_of_the_user_come_to_an_end() {
    let (provider, gateway) = house(Protocol::AnthropicMessages, "rounds_max = 1");
    let call = |id: &str| {
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": id,
        "type": "function", "function": {"name": "look", "arguments": "{}"}}]})
    };
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "ok"});
    let mut body = offering(Protocol::OpenaiChat, &["look"], false);
    body["messages"] = json!([{"role": "user", "content": "go"}, call("a"), result("a")]);
    assert_eq!(gateway.post(path(Protocol::OpenaiChat, false), &body.to_string()).status, 200);
    body["messages"].as_array_mut().unwrap().extend([call("b"), result("b")]);
    let reply = gateway.post(path(Protocol::OpenaiChat, false), &body.to_string());
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!("rounds_max")));
    assert_eq!(provider.received().len(), 1);
}

#[test]
fn a_call_is_held_until_it_is_whole_and_text_is_not() {
    let chunk = |delta: Value, finish: Value| {
        let body = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        format!("data: {body}\n\n")
    };
    let arguments = |text: &str| {
        chunk(json!({"tool_calls": [{"index": 0, "function": {"arguments": text}}]}), Value::Null)
    };
    let (send, pieces) = mpsc::channel();
    let provider = Provider::start(vec![Script::Pieces(Arc::new(Mutex::new(pieces)))]);
    let toml = format!("{}\n[tools]\narguments = \"repair\"\n", provider.toml("p", "openai-chat"));
    let gateway = Running::start(&toml);
    let body = offering(Protocol::OpenaiChat, &["look"], true).to_string();
    let mut reader = gateway.send("POST /v1/chat/completions", &body);
    send.send(sse(&chunk(json!({"role": "assistant", "content": "Let me "}), Value::Null)))
        .unwrap();
    assert_eq!(read_head(&mut reader).0, 200);
    let mut seen = String::new();
    let mut until = |seen: &mut String, words: &str| {
        while !seen.contains(words) {
            let chunk = read_chunk(&mut reader).unwrap_or_else(|| panic!("no {words} in {seen}"));
            seen.push_str(&String::from_utf8(chunk).unwrap());
        }
    };
    until(&mut seen, "Let me ");
    let call = json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function",
        "function": {"name": "look", "arguments": ""}}]});
    send.send(chunk(call, Value::Null)).unwrap();
    send.send(arguments("{'at'")).unwrap();
    send.send(chunk(json!({"content": "see."}), Value::Null)).unwrap();
    until(&mut seen, "see.");
    assert!(!seen.contains("look"), "the call is not whole: {seen}");
    send.send(arguments(": 'door',}")).unwrap();
    send.send(chunk(json!({}), json!("tool_calls"))).unwrap();
    send.send("data: [DONE]\n\n".to_owned()).unwrap();
    drop(send);
    until(&mut seen, "[DONE]");
    assert!(seen.contains(r#"{\"at\":\"door\"}"#) && seen.contains("call_1"), "{seen}");
}

#[test]
fn without_rules_and_with_rules_that_say_nothing_bytes_pass_as_they_are() {
    // Spacing and unknown members that no encoder would write so.
    let body = "{ \"model\" : \"p/m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}], \"odd\":1.50 }";
    let odd = "{ \"id\":\"c\", \"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"message\":{\"role\":\"assistant\",\"content\":\"ok\"}}], \"odd\" : 1.0}";
    for rules in [
        "",
        "[tools]\n",
        "[tools]\nallow = [\"*\"]\ncount_max = 0\n",
        "[tools]\ncount_max = 9\nresult_bytes_max = 9\n",
    ] {
        let provider = Provider::whole(odd);
        let gateway = Running::start(&format!("{}\n{rules}", provider.toml("p", "openai-chat")));
        let reply = gateway.post("/v1/chat/completions", body);
        assert_eq!(reply.body, odd, "{rules}");
        assert_eq!(sent(&provider), body.replace("p/m", "m"), "{rules}");
    }
}

#[test]
fn the_rules_of_a_key_go_before_those_of_a_model_and_these_before_all() {
    let provider = Provider::whole(&chat_answer("ok"));
    let toml = format!(
        "{}\n[tools]\ncount_max = 1\n[[model]]\nname = \"m\"\ntargets = [{{ provider = \"p\", model = \"m\" }}]\n\
         tools = {{ count_max = 2 }}\n[auth]\nrequired = true\n\
         [[auth.key]]\nname = \"plain\"\nvalue = {{ value = \"k1\" }}\n\
         [[auth.key]]\nname = \"wide\"\nvalue = {{ value = \"k2\" }}\ntools = {{ count_max = 3 }}\n",
        provider.toml("p", "openai-chat")
    );
    let gateway = Running::start(&toml);
    let status = |key: &str, model: &str, count: usize| {
        let mut body = offering(Protocol::OpenaiChat, &["a", "b", "c", "d"][..count], false);
        body["model"] = json!(model);
        let head = format!("POST /v1/chat/completions\r\nauthorization: Bearer {key}\r\n");
        gateway.request(&head, &body.to_string()).status
    };
    assert_eq!([status("k1", "p/m", 1), status("k1", "p/m", 2)], [200, 400]);
    assert_eq!([status("k1", "m", 2), status("k1", "m", 3)], [200, 400]);
    assert_eq!([status("k2", "m", 3), status("k2", "m", 4)], [200, 400]);
    let raw = |key: &str| {
        let head = format!("POST /passthrough/p/models\r\nauthorization: Bearer {key}\r\n");
        gateway.request(&head, "{}").status
    };
    assert_eq!([raw("k1"), raw("k2")], [200, 403]);
}

#[test]
fn results_that_are_too_long_are_cut_on_every_way() {
    for upstream in PROTOCOLS {
        let (provider, gateway) = house(upstream, "result_bytes_max = 10");
        let mut body = offering(Protocol::OpenaiChat, &["look"], false);
        body["messages"] = json!([{"role": "user", "content": "go"},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function",
                "function": {"name": "look", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "a", "content": "0123456789abcdef"}]);
        let reply = gateway.post("/v1/chat/completions", &body.to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert!(
            sent(&provider).contains(r"0123456789\n[truncated: 10 of 16 bytes]"),
            "{}",
            sent(&provider)
        );
        assert!(reply.header("sabir-loss").unwrap().contains("approximated"), "{upstream:?}");
    }
}

#[test]
fn an_answer_repeats_the_tools_of_its_client_and_not_those_of_the_model() {
    let answer = json!({"id": "resp_1", "object": "response", "created_at": 1, "status": "completed",
        "model": "m", "output": [], "tools": [{"type": "function", "name": "look", "parameters": {}}],
        "tool_choice": {"type": "function", "name": "look"}});
    let whole = answer.to_string();
    let stream = streamed(Protocol::OpenaiResponses, &whole);
    let provider = Provider::start(vec![
        Script::Reply(crate::harness::json(200, "", &whole)),
        Script::Reply(sse(&stream)),
    ]);
    let rules = "\n[tools]\nrename = { see = \"look\" }\n";
    let gateway = Running::start(&(provider.toml("p", "openai-responses") + rules));
    for streams in [false, true] {
        let mut body = offering(Protocol::OpenaiResponses, &["see"], streams);
        body["tool_choice"] = json!({"type": "function", "name": "see"});
        let reply = gateway.post("/v1/responses", &body.to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert!(reply.body.contains("\"see\"") && !reply.body.contains("look"), "{}", reply.body);
    }
}

/// Codex's tool for patches, under another name for the model, checked and held back: what its client sees is what it would see
/// without rules.
#[test]
fn a_governed_loop_of_patches_is_streamed_to_its_end() {
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+FACT1\n*** End Patch\n";
    let call = json!([{"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1",
        "status": "completed", "name": "edit_files", "input": patch}]);
    let done = json!([{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "DONE", "annotations": []}]}]);
    let rules = "\n[tools]\nrename = { apply_patch = \"edit_files\" }\narguments = \"refuse\"\n\
                 undeclared = \"refuse\"\ndeny = [\"shell\"]\nrounds_max = 5\n";
    for upstream in PROTOCOLS {
        let answers =
            [("resp_1", &call), ("resp_2", &done)].map(|(id, output)| response(id, output));
        let scripts =
            answers.iter().map(|whole| crate::rounds::streamed(upstream, whole)).collect();
        let provider = Provider::start(scripts);
        let gateway = Running::start(&(provider.toml("p", upstream.as_str()) + rules));
        let tools = json!([{"type": "custom", "name": "apply_patch", "description": "edits files"},
            {"type": "function", "name": "shell", "strict": false, "parameters": {"type": "object"}}]);
        let ask = |input: Value| {
            let body = json!({"model": "p/m", "input": input, "tools": tools, "stream": true, "store": false});
            let reply = gateway.post("/v1/responses", &body.to_string());
            assert_eq!(reply.status, 200, "{upstream:?}: {}", reply.body);
            let last = last(&reply);
            assert_eq!(last["type"], "response.completed", "{upstream:?}: {}", reply.body);
            assert!(!reply.body.contains("edit_files"), "{upstream:?}: {}", reply.body);
            last["response"].clone()
        };
        let first = ask(json!("write FACT1"));
        let called = first["output"][0].clone();
        assert_eq!(called["type"], "custom_tool_call", "{upstream:?}: {first}");
        assert_eq!((&called["name"], &called["input"]), (&json!("apply_patch"), &json!(patch)));
        let output = json!({"type": "custom_tool_call_output", "call_id": called["call_id"], "output": "Success"});
        let input = json!([{"role": "user", "content": "write FACT1"}, called, output]);
        let second = ask(input);
        assert_eq!(second["output"][0]["content"][0]["text"], "DONE", "{upstream:?}: {second}");
        let sent = sent(&provider);
        assert!(sent.contains("Success") && sent.contains("edit_files"), "{upstream:?}: {sent}");
        assert!(!sent.contains("apply_patch") && !sent.contains("shell"), "{upstream:?}: {sent}");
    }
}
