//! Pointers into the frames of a stream, as pointers into the answer that the stream adds up to.

use sabir_wire::Protocol;
use sabir_wire::protocol::AnswerContext;
use serde_json::Value;

use crate::translate;

/// The data of every frame; what is not JSON counts as null.
pub(super) fn values(bytes: &[u8]) -> Vec<Value> {
    translate::frames(bytes).iter().map(|it| serde_json::from_str(it).unwrap_or_default()).collect()
}

/// The parts that the frames of Gemini hold; none of a stream of another protocol.
pub(super) fn parts_of_gemini(bytes: &[u8]) -> Vec<Value> {
    let frames = values(bytes);
    let candidates = frames.iter().filter_map(|frame| frame["candidates"].as_array()).flatten();
    let parts = candidates.filter_map(|candidate| candidate["content"]["parts"].as_array());
    parts.flatten().cloned().collect()
}

/// Where the node of a frame stands in the answer; none for what the answer does not hold.
pub(super) fn in_answer(protocol: Protocol, frames: &[Value], pointer: &str) -> Option<String> {
    let (number, rest) = pointer.strip_prefix('/')?.split_once('/')?;
    let number = number.parse::<usize>().ok()?;
    let frame = frames.get(number)?;
    let (head, tail) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match protocol {
        Protocol::OpenaiChat => in_chat(&frames[..=number], rest),
        Protocol::OpenaiResponses => in_responses(frame, head, tail),
        Protocol::AnthropicMessages => in_anthropic(frame, head, tail),
        Protocol::Gemini => in_gemini(frames, number, rest),
    }
}

/// A list of the answer after these frames; the last of them may be cut short.
fn list_after(protocol: Protocol, frames: &[Value], list: &str) -> Vec<Value> {
    let answer = translate::fold(protocol, stream_of(frames).as_bytes());
    let body = protocol.encode_response(&answer, protocol, &AnswerContext::default()).body;
    let answer: Value = serde_json::from_str(&body).unwrap_or_default();
    answer.pointer(list).and_then(Value::as_array).cloned().unwrap_or_default()
}

fn stream_of(frames: &[Value]) -> String {
    let data = |frame: &Value| match frame {
        // The one frame that is not JSON.
        Value::Null => "data: [DONE]\n\n".to_owned(),
        frame => format!("data: {frame}\n\n"),
    };
    frames.iter().map(data).collect()
}

/// Frames of which the last has only so many elements in a list.
fn cut_behind(frames: &[Value], list: &str, count: usize) -> Vec<Value> {
    let mut frames = frames.to_vec();
    let last = frames.last_mut().and_then(|frame| frame.pointer_mut(list));
    if let Some(elements) = last.and_then(Value::as_array_mut) {
        elements.truncate(count);
    }
    frames
}

/// A pointer that begins with an element of a list, as the number of that element and the rest.
fn element(pointer: &str) -> Option<(usize, &str)> {
    let (position, rest) = pointer.split_at(pointer.find('/').unwrap_or(pointer.len()));
    Some((position.parse().ok()?, rest))
}

fn in_chat(frames: &[Value], rest: &str) -> Option<String> {
    let Some(choice) = rest.strip_prefix("choices/") else { return Some(format!("/{rest}")) };
    let (position, rest) = element(choice)?;
    let index = frames.last()?["choices"][position]["index"].as_u64().unwrap_or(0);
    let Some(rest) = rest.strip_prefix("/delta") else {
        return Some(format!("/choices/{index}{rest}"));
    };
    let message = format!("/choices/{index}/message");
    let Some(call) = rest.strip_prefix("/tool_calls/") else {
        return Some(format!("{message}{rest}"));
    };
    // Calls have numbers of their own, which count up as they begin.
    let (number, rest) = element(call)?;
    let frames = cut_behind(frames, &format!("/choices/{position}/delta/tool_calls"), number + 1);
    let calls = list_after(Protocol::OpenaiChat, &frames, &format!("{message}/tool_calls"));
    Some(format!("{message}/tool_calls/{}{rest}", calls.len().checked_sub(1)?))
}

fn in_gemini(frames: &[Value], frame: usize, rest: &str) -> Option<String> {
    let Some(candidate) = rest.strip_prefix("candidates/") else { return Some(format!("/{rest}")) };
    let (position, rest) = element(candidate)?;
    let candidate = &frames[frame]["candidates"][position];
    let index = candidate["index"].as_u64().unwrap_or(0);
    let Some(part) = rest.strip_prefix("/content/parts/") else {
        return Some(format!("/candidates/{index}{rest}"));
    };
    let (number, rest) = element(part)?;
    let list = format!("/candidates/{index}/content/parts");
    let in_frame = format!("/candidates/{position}/content/parts");
    let parts_until = |until: usize| {
        let mut frames = cut_behind(&frames[..=frame], &in_frame, until);
        // What waits for the end comes behind them.
        frames.iter_mut().for_each(without_end);
        list_after(Protocol::Gemini, &frames, &list)
    };
    let parts = parts_until(number + 1);
    // A text goes on where the one before it ended, or begins a new part.
    let last = match is_call(&candidate["content"]["parts"][number]) {
        false => parts.len().checked_sub(1),
        true => place_of_piece(frames, index as usize, &format!("/{frame}{in_frame}/{number}"))
            .or_else(|| completed(&parts, &parts_until(number))),
    };
    Some(format!("{list}/{}{rest}", last?))
}

fn without_end(frame: &mut Value) {
    let candidates = frame.get_mut("candidates").and_then(Value::as_array_mut);
    for candidate in candidates.into_iter().flatten().filter_map(Value::as_object_mut) {
        candidate.remove("finishReason");
    }
}

fn is_call(part: &Value) -> bool {
    part.get("functionCall").is_some()
}

/// Which part of the whole answer stands at a place of a frame: a call where its first piece does, and a piece of no call
/// where it was written, however late either was certain.
fn place_of_piece(frames: &[Value], candidate: usize, place: &str) -> Option<usize> {
    let answer = translate::fold(Protocol::Gemini, stream_of(frames).as_bytes());
    let parts = &answer.candidates.get(candidate)?.message.parts;
    parts.iter().position(|part| part.semantics().place().to_string() == place)
}

/// The call of which a piece was the last one. One between the first and the last stands nowhere else in the answer.
fn completed(parts: &[Value], before: &[Value]) -> Option<usize> {
    let last = parts.len().checked_sub(1)?;
    (parts.len() > before.len() && is_call(&parts[last])).then_some(last)
}

fn in_responses(frame: &Value, head: &str, tail: &str) -> Option<String> {
    let number = |key: &str| frame[key].as_u64();
    match head {
        "response" => Some(tail.to_owned()),
        // What happens to the whole item of a part is reported at its id.
        "item_id" => Some(format!("/output/{}{tail}", number("output_index")?)),
        "item" => Some(format!("/output/{}{tail}", number("output_index")?)),
        "part" | "delta" | "text" | "refusal" => {
            let inner = match number("summary_index") {
                Some(index) => format!("summary/{index}"),
                None => format!("content/{}", number("content_index")?),
            };
            Some(format!("/output/{}/{inner}{tail}", number("output_index")?))
        }
        "annotation" | "logprobs" => {
            let list = if head == "annotation" { "annotations" } else { head };
            let (item, part) = (number("output_index")?, number("content_index")?);
            Some(format!("/output/{item}/content/{part}/{list}"))
        }
        _ => None,
    }
}

/// Where else in the answer an entry may stand: what opens an item that is a message speaks for its first part, too.
pub(super) fn in_first_part(frames: &[Value], pointer: &str) -> Option<String> {
    let (number, rest) = pointer.strip_prefix('/')?.split_once("/item/")?;
    let frame = frames.get(number.parse::<usize>().ok()?)?;
    let is_message = frame["item"]["type"] == "message";
    let index = frame["output_index"].as_u64().filter(|_| is_message)?;
    Some(format!("/output/{index}/content/0/{rest}"))
}

fn in_anthropic(frame: &Value, head: &str, tail: &str) -> Option<String> {
    match (head, frame["index"].as_u64()) {
        ("message", _) => Some(tail.to_owned()),
        // A stream states the citations of a block one by one.
        ("delta", Some(index)) if tail == "/citation" => {
            Some(format!("/content/{index}/citations"))
        }
        ("content_block" | "delta", Some(index)) => Some(format!("/content/{index}{tail}")),
        ("delta", None) => Some(tail.to_owned()),
        _ => Some(format!("/{head}{tail}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(protocol: Protocol, frame: Value, pointer: &str, expected: Option<&str>) {
        assert_eq!(in_answer(protocol, &[frame], pointer).as_deref(), expected);
    }

    #[test]
    fn blocks_and_items_stand_where_their_frames_number_them() {
        let block = json!({"index": 2, "content_block": {"type": "text"}});
        check(Protocol::AnthropicMessages, block, "/0/content_block", Some("/content/2"));
        let item = json!({"output_index": 1, "item": {"type": "reasoning"}});
        check(Protocol::OpenaiResponses, item, "/0/item/status", Some("/output/1/status"));
        let chunk = json!({"choices": [{"index": 3, "delta": {"content": "a"}}]});
        let whole = Some("/choices/3/message/content");
        check(Protocol::OpenaiChat, chunk, "/0/choices/0/delta/content", whole);
    }

    #[test]
    fn parts_stand_where_the_frames_before_them_put_them() {
        let frame = |text: &str, thought: bool| {
            let part = json!({"text": text, "thought": thought});
            json!({"candidates": [{"content": {"parts": [part]}}]})
        };
        let frames = [frame("a", true), frame("b", true), frame("c", false)];
        let place = |number: usize| {
            in_answer(Protocol::Gemini, &frames, &format!("/{number}/candidates/0/content/parts/0"))
        };
        assert_eq!(place(1).as_deref(), Some("/candidates/0/content/parts/0"));
        assert_eq!(place(2).as_deref(), Some("/candidates/0/content/parts/1"));
        check(Protocol::AnthropicMessages, json!({}), "/9/usage", None);
    }

    #[test]
    fn pieces_of_calls_stand_in_no_call_that_is_not_theirs() {
        let frame =
            |call: Value| json!({"candidates": [{"content": {"parts": [{"functionCall": call}]}}]});
        let mut frames = [
            frame(json!({"name": "whole"})),
            frame(json!({"name": "joined", "willContinue": true})),
            frame(json!({"partialArgs": [], "willContinue": true})),
            frame(json!({})),
            frame(json!({"name": "broken", "willContinue": true})),
            json!({"candidates": [{"content": {"parts": [{"text": "a"}]}}]}),
        ];
        frames[5]["candidates"][0]["finishReason"] = json!("MAX_TOKENS");
        let place = |number: usize| {
            let pointer = format!("/{number}/candidates/0/content/parts/0/functionCall/name");
            let place = in_answer(Protocol::Gemini, &frames, &pointer)?;
            Some(place.strip_prefix("/candidates/0/content/parts/")?.split_once('/')?.0.to_owned())
        };
        let places = [0, 1, 2, 3, 4, 5].map(place);
        let expected = [Some("0"), Some("1"), None, Some("1"), Some("3"), Some("2")];
        assert_eq!(places.each_ref().map(Option::as_deref), expected);
    }
}
