//! Retries and fallback: until the first event has left, and not after.

use crate::harness::*;

/// A gateway whose model `m` has these providers as targets, in order.
fn with_targets(providers: &[&Provider]) -> Running {
    let mut toml = String::new();
    let mut targets = Vec::new();
    for (number, provider) in providers.iter().enumerate() {
        toml += &provider.toml(&format!("p{number}"), "openai-chat");
        targets.push(format!("{{ provider = \"p{number}\", model = \"up\" }}"));
    }
    toml += &format!("\n[[model]]\nname = \"m\"\ntargets = [{}]\n", targets.join(", "));
    Running::start(&toml)
}

fn failing(status: u16, headers: &str) -> Script {
    Script::Reply(json(status, headers, r#"{"error":{"message":"not now","type":"server_error"}}"#))
}

fn replying(text: &str) -> Script {
    Script::Reply(json(200, "", &chat_answer(text)))
}

#[test]
fn a_passing_failure_is_tried_once_more() {
    for status in [502, 503, 529] {
        let provider = Provider::start(vec![failing(status, ""), replying("second")]);
        let gateway = with_targets(&[&provider]);
        let reply = gateway.post("/v1/messages", &messages("m", false));
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert!(reply.body.contains("second"));
        assert_eq!(provider.received().len(), 2);
    }
}

#[test]
fn the_next_target_answers_when_one_cannot() {
    for status in [429, 500, 503] {
        let first = Provider::start(vec![failing(status, "retry-after: 30\r\n")]);
        let second = Provider::start(vec![replying("second")]);
        let gateway = with_targets(&[&first, &second]);
        let reply = gateway.post("/v1/messages", &messages("m", false));
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert_eq!(reply.header("sabir-route"), Some("fallback:2"));
        assert_eq!(reply.header("sabir-provider"), Some("p1"));
        assert_eq!(first.received().len(), 1, "status {status} with a long retry-after");
    }
}

#[test]
fn what_the_client_did_wrong_is_not_asked_again_elsewhere() {
    let first = Provider::start(vec![failing(400, "")]);
    let second = Provider::start(vec![replying("second")]);
    let gateway = with_targets(&[&first, &second]);
    let reply = gateway.post("/v1/messages", &messages("m", false));
    assert_eq!(reply.status, 400);
    assert_eq!(reply.json()["type"], "error");
    assert!(second.received().is_empty());
}

#[test]
fn a_sole_target_is_always_tried_and_its_retry_after_reaches_the_client() {
    let provider = Provider::start(vec![failing(429, "retry-after: 7\r\n")]);
    let gateway = with_targets(&[&provider]);
    for _ in 0..5 {
        let reply = gateway.post("/v1/messages", &messages("m", false));
        assert_eq!(reply.status, 429);
        assert_eq!(reply.header("retry-after"), Some("7"));
        assert_eq!(reply.json()["error"]["type"], "rate_limit_error");
    }
    assert_eq!(provider.received().len(), 5);
}

#[test]
fn an_error_in_place_of_the_first_event_is_a_failure_like_any_other() {
    let error =
        "data: {\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\",\"code\":503}}\n\n";
    for (path, body) in
        [("/v1/messages", messages("m", true)), ("/v1/chat/completions", chat("m", true))]
    {
        let first = Provider::start(vec![Script::Reply(sse(error))]);
        let second = Provider::start(vec![Script::Reply(sse(&(chat_chunk("second") + CHAT_END)))]);
        let gateway = with_targets(&[&first, &second]);
        let reply = gateway.post(path, &body);
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert!(reply.body.contains("second"), "{}", reply.body);
        assert_eq!(reply.header("sabir-route"), Some("fallback:2"));
    }
}

#[test]
fn after_the_first_event_a_failure_ends_the_stream_in_the_clients_own_way() {
    let cut = sse(&chat_chunk("begun"));
    for (path, body, sign) in [
        ("/v1/messages", messages("m", true), "event: error"),
        ("/v1/chat/completions", chat("m", true), "data: {\"error\""),
        (
            "/v1/responses",
            r#"{"model":"m","stream":true,"input":"hello"}"#.to_owned(),
            "response.failed",
        ),
        (
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#.to_owned(),
            "\"error\"",
        ),
    ] {
        let first = Provider::start(vec![Script::Reply(format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{}\r\n",
            chat_chunk("begun").len(),
            chat_chunk("begun")
        ))]);
        let second = Provider::start(vec![Script::Reply(cut.clone())]);
        let gateway = with_targets(&[&first, &second]);
        let reply = gateway.post(path, &body);
        assert_eq!(reply.status, 200);
        assert!(reply.body.contains("begun"), "{path}: {}", reply.body);
        assert!(reply.body.contains(sign), "{path}: {}", reply.body);
        assert!(second.received().is_empty());
    }
}

#[test]
fn a_provider_that_is_not_there_is_a_bad_gateway_in_the_clients_shape() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gateway = Running::start(&format!(
        "[[provider]]\nname = \"p\"\nprotocol = \"openai-chat\"\nbase_url = \"http://{nobody}/v1\"\napi_key = {{ value = \"k\" }}\n"
    ));
    let reply = gateway.post("/v1/messages", &messages("p/m", false));
    assert_eq!(reply.status, 502, "{}", reply.body);
    assert_eq!(reply.json()["type"], "error");
}

#[test]
fn a_redirect_is_never_followed() {
    let elsewhere = Provider::start(vec![replying("stolen")]);
    let head = format!("location: http://{}/v1/chat/completions\r\n", elsewhere.address);
    let provider = Provider::start(vec![Script::Reply(json(302, &head, "{}"))]);
    let gateway = with_targets(&[&provider]);
    let reply = gateway.post("/v1/messages", &messages("m", false));
    assert_eq!(reply.status, 502, "{}", reply.body);
    assert!(elsewhere.received().is_empty());
}

#[test]
fn a_silent_provider_is_given_up() {
    let (left, gone) = std::sync::mpsc::channel();
    let provider = Provider::start(vec![Script::Hold(String::new(), left)]);
    let toml = provider.toml("p", "openai-chat") + "first_byte_timeout = \"50ms\"\nretries = 0\n";
    let gateway = Running::start(&toml);
    let reply = gateway.post("/v1/messages", &messages("p/m", false));
    assert_eq!(reply.status, 504, "{}", reply.body);
    gone.recv_timeout(PATIENCE).unwrap();
}

#[test]
fn a_stream_that_falls_silent_ends_with_an_error() {
    let (left, gone) = std::sync::mpsc::channel();
    let provider = Provider::start(vec![Script::Hold(sse(&chat_chunk("begun")), left)]);
    let toml = provider.toml("p", "openai-chat") + "idle_timeout = \"80ms\"\n";
    let gateway = Running::start(&toml);
    let reply = gateway.post("/v1/messages", &messages("p/m", true));
    assert!(reply.body.contains("begun") && reply.body.contains("event: error"), "{}", reply.body);
    gone.recv_timeout(PATIENCE).unwrap();
}

#[test]
fn only_so_many_requests_are_with_a_provider_at_once() {
    let (left, gone) = std::sync::mpsc::channel();
    let hold = Script::Hold(sse(&chat_chunk("begun")), left);
    let provider = Provider::start(vec![hold, replying("second")]);
    let toml = provider.toml("p", "openai-chat")
        + "max_in_flight = 1\n[limits]\nmax_queue_wait = \"50ms\"\n";
    let gateway = Running::start(&toml);
    let mut first = gateway.send("POST /v1/chat/completions", &chat("p/m", true));
    assert_eq!(read_head(&mut first).0, 200);
    let reply = gateway.post("/v1/chat/completions", &chat("p/m", false));
    assert_eq!(reply.status, 503, "{}", reply.body);
    drop(first);
    gone.recv_timeout(PATIENCE).unwrap();
    gateway.wait_for_metric("sabir_requests_in_flight 0");
    let reply = gateway.post("/v1/chat/completions", &chat("p/m", false));
    assert_eq!(reply.status, 200, "{}", reply.body);
}

#[test]
fn a_count_of_tokens_waits_in_line_too() {
    let (left, _gone) = std::sync::mpsc::channel();
    let provider = Provider::start(vec![Script::Hold(String::new(), left), replying("second")]);
    let toml = provider.toml("p", "anthropic-messages")
        + "max_in_flight = 1\n[limits]\nmax_queue_wait = \"50ms\"\n";
    let gateway = Running::start(&toml);
    let _first = gateway.send("POST /v1/messages", &messages("p/m", false));
    gateway.wait_for_metric("sabir_requests_in_flight 1");
    while provider.received().is_empty() {
        std::thread::yield_now();
    }
    let reply = gateway.post("/v1/messages/count_tokens", &messages("p/m", false));
    assert_eq!(reply.status, 529, "{}", reply.body);
    assert_eq!(reply.header("retry-after"), Some("5"));
}

#[test]
fn a_frame_over_the_limit_ends_the_stream() {
    let frames = chat_chunk("begun") + &chat_chunk(&"x".repeat(20_000)) + CHAT_END;
    let provider = Provider::start(vec![Script::Reply(sse(&frames))]);
    let toml = provider.toml("p", "openai-chat") + "[limits]\nmax_frame_size = \"10KB\"\n";
    let gateway = Running::start(&toml);
    let reply = gateway.post("/v1/messages", &messages("p/m", true));
    assert!(reply.body.contains("event: error"), "{}", reply.body);
    assert!(!reply.body.contains("xxx"));
}

#[test]
fn a_target_that_stands_back_is_told_in_the_route() {
    let first = Provider::start(vec![failing(500, "")]);
    let second = Provider::start(vec![replying("second")]);
    let gateway = with_targets(&[&first, &second]);
    for _ in 0..5 {
        let reply = gateway.post("/v1/messages", &messages("m", false));
        assert_eq!(reply.header("sabir-route"), Some("fallback:2"));
    }
    assert_eq!(first.received().len(), 3, "it stands back after three failures in a row");
}

/// The texts that a model answers with, one request after the other.
fn answers(gateway: &Running, models: &[&str]) -> Vec<String> {
    let answer = |model: &&str| {
        let reply = gateway.post("/v1/chat/completions", &chat(model, false)).json();
        reply["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
    };
    models.iter().map(answer).collect()
}

#[test]
fn each_model_keeps_its_own_weights() {
    let first = Provider::start(vec![replying("first")]);
    let second = Provider::start(vec![replying("second")]);
    let mut toml = first.toml("a", "openai-chat") + &second.toml("b", "openai-chat");
    for name in ["large", "small"] {
        toml += &format!(
            "\n[[model]]\nname = \"{name}\"\nstrategy = \"weighted\"\ntargets = [\
             {{ provider = \"a\", model = \"m\" }}, {{ provider = \"b\", model = \"m\" }}]\n"
        );
    }
    let gateway = Running::start(&toml);
    let served = answers(&gateway, &["large", "small"].repeat(4));
    let of_large = served.iter().step_by(2).filter(|it| *it == "first").count();
    assert_eq!(of_large, 2, "a client that asks for two models by turns: {served:?}");
}

#[test]
fn an_error_in_place_of_a_whole_answer_is_a_failure_like_any_other() {
    let body = r#"{ "error" : {"message":"not so fast","type":"rate_limit_error"}}"#;
    for (path, stream) in [
        ("/v1/chat/completions", false),
        ("/v1/chat/completions", true),
        ("/v1/messages", false),
        ("/v1/messages", true),
    ] {
        let first = Provider::whole(body);
        let second = Provider::start(vec![replying("second")]);
        let gateway = with_targets(&[&first, &second]);
        let reply = gateway.post(path, &messages("m", stream));
        assert_eq!(reply.header("sabir-route"), Some("fallback:2"), "{path} {stream}");
        let reply = gateway.post(path, &messages("p0/m", stream));
        assert_eq!(reply.status, 429, "{path} {stream}: {}", reply.body);
        assert!(reply.body.contains("not so fast"), "{}", reply.body);
    }
}

#[test]
fn only_what_may_pass_by_itself_is_asked_of_the_same_target_again() {
    let frame = "data: {\"error\":{\"message\":\"broken\",\"type\":\"server_error\"}}\n\n";
    let redirect = json(302, "location: http://localhost/\r\n", "");
    for sender in [sse(frame), redirect] {
        let provider = Provider::start(vec![Script::Reply(sender)]);
        let gateway = with_targets(&[&provider]);
        assert!(gateway.post("/v1/messages", &messages("m", true)).status >= 500);
        assert_eq!(provider.received().len(), 1);
    }
}
