//! Calls that a Gemini client got from another vendor through this gateway, and that nobody signed: newer models of Gemini
//! want a signature on the first call of each step, and have one for calls from elsewhere.

use memchr::memmem;
use sabir_wire::conversation::{Content, Part, Request};
use sabir_wire::json::Text;
use sabir_wire::{LossKind, Report};

/// How the ids of calls begin that OpenAI, Anthropic and vLLM make; Gemini's do not.
const IDS: [&str; 3] = ["call_", "toolu_", "chatcmpl-tool-"];

/// Whether a body may hold such calls; false only if it holds none.
pub(super) fn may_be_needed(body: &str) -> bool {
    IDS.iter().any(|id| memmem::find(body.as_bytes(), id.as_bytes()).is_some())
}

/// Which calls without a signature get one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signs {
    /// Those that another vendor made.
    OfOthers,
    /// Also Gemini's own, of models that sign none or of clients that lost it.
    All,
}

/// Signs such calls by forgetting where they stood: the encoder signs what is not the client's own. Earlier turns stay
/// signed, so that what was sent before does not change.
pub(super) fn sign(request: &mut Request<'_>, signs: Signs) -> Report {
    let mut report = Report::default();
    for message in &mut request.messages {
        let is_call = |part: &&mut Part<'_>| matches!(part.content(), Content::ToolCall(_));
        let Some(first) = message.parts.iter_mut().find(is_call) else { continue };
        if is_unsigned(first) && (signs == Signs::All || is_others(first)) {
            let pointer = format!("{}/thoughtSignature", first.semantics().place());
            let reason = "the model wants a signature on calls that it did not make";
            report.lose(pointer, LossKind::Synthesised, reason);
            *first = Part::new(first.content().clone());
        }
    }
    report
}

fn is_unsigned(part: &Part<'_>) -> bool {
    part.semantics().artefact().is_none()
}

fn is_others(part: &Part<'_>) -> bool {
    let Content::ToolCall(call) = part.content() else { return false };
    let is_others = |id: &Text<'_>| IDS.iter().any(|it| id.to_str().starts_with(it));
    call.id.as_ref().is_some_and(is_others)
}
