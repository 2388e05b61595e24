//! What holds for Messages as a whole.

use crate::protocol::Facts;

pub(in crate::protocol) const FACTS: Facts = Facts {
    name: "anthropic-messages",
    aliases: &["messages"],
    messages: "messages",
    system: Some("system"),
    takes_late_system: false,
    needs_user_turn: true,
    flags_failed_results: true,
    names_results: false,
    streams_lists: false,
};
