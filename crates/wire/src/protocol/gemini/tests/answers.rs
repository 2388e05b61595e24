//! Whole answers, read and written.

use super::*;
use crate::conversation::FinishKind;

#[test]
fn finish_reasons_have_classes() {
    let cases = [
        ("STOP", FinishKind::Stop),
        ("MAX_TOKENS", FinishKind::Length),
        ("RECITATION", FinishKind::ContentFilter),
        ("MALFORMED_FUNCTION_CALL", FinishKind::MalformedCall),
        ("CONTINUATION", FinishKind::Pause),
        ("SOMETHING_NEW", FinishKind::Other),
    ];
    for (word, kind) in cases {
        let body = format!(r#"{{"candidates":[{{"finishReason":"{word}"}}]}}"#);
        let response = SELF.decode_response(body.as_bytes()).unwrap();
        assert_eq!(response.candidates[0].finish.as_ref().unwrap().kind, kind);
    }
}

#[test]
fn a_blocked_prompt_is_an_answer_without_words() {
    let body = r#"{"promptFeedback":{"blockReason":"JAILBREAK"}}"#;
    let response = SELF.decode_response(body.as_bytes()).unwrap();
    let finish = response.candidates[0].finish.as_ref().unwrap();
    assert_eq!(finish.kind, FinishKind::PromptFilter);
    let foreign = SELF.encode_response(&response, Protocol::OpenaiChat, &AnswerContext::default());
    assert_eq!(at(&foreign.body, "/promptFeedback/blockReason"), "OTHER");
    assert!(at(&foreign.body, "/candidates").is_null());
}

#[test]
fn bytes_of_sources_become_characters() {
    let body = r#"{"candidates":[{"content":{"parts":[{"text":"Ärger und Öl"}]},"groundingMetadata":{
        "groundingChunks":[{"web":{"uri":"https://a","title":"A"}}],
        "groundingSupports":[{"segment":{"startIndex":11,"endIndex":14,"text":"Öl"},"groundingChunkIndices":[0]}]}}]}"#;
    let response = SELF.decode_response(body.as_bytes()).unwrap();
    let citations = response.candidates[0].message.parts[0].semantics().citations();
    assert_eq!(citations[0].span(), Some((10, 12)));
    assert_eq!(citations[0].url().unwrap(), &"https://a");
    let foreign = SELF.encode_response(&response, Protocol::OpenaiChat, &AnswerContext::default());
    let segment = at(&foreign.body, "/candidates/0/groundingMetadata/groundingSupports/0/segment");
    assert_eq!(segment, value(r#"{"startIndex":11,"endIndex":14,"text":"Öl"}"#));
}
