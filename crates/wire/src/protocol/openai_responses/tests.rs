//! Behaviour that only this protocol has.

use serde_json::Value;

use crate::protocol::tests::{check_refused, events, value};
use crate::protocol::{AnswerContext, Event, Protocol, StreamEncoder, tests as shared};

const SELF: Protocol = Protocol::OpenaiResponses;

fn check_response(body: &str) {
    let response = SELF.decode_response(body.as_bytes()).unwrap();
    let encoded = SELF.encode_response(&response, SELF, &AnswerContext::default());
    assert_eq!(value(&encoded.body), value(body));
}

fn folded(frames: &[&str]) -> Value {
    shared::folded(SELF, events(SELF, frames))
}

const CREATED: &str = r#"{"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress","model":"m","output":[],"usage":null}}"#;
const COMPLETED: &str = r#"{"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","model":"m","output":[],"usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}}"#;

#[test]
fn wrong_types_are_refused_with_their_pointer() {
    let cases = [
        (r#"{"model":1}"#, "/model"),
        (r#"{"input":[{"role":"user","content":7}]}"#, "/input/0/content"),
        (r#"{"input":[{"type":"function_call","name":"f","arguments":7}]}"#, "/input/0/arguments"),
    ];
    check_refused(SELF, &cases);
}

#[test]
fn every_end_of_an_answer_comes_back() {
    for end in [
        r#""status":"completed","incomplete_details":null,"error":null"#,
        r#""status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}"#,
        r#""status":"incomplete","incomplete_details":{"reason":"max_output_tokens","more":1}"#,
        r#""status":"incomplete","incomplete_details":{"reason":"steered"}"#,
        r#""status":"incomplete","incomplete_details":null"#,
        r#""status":"failed","error":{"code":"server_error","message":"no"}"#,
        r#""status":"queued""#,
        r#""status":"cancelled""#,
    ] {
        check_response(&format!(r#"{{"id":"r","object":"response","output":[],{end}}}"#));
    }
}

#[test]
fn arguments_that_come_only_when_done_are_kept() {
    let folded = folded(&[
        CREATED,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"","status":"in_progress"}}"#,
        r#"{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{\"a\":1}"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_other","call_id":"c","name":"f","arguments":"{\"a\":1}","status":"completed"}}"#,
        COMPLETED,
    ]);
    assert_eq!(folded["output"][0]["arguments"], r#"{"a":1}"#);
    assert_eq!(folded["output"][0]["id"], "fc_1");
    assert_eq!(folded["output"][0]["status"], "completed");
}

#[test]
fn the_seal_of_reasoning_is_that_of_the_complete_item() {
    let folded = folded(&[
        CREATED,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"part"}}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"a"}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"b"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"whole"}}"#,
        COMPLETED,
    ]);
    assert_eq!(folded["output"][0]["encrypted_content"], "whole");
    assert_eq!(folded["output"][0]["summary"][1]["text"], "b");
}

#[test]
fn items_that_only_the_end_tells_of_are_kept() {
    let end = COMPLETED.replace(
        r#""output":[]"#,
        r#""output":[{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"output_text","text":"hi","annotations":[]}]}]"#,
    );
    let folded = folded(&[CREATED, &end, "[DONE]"]);
    assert_eq!(folded["output"][0]["content"][0]["text"], "hi");
}

#[test]
fn both_shapes_of_errors_are_faults_and_a_cut_is_truncated() {
    for (frame, words) in [
        (r#"{"type":"error","code":"server_error","message":"flat"}"#, "flat"),
        (r#"{"type":"error","error":{"code":"x","message":"nested"}}"#, "nested"),
        (r#"{"type":"response.unheard_of"}"#, "the stream ended before its terminal event"),
    ] {
        let events = events(SELF, &[CREATED, frame]);
        let Some(Event::Fault(fault)) = events.last() else { panic!("expected a fault") };
        assert_eq!(fault.message.to_str(), words);
    }
}

#[test]
fn a_written_stream_has_running_numbers_frozen_ids_and_a_whole_end() {
    let source = [
        CREATED,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m","role":"assistant","status":"in_progress","content":[]}}"#,
        r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"h","logprobs":[]}"#,
        r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"i","logprobs":[]}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"output_text","text":"hi","annotations":[]}]}}"#,
        COMPLETED,
    ];
    let (frames, report) =
        shared::written(SELF, (SELF, events(SELF, &source)), AnswerContext::default());
    assert!(report.is_empty());
    let frames: Vec<Value> = frames.iter().map(|frame| value(frame)).collect();
    for (number, frame) in frames.iter().enumerate() {
        assert_eq!(frame["sequence_number"], number);
        assert!(frame.get("item_id").is_none_or(|id| id == "m"));
    }
    let last = &frames[frames.len() - 1];
    assert_eq!(last["type"], "response.completed");
    assert_eq!(last["response"]["output"][0]["content"][0]["text"], "hi");
    assert_eq!(last["response"]["usage"]["total_tokens"], 3);
}

#[test]
fn an_answer_in_the_background_goes_on_behind_what_its_client_knows() {
    for source in [SELF, Protocol::OpenaiChat] {
        let context = AnswerContext { in_background: true, ..AnswerContext::default() };
        let mut encoder = StreamEncoder::new(SELF, source, context);
        let mut out = String::new();
        for event in events(SELF, &[CREATED, COMPLETED]) {
            encoder = encoder.step(event, &mut out);
        }
        let _ = encoder.end(&mut out);
        let data: Vec<Value> =
            out.lines().filter_map(|line| line.strip_prefix("data: ")).map(value).collect();
        assert_eq!(data[0]["type"], "response.in_progress");
        assert_eq!(data[0]["sequence_number"], 2);
        assert_eq!(data[1]["type"], "response.completed");
        assert_eq!(data[1]["sequence_number"], 3);
        assert_eq!(data[1]["response"]["id"], "resp_0");
        assert_eq!(data[1]["response"]["background"] == true, source == SELF);
    }
}
