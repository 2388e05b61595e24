//! What holds for Chat Completions as a whole.

use crate::protocol::Facts;

pub(in crate::protocol) const FACTS: Facts = Facts {
    name: "openai-chat",
    aliases: &["chat"],
    messages: "messages",
    system: None,
    takes_late_system: true,
    needs_user_turn: false,
    flags_failed_results: false,
    names_results: false,
    streams_lists: false,
};
