//! The same protocol on both sides: bytes pass as they are, but for the model's name.

use serde_json::{Value, json};

use crate::harness::*;

#[test]
fn a_whole_exchange_passes_byte_for_byte() {
    let answer = "{ \"id\":\"c1\",\"object\":\"chat.completion\", \"choices\":[], \"x\":1.50,\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2} }";
    let provider = Provider::start(vec![Script::Reply(json(
        200,
        "x-request-id: req_up\r\nx-ratelimit-remaining-requests: 9\r\nset-cookie: a=b\r\n\
         openai-note: one\r\nopenai-note: two\r\n",
        answer,
    ))]);
    let toml = provider.toml("p", "openai-chat")
        + "[[model]]\nname = \"alias\"\ntargets = [{ provider = \"p\", model = \"real\" }]\n";
    let gateway = Running::start(&toml);
    let body = "{ \"temperature\": 1.0,\n \"model\" : \"alias\", \"messages\":[{\"role\":\"user\",\"content\":\"\\u0068i\"}], \"unknown\": {\"a\":1e2} }";
    let head = "POST /v1/chat/completions?x=1\r\nopenai-organization: org\r\nauthorization: Bearer client\r\ncookie: c=d\r\nx-custom: y\r\n";
    let reply = gateway.request(head, body);
    assert_eq!(reply.body, answer);
    assert_eq!(reply.header("x-request-id"), Some("req_up"));
    assert_eq!(reply.header("x-ratelimit-remaining-requests"), Some("9"));
    assert_eq!(reply.header("set-cookie"), None);
    let notes: Vec<_> = reply.headers.iter().filter(|(name, _)| name == "openai-note").collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert_eq!(reply.header("sabir-loss"), Some("none"));
    assert_eq!(reply.header("sabir-model"), Some("real"));
    assert_eq!(reply.header("sabir-route"), Some("alias"));
    let seen = &provider.received()[0];
    assert_eq!(seen.body, body.replace("\"alias\"", "\"real\""));
    assert_eq!(seen.line, "POST /v1/chat/completions?x=1 HTTP/1.1");
    assert_eq!(seen.header("authorization"), Some("Bearer sk-upstream"));
    assert_eq!(seen.header("openai-organization"), Some("org"));
    assert_eq!(seen.header("accept-encoding"), Some("identity"));
    for private in ["cookie", "x-custom", "x-api-key"] {
        assert_eq!(seen.header(private), None, "{private}");
    }
    assert!(gateway.get("/metrics").body.contains("direction=\"input\"} 3"));
}

#[test]
fn a_stream_passes_byte_for_byte() {
    let frames =
        format!(": hello\r\n\r\n{}data:  {{\"odd\" : true}}\n\n{CHAT_END}", chat_chunk("a"));
    let provider = Provider::start(vec![Script::Reply(sse(&frames))]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let reply = gateway.post("/v1/chat/completions", &chat("p/m", true));
    assert_eq!(reply.body, frames);
    gateway.wait_for_metric(
        "sabir_tokens_total{provider=\"p\",client=\"openai-chat\",upstream=\"openai-chat\",direction=\"output\"} 2",
    );
}

#[test]
fn a_stream_that_nobody_asked_for_is_called_a_stream() {
    let frames = chat_chunk("a") + CHAT_END;
    let provider = Provider::start(vec![Script::Reply(sse(&frames))]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let reply = gateway.post("/v1/chat/completions", &chat("p/m", false));
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    assert_eq!(reply.body, frames);
}

#[test]
fn a_whole_answer_in_place_of_a_stream_becomes_one() {
    check_becomes_stream(
        ("openai-chat", "/v1/chat/completions"),
        &chat("p/m", true),
        &chat_answer("all at once"),
        "data: [DONE]\n\n",
    );
    check_becomes_stream(
        ("anthropic-messages", "/v1/messages"),
        &messages("p/m", true),
        r#"{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"all at once"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":2}}"#,
        "data: {\"type\":\"message_stop\"}\n\n",
    );
    check_becomes_stream(
        ("openai-responses", "/v1/responses"),
        r#"{"model":"p/m","input":"hello","stream":true}"#,
        r#"{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","error":null,"output":[{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"all at once","annotations":[]}]}]}"#,
        "data: [DONE]\n\n",
    );
}

#[track_caller]
fn check_becomes_stream((protocol, path): (&str, &str), body: &str, answer: &str, end: &str) {
    let provider = Provider::whole(answer);
    let gateway = Running::start(&provider.toml("p", protocol));
    let reply = gateway.post(path, body);
    assert_eq!(reply.header("content-type"), Some("text/event-stream; charset=utf-8"));
    assert!(reply.body.contains("\"all at once\""), "{}", reply.body);
    assert!(reply.body.ends_with(end), "{}", reply.body);
    assert!(!reply.body.contains("\"choices\":[]"), "usage was not asked for: {}", reply.body);
}

#[test]
fn a_refusal_passes_with_its_own_words_and_status() {
    let body = "{\"error\": {\"message\":\"no such thing\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"odd\"}}";
    let provider = Provider::start(vec![Script::Reply(json(418, "x-request-id: req_9\r\n", body))]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let reply = gateway.post("/v1/chat/completions", &chat("p/m", false));
    assert_eq!((reply.status, reply.body.as_str()), (418, body));
    assert_eq!(reply.header("x-request-id"), Some("req_9"));
}

#[test]
fn a_page_of_html_becomes_an_error_of_the_protocol() {
    let page = "<html>bad gateway</html>";
    let sender = format!(
        "HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n{page}",
        page.len()
    );
    let provider = Provider::start(vec![Script::Reply(sender)]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let reply = gateway.post("/v1/chat/completions", &chat("p/m", false));
    assert_eq!(reply.status, 502);
    assert!(reply.json()["error"]["message"].as_str().unwrap().contains("bad gateway"));
}

#[test]
fn what_else_a_provider_offers_is_reached_by_its_name() {
    let provider = Provider::whole("{\"files\":[]}");
    let toml = provider.toml("p", "openai-chat") + "headers = { \"x-team\" = \"a\" }\n";
    let gateway = Running::start(&toml);
    let head = "DELETE /passthrough/p/v1/files/f1?force=true\r\nauthorization: Bearer client\r\nx-team: b\r\n";
    let reply = gateway.request(head, "");
    assert_eq!((reply.status, reply.body.as_str()), (200, "{\"files\":[]}"));
    assert_eq!(reply.header("sabir-provider"), Some("p"));
    let seen = &provider.received()[0];
    assert_eq!(seen.line, "DELETE /v1/files/f1?force=true HTTP/1.1");
    assert_eq!(seen.header("authorization"), Some("Bearer sk-upstream"));
    let teams: Vec<_> = seen.headers.iter().filter(|(name, _)| name == "x-team").collect();
    assert_eq!(teams, [&("x-team".to_owned(), "a".to_owned())], "the operator's word");
    assert_eq!(gateway.get("/passthrough/nobody/x").status, 404);
}

#[test]
fn embeddings_go_to_the_provider_of_their_model() {
    let provider = Provider::whole("{\"object\":\"list\",\"data\":[]}");
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let reply = gateway.post("/v1/embeddings", "{\"model\":\"p/e\",\"input\":\"x\"}");
    assert_eq!(reply.status, 200, "{}", reply.body);
    let seen = &provider.received()[0];
    assert_eq!(seen.line, "POST /v1/embeddings HTTP/1.1");
    assert_eq!(seen.body, "{\"model\":\"e\",\"input\":\"x\"}");
}

#[test]
fn a_stream_that_breaks_off_is_told_so_and_does_not_begin_anew() {
    let message = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n";
    let created = "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"r\",\"object\":\"response\",\"status\":\"in_progress\",\"output\":[]}}\n\n";
    let input = r#"{"model":"p/m","stream":true,"input":"hello"}"#;
    for (protocol, path, body, frames, sign) in [
        ("anthropic-messages", "/v1/messages", messages("p/m", true), message, "event: error\n"),
        ("openai-responses", "/v1/responses", input.to_owned(), created, "event: error\n"),
    ] {
        let provider = Provider::start(vec![Script::Reply(sse(frames))]);
        let gateway = Running::start(&provider.toml("p", protocol));
        let reply = gateway.post(path, &body);
        let added = reply.body.strip_prefix(frames).unwrap_or_else(|| panic!("{}", reply.body));
        assert_eq!(added.matches("data: ").count(), 1, "{added}");
        assert!(added.contains(sign), "{added}");
    }
}

#[test]
fn geminis_list_is_asked_for_as_the_client_did() {
    let provider = Provider::whole(
        "[{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hi\"}],\"role\":\"model\"},\"finishReason\":\"STOP\"}]}]",
    );
    let gateway = Running::start(&provider.toml("p", "gemini"));
    let body = r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#;
    let reply = gateway.post("/v1beta/models/p%2Fm:streamGenerateContent", body);
    assert!(reply.json().is_array(), "{}", reply.body);
    assert!(!provider.received()[0].line.contains("alt=sse"));
}

#[test]
fn embeddings_go_to_the_endpoint_that_has_them() {
    let other = Provider::whole("{}");
    let provider = Provider::whole("{\"object\":\"list\",\"data\":[]}");
    let gateway = Running::start(&format!(
        "[[provider]]\nname = \"duo\"\nprotocol = [\"anthropic-messages\", \"openai-chat\"]\nbase_url = {{ anthropic-messages = \"http://{}\", openai-chat = \"http://{}/v1\" }}\napi_key = {{ value = \"k\" }}\n",
        other.address, provider.address
    ));
    gateway.post("/v1/embeddings", "{\"model\":\"duo/e\",\"input\":\"x\"}");
    assert!(other.received().is_empty());
    assert_eq!(provider.received()[0].header("authorization"), Some("Bearer k"));
}

#[test]
fn what_another_vendor_sealed_is_withheld_from_the_clients_own() {
    let gemini = Provider::whole(
        r#"{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"functionCall":{"name":"f","args":{}},"thoughtSignature":"c2VhbA=="}],"role":"model"},"finishReason":"STOP"}],"modelVersion":"m"}"#,
    );
    let own = Provider::whole("{\"id\":\"r\",\"object\":\"response\",\"output\":[]}");
    let gateway =
        Running::start(&(gemini.toml("g", "gemini") + &own.toml("o", "openai-responses")));
    let first = gateway.post("/v1/responses", r#"{"model":"g/m","input":"hello"}"#).json();
    let mut input = vec![serde_json::json!({"role": "user", "content": "hello"})];
    input.extend(first["output"].as_array().unwrap().iter().cloned());
    let request = serde_json::json!({"model": "o/m", "input": input}).to_string();
    assert!(request.contains("sabir1:"), "{request}");
    let reply = gateway.post("/v1/responses", &request);
    assert_eq!(reply.header("sabir-loss"), Some("withheld=1"));
    let seen = &own.received()[0].body;
    assert!(!seen.contains("sabir1:") && seen.contains("function_call"), "{seen}");
}

#[test]
fn a_tool_turn_of_another_vendor_goes_on_without_its_thinking() {
    for (first, second) in [
        ("sim-responses/gpt-5.6", "sim-anthropic/claude-sonnet-4-5"),
        ("sim-gemini/gemini-3-pro-preview", "sim-anthropic/claude-sonnet-4-5"),
        ("sim-responses/gpt-5.6", "sim-anthropic/claude-sonnet-5-1"),
        ("sim-chat/m", "sim-anthropic/claude-sonnet-4-5"),
        ("sim-gemini/gemini-2.0-flash", "sim-anthropic/claude-sonnet-4-5"),
    ] {
        let gateway = Running::start("");
        let rounds = "call f with {}\nthen call f with {}\nthen call f with {}";
        let mut messages = vec![json!({"role": "user", "content": rounds})];
        for (round, model) in [first, second, second, second].into_iter().enumerate() {
            let thinking = match model.contains("5-1") {
                true => json!({"type": "adaptive"}),
                false => json!({"type": "enabled", "budget_tokens": 1024}),
            };
            let request = json!({
                "model": model, "max_tokens": 4096, "messages": messages, "thinking": thinking,
                "tools": [{"name": "f", "input_schema": {"type": "object"}}],
            });
            let reply = gateway.post("/v1/messages", &request.to_string());
            assert_eq!(reply.status, 200, "{first}, round {round}: {}", reply.body);
            let content = reply.json()["content"].clone();
            let call = content.as_array().unwrap().iter().find(|it| it["type"] == "tool_use");
            let id = call.map(|call| call["id"].clone());
            assert_eq!(id.is_some(), round < 3, "{}", reply.body);
            messages.push(json!({"role": "assistant", "content": content}));
            let result = json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
            messages.push(json!({"role": "user", "content": [result]}));
        }
    }
}

#[test]
fn thinking_that_a_server_refuses_is_not_sent_back_to_it() {
    let body = r#"{"model":"p/m", "messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","reasoning_content":"hm"},{"role":"user","content":"c"}]}"#;
    let own = body.replace("p/m", "m");
    let without = own.replace(r#","reasoning_content":"hm""#, "");
    let strict = "POST /v1/chat/completions\r\nsabir-strict: true\r\n";
    let plain = "POST /v1/chat/completions";
    for (dialect, head, expected, loss) in [
        ("openai", plain, &without, "dropped=1"),
        ("groq", plain, &without, "dropped=1"),
        ("openai", strict, &own, "none"),
        ("deepseek", plain, &own, "none"),
        ("vllm", plain, &own, "none"),
    ] {
        let provider = Provider::whole(&chat_answer("hi"));
        let toml = provider.toml("p", "openai-chat") + &format!("dialect = \"{dialect}\"\n");
        let gateway = Running::start(&toml);
        let reply = gateway.request(head, body);
        assert_eq!(reply.header("sabir-loss"), Some(loss), "{dialect}");
        assert_eq!(provider.received()[0].body, **expected, "{dialect}");
    }
    let provider = Provider::whole(&chat_answer("hi"));
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    gateway.post("/v1/chat/completions", body);
    assert_eq!(provider.received()[0].body, own, "nothing is known of the server");
}

/// What an assistant says to a Chat client, as clients keep it that know `reasoning_content`.
fn answer_of(model: &str, gateway: &Running, messages: &[Value], choice: &str) -> Value {
    let look = json!({"name": "look", "parameters": {"type": "object", "properties": {}}});
    let body = json!({
        "model": model, "messages": messages, "reasoning_effort": "high", "tool_choice": choice,
        "tools": [{"type": "function", "function": look}],
    });
    let reply = gateway.post("/v1/chat/completions", &body.to_string());
    assert_eq!(reply.status, 200, "{model}: {}", reply.body);
    reply.json()["choices"][0]["message"].clone()
}

#[test]
fn thinking_that_a_simulator_showed_can_be_sent_back_to_any_other() {
    let gateway = Running::start("");
    let simulators = ["sim-chat/m", "sim-responses/m", "sim-anthropic/m", "sim-gemini/m"];
    for (first, choice) in simulators.into_iter().flat_map(|it| [(it, "none"), (it, "required")]) {
        let asked = json!({"role": "user", "content": "hello"});
        let answer = answer_of(first, &gateway, std::slice::from_ref(&asked), choice);
        if choice == "none" {
            assert_eq!(
                answer.get("reasoning_content").is_some(),
                first != "sim-chat/m",
                "{answer}"
            );
        }
        let next = match answer["tool_calls"][0]["id"].as_str() {
            Some(id) => json!({"role": "tool", "tool_call_id": id, "content": "seen"}),
            None => json!({"role": "user", "content": "and then?"}),
        };
        for second in simulators {
            answer_of(second, &gateway, &[asked.clone(), answer.clone(), next.clone()], "auto");
        }
    }
}

#[test]
fn thinking_that_nobody_sealed_stays_out_of_the_clients_own_responses() {
    let gemini = Provider::whole(
        r#"{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"hi"}],"role":"model"},"finishReason":"STOP"}],"modelVersion":"m"}"#,
    );
    let own = Provider::whole("{\"id\":\"r\",\"object\":\"response\",\"output\":[]}");
    let gateway =
        Running::start(&(gemini.toml("g", "gemini") + &own.toml("o", "openai-responses")));
    let first = gateway.post("/v1/responses", r#"{"model":"g/m","input":"hello"}"#).json();
    assert_eq!(first["output"][0]["type"], "reasoning");
    let mut input = vec![json!({"role": "user", "content": "hello"})];
    input.extend(first["output"].as_array().unwrap().iter().cloned());
    let kept = json!({"type": "reasoning", "id": "rs_1", "summary": []});
    let raw = json!({"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]});
    let mut nameless = input[1].clone();
    nameless.as_object_mut().unwrap().remove("id");
    input.extend([kept.clone(), raw.clone(), nameless]);
    let request = json!({"model": "o/m", "input": input}).to_string();
    let reply = gateway.post("/v1/responses", &request);
    assert_eq!(reply.header("sabir-loss"), Some("withheld=2"));
    let seen: serde_json::Value = serde_json::from_str(&own.received()[0].body).unwrap();
    let user = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]});
    let expected = json!([user, input[2], kept, raw]);
    assert_eq!(seen["input"], expected, "what the provider may hold itself or can read stays");
}

#[test]
fn a_gemini_client_goes_on_with_gemini_where_another_vendor_made_the_calls() {
    let gateway = Running::start("");
    for first in ["sim-chat/m", "sim-responses/m", "sim-anthropic/m"] {
        let words = "call f with {}\nthen call f with {}";
        let mut contents = vec![json!({"role": "user", "parts": [{"text": words}]})];
        let tools = json!([{"functionDeclarations": [{"name": "f"}]}]);
        for (model, loss) in [(first, None), ("sim-gemini/gemini-3-pro-preview", Some("none"))] {
            let request = json!({"contents": contents, "tools": tools}).to_string();
            let path = format!("/v1beta/models/{model}:generateContent");
            let reply = gateway.post(&path, &request);
            assert_eq!(reply.status, 200, "{first}, then {model}: {}", reply.body);
            assert!(loss.is_none() || reply.header("sabir-loss") == loss, "{first}");
            let content = reply.json()["candidates"][0]["content"].clone();
            let id = content["parts"][0]["functionCall"]["id"].clone();
            assert!(id.is_string(), "{content}");
            contents.push(content);
            let response = json!({"id": id, "name": "f", "response": {"output": "ok"}});
            contents.push(json!({"role": "user", "parts": [{"functionResponse": response}]}));
        }
    }
}

#[test]
fn a_gemini_client_that_lost_its_own_signatures_is_told_so_unless_repair_is_always() {
    let body = r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"id":"x7","name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"x7","name":"f","response":{}}}]}],"tools":[{"functionDeclarations":[{"name":"f"}]}]}"#;
    let path = "/v1beta/models/sim-gemini%2Fgemini-3-pro-preview:generateContent";
    let reply = Running::start("").post(path, body);
    assert_eq!(reply.status, 400, "{}", reply.body);
    assert!(reply.body.contains("thought_signature"), "{}", reply.body);
    let reply = Running::start("repair = \"always\"\n").post(path, body);
    assert_eq!(reply.status, 200, "{}", reply.body);
}

#[test]
fn a_claude_goes_on_without_thinking_after_calls_of_its_own_if_repair_is_always() {
    let body = r#"{"model":"sim-anthropic/claude-sonnet-4-5","max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"ok"}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}"#;
    assert_eq!(Running::start("").post("/v1/messages", body).status, 400);
    let reply = Running::start("repair = \"always\"\n").post("/v1/messages", body);
    assert_eq!(reply.header("sabir-loss"), Some("approximated=1"), "{}", reply.body);
    assert_eq!(reply.status, 200, "{}", reply.body);
}

#[test]
fn a_wrapped_count_leaves_out_what_others_sealed() {
    for toml in ["", "repair = \"always\"\n"] {
        let gateway = Running::start(toml);
        let words = json!({"role": "user", "parts": [{"text": "call f with {}"}]});
        let tools = json!([{"functionDeclarations": [{"name": "f"}]}]);
        let thinking = json!({"thinkingConfig": {"thinkingBudget": 1024}});
        let request = json!({"contents": [words], "tools": tools, "generationConfig": thinking});
        let path = "/v1beta/models/sim-anthropic/claude-sonnet-4-5:generateContent";
        let reply = gateway.post(path, &request.to_string());
        assert!(reply.body.contains("thoughtSignature"), "{}", reply.body);
        let content = &reply.json()["candidates"][0]["content"];
        let call = content["parts"].as_array().unwrap().last().unwrap()["functionCall"].clone();
        let result = json!({"id": call["id"], "name": "f", "response": {"output": "ok"}});
        let results = json!({"role": "user", "parts": [{"functionResponse": result}]});
        let inner = json!({"model": "models/x", "contents": [words, content, results]});
        let body = json!({"generateContentRequest": inner}).to_string();
        let reply =
            gateway.post("/v1beta/models/sim-gemini/gemini-3-pro-preview:countTokens", &body);
        assert_eq!(reply.status, 200, "{toml}: {}", reply.body);
        assert!(reply.json()["totalTokens"].as_u64().unwrap() > 0, "{}", reply.body);
    }
}
