//! Log probabilities, read and written.

use super::*;

/// An answer whose content and log probabilities are given.
fn answer(parts: &str, result: &str) -> String {
    format!(
        r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}},"finishReason":"STOP","index":0,"logprobsResult":{result}}}]}}"#
    )
}

/// What an answer is to a client of Chat, and what is reported of it.
fn in_chat(body: &str) -> (String, Vec<String>) {
    let response = SELF.decode_response(body.as_bytes()).unwrap();
    let encoded = Protocol::OpenaiChat.encode_response(&response, SELF, &AnswerContext::default());
    let mut losses = listed(&encoded.report);
    losses.retain(|loss| loss.contains("logprobs"));
    (encoded.body, losses)
}

#[test]
fn tokens_have_the_bytes_of_their_text() {
    let result = r#"{"chosenCandidates":[{"token":"é","logProbability":-0.50},{"token":"\ufffd"}],
        "topCandidates":[{"candidates":[{"token":"e","logProbability":-1}]},{"candidates":[]}]}"#;
    let (body, losses) = in_chat(&answer(r#"{"text":"é"}"#, result));
    let expected = r#"[
        {"token":"é","logprob":-0.50,"bytes":[195,169],
            "top_logprobs":[{"token":"e","logprob":-1,"bytes":[101]}]},
        {"token":"\ufffd","logprob":0,"bytes":null,"top_logprobs":[]}]"#;
    assert_eq!(at(&body, "/choices/0/logprobs/content"), value(expected));
    assert_eq!(losses, ["approximated /candidates/0/logprobsResult"]);
}

#[test]
fn the_texts_of_an_answer_have_them_together() {
    let parts = r#"{"text":"hm","thought":true},{"text":"a"},{"functionCall":{"name":"f","args":{}}},{"text":"b"}"#;
    let result = r#"{"chosenCandidates":[{"token":"a","logProbability":-1},{"token":"b","logProbability":-2}]}"#;
    let (body, losses) = in_chat(&answer(parts, result));
    assert_eq!(at(&body, "/choices/0/logprobs/content/1/token"), "b");
    assert!(losses.is_empty(), "{losses:?}");
}

#[test]
fn without_a_text_they_are_dropped() {
    let call = r#"{"functionCall":{"name":"f","args":{}}}"#;
    let (body, losses) =
        in_chat(&answer(call, r#"{"chosenCandidates":[{"token":"a","logProbability":-1}]}"#));
    assert!(at(&body, "/choices/0/logprobs").is_null());
    assert_eq!(losses, ["dropped /candidates/0/logprobsResult"]);
}

#[test]
fn every_shape_comes_back() {
    let text = r#"{"text":"a"}"#;
    for result in [
        r#"{"chosenCandidates":[{"token":"a","tokenId":7,"logProbability":-0.10}],"logProbabilitySum":-0.10}"#,
        r#"{"chosenCandidates":[]}"#,
        r#"{"chosenCandidates":"none"}"#,
        r#"{"topCandidates":[{"candidates":[{"token":"a"}]}]}"#,
        "{}",
    ] {
        let body = answer(text, result);
        let response = SELF.decode_response(body.as_bytes()).unwrap();
        let encoded = SELF.encode_response(&response, SELF, &AnswerContext::default());
        assert_eq!(value(&encoded.body), value(&body));
        assert!(encoded.body.contains(result), "{}", encoded.body);
    }
}

#[test]
fn the_results_of_a_stream_go_on_where_the_last_ended() {
    let frame = |part: &str, token: &str, sum: &str| {
        let token = format!(r#"{{"token":"{token}","logProbability":-1}}"#);
        let result = format!(
            r#"{{"chosenCandidates":[{token}],"topCandidates":[{{"candidates":[{token}]}}],"logProbabilitySum":{sum}}}"#
        );
        answer(part, &result).replace(r#""finishReason":"STOP","#, "")
    };
    let frames = [
        frame(r#"{"text":"hm","thought":true}"#, "a", "-1"),
        frame(r#"{"text":"ab"}"#, "b", "-2"),
        frame(r#"{"text":"c"}"#, "c", "-3"),
        r#"{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}]}"#.to_owned(),
    ];
    let result = folded(&frames)["candidates"][0]["logprobsResult"].take();
    let tokens = |list: &str| result.pointer(list).and_then(|it| it.as_array()).map(Vec::len);
    assert_eq!(tokens("/chosenCandidates"), Some(3));
    assert_eq!(tokens("/topCandidates"), Some(3));
    assert_eq!(result["chosenCandidates"][2]["token"], "c");
    assert_eq!(result["logProbabilitySum"], -3);
}
