//! Conversations that mean the same in every protocol, part by part.
//!
//! Excepted are those of which some protocol makes other parts:
//!
//! | Content | Because |
//! |---|---|
//! | media, refusals, opaque parts, custom calls | not every target takes them, or it takes them as text or behind the result |
//! | late instructions | they become marked text, or move to the front |
//! | an assistant who speaks first | some targets take a user's word before it |
//! | blank texts, a last word of the assistant | they are left out or trimmed |
//! | two messages of one speaker in a row, two texts in one message | some targets make one of them, others two |
//! | text behind calls, results out of order, calls without results | they are put in order |
//! | results of several texts, failed ones, objects of more than one text | Gemini has one text, and an object as its JSON |
//! | names and ids that a target does not take | they are written as an alias |

use sabir_wire::conversation::{
    CallForm, Content, Message, Part, Request, ResultOutput, Role, ToolCall, ToolResult,
};

pub(super) fn is_plain(request: &Request<'_>) -> bool {
    let messages = request.messages.iter().skip_while(|message| message.role.instructs());
    let messages: Vec<&Message<'_>> = messages.collect();
    let begins = messages.first().is_some_and(|first| first.role == Role::User);
    let ends = messages.last().is_some_and(|last| last.role != Role::Assistant);
    let is_plain = |message: &&Message<'_>| {
        let has_text = !message.parts.is_empty() && message.parts.iter().all(is_plain_part);
        has_text && !message.role.instructs()
    };
    let are_by_turns = messages.windows(2).all(|pair| may_follow(pair[0], pair[1]));
    let mut open: Vec<String> = Vec::new();
    let are_in_order = messages.iter().all(|message| is_in_order(message, &mut open));
    let is_answered = are_in_order && open.is_empty();
    begins && ends && messages.iter().all(is_plain) && are_by_turns && is_answered
}

/// Whether another speaks, or results stand in messages of their own.
fn may_follow(before: &Message<'_>, after: &Message<'_>) -> bool {
    let is_assistant = |message: &Message<'_>| message.role == Role::Assistant;
    let is_result = |part: &Part<'_>| matches!(part.content(), Content::ToolResult(_));
    is_assistant(before) != is_assistant(after)
        || !is_assistant(after) && before.parts.iter().all(is_result)
}

fn is_plain_part(part: &Part<'_>) -> bool {
    match part.content() {
        Content::Text(text) => !text.is_blank(),
        Content::ToolCall(call) => is_plain_call(call),
        Content::ToolResult(result) => is_plain_result(result),
        Content::Reasoning(_) => true,
        Content::Media(_) | Content::Refusal(_) | Content::Opaque(_) => false,
    }
}

fn is_plain_call(call: &ToolCall<'_>) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let name = call.name.to_str();
    let is_named = name.len() <= 40
        && name.bytes().all(fits)
        && !name.starts_with(|it: char| it.is_ascii_digit());
    call.form == CallForm::Function && is_named && call.id.is_some()
}

fn is_plain_result(result: &ToolResult<'_>) -> bool {
    let is_text =
        |part: &Part<'_>| matches!(part.content(), Content::Text(text) if !text.is_blank());
    match &result.output {
        ResultOutput::Parts(parts) => {
            parts.len() == 1
                && parts.iter().all(is_text)
                && result.is_error != Some(true)
                && result.call_id.is_some()
        }
        ResultOutput::Object { .. } => false,
    }
}

/// Whether texts stand before calls and behind results, and results answer the calls of the turn before in their order.
fn is_in_order(message: &Message<'_>, open: &mut Vec<String>) -> bool {
    let mut texts = 0;
    for part in &message.parts {
        match part.content() {
            Content::ToolCall(call) => {
                open.extend(call.id.as_ref().map(|id| id.to_str().into_owned()))
            }
            Content::ToolResult(result) => {
                let id = result.call_id.as_ref().map(|id| id.to_str().into_owned());
                if texts > 0 || open.is_empty() || Some(open.remove(0)) != id {
                    return false;
                }
            }
            Content::Text(_) if message.role == Role::Assistant && !open.is_empty() => {
                return false;
            }
            Content::Text(_) => texts += 1,
            Content::Media(_)
            | Content::Reasoning(_)
            | Content::Refusal(_)
            | Content::Opaque(_) => {}
        }
    }
    texts < 2 && (message.role != Role::User || texts == 0 || open.is_empty())
}

#[cfg(test)]
mod tests {
    use sabir_wire::Protocol;

    use super::*;

    #[track_caller]
    fn check(messages: &str, expected: bool) {
        let body = format!("{{\"messages\":[{messages}]}}");
        let decoded = Protocol::OpenaiChat.decode_request(body.as_bytes()).unwrap();
        assert_eq!(is_plain(decoded.request()), expected, "{messages}");
    }

    #[test]
    fn a_tool_loop_is_plain_and_what_targets_put_in_order_is_not() {
        let user = r#"{"role":"user","content":"a"}"#;
        let call = r#"{"role":"assistant","content":"b","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
        let result = r#"{"role":"tool","tool_call_id":"c","content":"d"}"#;
        check(&[user, call, result, user].join(","), true);
        check(&[user, call, result].join(","), true);
        check(&[user, call, user].join(","), false);
        check(&[user, user].join(","), false);
        check(&[call, result].join(","), false);
    }
}
