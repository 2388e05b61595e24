//! A request that stays in its protocol and yet must change: histories that no provider takes, where the operator wants them
//! mended, fields that the provider refuses, and artefacts that this gateway put into an earlier answer on another vendor's
//! behalf. Those go home when their issuer serves again, and nowhere else.

use memchr::memmem;
use sabir_wire::LossKind;
use sabir_wire::Protocol;
use sabir_wire::Report;
use sabir_wire::conversation::Content;
use sabir_wire::conversation::Part;
use sabir_wire::conversation::ReasoningForm;
use sabir_wire::conversation::Request;
use sabir_wire::json::Text;
use sabir_wire::protocol::Artefact;
use sabir_wire::protocol::splice_model;
use sabir_wire::target::Target;

use crate::Gateway;
use crate::attempt::claude_thinking_off;
use crate::attempt::gemini_call_signatures;
use crate::attempt::gemini_call_signatures::Signs;
use crate::attempt::notes::Notes;
use crate::attempt::payload::Payload;
use crate::attempt::repair;
use crate::attempt::strip_reasoning_fields;
use crate::call::Call;
use crate::config::types::Repair;
use crate::failure::Result;
use crate::route::Candidate;

/// How the ids begin that this gateway gives to thinking of other vendors: the item's prefix, then the exchange's.
const MINTED: &str = "rs_ex_";

/// The body written anew, if anything of it must change; else the client's own bytes will do.
pub(super) fn rewritten(
    gateway: &Gateway,
    call: &Call<'_>,
    candidate: &Candidate,
    notes: &mut Notes<'_>,
) -> Result<Option<Payload<'static>>> {
    let target = gateway.upstreams[candidate.provider].targets.of(&candidate.model);
    let encoded = match may_be_mended(gateway, call) || may_hold_foreign(call, &target) {
        true => encoded(gateway, call, (candidate, &target), notes)?,
        false => None,
    };
    Ok(encoded.or_else(|| without_thoughts(gateway, call, candidate, notes)))
}

/// The body without the thinking that a Chat server would refuse. A strict client gets the provider's refusal instead.
fn without_thoughts(
    gateway: &Gateway,
    call: &Call<'_>,
    candidate: &Candidate,
    notes: &mut Notes<'_>,
) -> Option<Payload<'static>> {
    let (body, report) = thoughtless(gateway, call, candidate, call.body)?;
    let body = splice_model(&body, &candidate.model).ok()?.unwrap_or(body);
    notes.loses(report);
    Some(body.into_bytes().into())
}

fn thoughtless(
    gateway: &Gateway,
    call: &Call<'_>,
    candidate: &Candidate,
    body: &str,
) -> Option<(String, Report)> {
    let dialect = gateway.config.providers[candidate.provider].dialect?;
    if call.client != Protocol::OpenaiChat || call.is_strict() {
        return None;
    }
    strip_reasoning_fields::without_refused(body, dialect)
}

/// The body decoded, changed and written anew; none if nothing of it had to change.
fn encoded(
    gateway: &Gateway,
    call: &Call<'_>,
    (candidate, target): (&Candidate, &Target),
    notes: &mut Notes<'_>,
) -> Result<Option<Payload<'static>>> {
    // What cannot be read is for the provider to refuse.
    let Ok(mut exchange) = call.client.decode_request_surveyed(&call.survey) else {
        return Ok(None);
    };
    // A count of Gemini's may have its conversation one level deeper, where it is looked after on its own. Who has none at
    // all hears so from the provider.
    if call.client == Protocol::Gemini && exchange.request.messages.is_empty() {
        return Ok(None);
    }
    notes.check()?;
    let is_mended = may_be_mended(gateway, call);
    let own = Own { protocol: call.client, target };
    let mut report = withhold(&mut exchange.request, &own);
    if call.client == Protocol::Gemini && target.family.needs_thought_signature {
        let signs = if is_mended { Signs::All } else { Signs::OfOthers };
        report.extend(gemini_call_signatures::disown(&mut exchange.request, signs));
    }
    if is_mended && !refers_elsewhere(&exchange.request) {
        report.extend(repair::mend(&mut exchange.request, call.client, call.client)?);
    }
    let is_foreign =
        !report.is_empty() || is_mended || claude_thinking_off::holds_others(&exchange.request);
    if call.client == Protocol::AnthropicMessages && is_foreign {
        report.extend(claude_thinking_off::rest(&mut exchange.request, target.family.thinking));
    }
    if report.is_empty() {
        return Ok(None);
    }
    if call.client != Protocol::Gemini {
        exchange.request.model = Some(Text::plain(&*candidate.model));
    }
    notes.check()?;
    let encoded = exchange.encode(call.client, target)?;
    notes.loses(report);
    notes.loses(encoded.report);
    let body = match thoughtless(gateway, call, candidate, &encoded.body) {
        Some((body, report)) => {
            notes.loses(report);
            body
        }
        None => encoded.body,
    };
    Ok(Some(body.into_bytes().into()))
}

fn may_be_mended(gateway: &Gateway, call: &Call<'_>) -> bool {
    gateway.config.repair == Repair::Always && call.session.is_none()
}

/// Whether the body may hold what another vendor made and this one refuses; false only if it holds none.
fn may_hold_foreign(call: &Call<'_>, target: &Target) -> bool {
    let is_unsealed = match call.client {
        Protocol::AnthropicMessages => {
            may_hold_unsealed(call.body) || claude_thinking_off::may_hold_others(call.body)
        }
        Protocol::OpenaiResponses => may_hold_open(call.body),
        Protocol::Gemini => {
            target.family.needs_thought_signature && gemini_call_signatures::may_hold(call.body)
        }
        Protocol::OpenaiChat => {
            target.is_known_beside_google()
                && memmem::find(call.body.as_bytes(), b"\"thought_signature\"").is_some()
        }
    };
    is_unsealed || Artefact::may_be_carried_in(call.body)
}

/// Whether there may be thinking that nobody sealed: its signature is empty.
fn may_hold_unsealed(body: &str) -> bool {
    const KEY: &str = r#""signature":"#;
    memmem::find_iter(body.as_bytes(), KEY)
        .any(|at| body[at + KEY.len()..].trim_start().starts_with(r#""""#))
}

/// Whether there may be items of thinking that nobody sealed: there are fewer seals than items.
fn may_hold_open(body: &str) -> bool {
    let after = |word: &'static str| {
        let places = memmem::find_iter(body.as_bytes(), word);
        places.map(move |at| body[at + word.len()..].trim_start())
    };
    let items = after(r#""reasoning""#).filter(|rest| !rest.starts_with(':')).count();
    let is_seal = |rest: &str| {
        rest.strip_prefix(':').is_some_and(|value| value.trim_start().starts_with('"'))
    };
    items > 0 && items > after(r#""encrypted_content""#).filter(|rest| is_seal(rest)).count()
}

/// Whose artefacts go on to the provider.
struct Own<'t> {
    protocol: Protocol,
    target: &'t Target,
}

impl Own<'_> {
    /// Whether the provider is not the one that made an artefact. A server of Chat may be Google's, whose signatures that
    /// protocol has a field for; one that nobody knows gets what its client sends.
    fn is_foreign(&self, artefact: &Artefact<'_>) -> bool {
        match (self.protocol, artefact.issuer()) {
            (Protocol::OpenaiChat, Protocol::Gemini) => self.target.is_known_beside_google(),
            (own, issuer) => own != issuer,
        }
    }
}

/// Takes thinking of other vendors out of a conversation, and their seals off other parts.
fn withhold(request: &mut Request<'_>, own: &Own<'_>) -> Report {
    let mut report = Report::default();
    request.messages.retain_mut(|message| {
        let parts = std::mem::take(&mut message.parts);
        let was_empty = parts.is_empty();
        let kept = parts.into_iter().filter_map(|part| without(part, own, &mut report));
        message.parts = kept.collect();
        was_empty || !message.parts.is_empty()
    });
    report
}

fn without<'p>(part: Part<'p>, own: &Own<'_>, report: &mut Report) -> Option<Part<'p>> {
    let is_foreign = match part.semantics().artefact() {
        Some(artefact) => own.is_foreign(artefact),
        None => matches!(part.content(), Content::Reasoning(_)) && is_unsealed(&part, own.protocol),
    };
    if !is_foreign {
        return Some(part);
    }
    let pointer = part.semantics().place().to_string();
    report.lose(pointer, LossKind::Withheld, "only its issuer can read it");
    match part.content() {
        Content::Reasoning(_) | Content::Opaque(_) => None,
        _ => Some(Part::new(part.into_content())),
    }
}

/// Whether thinking without a seal cannot be the vendor's own.
fn is_unsealed(part: &Part<'_>, own: Protocol) -> bool {
    match own {
        // Anthropic seals all thinking of its own.
        Protocol::AnthropicMessages => true,
        Protocol::OpenaiResponses => {
            let id = part.semantics().item().and_then(|item| item.id.as_ref());
            match (id, part.content()) {
                // OpenAI would look for an item of that name among those that it keeps.
                (Some(id), _) => id.to_str().starts_with(MINTED),
                // A summary is for people: without a name and a seal it says nothing to anybody else.
                (None, Content::Reasoning(it)) => it.form == ReasoningForm::Summary,
                (None, _) => false,
            }
        }
        Protocol::OpenaiChat | Protocol::Gemini => false,
    }
}

/// Whether parts of the conversation are with the provider alone, so that a call may be there which is not here.
fn refers_elsewhere(request: &Request<'_>) -> bool {
    let is_reference = |part: &Part<'_>| match part.content() {
        Content::Opaque(opaque) => opaque.kind == "item_reference",
        _ => false,
    };
    request.messages.iter().flat_map(|message| &message.parts).any(is_reference)
}
