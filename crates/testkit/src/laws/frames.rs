//! Pointers into the frames of a stream, as pointers into the answer that the stream adds up to.

use sabir_wire::Protocol;
use serde_json::Value;

use crate::translate;

/// The data of every frame; what is not JSON counts as null.
pub(super) fn values(bytes: &[u8]) -> Vec<Value> {
    translate::frames(bytes).iter().map(|it| serde_json::from_str(it).unwrap_or_default()).collect()
}

/// Where the node of a frame stands in the answer; none where only all frames together tell.
pub(super) fn in_answer(protocol: Protocol, frames: &[Value], pointer: &str) -> Option<String> {
    let (number, rest) = pointer.strip_prefix('/')?.split_once('/')?;
    let frame = frames.get(number.parse::<usize>().ok()?)?;
    let (head, tail) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match protocol {
        Protocol::OpenaiChat => in_chat(frame, rest),
        Protocol::OpenaiResponses => in_responses(frame, head, tail),
        Protocol::AnthropicMessages => in_anthropic(frame, head, tail),
        Protocol::Gemini => None,
    }
}

fn in_chat(frame: &Value, rest: &str) -> Option<String> {
    let Some(rest) = rest.strip_prefix("choices/") else { return Some(format!("/{rest}")) };
    let (position, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let index = &frame["choices"][position.parse::<usize>().ok()?]["index"];
    let below = match rest.strip_prefix("/delta") {
        // Calls have numbers of their own.
        Some(rest) if rest.starts_with("/tool_calls/") => return None,
        Some(rest) => format!("/message{rest}"),
        None => rest.to_owned(),
    };
    Some(format!("/choices/{}{below}", index.as_u64().unwrap_or(0)))
}

fn in_responses(frame: &Value, head: &str, tail: &str) -> Option<String> {
    let number = |key: &str| frame[key].as_u64();
    match head {
        "response" => Some(tail.to_owned()),
        // What happens to the whole item of a part is told at its id.
        "item_id" => Some(format!("/output/{}{tail}", number("output_index")?)),
        "item" => Some(format!("/output/{}{tail}", number("output_index")?)),
        "part" => {
            let inner = match number("summary_index") {
                Some(index) => format!("summary/{index}"),
                None => format!("content/{}", number("content_index")?),
            };
            Some(format!("/output/{}/{inner}{tail}", number("output_index")?))
        }
        _ => None,
    }
}

fn in_anthropic(frame: &Value, head: &str, tail: &str) -> Option<String> {
    match (head, frame["index"].as_u64()) {
        ("message", _) => Some(tail.to_owned()),
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
    fn what_no_frame_tells_alone_is_left_to_its_name() {
        let frame = json!({"candidates": [{"content": {"parts": [{"text": "a"}]}}]});
        check(Protocol::Gemini, frame, "/0/candidates/0/content/parts/0", None);
        check(Protocol::AnthropicMessages, json!({}), "/9/usage", None);
    }
}
