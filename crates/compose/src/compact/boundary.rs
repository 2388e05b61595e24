//! Where a conversation can be cut: between two messages, if no result behind the cut belongs to a call before it.

use std::collections::HashMap;

use sabir_wire::conversation::{CallKey, Content, Message};

/// For each message whether the conversation can be cut before it. Takes linear time.
pub(super) fn boundaries(messages: &[Message<'_>]) -> Vec<bool> {
    // How many pairs of call and result begin or end to span the cut before each message.
    let mut spans = vec![0_isize; messages.len() + 1];
    let mut latest: HashMap<CallKey<'_>, usize> = HashMap::new();
    let mut latest_call = None;
    for (index, message) in messages.iter().enumerate() {
        for part in &message.parts {
            match part.content() {
                Content::ToolCall(call) => {
                    CallKey::of_call(call).for_each(|key| _ = latest.insert(key, index));
                    latest_call = Some(index);
                }
                Content::ToolResult(result) => {
                    let keys = CallKey::of_result(result);
                    let found = keys.into_iter().flatten().find_map(|key| latest.get(&key));
                    // A result that names no known call stays with the round that it follows.
                    if let Some(call) = found.copied().or(latest_call) {
                        spans[call] += 1;
                        spans[index] -= 1;
                    }
                }
                Content::Text(_)
                | Content::Media(_)
                | Content::Reasoning(_)
                | Content::Refusal(_)
                | Content::Opaque(_) => {}
            }
        }
    }
    let mut open = 0;
    let is_cut_by = |spanning: isize| {
        let before = open;
        open += spanning;
        before == 0
    };
    spans.into_iter().take(messages.len()).map(is_cut_by).collect()
}
