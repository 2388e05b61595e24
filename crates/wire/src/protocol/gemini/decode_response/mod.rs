//! Reading whole answers.

mod chunk;
mod citation;
mod logprobs;

pub(super) use chunk::{CandidateDraft, Chunk};
pub(super) use citation::Grounding;
pub(super) use logprobs::token_bytes;

use crate::conversation::{Candidate, Content, Finish, FinishKind, Message, Part, Response, Role};
use crate::error::Result;
use crate::json::{Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::Logprobs;
use crate::protocol::gemini::decode_request::partial::Joining;
use crate::protocol::gemini::encode_response::logprobs_result;
use crate::protocol::gemini::fault::fault_of;
use crate::protocol::gemini::types::LOGPROBS;
use crate::protocol::gemini::usage::USAGE;
use crate::protocol::semantics::{Extras, NodeSemantics};

pub(in super::super) fn decode_response(body: &str) -> Result<Response<'_>> {
    let mut reader = Reader::new(body);
    let root = Place::default();
    let mut chunk = Chunk::default();
    chunk.read(&mut reader, root, &mut Extras::default())?;
    reader.finish()?;
    let Chunk { id, model, candidates, usage, .. } = chunk;
    let semantics = NodeSemantics::at(root).keeping(chunk.extras);
    let mut candidates: Vec<_> = candidates.into_iter().map(whole_candidate).collect();
    if let (true, Some(reason)) = (candidates.is_empty(), chunk.blocked) {
        candidates.push(blocked(root, reason));
    }
    let service_tier = usage.as_ref().and_then(|report| report.service_tier.clone());
    let usage = usage.map(|report| USAGE.usage(report));
    let fault = chunk.error.map(|error| fault_of(None, &error));
    Ok(Response { id, model, created: None, candidates, usage, service_tier, fault, semantics })
}

fn whole_candidate(draft: CandidateDraft<'_>) -> Candidate<'_> {
    let (place, sources) = (draft.semantics.place(), draft.sources());
    let mut semantics = draft.semantics;
    let mut joining = Joining::default();
    draft.parts.into_iter().for_each(|part| joining.push(part));
    let (mut parts, is_cut) = joining.finish();
    for (index, citation) in draft.grounding.citations(&parts) {
        parts[index].semantics_mut().add_citation(citation.at(sources));
    }
    if let Some(logprobs) = draft.logprobs {
        match parts.iter_mut().find(|part| matches!(part.content(), Content::Text(_))) {
            Some(text) => text.semantics_mut().set_logprobs(logprobs),
            None => semantics.keep(unplaced(&logprobs)),
        }
    }
    let finish = draft.finish.map(|raw| match is_cut {
        true => cut(raw),
        false => finish(raw, parts.iter().any(is_call)),
    });
    let content = if draft.has_content { place.step(Step::Content) } else { place };
    let message = Message::new(Role::Assistant, parts).with_semantics(NodeSemantics::at(content));
    Candidate { message, finish, semantics }
}

/// The end of an answer that lacks a part of a call: where it would look like any other, it is not all that was to be said.
/// Fixture `answer/tools/gemini-call-that-breaks-off`.
pub(super) fn cut(raw: Text<'_>) -> Finish<'_> {
    let finish = finish(raw, false);
    match finish.kind {
        FinishKind::ContentFilter => finish,
        _ => Finish { kind: FinishKind::Length, ..finish },
    }
}

/// Whether a reason for an end says that the answer broke off, so that a call may lack parts.
pub(in super::super) fn breaks_off(raw: &str) -> bool {
    raw != "STOP"
}

/// Log probabilities of an answer without a text, as a field in transit.
pub(super) fn unplaced(logprobs: &Logprobs<'_>) -> Extras<'static> {
    let mut extras = Extras::default();
    if let Some(result) = logprobs_result(logprobs) {
        extras.keep("", LOGPROBS.into(), result);
    }
    extras
}

/// The answer that a blocked prompt stands for, since the vendor gives none. Fixture `answer/finish/gemini-blocked-prompt`.
fn blocked(place: Place, reason: Text<'_>) -> Candidate<'_> {
    let message = Message::new(Role::Assistant, Vec::new());
    let semantics = NodeSemantics::at(place.step(Step::PromptFeedback));
    Candidate { message, finish: Some(prompt_filter(reason)), semantics }
}

/// The end of an answer whose prompt was blocked.
pub(super) fn prompt_filter(reason: Text<'_>) -> Finish<'_> {
    Finish { raw: Some(reason), ..Finish::new(FinishKind::PromptFilter) }
}

pub(super) fn is_call(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::ToolCall(_))
}

/// Whether a finish reason says more than its class, so that it comes back as another word.
pub(in super::super) fn is_finer(finish: &Finish<'_>) -> bool {
    let plain =
        ["STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL", "OTHER", "CONTINUATION"];
    let raw = finish.raw.as_ref().map(Text::to_str);
    raw.is_some_and(|raw| !plain.contains(&&*raw))
}

/// The class of a finish reason. The vendor has none for calls, so that their presence decides.
/// Fixture `answer/tools/tool-call-only`.
pub(super) fn finish<'a>(raw: Text<'a>, calls: bool) -> Finish<'a> {
    let kind = match &*raw.to_str() {
        "STOP" if calls => FinishKind::ToolCalls,
        "STOP" => FinishKind::Stop,
        "MAX_TOKENS" => FinishKind::Length,
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "LANGUAGE"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => FinishKind::ContentFilter,
        "MALFORMED_FUNCTION_CALL"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "MALFORMED_RESPONSE" => FinishKind::MalformedCall,
        "CONTINUATION" => FinishKind::Pause,
        _ => FinishKind::Other,
    };
    Finish { raw: Some(raw), ..Finish::new(kind) }
}
