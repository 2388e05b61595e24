//! Answers and errors of other protocols told in this one, and this one's told in others.

use super::*;

#[test]
fn errors_of_any_shape_are_read() {
    for (status, body, kind, message) in [
        (
            400,
            r#"{"error":{"message":"m","code":"context_length_exceeded"}}"#,
            FaultKind::ContextTooLong,
            "m",
        ),
        (429, r#"{"error":{"message":"m","type":"insufficient_quota"}}"#, FaultKind::Billing, "m"),
        (400, r#"{"object":"error","message":"m","code":"3051"}"#, FaultKind::BadRequest, "m"),
        (500, r#"[{"error":{"message":"m"}}]"#, FaultKind::Internal, "m"),
        (404, r#"{"error":"m"}"#, FaultKind::NotFound, "m"),
        (502, "<html>bad gateway</html>", FaultKind::Internal, "<html>bad gateway</html>"),
    ] {
        let fault = CHAT.decode_fault(status, body.as_bytes());
        assert_eq!((fault.kind, &*fault.message.to_str()), (kind, message));
        let (_, back) = CHAT.encode_fault(&fault);
        if body.starts_with(['{', '[']) {
            assert_eq!(back, body);
        }
    }
}

#[test]
fn reasonings_of_other_protocols_are_paragraphs_and_empty_arguments_an_object() {
    let reasoning = |text: &'static str| {
        let texts = vec![Text::literal(text)];
        Part::new(Content::Reasoning(Box::new(Reasoning { form: ReasoningForm::Raw, texts })))
    };
    let tool = ToolCall {
        id: None,
        name: Text::literal("f"),
        arguments: Arguments::Text(Text::default()),
        form: Default::default(),
    };
    let parts = vec![reasoning("a"), reasoning("b"), Part::new(Content::ToolCall(Box::new(tool)))];
    let candidate = Candidate::new(Message::new(Role::Assistant, parts));
    let response = Response { candidates: vec![candidate], ..Response::default() };
    let whole = CHAT.encode_response(&response, Protocol::Gemini, &Asked::default());
    let whole: Value = serde_json::from_str(&whole.body).unwrap();
    let message = &whole["choices"][0]["message"];
    assert_eq!(message["reasoning_content"], "a\n\nb");
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], "{}");
    let mut encoder = Some(StreamEncoder::new(CHAT, Protocol::Gemini, Asked::default()));
    let mut out = String::new();
    unfold(response, &mut |event| {
        encoder = encoder.take().map(|encoder| encoder.step(event, &mut out));
    });
    assert!(out.contains(r#"{"reasoning_content":"\n\n"}"#));
    assert!(out.contains(r#"{"arguments":"{}"}"#));
    assert!(out.contains(r#""id":"call_0_2""#));
}

#[test]
fn servers_that_refuse_unknown_fields_are_spared_them() {
    let request = Request {
        store: Some(true),
        verbosity: Some(Text::literal("low")),
        user: Some(Text::literal("u")),
        ..Request::default()
    };
    let exchange = Exchange::new(Protocol::AnthropicMessages, request);
    let target = Target::default().with_dialect(Dialect::MISTRAL);
    let encoded = exchange.encode(CHAT, &target).unwrap();
    assert_eq!(encoded.body, r#"{"messages":[],"user":"u"}"#);
    assert_eq!(encoded.report.count(LossKind::Dropped), 2);
    let encoded = exchange.encode(CHAT, &Target::default()).unwrap();
    assert_eq!(encoded.report.count(LossKind::Dropped), 0);
}

#[test]
fn the_status_decides_the_class_and_the_code_refines_it() {
    for (status, word, expected) in [
        (504, "server_error", FaultKind::Timeout),
        (408, "invalid_request_error", FaultKind::Timeout),
        (400, "model_not_found", FaultKind::BadRequest),
        (400, "context_length_exceeded", FaultKind::ContextTooLong),
        (429, "insufficient_quota", FaultKind::Billing),
        (429, "rate_limit_exceeded", FaultKind::RateLimit),
    ] {
        let body = json!({"error": {"message": "no", "type": word, "code": word}}).to_string();
        assert_eq!(CHAT.decode_fault(status, body.as_bytes()).kind, expected, "{status} {word}");
    }
}

/// Translates an answer of Anthropic into this protocol.
fn answered(content: Value) -> Value {
    let body = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": content, "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1}});
    let text = body.to_string();
    let response = Protocol::AnthropicMessages.decode_response(text.as_bytes()).unwrap();
    let encoded = CHAT.encode_response(&response, Protocol::AnthropicMessages, &Asked::default());
    serde_json::from_str(&encoded.body).unwrap()
}

#[test]
fn citations_are_counted_in_the_joined_text() {
    let citation = json!({"type": "web_search_result_location", "url": "https://tide.example/a",
        "title": "Tides", "cited_text": "low", "encrypted_index": "x"});
    let answer = answered(json!([
        {"type": "text", "text": "Höhe: "},
        {"type": "text", "text": "low tide", "citations": [citation]},
    ]));
    let cited = &answer["choices"][0]["message"]["annotations"][0]["url_citation"];
    assert_eq!((&cited["start_index"], &cited["end_index"]), (&json!(6), &json!(14)));
}

/// The report of this protocol's answer on its way to another, as pointers.
fn pointers(message: Value, logprobs: Value) -> Vec<String> {
    let body = json!({"id": "c", "object": "chat.completion", "created": 5, "model": "m",
        "choices": [{"index": 0, "message": message, "logprobs": logprobs,
            "finish_reason": "stop"}]});
    let text = body.to_string();
    let response = CHAT.decode_response(text.as_bytes()).unwrap();
    let encoded = Protocol::Gemini.encode_response(&response, CHAT, &Asked::default());
    encoded.report.entries().iter().map(|loss| loss.pointer.clone()).collect()
}

#[test]
fn losses_are_reported_beside_the_text_they_speak_of() {
    let logprobs = json!({"content": [{"token": "a", "logprob": -0.5, "bytes": null}]});
    let reported = pointers(json!({"role": "assistant", "content": "a"}), logprobs);
    assert!(reported.contains(&"/choices/0/logprobs".to_owned()), "{reported:?}");
}

#[test]
fn reasoning_details_come_back_from_a_foreign_field() {
    let details = json!([{"type": "reasoning.encrypted", "data": "x", "index": 0}]);
    let body = json!({"id": "c", "object": "chat.completion", "created": 5, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": "a", "reasoning_details": details}}]});
    let text = body.to_string();
    let response = CHAT.decode_response(text.as_bytes()).unwrap();
    let there = Protocol::OpenaiResponses.encode_response(&response, CHAT, &Asked::default());
    let response = Protocol::OpenaiResponses.decode_response(there.body.as_bytes()).unwrap();
    let back = CHAT.encode_response(&response, Protocol::OpenaiResponses, &Asked::default());
    let back: Value = serde_json::from_str(&back.body).unwrap();
    assert_eq!(back["choices"][0]["message"]["reasoning_details"], details);
}

#[test]
fn percent_signs_of_data_urls_are_understood_and_come_back() {
    let file = |data: &str| {
        let part = json!({"type": "file", "file": {"filename": "a", "file_data": data}});
        with_messages(json!([{"role": "user", "content": [part]}]))
    };
    for (url, expected) in [
        ("data:text/plain,Hello%20again", Some("Hello again")),
        ("data:,caf%C3%A9", Some("café")),
        ("data:application/pdf,%25PDF", None),
    ] {
        check_same(file(url));
        let text = file(url).to_string();
        let exchange = CHAT.decode_request(text.as_bytes()).unwrap();
        let Content::Media(media) = exchange.request.messages[0].parts[0].content() else {
            panic!("expected a file")
        };
        match (&media.source, expected) {
            (Source::Text { text, .. }, Some(expected)) => assert_eq!(text.to_str(), expected),
            (Source::Base64 { data, .. }, None) => assert_eq!(data.to_str(), "JVBERg=="),
            (source, _) => panic!("unexpected {source:?}"),
        }
    }
    // A stray sign is no data URL that could be read, and comes back all the same.
    check_same(file("data:text/plain,100%"));
}
