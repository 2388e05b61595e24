//! Mending what no provider would take, before a request is written for one.

use sabir_compose::Policy;
use sabir_compose::Refused;
use sabir_wire::FaultKind;
use sabir_wire::LossKind;
use sabir_wire::Protocol;
use sabir_wire::Report;
use sabir_wire::conversation::Content;
use sabir_wire::conversation::OutputFormat;
use sabir_wire::conversation::Part;
use sabir_wire::conversation::Request;
use sabir_wire::conversation::Role;

use crate::failure::Failure;
use crate::failure::Result;

/// Repairs a request that is about to be written for a provider of `upstream`, and says what was done.
pub(super) fn mend(request: &mut Request<'_>, upstream: Protocol) -> Result<Report> {
    let trace = sabir_compose::repair(request, &Policy::towards(upstream)).map_err(refused)?;
    Ok(trace.into_report())
}

/// Asks for JSON in words too, where the vendor refuses a request that only sets the mode. Gemini's clients need not have
/// said them; those of the two OpenAI protocols know the rule.
pub(super) fn put_json_in_words(
    request: &mut Request<'_>,
    client: Protocol,
    upstream: Protocol,
) -> Report {
    let mut report = Report::default();
    let wants_words = matches!(upstream, Protocol::OpenaiChat | Protocol::OpenaiResponses);
    let is_mode = matches!(request.output, OutputFormat::JsonObject);
    if client != Protocol::Gemini || !wants_words || !is_mode || says_json(request) {
        return report;
    }
    let users = request.messages.iter_mut().rev();
    if let Some(last) = users.into_iter().find(|message| message.role == Role::User) {
        last.parts.push(Part::text(ASK_FOR_JSON));
        let reason = "the word must be said where the mode is set";
        report.lose("/generationConfig/responseMimeType", LossKind::Synthesised, reason);
    }
    report
}

const ASK_FOR_JSON: &str = "Answer with one JSON object and nothing else.";

fn says_json(request: &Request<'_>) -> bool {
    let says = |part: &Part<'_>| match part.content() {
        Content::Text(text) => text.to_str().to_ascii_lowercase().contains("json"),
        _ => false,
    };
    request.messages.iter().flat_map(|message| &message.parts).any(says)
}

fn refused(refused: Refused) -> Box<Failure> {
    Failure::client(FaultKind::BadRequest, refused.to_string())
}
