//! Behaviour that only this protocol has.

mod answers;
mod endings;

use serde_json::{Value, json};

use crate::conversation::{
    Arguments, Candidate, Content, Message, Part, Reasoning, ReasoningForm, Request, Response,
    Role, ToolCall,
};
use crate::fault::FaultKind;
use crate::json::{Json, Text};
use crate::loss::{LossKind, Report};
use crate::protocol::tests::{check_refused, value};
use crate::protocol::{
    AnswerContext, DecodedRequest, Event, Protocol, StreamEncoder, tests as shared, unfold,
};
use crate::target::{Dialect, Target};

const SELF: Protocol = Protocol::OpenaiChat;

#[test]
fn wrong_types_are_refused_with_a_pointer() {
    let cases = [
        (r#"{"messages":{}}"#, "/messages"),
        (r#"{"messages":[{"role":1}]}"#, "/messages/0/role"),
        (r#"{"messages":[{"role":"user","content":1}]}"#, "/messages/0/content"),
        (
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":1}]}]}"#,
            "/messages/0/content/0/text",
        ),
        (r#"{"messages":[],"temperature":"warm"}"#, "/temperature"),
        (r#"{"messages":[],"max_tokens":"5"}"#, "/max_tokens"),
        (r#"{"messages":[],"tool_choice":1}"#, "/tool_choice"),
        ("{}", ""),
    ];
    check_refused(SELF, &cases);
}

/// What a request of Anthropic's becomes.
fn from_anthropic(messages: Vec<Message<'static>>, target: &Target) -> (Value, Report) {
    let request = Request { messages, stream: Some(true), ..Request::default() };
    let decoded = DecodedRequest::new(Protocol::AnthropicMessages, request);
    let encoded = decoded.encode(SELF, target).unwrap();
    (value(&encoded.body), encoded.report)
}

fn call(id: &'static str) -> Part<'static> {
    Part::new(Content::ToolCall(Box::new(ToolCall {
        id: Some(Text::literal(id)),
        name: Text::literal("f"),
        arguments: Arguments::Json(Json::parse("{ \"a\": 1 }").unwrap()),
        form: Default::default(),
    })))
}

#[test]
fn the_usage_of_a_translated_stream_is_asked_for() {
    let (body, report) = from_anthropic(vec![], &Target::default());
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
    assert_eq!(report.entries()[0].kind, LossKind::Synthesised);
    let (body, _) = from_anthropic(vec![], &Target::default().with_dialect(Dialect::MISTRAL));
    assert_eq!(body.get("stream_options"), None);
}

#[test]
fn reasoning_goes_back_only_to_servers_that_want_it() {
    let reasoning = || {
        let texts = vec![Text::literal("hm")];
        Part::new(Content::Reasoning(Box::new(Reasoning { form: ReasoningForm::Raw, texts })))
    };
    let check = |dialect: Dialect, field: &str, expected: Value| {
        let turn = Message::new(Role::Assistant, vec![reasoning(), call("call12345")]);
        let (body, report) = from_anthropic(vec![turn], &Target::default().with_dialect(dialect));
        assert_eq!(body["messages"][0][field], expected, "{}", dialect.name);
        assert_eq!(report.count(LossKind::Dropped), usize::from(expected.is_null()));
    };
    check(Dialect::OPENAI, "reasoning_content", Value::Null);
    check(Dialect::DEEPSEEK, "reasoning_content", json!("hm"));
    check(Dialect::OPENROUTER, "reasoning", json!("hm"));
    let chunk = json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]);
    check(Dialect::MISTRAL, "content", chunk);
}

#[test]
fn reasoning_that_stands_in_the_content_keeps_its_place_there() {
    let texts = vec![Text::literal("hm")];
    let reasoning = Content::Reasoning(Box::new(Reasoning { form: ReasoningForm::Raw, texts }));
    let parts = vec![Part::new(reasoning), Part::text("low"), call("call12345")];
    let turns = vec![Message::new(Role::Assistant, parts)];
    let (body, _) = from_anthropic(turns, &Target::default().with_dialect(Dialect::MISTRAL));
    let message = &body["messages"][0];
    assert_eq!(message["content"][0]["type"], "thinking");
    assert_eq!(message["content"][1], json!({"type": "text", "text": "low"}));
    assert_eq!(message["tool_calls"][0]["id"], "call12345");
}

/// The events of a stream of chunks and the mark of its end.
fn events(chunks: &[Value], end: &[&str]) -> Vec<Event<'static>> {
    let chunks = chunks.iter().map(Value::to_string);
    let payloads: Vec<String> = chunks.chain(end.iter().map(|end| end.to_string())).collect();
    shared::events(SELF, &payloads)
}

const DONE: &[&str] = &["[DONE]"];

fn chunk(delta: Value, finish: Option<&str>) -> Value {
    json!({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
}

/// The message that a stream amounts to.
fn folded(chunks: &[Value]) -> Value {
    shared::folded(SELF, events(chunks, DONE))["choices"][0]["message"].take()
}

fn fragment(index: u64, id: Option<&str>, name: Option<&str>, arguments: &str) -> Value {
    json!({"tool_calls": [
        {"index": index, "id": id, "function": {"name": name, "arguments": arguments}}
    ]})
}

fn arguments_of(message: &Value) -> Vec<(&str, &str)> {
    let calls = message["tool_calls"].as_array().unwrap();
    calls
        .iter()
        .map(|call| {
            let function = &call["function"];
            (call["id"].as_str().unwrap(), function["arguments"].as_str().unwrap())
        })
        .collect()
}

#[test]
fn reasoning_is_heard_under_any_name() {
    for (delta, field, expected) in [
        (json!({"reasoning_content": "hm"}), "reasoning_content", json!("hm")),
        (json!({"reasoning": "hm", "reasoning_content": "hm"}), "reasoning", json!("hm")),
        (
            json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}),
            "content",
            json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]),
        ),
        (
            json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "hm"}]}),
            "reasoning_details",
            json!([{"type": "reasoning.text", "index": 0, "text": "hm"}]),
        ),
    ] {
        let message = folded(&[chunk(delta, None), chunk(json!({}), Some("stop"))]);
        assert_eq!(message[field], expected);
    }
}

#[test]
fn the_end_marker_alone_is_no_answer() {
    let events = events(&[], DONE);
    let Some(Event::Fault(fault)) = events.last() else { panic!("expected a fault") };
    assert_eq!(fault.kind, FaultKind::Truncated);
}

/// The data of the frames that a stream of this protocol's own is written as.
fn written(chunks: &[Value], context: AnswerContext<'_>) -> Vec<Value> {
    let (mut frames, _) = shared::written(SELF, (SELF, events(chunks, DONE)), context);
    assert_eq!(frames.pop().as_deref(), Some("[DONE]"));
    frames.iter().map(|frame| value(frame)).collect()
}

#[test]
fn a_stream_begins_with_the_role_and_ends_with_the_usage_that_was_asked_for() {
    let mut last = chunk(json!({}), Some("tool_calls"));
    last["usage"] = json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3});
    // The server counts from 1; clients want calls counted from 0, and each id and name once.
    let chunks = [chunk(fragment(1, Some("a"), Some("f"), "{"), None), last];
    let frames = written(&chunks, AnswerContext::default());
    assert_eq!(frames[0]["choices"][0]["delta"], json!({"role": "assistant", "content": ""}));
    let call = &frames[1]["choices"][0]["delta"]["tool_calls"][0];
    assert_eq!((&call["index"], &call["id"]), (&json!(0), &json!("a")));
    let more = &frames[2]["choices"][0]["delta"]["tool_calls"][0];
    assert_eq!(*more, json!({"index": 0, "function": {"arguments": "{"}}));
    assert_eq!(frames[3]["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(frames[4]["choices"], json!([]));
    assert_eq!(frames[4]["usage"]["total_tokens"], 3);
    let unasked = AnswerContext { include_usage: false, ..AnswerContext::default() };
    assert_eq!(written(&chunks, unasked).len(), 4);
}
