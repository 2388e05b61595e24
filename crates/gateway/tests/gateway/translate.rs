//! Different protocols on the two sides, and what is reported of it.

use serde_json::json;

use crate::harness::*;

#[test]
fn a_translation_says_who_answered_and_what_was_lost() {
    let provider = Provider::whole(&chat_answer("hi"));
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let body = r#"{"model":"p/m","max_tokens":5,"top_k":3,"messages":[{"role":"user","content":"hello"}]}"#;
    let reply = gateway.post("/v1/messages", body);
    assert_eq!(reply.json()["content"][0]["text"], "hi");
    assert_eq!(reply.header("sabir-provider"), Some("p"));
    assert_eq!(reply.header("sabir-route"), Some("direct"));
    assert_eq!(reply.header("sabir-loss"), Some("dropped=1"));
    let exchange = reply.header("sabir-exchange").unwrap();
    let seen = gateway.get(&format!("/sabir/v1/exchanges/{exchange}")).json();
    assert_eq!(seen["upstream_protocol"], "openai-chat");
    let losses = seen["losses"].as_array().unwrap();
    assert!(losses.iter().any(|loss| loss["pointer"] == "/top_k" && loss["kind"] == "dropped"));
    assert!(!seen.to_string().contains("hello"), "no content");
}

#[test]
fn a_strict_client_is_refused_before_anything_is_sent() {
    let provider = Provider::whole(&chat_answer("hi"));
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let body = r#"{"model":"p/m","max_tokens":5,"top_k":3,"messages":[{"role":"user","content":"hello"}]}"#;
    let reply = gateway.request("POST /v1/messages\r\nsabir-strict: true\r\n", body);
    assert_eq!(reply.status, 400);
    assert!(reply.json()["error"]["message"].as_str().unwrap().contains("/top_k"));
    let exchange = reply.header("sabir-exchange").unwrap();
    let seen = gateway.get(&format!("/sabir/v1/exchanges/{exchange}")).json();
    assert!(seen["losses"].to_string().contains("/top_k"), "{seen}");
    assert!(provider.received().is_empty());
    let reply =
        gateway.request("POST /v1/messages\r\nsabir-strict: true\r\n", &messages("p/m", false));
    assert_eq!(reply.status, 200, "{}", reply.body);
}

#[test]
fn a_conversation_that_only_its_provider_has_is_refused_elsewhere() {
    let provider = Provider::whole(&chat_answer("hi"));
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    for (param, value, status) in
        [("previous_response_id", json!("x_1"), 400), ("conversation", json!("x_1"), 404)]
    {
        let body = json!({"model": "p/m", "input": "hello", param: value}).to_string();
        let reply = gateway.post("/v1/responses", &body);
        assert_eq!(reply.status, status, "{param}");
        assert_eq!(reply.json()["error"]["param"], param);
    }
    let body =
        json!({"model": "p/m", "input": "hello", "store": true, "background": false}).to_string();
    assert_eq!(gateway.post("/v1/responses", &body).status, 200);
}

#[test]
fn a_thread_is_begun_anywhere_and_goes_on_where_it_is_kept() {
    let provider = Provider::whole(&chat_answer("hi"));
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let ask = |thread: serde_json::Value| {
        let prompt = json!([{"role": "user", "content": "hello"}]);
        let body = json!({"model": "p/m", "max_tokens": 9, "messages": prompt, "thread": thread});
        gateway.post("/v1/messages", &body.to_string())
    };
    assert_eq!(ask(json!({"type": "create"})).status, 200);
    let reply = ask(json!({"type": "continue", "previous_message_id": "msg_1"}));
    let error = &reply.json()["error"];
    assert_eq!((reply.status, &error["type"]), (404, &json!("not_found_error")));
    assert_eq!(error["details"]["error_code"], "thread_not_found");
    assert!(error["message"].as_str().unwrap().contains("`thread`"), "{}", reply.body);
    assert_eq!(provider.received().len(), 1);
}

#[test]
fn thinking_reaches_a_chat_client_unless_it_says_no() {
    let answer = r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"hmm","signature":"s"},{"type":"text","text":"hi"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}"#;
    let provider = Provider::whole(answer);
    let gateway = Running::start(&provider.toml("p", "anthropic-messages"));
    let reply = gateway.post("/v1/chat/completions", &chat("p/m", false));
    assert_eq!(reply.json()["choices"][0]["message"]["reasoning_content"], "hmm");
    let head = "POST /v1/chat/completions\r\nsabir-reasoning: off\r\n";
    let reply = gateway.request(head, &chat("p/m", false));
    assert!(reply.json()["choices"][0]["message"].get("reasoning_content").is_none());
    let seen = &provider.received()[0];
    assert_eq!(seen.line, "POST /v1/messages HTTP/1.1");
    assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(seen.header("x-api-key"), Some("sk-upstream"));
}

#[test]
fn a_provider_that_answers_in_the_other_form_is_understood() {
    let provider = Provider::whole(&chat_answer("whole"));
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let reply = gateway.post("/v1/messages", &messages("p/m", true));
    assert!(reply.body.contains("event: message_stop"), "{}", reply.body);
    assert!(reply.body.contains("whole"));
    let provider = Provider::start(vec![Script::Reply(sse(&(chat_chunk("streamed") + CHAT_END)))]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let reply = gateway.post("/v1/messages", &messages("p/m", false));
    assert_eq!(reply.json()["content"][0]["text"], "streamed");
}

#[test]
fn what_is_no_answer_is_a_bad_gateway() {
    for body in ["nonsense", "{", "[]"] {
        let provider = Provider::whole(body);
        let gateway = Running::start(&provider.toml("p", "openai-chat"));
        let reply = gateway.post("/v1/messages", &messages("p/m", false));
        assert_eq!(reply.status, 502, "{body}: {}", reply.body);
        assert_eq!(reply.json()["type"], "error");
    }
}

#[test]
fn tokens_are_counted_by_the_provider_or_estimated() {
    let provider = Provider::whole(r#"{"input_tokens":42}"#);
    let gateway = Running::start(&provider.toml("p", "anthropic-messages"));
    let gemini = r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#;
    let reply = gateway.post("/v1beta/models/p%2Fm:countTokens", gemini);
    assert_eq!(reply.json()["totalTokens"], 42);
    let seen = &provider.received()[0];
    assert_eq!(seen.line, "POST /v1/messages/count_tokens HTTP/1.1");
    assert!(!seen.body.contains("max_tokens"), "{}", seen.body);
    let wrapped = format!("{{\"generateContentRequest\":{gemini}}}");
    gateway.post("/v1beta/models/p%2Fm:countTokens", &wrapped);
    assert_eq!(provider.received()[1].body, seen.body);
    let provider = Provider::whole("{}");
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let reply = gateway.post("/v1/messages/count_tokens", &messages("p/m", false));
    assert!(reply.json()["input_tokens"].as_u64().unwrap() > 0);
    assert_eq!(reply.header("sabir-estimate"), Some("true"));
    assert!(provider.received().is_empty());
}

#[test]
fn an_estimate_is_near_what_providers_count() {
    let provider = Provider::whole("{}");
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let image = format!("data:image/png;base64,{}", "A".repeat(400_000));
    let image = json!({"type": "image_url", "image_url": {"url": image}});
    let image = json!([{"role": "user", "content": [{"type": "text", "text": "hello"}, image]}]);
    let chinese = "今天早上渡船进港的时候，码头上非常安静。";
    for (messages, least, most) in [
        (json!([{"role": "user", "content": "hello"}]), 8, 8),
        (
            json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is the weather in Paris?"}]),
            18,
            22,
        ),
        (json!([{"role": "user", "content": "The harbour was quiet. ".repeat(200)}]), 950, 1_050),
        (json!([{"role": "user", "content": chinese}]), 20, 30),
        (image, 500, 1_500),
    ] {
        let body = json!({"model": "p/m", "messages": messages, "temperature": 0.5});
        let order = json!({"from": "chat", "to": "messages", "kind": "request", "body": body});
        let body = gateway.post("/sabir/v1/translate", &order.to_string()).json()["body"].clone();
        let reply = gateway.post("/v1/messages/count_tokens", &body.to_string());
        let tokens = reply.json()["input_tokens"].as_u64().unwrap();
        assert!((least..=most).contains(&tokens), "{tokens} for {least} to {most}");
        assert_eq!(reply.header("sabir-estimate"), Some("true"));
    }
    assert!(provider.received().is_empty());
}

#[test]
fn a_translation_can_be_had_without_a_provider() {
    let provider = Provider::whole("{}");
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let order = json!({"from": "chat", "to": "messages", "kind": "request",
        "body": {"model": "m", "n": 2, "messages": [{"role": "user", "content": "hi"}]}});
    let reply = gateway.post("/sabir/v1/translate", &order.to_string()).json();
    assert_eq!(reply["body"]["messages"][0]["role"], "user");
    assert!(reply["losses"].as_array().unwrap().iter().any(|loss| loss["pointer"] == "/n"));
    let stream = chat_chunk("hi") + CHAT_END;
    let order = json!({"from": "chat", "to": "messages", "kind": "stream", "body": stream});
    let reply = gateway.post("/sabir/v1/translate", &order.to_string()).json();
    assert!(reply["body"].as_str().unwrap().contains("event: message_stop"));
    let order = json!({"from": "chat", "to": "klingon", "body": {}});
    assert_eq!(gateway.post("/sabir/v1/translate", &order.to_string()).status, 400);
}

#[test]
fn geminis_stream_without_sse_is_one_list() {
    let provider =
        Provider::start(vec![Script::Reply(sse(&(chat_chunk("a") + &chat_chunk("b") + CHAT_END)))]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let gemini = r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#;
    let reply = gateway.post("/v1beta/models/p%2Fm:streamGenerateContent", gemini);
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let list = reply.json();
    let texts: String = list
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["candidates"][0]["content"]["parts"][0]["text"].as_str())
        .collect();
    assert_eq!(texts, "ab");
}

#[test]
fn models_are_listed_in_three_shapes() {
    let provider = Provider::whole(r#"{"object":"list","data":[{"id":"m1"},{"id":"m2"}]}"#);
    let toml = provider.toml("p", "openai-chat")
        + "[[model]]\nname = \"smart\"\ntargets = [{ provider = \"p\", model = \"m1\" }]\n";
    let gateway = Running::start(&toml);
    let openai = gateway.get("/v1/models").json();
    let ids = |list: &serde_json::Value, key: &str| -> Vec<String> {
        list.as_array().unwrap().iter().map(|it| it[key].as_str().unwrap().to_owned()).collect()
    };
    let names = ids(&openai["data"], "id");
    assert_eq!(names[..4], ["smart", "sim", "p/m1", "p/m2"]);
    let anthropic =
        gateway.request("GET /v1/models\r\nanthropic-version: 2023-06-01\r\n", "").json();
    assert_eq!(ids(&anthropic["data"], "id"), names);
    let gemini = gateway.get("/v1beta/models").json();
    let stripped: Vec<String> = ids(&gemini["models"], "name")
        .iter()
        .map(|name| name.trim_start_matches("models/").to_owned())
        .collect();
    assert_eq!(stripped, names);
    assert_eq!(gateway.get("/v1/models/smart").json()["id"], "smart");
    assert_eq!(gateway.get("/v1/models/nothing").status, 404);
    let asked = provider.received().iter().filter(|it| it.line.contains("/models")).count();
    assert_eq!(asked, 1, "the list is remembered");
}

#[test]
fn a_mode_that_openai_wants_put_in_words_gets_them() {
    const WORDS: &str = "Answer with one JSON object and nothing else.";
    let provider = Provider::whole(&chat_answer("{}"));
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    for (prompt, is_added) in [("list three", true), ("list three as json", false)] {
        let body = format!(
            r#"{{"contents":[{{"role":"user","parts":[{{"text":"{prompt}"}}]}}],"generationConfig":{{"responseMimeType":"application/json"}}}}"#
        );
        let reply = gateway.post("/v1beta/models/p%2Fm:generateContent", &body);
        assert_eq!(reply.status, 200, "{}", reply.body);
        let sent = &provider.received().pop().unwrap().body;
        assert!(sent.contains("json_object"), "{sent}");
        assert_eq!(sent.contains(WORDS), is_added, "{sent}");
    }
    let body = r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}],"generationConfig":{"responseMimeType":"application/json"}}"#;
    for simulator in ["sim-chat", "sim-responses"] {
        let path = format!("/v1beta/models/{simulator}%2Fm:generateContent");
        assert_eq!(gateway.post(&path, body).status, 200, "{simulator}");
    }
}
