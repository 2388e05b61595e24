//! What a provider says when it refuses, and what of it reaches the client.

use crate::harness::*;
use crate::waiting::let_pass;

/// What clients of both kinds get when the provider refuses like this.
fn refused(status: u16, headers: &str, body: &str) -> [Reply; 2] {
    let provider = Provider::start(vec![Script::Reply(json(status, headers, body))]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    ["/v1/chat/completions", "/v1/messages"].map(|path| gateway.post(path, &messages("p/m", false)))
}

#[test]
fn a_pause_that_is_no_number_is_not_told() {
    let body = r#"{"error":{"message":"slow down"}}"#;
    for (stated, passed_on) in [("soon", None), ("-5", None), ("0.5", Some("1"))] {
        for reply in refused(429, &format!("retry-after: {stated}\r\n"), body) {
            assert_eq!(reply.status, 429);
            assert_eq!(reply.header("retry-after"), passed_on, "{stated}");
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
    let provider = Provider::start(vec![Script::Reply(sse(&chat_chunk("begun")))]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let reply = gateway.post("/v1/messages", &messages("p/m", false));
    assert_eq!(reply.status, 502, "{}", reply.body);
}

#[test]
fn a_key_that_is_repeated_in_place_of_an_answer_does_not_leave() {
    let words = r#"{"error":{"message":"sk-upstream is not a key","type":"invalid_request_error","code":"sk-upstream"}}"#;
    for answer in [json(200, "", words), sse(&format!("data: {words}\n\n"))] {
        for path in ["/v1/chat/completions", "/v1/messages", "/v1/responses"] {
            let provider = Provider::start(vec![Script::Reply(answer.clone())]);
            let gateway = Running::start(&provider.toml("p", "openai-chat"));
            let body = r#"{"model":"p/m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"x"}],"input":"x"}"#;
            let reply = gateway.post(path, body);
            assert!(reply.status >= 400, "{}", reply.body);
            assert!(reply.body.contains("[redacted] is not a key"), "{path}: {}", reply.body);
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
            let provider = Provider::start(vec![Script::Reply(json(200, "", words))]);
            let gateway = Running::start(&provider.toml("p", "anthropic-messages"));
            let reply = gateway.post(path, &messages("p/m", stream));
            assert_eq!(reply.status, status, "{path}: {}", reply.body);
            assert_eq!(reply.json()["error"]["message"], "come back later", "{path}");
            assert_eq!(provider.received().len(), 2, "it may pass by itself");
        }
    }
}

/// Streams that have begun well and then repeat the key in an error, in the manner of each protocol.
fn streams_with_the_key() -> [(&'static str, &'static str, String); 5] {
    let chat = chat_chunk("begun");
    let late = r#"{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"message":"sk-upstream is not a key","code":401}}"#;
    let responses = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"created_at\":1,\"status\":\"in_progress\",\"model\":\"m\",\"output\":[]}}\n\n\
        event: error\ndata: {\"type\":\"error\",\"code\":\"sk-upstream\",\"message\":\"sk-upstream is not a key\",\"param\":null}\n\n";
    let messages = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n\
        event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":\"sk-upstream is not a key\"}}\n\n";
    let gemini = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"begun\"}],\"role\":\"model\"}}]}\n\n\
        data: {\"error\":{\"code\":401,\"message\":\"sk-upstream is not a key\",\"status\":\"UNAUTHENTICATED\"}}\n\n";
    let error = r#"{"error":{"message":"sk-upstream is not a key","type":"invalid_request_error","code":"sk-upstream"}}"#;
    [
        ("openai-chat", "/v1/chat/completions", format!("{chat}data: {error}\n\n")),
        ("openai-chat", "/v1/chat/completions", format!("{chat}data: {late}\n\n")),
        ("openai-responses", "/v1/responses", responses.to_owned()),
        ("anthropic-messages", "/v1/messages", messages.to_owned()),
        ("gemini", "/v1beta/models/p%2Fm:streamGenerateContent?alt=sse", gemini.to_owned()),
    ]
}

/// Asks for a stream and checks that it has the error and not the key.
#[track_caller]
fn check_key_stays(protocol: &str, path: &str, scripts: Vec<Script>) {
    let provider = Provider::start(scripts);
    let gateway = Running::start(&provider.toml("p", protocol));
    let body = match path.contains("Generate") {
        true => r#"{"contents":[{"role":"user","parts":[{"text":"x"}]}]}"#,
        false => {
            r#"{"model":"p/m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"x"}],"input":"x"}"#
        }
    };
    let reply = gateway.post(path, body);
    assert_eq!(reply.status, 200, "{protocol} {path}: {}", reply.body);
    assert!(reply.body.contains("[redacted] is not a key"), "{protocol} {path}: {}", reply.body);
    assert!(!reply.body.contains("sk-upstream"), "{protocol} {path}: {}", reply.body);
}

#[test]
fn a_key_that_is_repeated_inside_a_stream_does_not_leave() {
    let streams = streams_with_the_key();
    for (protocol, own, stream) in &streams {
        // The last event may lack its blank line.
        for stream in [stream.as_str(), stream.trim_end()] {
            for (_, path, _) in &streams {
                check_key_stays(protocol, path, vec![Script::Reply(sse(stream))]);
            }
        }
        let (begun, error) = stream.split_at(stream.find("upstream").unwrap());
        check_key_stays(protocol, own, vec![in_two(&sse(begun), error)]);
    }
}

#[test]
fn a_key_that_is_repeated_inside_a_list_does_not_leave() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
    let list = r#"[{"candidates":[{"content":{"parts":[{"text":"sk-begun"}],"role":"model"}}]},
        {"error":{"code":401,"message":"sk-upstream is not a key","status":"UNAUTHENTICATED"}}]"#;
    let path = "/v1beta/models/p%2Fm:streamGenerateContent";
    check_key_stays("gemini", path, vec![Script::Reply(format!("{head}{list}"))]);
    let (begun, error) = list.split_at(list.find("upstream").unwrap());
    check_key_stays("gemini", path, vec![in_two(&format!("{head}{begun}"), error)]);
}

#[test]
fn a_key_in_what_a_model_says_is_redacted_in_a_list_as_in_events() {
    let answer_text =
        r#"{"candidates":[{"content":{"parts":[{"text":"sk-upstream"}],"role":"model"}}]}"#;
    let end = r#"{"candidates":[{"finishReason":"STOP"}]}"#;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
    let (events, list) =
        (format!("data: {answer_text}\n\ndata: {end}\n\n"), format!("[{answer_text}\n,{end}]"));
    for (query, answer, expected) in
        [("?alt=sse", sse(&events), events), ("", format!("{head}{list}"), list)]
    {
        let provider = Provider::start(vec![Script::Reply(answer)]);
        let gateway = Running::start(&provider.toml("p", "gemini"));
        let path = format!("/v1beta/models/p%2Fm:streamGenerateContent{query}");
        let body = r#"{"contents":[{"role":"user","parts":[{"text":"x"}]}]}"#;
        let expected = expected.replace("sk-upstream", "[redacted]");
        assert_eq!(gateway.post(&path, body).body, expected);
    }
}

#[test]
fn an_element_of_a_list_does_not_wait_for_the_next() {
    let (sender, pieces) = std::sync::mpsc::channel();
    let pieces = std::sync::Arc::new(std::sync::Mutex::new(pieces));
    let provider = Provider::start(vec![Script::Pieces(pieces)]);
    let gateway = Running::start(&provider.toml("p", "gemini"));
    let element = r#"{"candidates":[{"content":{"parts":[{"text":"one"}],"role":"model"}}]}"#;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
    let body = r#"{"contents":[{"role":"user","parts":[{"text":"x"}]}]}"#;
    let mut client = gateway.send("POST /v1beta/models/p%2Fm:streamGenerateContent", body);
    sender.send(format!("{head}[{element}\n,{}", &element[..20])).unwrap();
    read_head(&mut client);
    assert_eq!(read_chunk(&mut client).unwrap(), format!("[{element}\n,").as_bytes());
    sender.send(format!("{}\n", &element[20..])).unwrap();
    assert_eq!(read_chunk(&mut client).unwrap(), format!("{element}\n").as_bytes());
}

/// A provider that pauses between two parts of its answer.
fn in_two(first: &str, second: &str) -> Script {
    let (sender, pieces) = std::sync::mpsc::channel();
    sender.send(first.to_owned()).unwrap();
    let second = second.to_owned();
    std::thread::spawn(move || {
        let_pass(std::time::Duration::from_millis(50));
        sender.send(second)
    });
    Script::Pieces(std::sync::Arc::new(std::sync::Mutex::new(pieces)))
}
