//! What a provider says when it refuses, and what of it reaches the client.

use crate::harness::*;

/// What clients of both kinds get when the provider refuses like this.
fn refused(status: u16, headers: &str, body: &str) -> [Reply; 2] {
    let provider = Provider::start(vec![Script::Say(json(status, headers, body))]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    ["/v1/chat/completions", "/v1/messages"].map(|path| gateway.post(path, &messages("p/m", false)))
}

#[test]
fn a_pause_that_is_no_number_is_not_told() {
    let body = r#"{"error":{"message":"slow down"}}"#;
    for (stated, told) in [("soon", None), ("-5", None), ("0.5", Some("1"))] {
        for reply in refused(429, &format!("retry-after: {stated}\r\n"), body) {
            assert_eq!(reply.status, 429);
            assert_eq!(reply.header("retry-after"), told, "{stated}");
        }
    }
}

#[test]
fn a_key_that_the_provider_repeats_stays_here() {
    let body = r#"{"error":{"message":"no such key: sk-upstream","code":"invalid_api_key"}}"#;
    for reply in refused(401, "", body) {
        assert_eq!(reply.status, 401);
        assert!(reply.body.contains("no such key: "), "{}", reply.body);
        assert!(!reply.body.contains("sk-upstream"), "{}", reply.body);
    }
}

#[test]
fn a_refusal_without_words_gets_some() {
    for reply in refused(400, "", "") {
        assert_eq!(reply.status, 400);
        let message = reply.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("400"), "{message}");
    }
}

#[test]
fn a_status_that_is_none_is_a_bad_gateway() {
    for status in [600, 999] {
        for reply in refused(status, "", "{}") {
            assert_eq!(reply.status, 502, "{}", reply.body);
        }
    }
}

#[test]
fn a_stream_that_is_cut_before_a_whole_answer_is_a_bad_gateway() {
    let provider = Provider::start(vec![Script::Say(sse(&chat_chunk("begun")))]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let reply = gateway.post("/v1/messages", &messages("p/m", false));
    assert_eq!(reply.status, 502, "{}", reply.body);
}

#[test]
fn a_key_that_is_repeated_in_place_of_an_answer_does_not_leave() {
    let words = r#"{"error":{"message":"sk-upstream is not a key","type":"invalid_request_error","code":"sk-upstream"}}"#;
    for answer in [json(200, "", words), sse(&format!("data: {words}\n\n"))] {
        for path in ["/v1/chat/completions", "/v1/messages", "/v1/responses"] {
            let provider = Provider::start(vec![Script::Say(answer.clone())]);
            let gateway = Running::start(&provider.toml("p", "openai-chat"));
            let body = r#"{"model":"p/m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"x"}],"input":"x"}"#;
            let reply = gateway.post(path, body);
            assert!(reply.status >= 400, "{}", reply.body);
            assert!(reply.body.contains("[key] is not a key"), "{path}: {}", reply.body);
            assert!(!reply.body.contains("sk-upstream"), "{path}: {}", reply.body);
        }
    }
}

#[test]
fn an_error_under_a_good_status_is_an_error_with_its_words() {
    let words =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"come back later"}}"#;
    for (path, status) in [("/v1/messages", 529), ("/v1/chat/completions", 503)] {
        for stream in [false, true] {
            let provider = Provider::start(vec![Script::Say(json(200, "", words))]);
            let gateway = Running::start(&provider.toml("p", "anthropic-messages"));
            let reply = gateway.post(path, &messages("p/m", stream));
            assert_eq!(reply.status, status, "{path}: {}", reply.body);
            assert_eq!(reply.json()["error"]["message"], "come back later", "{path}");
            assert_eq!(provider.received().len(), 2, "it may pass by itself");
        }
    }
}
