//! The sentence that asks for JSON in the prompt, where the target's JSON mode requires the word there.

use crate::conversation::{Content, Message, OutputFormat, Part, Request, Role};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::DecodedRequest;
use crate::protocol::reporter::Reporter;

pub(super) const ASK_FOR_JSON: &str = "Answer with one JSON object and nothing else.";

/// The sentence that opens the system text where a server's JSON mode wants the word in the prompt, and the client's does
/// not.
pub(super) fn missing_sentence(
    decoded: &DecodedRequest<'_>,
    reporter: &mut Reporter<'_>,
) -> Option<&'static str> {
    let source = decoded.protocol();
    let is_wanted = !source.conventions().needs_json_in_prompt && lacks_word(&decoded.request);
    is_wanted.then(|| {
        let reason = "JSON mode requires the word JSON in the prompt";
        reporter.below(Place::default(), &source.system_pointer(), LossKind::Synthesised, reason);
        ASK_FOR_JSON
    })
}

/// Whether JSON is asked for by the setting alone. Only the first turn decides, so that nothing changes when the
/// conversation goes on.
fn lacks_word(request: &Request<'_>) -> bool {
    let first = request.messages.iter().find(|message| !message.role.instructs());
    let asks_for_it =
        |message: &Message<'_>| message.role == Role::User && message.parts.iter().any(names_json);
    is_any_json(&request.output) && !first.is_some_and(asks_for_it)
}

fn is_any_json(output: &OutputFormat<'_>) -> bool {
    match output {
        OutputFormat::JsonObject => true,
        OutputFormat::JsonSchema(output) => output.schema.is_none(),
        OutputFormat::Text | OutputFormat::Unset => false,
    }
}

fn names_json(part: &Part<'_>) -> bool {
    match part.content() {
        Content::Text(text) => text.to_str().to_ascii_lowercase().contains("json"),
        _ => false,
    }
}
