//! Streams, read and written.

use super::*;
use crate::conversation::{CallForm, Finish, FinishKind, ReasoningForm};
use crate::json::Text;
use crate::place::Place;
use crate::protocol::{
    Artefact, ArtefactKind, Closed, Delta, NodeSemantics, Open, Opening, PartId, Start,
};

fn chunk(parts: &str, rest: &str) -> String {
    format!(
        r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}},"index":0{rest}}}]}}"#
    )
}

const STOP: &str = r#","finishReason":"STOP""#;

#[test]
fn texts_join_but_never_across_a_signature_or_a_thought() {
    let parts = [
        r#"{"text":"a"}"#,
        r#"{"text":"b"},{"text":"c"}"#,
        r#"{"text":"d","thought":true}"#,
        r#"{"text":"e","thought":true},{"text":"f"}"#,
        r#"{"text":"g","thoughtSignature":"s"}"#,
        r#"{"text":"h"}"#,
        r#"{"text":"","thoughtSignature":"t"}"#,
    ];
    let mut frames: Vec<String> = parts.iter().map(|part| chunk(part, "")).collect();
    frames.push(chunk(r#"{"text":""}"#, STOP));
    let whole = folded(&frames);
    let expected = r#"[{"text":"abc"},{"text":"de","thought":true},{"text":"f"},
        {"text":"g","thoughtSignature":"s"},{"text":"h"},{"text":"","thoughtSignature":"t"}]"#;
    assert_eq!(whole["candidates"][0]["content"]["parts"], value(expected));
}

#[test]
fn a_stream_says_what_the_whole_answer_says() {
    let frames = [
        r#"{"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":4,"toolUsePromptTokenCount":2,"totalTokenCount":6},"modelVersion":"m","responseId":"r"}"#,
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":1.50}}}],"role":"model"},"finishReason":"STOP","index":0,"finishMessage":"x"}],"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":3,"totalTokenCount":9},"modelVersion":"m","responseId":"r"}"#,
    ];
    let whole = r#"{"candidates":[{"content":{"parts":[{"text":"Hi"},{"functionCall":{"name":"f","args":{"a":1.50}}}],"role":"model"},"finishReason":"STOP","index":0,"finishMessage":"x"}],"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":3,"toolUsePromptTokenCount":2,"totalTokenCount":9},"modelVersion":"m","responseId":"r"}"#;
    assert_eq!(folded(&frames), value(whole));
}

#[test]
fn an_error_among_the_frames_is_a_fault() {
    let error = r#"{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}"#;
    for frame in [error.to_owned(), format!("[{error}]")] {
        let events = shared::events(SELF, &[chunk(r#"{"text":"a"}"#, ""), frame]);
        assert!(
            matches!(events.last(), Some(Event::Fault(fault)) if fault.kind == FaultKind::Overloaded)
        );
    }
}

fn open(part: u32, opening: Opening<'static>) -> Event<'static> {
    let semantics = NodeSemantics::default();
    Event::Open(Open { part: PartId(part), candidate: 0, opening, semantics })
}

fn sealed(issuer: Protocol) -> NodeSemantics<'static> {
    let seal = Artefact::new(issuer, ArtefactKind::Signature, Text::plain("sig"));
    let mut semantics = NodeSemantics::default();
    semantics.set_artefact(seal);
    semantics
}

fn delta(part: u32, text: &'static str) -> Event<'static> {
    Event::Delta(PartId(part), Delta::Text(Text::plain(text)))
}

fn close(part: u32, semantics: NodeSemantics<'static>) -> Event<'static> {
    Event::Close(Closed { part: PartId(part), semantics })
}

/// Writes events of another protocol; answers the payloads of the frames.
fn written(events: Vec<Event<'static>>) -> Vec<String> {
    shared::written(SELF, (Protocol::AnthropicMessages, events), AnswerContext::default()).0
}

#[test]
fn text_goes_out_at_once_and_calls_whole() {
    let call = Opening::ToolCall {
        id: Some(Text::plain("c1")),
        name: Text::plain("f"),
        form: CallForm::Function,
    };
    let frames = written(vec![
        Event::Start(Start::default()),
        open(0, Opening::Text),
        delta(0, "Hel"),
        delta(0, "lo"),
        close(0, NodeSemantics::default()),
        open(1, call),
        delta(1, "{\"a\":"),
        delta(1, "1}"),
        close(1, NodeSemantics::default()),
        finish(FinishKind::ToolCalls),
    ]);
    assert_eq!(frames.len(), 4);
    assert_eq!(at(&frames[1], "/candidates/0/content/parts/0/text"), "lo");
    let call = value(r#"{"functionCall":{"id":"c1","name":"f","args":{"a":1}}}"#);
    assert_eq!(at(&frames[2], "/candidates/0/content/parts/0"), call);
    assert_eq!(at(&frames[3], "/candidates/0/finishReason"), "STOP");
}

#[test]
fn a_late_signature_follows_its_thoughts() {
    let seal = sealed(Protocol::AnthropicMessages);
    let carried = seal.artefact().unwrap().carried_in(SELF).to_str().into_owned();
    let frames = written(vec![
        Event::Start(Start::default()),
        open(0, Opening::Reasoning(ReasoningForm::Summary)),
        delta(0, "hm"),
        close(0, seal),
        finish(FinishKind::Stop),
    ]);
    assert_eq!(at(&frames[1], "/candidates/0/content/parts/0/text"), "");
    assert_eq!(at(&frames[1], "/candidates/0/content/parts/0/thoughtSignature"), carried.as_str());
}

#[test]
fn a_signature_of_the_vendor_goes_back_to_the_call_behind_the_thoughts() {
    let call = Opening::ToolCall { id: None, name: Text::plain("run"), form: CallForm::Function };
    let frames = written(vec![
        Event::Start(Start::default()),
        open(0, Opening::Reasoning(ReasoningForm::Summary)),
        delta(0, "hm"),
        close(0, sealed(SELF)),
        open(1, call),
        close(1, NodeSemantics::default()),
        finish(FinishKind::Stop),
    ]);
    assert_eq!(at(&frames[1], "/candidates/0/content/parts/0/thoughtSignature"), "sig");
    assert_eq!(at(&frames[1], "/candidates/0/content/parts/0/functionCall/name"), "run");
}

fn finish(kind: FinishKind) -> Event<'static> {
    Event::Finish { candidate: 0, place: Place::default(), finish: Finish::new(kind) }
}
