//! Streams of many parts.

use sabir_wire::Protocol;
use sabir_wire::protocol::{AnswerContext, StreamDecoder, StreamEncoder};
use sabir_wire::sse::Frame;

/// A Chat stream of thoughts and texts in turn.
fn thoughts_and_texts(parts: usize) -> Vec<String> {
    let chunk = |number| {
        let field = if number % 2 == 0 { "reasoning_content" } else { "content" };
        format!(
            r#"{{"id":"c","model":"m","choices":[{{"index":0,"delta":{{"{field}":"x"}},"finish_reason":null}}]}}"#
        )
    };
    let end = r#"{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    (0..parts).map(chunk).chain([end.to_owned()]).collect()
}

/// A Messages stream of blocks, each as `block` says.
fn blocks(parts: usize, block: &dyn Fn(usize) -> String) -> Vec<String> {
    let start = r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"c","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}"#;
    let mut frames = vec![start.to_owned()];
    for index in 0..parts {
        let block = block(index);
        frames.push(format!(
            r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#
        ));
        frames.push(format!(r#"{{"type":"content_block_stop","index":{index}}}"#));
    }
    frames.push(r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#.to_owned());
    frames.push(r#"{"type":"message_stop"}"#.to_owned());
    frames
}

fn calls(parts: usize) -> Vec<String> {
    blocks(parts, &|index| {
        format!(r#"{{"type":"tool_use","id":"toolu_{index}","name":"f","input":{{}}}}"#)
    })
}

fn texts(parts: usize) -> Vec<String> {
    blocks(parts, &|_| r#"{"type":"text","text":"x"}"#.to_owned())
}

/// What a Responses client is told of what a provider streams.
#[expect(clippy::unwrap_used, reason = "what cannot be read fails its test")]
fn written(source: Protocol, frames: &[String]) -> String {
    let mut out = String::new();
    let mut decoder = StreamDecoder::new(source);
    let mut encoder =
        Some(StreamEncoder::new(Protocol::OpenaiResponses, source, AnswerContext::default()));
    for data in frames {
        let frame = Frame { event: None, data };
        let step = decoder.step(&frame, &mut |event| {
            encoder = encoder.take().map(|encoder| encoder.step(event, &mut out));
        });
        decoder = step.unwrap();
    }
    let _ = encoder.map(|encoder| encoder.end(&mut out));
    out
}

/// So many that looking at each part for each other one would take minutes.
const MANY: usize = 20_000;

#[track_caller]
fn check(source: Protocol, stream: fn(usize) -> Vec<String>, event: &str, expected: usize) {
    let written = written(source, &stream(MANY));
    let events = written.lines().filter(|line| line.strip_prefix("event: ") == Some(event)).count();
    assert_eq!(events, expected);
    assert!(written.contains("event: response.completed"));
}

#[test]
fn many_parts_arrive_each_and_in_time() {
    let done = "response.output_item.done";
    check(Protocol::OpenaiChat, thoughts_and_texts, done, MANY);
    check(Protocol::AnthropicMessages, calls, done, MANY);
    check(Protocol::AnthropicMessages, texts, "response.content_part.done", MANY);
}
