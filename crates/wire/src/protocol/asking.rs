//! What is asked for in words where a setting cannot, or does not alone.

use crate::conversation::Content;
use crate::conversation::OutputFormat;
use crate::conversation::Part;
use crate::conversation::Role;
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::Exchange;
use crate::protocol::Protocol;
use crate::protocol::losing::Losing;

pub(in crate::protocol) const ASK_FOR_JSON: &str = "Answer with one JSON object and nothing else.";

/// What the system says first where a server's JSON mode wants the word in the prompt, which Gemini's does not. Only the
/// user's first words decide, so that nothing changes when the conversation goes on.
pub(in crate::protocol) fn missing_word(
    exchange: &Exchange<'_>,
    losing: &mut Losing<'_>,
) -> Option<&'static str> {
    let request = &exchange.request;
    let is_wanted = exchange.protocol() == Protocol::Gemini
        && matches!(request.output, OutputFormat::JsonObject);
    let first = request.messages.iter().find(|message| message.role == Role::User);
    if !is_wanted || first.is_some_and(|message| message.parts.iter().any(says_json)) {
        return None;
    }
    let reason = "the JSON mode wants the word in the prompt";
    losing.below(Place::default(), "/systemInstruction", LossKind::Synthesised, reason);
    Some(ASK_FOR_JSON)
}

fn says_json(part: &Part<'_>) -> bool {
    match part.content() {
        Content::Text(text) => text.to_str().to_ascii_lowercase().contains("json"),
        _ => false,
    }
}
