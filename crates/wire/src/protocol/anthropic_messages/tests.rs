//! Behaviour that only this protocol has.

use serde_json::{Value, json};

use crate::conversation::{Message, Part, Request, Role};
use crate::json::Text;
use crate::loss::{LossKind, Report};
use crate::protocol::tests::{check_refused, events, folded, value, written};
use crate::protocol::{AnswerContext, DecodedRequest, Protocol};
use crate::target::{AnthropicVersion, Target};

const SELF: Protocol = Protocol::AnthropicMessages;

fn has(report: &Report, pointer: &str, kind: LossKind) -> bool {
    report.entries().iter().any(|loss| loss.pointer == pointer && loss.kind == kind)
}

#[test]
fn wrong_types_are_refused_where_they_stand() {
    let cases = [
        (r#"{"messages":1}"#, "/messages"),
        (r#"{"messages":[{"role":"user","content":[{"type":"text"}]}]}"#, "/messages/0/content/0"),
        (r#"{"messages":[],"max_tokens":"1"}"#, "/max_tokens"),
        (r#"{"messages":[],"tools":[{}]}"#, "/tools/0"),
        (r#"{"model":"m"}"#, ""),
    ];
    check_refused(SELF, &cases);
}

#[test]
fn a_system_prompt_put_in_front_takes_the_slot() {
    let mut request = Request::default();
    request.messages.push(Message::new(Role::System, vec![Part::text("be brief")]));
    request.messages.push(Message::new(Role::User, vec![Part::text("hi")]));
    let encoded = DecodedRequest::new(SELF, request).encode(SELF, &Target::default()).unwrap();
    let body = value(&encoded.body);
    assert_eq!(body["system"], "be brief");
    assert_eq!(body["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn the_new_version_takes_no_sampling_at_all() {
    let body =
        json!({"model": "m", "messages": [], "temperature": 0.5, "top_p": 1.0, "max_tokens": 5});
    let text = body.to_string();
    let decoded = Protocol::OpenaiChat.decode_request(text.as_bytes()).unwrap();
    let anthropic_version = AnthropicVersion::V2026_10_21;
    let target = Target { anthropic_version, ..Target::default() };
    let encoded = decoded.encode(SELF, &target).unwrap();
    let sent = value(&encoded.body);
    assert!(sent.get("temperature").is_none() && sent.get("top_p").is_none());
    assert!(has(&encoded.report, "/temperature", LossKind::Dropped));
    assert!(has(&encoded.report, "/top_p", LossKind::Implied));
}

#[test]
fn thinking_of_another_vendor_rides_home_and_is_kept_from_this_one() {
    let signature = "sabir1:gemini:signature:abc";
    let body = json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "t", "signature": signature},
            {"type": "text", "text": "a"}]}]});
    let text = body.to_string();
    let decoded = SELF.decode_request(text.as_bytes()).unwrap();
    let encoded = decoded.encode(SELF, &Target::for_model("claude-sonnet-4-5")).unwrap();
    let content = &value(&encoded.body)["messages"][0]["content"];
    assert_eq!(*content, json!([{"type": "text", "text": "a"}]));
    assert!(has(&encoded.report, "/messages/0/content/0", LossKind::Withheld));
}

#[test]
fn thinking_is_off_in_a_tool_turn_whose_thinking_is_another_vendors() {
    let thought =
        |signature: &str| json!({"type": "thinking", "thinking": "t", "signature": signature});
    let call = json!({"type": "tool_use", "id": "c", "name": "f", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "c", "content": "r"});
    for (signature, is_on) in [("sabir1:gemini:signature:abc", false), ("own", true)] {
        let body = json!({"model": "claude-sonnet-4-5", "max_tokens": 4096, "messages": [
            {"role": "assistant", "content": [thought(signature), call]},
            {"role": "user", "content": [result]}],
            "thinking": {"type": "enabled", "budget_tokens": 1024}});
        let text = body.to_string();
        let decoded = SELF.decode_request(text.as_bytes()).unwrap();
        let encoded = decoded.encode(SELF, &Target::for_model("claude-sonnet-4-5")).unwrap();
        assert_eq!(value(&encoded.body).get("thinking").is_some(), is_on);
        assert_eq!(has(&encoded.report, "/thinking", LossKind::Approximated), !is_on);
    }
}

const CHAT: Protocol = Protocol::OpenaiChat;

fn chunk(delta: Value, finish: Option<&str>) -> Value {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    json!({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]})
}

#[test]
fn later_answers_of_a_stream_are_reported_once_each() {
    let mut second = chunk(json!({"content": "b"}), None);
    second["choices"][0]["index"] = json!(1);
    let mut end = chunk(json!({}), Some("stop"));
    end["choices"][0]["index"] = json!(1);
    let chunks = [chunk(json!({"content": "a"}), Some("stop")), second.clone(), second, end];
    let (frames, report) = written(SELF, (CHAT, events(CHAT, &chunks)), AnswerContext::default());
    let answer = folded(SELF, events(SELF, &frames));
    assert_eq!(answer["content"], json!([{"type": "text", "text": "a"}]));
    assert!(has(&report, "/1/choices/0", LossKind::Dropped));
    assert_eq!(report.count(LossKind::Dropped), 1);
}

fn start() -> Value {
    let usage = json!({"input_tokens": 3, "cache_read_input_tokens": 2, "output_tokens": 1});
    json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant",
        "model": "c", "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage}})
}

#[test]
fn a_stream_folds_to_the_answer_it_stands_for_and_back() {
    let block = |index: u32, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: u32, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: u32| json!({"type": "content_block_stop", "index": index});
    let frames = [
        start(),
        json!({"type": "ping"}),
        block(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "signature_delta", "signature": "s"})),
        stop(0),
        block(1, json!({"type": "server_tool_use", "id": "x", "name": "web_search", "input": {}})),
        delta(1, json!({"type": "input_json_delta", "partial_json": "{\"q\":"})),
        delta(1, json!({"type": "input_json_delta", "partial_json": "1.0}"})),
        stop(1),
        block(2, json!({"type": "tool_use", "id": "y", "name": "f", "input": {}})),
        delta(2, json!({"type": "input_json_delta", "partial_json": ""})),
        stop(2),
        json!({"type": "someday"}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null,
            "container": {"id": "k"}}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ];
    let whole = folded(SELF, events(SELF, &frames));
    assert_eq!(
        whole["content"],
        json!([
        {"type": "thinking", "thinking": "", "signature": "s"},
        {"type": "server_tool_use", "id": "x", "name": "web_search", "input": {"q": 1.0}},
        {"type": "tool_use", "id": "y", "name": "f", "input": {}}])
    );
    assert_eq!(
        whole["usage"],
        json!({"input_tokens": 3, "cache_read_input_tokens": 2, "output_tokens": 9})
    );
    assert_eq!(whole["container"], json!({"id": "k"}));
    let (again, _) = written(SELF, (SELF, events(SELF, &frames)), AnswerContext::default());
    assert_eq!(folded(SELF, events(SELF, &again)), whole);
}

#[test]
fn blocks_that_never_began_arrive() {
    for (deltas, block) in [
        (
            vec![
                json!({"type": "text_delta", "text": "un"}),
                json!({"type": "text_delta", "text": "said"}),
            ],
            json!({"type": "text", "text": "unsaid"}),
        ),
        (
            vec![
                json!({"type": "thinking_delta", "thinking": "hm"}),
                json!({"type": "signature_delta", "signature": "c2ln"}),
            ],
            json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"}),
        ),
        (
            vec![json!({"type": "signature_delta", "signature": "c2ln"})],
            json!({"type": "thinking", "thinking": "", "signature": "c2ln"}),
        ),
        (
            vec![
                json!({"type": "input_json_delta", "partial_json": "{\"x\""}),
                json!({"type": "input_json_delta", "partial_json": ":1}"}),
            ],
            json!({"type": "tool_use", "input": {"x": 1}}),
        ),
        (
            vec![json!({"type": "input_json_delta", "partial_json": "{\"x\""})],
            json!({"type": "tool_use", "input": "{\"x\""}),
        ),
        (
            vec![json!({"type": "compaction_delta", "content": "so far"})],
            json!({"type": "compaction", "content": "so far"}),
        ),
        (
            vec![
                json!({"type": "compaction_delta", "content": "so far", "encrypted_content": "c2ln"}),
            ],
            json!({"type": "compaction", "content": "so far", "encrypted_content": "c2ln"}),
        ),
    ] {
        let mut chunks = vec![start()];
        let delta = |delta| json!({"type": "content_block_delta", "index": 0, "delta": delta});
        chunks.extend(deltas.into_iter().map(delta));
        chunks.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}));
        chunks.push(json!({"type": "message_stop"}));
        let whole = folded(SELF, events(SELF, &chunks));
        assert_eq!(whole["content"], json!([block]));
    }
}

#[test]
fn nothing_follows_an_error() {
    let chunks = [
        chunk(json!({"content": "a"}), None),
        chunk(json!({}), Some("stop")),
        json!({"error": {"message": "too much", "type": "server_error"}}),
    ];
    let (frames, _) = written(SELF, (CHAT, events(CHAT, &chunks)), AnswerContext::default());
    let [.., before, error] = &frames[..] else { panic!("expected an error behind the answer") };
    assert!(error.contains("too much") && !before.contains("too much"), "{frames:?}");
}

#[test]
fn errors_come_back_as_they_were_and_tell_their_class() {
    for (status, kind) in
        [(529, "overloaded_error"), (413, "request_too_large"), (402, "billing_error")]
    {
        let body =
            json!({"type": "error", "error": {"type": kind, "message": "m"}, "request_id": "r"});
        let fault = SELF.decode_fault(500, body.to_string().as_bytes());
        assert_eq!(SELF.encode_fault(&fault), (status, body.to_string()));
    }
    let fault = SELF.decode_fault(502, b"<html>gone</html>");
    assert_eq!(fault.message, Text::plain("<html>gone</html>"));
}
