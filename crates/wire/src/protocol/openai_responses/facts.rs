//! What holds for Responses as a whole.

use crate::protocol::Facts;

pub(in crate::protocol) const FACTS: Facts = Facts {
    name: "openai-responses",
    aliases: &["responses"],
    messages: "input",
    system: Some("instructions"),
    takes_late_system: true,
    needs_user_turn: false,
    flags_failed_results: false,
    names_results: false,
    streams_lists: false,
};
