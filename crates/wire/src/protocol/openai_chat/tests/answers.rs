//! Answers and errors of other protocols written in this one, and this one's written in others.

use super::*;

#[test]
fn errors_in_lists_and_in_one_word_are_read() {
    for (status, body, kind) in [
        (500, r#"[{"error":{"message":"m"}}]"#, FaultKind::Internal),
        (404, r#"{"error":"m"}"#, FaultKind::NotFound),
    ] {
        let fault = SELF.decode_fault(status, body.as_bytes());
        assert_eq!((fault.kind, &*fault.message.to_str()), (kind, "m"));
        assert_eq!(SELF.encode_fault(&fault).1, body);
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
    let whole = SELF.encode_response(&response, Protocol::Gemini, &AnswerContext::default());
    let message = &value(&whole.body)["choices"][0]["message"];
    assert_eq!(message["reasoning_content"], "a\n\nb");
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], "{}");
    let mut encoder = Some(StreamEncoder::new(SELF, Protocol::Gemini, AnswerContext::default()));
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
        store: Some(false),
        verbosity: Some(Text::literal("low")),
        user: Some(Text::literal("u")),
        ..Request::default()
    };
    let decoded = DecodedRequest::new(Protocol::AnthropicMessages, request);
    let target = Target::default().with_dialect(Dialect::MISTRAL);
    let encoded = decoded.encode(SELF, &target).unwrap();
    assert_eq!(encoded.body, r#"{"messages":[],"user":"u"}"#);
    assert_eq!(encoded.report.count(LossKind::Dropped), 2);
    let encoded = decoded.encode(SELF, &Target::default()).unwrap();
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
        assert_eq!(SELF.decode_fault(status, body.as_bytes()).kind, expected, "{status} {word}");
    }
}

#[test]
fn what_is_not_found_is_the_model_unless_something_else_is_named() {
    for (param, expected) in [
        (None, "model_not_found"),
        (Some("model"), "model_not_found"),
        (Some("after"), "not_found"),
    ] {
        let mut fault = crate::Fault::new(FaultKind::NotFound, Text::literal("no"));
        fault.param = param.map(Text::literal);
        let (status, body) = SELF.encode_fault(&fault);
        assert_eq!((status, &value(&body)["error"]["code"]), (404, &json!(expected)), "{param:?}");
    }
}

#[test]
fn reasoning_details_come_back_from_a_foreign_field() {
    let details = json!([{"type": "reasoning.encrypted", "data": "x", "index": 0}]);
    let body = json!({"id": "c", "object": "chat.completion", "created": 5, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": "a", "reasoning_details": details}}]});
    let text = body.to_string();
    let response = SELF.decode_response(text.as_bytes()).unwrap();
    let there =
        Protocol::OpenaiResponses.encode_response(&response, SELF, &AnswerContext::default());
    let response = Protocol::OpenaiResponses.decode_response(there.body.as_bytes()).unwrap();
    let back =
        SELF.encode_response(&response, Protocol::OpenaiResponses, &AnswerContext::default());
    assert_eq!(value(&back.body)["choices"][0]["message"]["reasoning_details"], details);
}
