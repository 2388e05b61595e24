//! What was left out of a conversation, as an answer states it.

use crate::json::Writer;
use crate::protocol::{AppliedEdit, EditKind};

/// The member of an answer, and of the frame that ends a stream.
pub(in super::super) const EDITS: &str = "context_management";

pub(in super::super) fn write_edits(writer: &mut Writer, edits: &[AppliedEdit]) {
    writer.object(|it| {
        it.array_field("applied_edits", |list| {
            edits.iter().for_each(|edit| write_edit(list, edit))
        });
    });
}

fn write_edit(list: &mut Writer, edit: &AppliedEdit) {
    let (kind, count) = match edit.kind {
        EditKind::ToolUses => ("clear_tool_uses_20250919", "cleared_tool_uses"),
        EditKind::Thinking => ("clear_thinking_20251015", "cleared_thinking_turns"),
    };
    list.object(|it| {
        it.field("type", kind);
        it.field(count, &edit.cleared);
        it.field("cleared_input_tokens", &edit.cleared_input_tokens);
    });
}
