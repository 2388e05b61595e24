//! Pointers into the frames of a stream, as pointers into the answer that the stream adds up to.

use sabir_wire::Protocol;
use sabir_wire::protocol::AnswerContext;
use serde_json::Value;

use crate::translate;

/// The data of every frame; what is not JSON counts as null.
pub(super) fn values(bytes: &[u8]) -> Vec<Value> {
    translate::frames(bytes).iter().map(|it| serde_json::from_str(it).unwrap_or_default()).collect()
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
        Protocol::Gemini => in_gemini(&frames[..=number], rest),
    }
}

/// A list of the answer after these frames; the last of them may be cut short.
fn list_after(protocol: Protocol, frames: &[Value], list: &str) -> Vec<Value> {
    let stream: String = frames.iter().map(|frame| format!("data: {frame}\n\n")).collect();
    let answer = translate::fold(protocol, stream.as_bytes());
    let body = protocol.encode_response(&answer, protocol, &AnswerContext::default()).body;
    let answer: Value = serde_json::from_str(&body).unwrap_or_default();
    answer.pointer(list).and_then(Value::as_array).cloned().unwrap_or_default()
}

/// Frames of which the last has only the elements up to this one in a list.
fn cut_behind(frames: &[Value], list: &str, position: usize) -> Vec<Value> {
    let mut frames = frames.to_vec();
    let last = frames.last_mut().and_then(|frame| frame.pointer_mut(list));
    if let Some(elements) = last.and_then(Value::as_array_mut) {
        elements.truncate(position + 1);
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
    let frames = cut_behind(frames, &format!("/choices/{position}/delta/tool_calls"), number);
    let calls = list_after(Protocol::OpenaiChat, &frames, &format!("{message}/tool_calls"));
    Some(format!("{message}/tool_calls/{}{rest}", calls.len().checked_sub(1)?))
}

fn in_gemini(frames: &[Value], rest: &str) -> Option<String> {
    let Some(candidate) = rest.strip_prefix("candidates/") else { return Some(format!("/{rest}")) };
    let (position, rest) = element(candidate)?;
    let index = frames.last()?["candidates"][position]["index"].as_u64().unwrap_or(0);
    let Some(part) = rest.strip_prefix("/content/parts/") else {
        return Some(format!("/candidates/{index}{rest}"));
    };
    // A part goes on where the one before it ended, or begins a new one. A piece of a call that never is one does neither.
    let (number, rest) = element(part)?;
    let is_call = |part: &Value| part.get("functionCall").is_some();
    let is_piece = is_call(&frames.last()?["candidates"][position]["content"]["parts"][number]);
    let frames = cut_behind(frames, &format!("/candidates/{position}/content/parts"), number);
    let list = format!("/candidates/{index}/content/parts");
    let parts = list_after(Protocol::Gemini, &frames, &list);
    let last = parts.len().checked_sub(1)?;
    (is_call(&parts[last]) || !is_piece).then(|| format!("{list}/{last}{rest}"))
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
}
