//! Errors, read and written.

use super::*;

#[test]
fn errors_have_classes_and_come_back() {
    let cases = [
        (400, "INVALID_ARGUMENT", "an odd field", FaultKind::BadRequest),
        (
            400,
            "INVALID_ARGUMENT",
            "The input token count (9) exceeds the maximum number of tokens allowed (5)",
            FaultKind::ContextTooLong,
        ),
        (404, "NOT_FOUND", "m", FaultKind::NotFound),
        (503, "UNAVAILABLE", "m", FaultKind::Overloaded),
        (504, "DEADLINE_EXCEEDED", "m", FaultKind::Timeout),
    ];
    let mut bodies = Vec::from(cases.map(|(code, word, message, kind)| {
        let error = format!(r#"{{"code":{code},"message":"{message}","status":"{word}"}}"#);
        (code, format!(r#"[{{"error":{error}}}]"#), kind)
    }));
    let detailed = r#"{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#;
    bodies.push((400, detailed.to_owned(), FaultKind::Authentication));
    for (status, body, kind) in bodies {
        let fault = SELF.decode_fault(status, body.as_bytes());
        assert_eq!(fault.kind, kind, "{body}");
        assert_eq!(SELF.encode_fault(&fault), (status, body));
    }
}

#[test]
fn what_is_not_the_error_shape_becomes_the_message() {
    for body in ["<html>Bad gateway</html>", "{\"oops\":1}", ""] {
        let fault = SELF.decode_fault(502, body.as_bytes());
        assert_eq!(fault.kind, FaultKind::Internal);
        assert_eq!(fault.message, body);
    }
}

#[test]
fn the_time_to_wait_is_in_the_body() {
    for (delay, expected) in
        [("34.4s", Some(35)), ("60s", Some(60)), ("2.000s", Some(2)), ("soon", None)]
    {
        let body = format!(
            r#"{{"error":{{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m","details":[{{"@type":"x","retryDelay":"{delay}"}}]}}}}"#
        );
        let fault = SELF.decode_fault(429, body.as_bytes());
        assert_eq!((fault.kind, fault.retry_after_s), (FaultKind::RateLimit, expected));
    }
}

#[test]
fn the_body_states_the_status_it_is_sent_under() {
    for (kind, status, word) in [
        (FaultKind::Internal, 502, "UNAVAILABLE"),
        (FaultKind::Truncated, 502, "UNAVAILABLE"),
        (FaultKind::Internal, 508, "INTERNAL"),
        (FaultKind::BadRequest, 415, "INVALID_ARGUMENT"),
    ] {
        let body = SELF.encode_fault_under(status, &Fault::new(kind, "m"));
        let expected =
            format!(r#"{{"error":{{"code":{status},"message":"m","status":"{word}"}}}}"#);
        assert_eq!(body, expected);
    }
}

#[test]
fn a_foreign_fault_gets_status_and_word() {
    let mut fault = Fault::new(FaultKind::RateLimit, "slow down");
    fault.retry_after_s = Some(3);
    let (status, body) = SELF.encode_fault(&fault);
    assert_eq!(status, 429);
    assert_eq!(at(&body, "/error/status"), "RESOURCE_EXHAUSTED");
    assert_eq!(at(&body, "/error/message"), "slow down");
    assert_eq!(at(&body, "/error/details/0/retryDelay"), "3s");
}
