//! Ids of items that came without one: made of their conversation, the line that they stand in and their place there, so
//! that they are the same whenever somebody looks.

use sabir_store::{ConversationId, Hash};

use super::item::Item;
use crate::record::digits;

/// Digits of a hash that make an id: no two items share so many.
const DIGITS: usize = 40;

pub(super) fn derived_id(
    conversation: &ConversationId,
    (line, part): (&Hash, u32),
    item: &Item,
) -> String {
    let mut digits = digits(&Hash::of_message(Some(line), conversation.as_str().as_bytes()));
    digits.truncate(DIGITS);
    format!("{}_{digits}_{part}", prefix(item.kind().as_deref()))
}

/// What ids of a type of items begin with; providers look at that.
fn prefix(kind: Option<&str>) -> &'static str {
    match kind {
        None | Some("message") => "msg",
        Some("reasoning") => "rs",
        Some("function_call") => "fc",
        Some("function_call_output") => "fco",
        Some("custom_tool_call") => "ctc",
        Some("custom_tool_call_output") => "ctco",
        Some(_) => "item",
    }
}
