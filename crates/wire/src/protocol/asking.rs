//! What is asked for in words where a setting cannot, or does not alone.

use crate::conversation::{Content, Message, OutputFormat, Part, Request, Role};
use crate::json::Text;
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::Exchange;
use crate::protocol::losing::Losing;
use crate::target::Effort;

/// What becomes of a word for an effort that is no step of the ladder: no model has it.
pub(in crate::protocol) fn unknown_effort(word: &Text<'_>) -> (LossKind, &'static str) {
    match Effort::is_left_open(&word.to_str()) {
        true => (LossKind::Implied, "the effort is left to the model"),
        false => (LossKind::Dropped, "no model has an effort of this name"),
    }
}

pub(in crate::protocol) const ASK_FOR_JSON: &str = "Answer with one JSON object and nothing else.";

/// What the system says first where a server's JSON mode wants the word in the prompt, and the client's does not.
pub(in crate::protocol) fn missing_word(
    exchange: &Exchange<'_>,
    losing: &mut Losing<'_>,
) -> Option<&'static str> {
    let source = exchange.protocol();
    let is_wanted = !source.conventions().needs_json_in_prompt && lacks_word(&exchange.request);
    is_wanted.then(|| {
        let reason = "JSON mode requires the word JSON in the prompt";
        losing.below(Place::default(), &source.system_pointer(), LossKind::Synthesised, reason);
        ASK_FOR_JSON
    })
}

/// Whether JSON is asked for by the setting alone. Only the first turn decides, so that nothing changes when the
/// conversation goes on.
fn lacks_word(request: &Request<'_>) -> bool {
    let first = request.messages.iter().find(|message| !message.role.instructs());
    let says_so =
        |message: &Message<'_>| message.role == Role::User && message.parts.iter().any(says_json);
    is_any_json(&request.output) && !first.is_some_and(says_so)
}

fn is_any_json(output: &OutputFormat<'_>) -> bool {
    match output {
        OutputFormat::JsonObject => true,
        OutputFormat::JsonSchema(output) => output.schema.is_none(),
        OutputFormat::Text | OutputFormat::Unsaid => false,
    }
}

fn says_json(part: &Part<'_>) -> bool {
    match part.content() {
        Content::Text(text) => text.to_str().to_ascii_lowercase().contains("json"),
        _ => false,
    }
}
