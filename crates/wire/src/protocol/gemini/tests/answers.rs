//! Whole answers, read and written.

use super::GEMINI;
use super::at;
use super::value;
use crate::Protocol;
use crate::conversation::Candidate;
use crate::conversation::Content;
use crate::conversation::Count;
use crate::conversation::Finish;
use crate::conversation::FinishKind;
use crate::conversation::Message;
use crate::conversation::Part;
use crate::conversation::Response;
use crate::conversation::Role;
use crate::conversation::Usage;
use crate::json::Text;
use crate::protocol::Asked;

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
        let response = GEMINI.decode_response(body.as_bytes()).unwrap();
        assert_eq!(response.candidates[0].finish.as_ref().unwrap().kind, kind);
    }
}

#[test]
fn calls_make_the_finish_reason() {
    let body = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]},"finishReason":"STOP"}]}"#;
    let response = GEMINI.decode_response(body.as_bytes()).unwrap();
    assert_eq!(response.candidates[0].finish.as_ref().unwrap().kind, FinishKind::ToolCalls);
}

#[test]
fn a_blocked_prompt_is_an_answer_without_words() {
    let body = r#"{"promptFeedback":{"blockReason":"JAILBREAK"}}"#;
    let response = GEMINI.decode_response(body.as_bytes()).unwrap();
    let finish = response.candidates[0].finish.as_ref().unwrap();
    assert_eq!(finish.kind, FinishKind::PromptFilter);
    let foreign = GEMINI.encode_response(&response, Protocol::OpenaiChat, &Asked::default());
    assert_eq!(at(&foreign.body, "/promptFeedback/blockReason"), "OTHER");
    assert!(at(&foreign.body, "/candidates").is_null());
}

#[test]
fn counts_add_up() {
    let body = r#"{"usageMetadata":{"promptTokenCount":10,"toolUsePromptTokenCount":3,
        "candidatesTokenCount":15,"thoughtsTokenCount":804,"totalTokenCount":832}}"#;
    let usage = GEMINI.decode_response(body.as_bytes()).unwrap().usage.unwrap();
    let counts = [Count::Input, Count::Output, Count::Reasoning, Count::Total]
        .map(|count| usage.counts[count]);
    assert_eq!(counts, [Some(13), Some(819), Some(804), Some(832)]);
}

#[test]
fn bytes_of_sources_become_characters() {
    let body = r#"{"candidates":[{"content":{"parts":[{"text":"Ärger und Öl"}]},"groundingMetadata":{
        "groundingChunks":[{"web":{"uri":"https://a","title":"A"}}],
        "groundingSupports":[{"segment":{"startIndex":11,"endIndex":14,"text":"Öl"},"groundingChunkIndices":[0]}]}}]}"#;
    let response = GEMINI.decode_response(body.as_bytes()).unwrap();
    let citations = response.candidates[0].message.parts[0].semantics().citations();
    assert_eq!(citations[0].span(), Some((10, 12)));
    assert_eq!(citations[0].url().unwrap(), &"https://a");
    let foreign = GEMINI.encode_response(&response, Protocol::OpenaiChat, &Asked::default());
    let segment = at(&foreign.body, "/candidates/0/groundingMetadata/groundingSupports/0/segment");
    assert_eq!(segment, value(r#"{"startIndex":11,"endIndex":14,"text":"Öl"}"#));
}

fn answer(part: Part<'static>, kind: FinishKind) -> Response<'static> {
    let mut candidate = Candidate::new(Message::new(Role::Assistant, vec![part]));
    candidate.finish = Some(Finish::new(kind));
    let mut response = Response::default();
    response.candidates.push(candidate);
    response
}

#[test]
fn a_refusal_ends_for_safety() {
    let refusal = Part::new(Content::Refusal(Text::plain("No.")));
    let response = answer(refusal, FinishKind::Stop);
    let body = GEMINI.encode_response(&response, Protocol::OpenaiChat, &Asked::default()).body;
    assert_eq!(at(&body, "/candidates/0/finishReason"), "SAFETY");
    assert_eq!(at(&body, "/candidates/0/content/parts/0/text"), "No.");
}

#[test]
fn foreign_usage_is_taken_apart() {
    let mut response = answer(Part::text("a"), FinishKind::Length);
    let mut usage = Usage::default();
    usage.counts[Count::Input] = Some(10);
    usage.counts[Count::CacheRead] = Some(4);
    usage.counts[Count::Output] = Some(9);
    usage.counts[Count::Reasoning] = Some(2);
    response.usage = Some(usage);
    let body = GEMINI.encode_response(&response, Protocol::OpenaiChat, &Asked::default()).body;
    let expected = r#"{"promptTokenCount":10,"candidatesTokenCount":7,"cachedContentTokenCount":4,
        "thoughtsTokenCount":2,"totalTokenCount":19}"#;
    assert_eq!(at(&body, "/usageMetadata"), value(expected));
    assert_eq!(at(&body, "/candidates/0/finishReason"), "MAX_TOKENS");
}
