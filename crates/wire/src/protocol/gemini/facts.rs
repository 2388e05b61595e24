//! What holds for Gemini as a whole.

use crate::protocol::Facts;

pub(in crate::protocol) const FACTS: Facts = Facts {
    name: "gemini",
    aliases: &["gemini-chat"],
    messages: "contents",
    system: Some("systemInstruction"),
    takes_late_system: false,
    needs_user_turn: true,
    flags_failed_results: true,
    names_results: true,
    streams_lists: true,
};
