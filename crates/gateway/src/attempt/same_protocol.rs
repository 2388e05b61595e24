//! A request that stays in its protocol and yet must change: histories that no provider takes, where the operator wants them
//! mended, fields that the provider refuses, what the client wants left out and its server does not, and artefacts that this
//! gateway put into an earlier answer on another vendor's behalf. Those go home when their issuer serves again, and nowhere else.

use memchr::memmem;
use sabir_compose::govern::Governed;
use sabir_wire::conversation::{Content, Part, Request};
use sabir_wire::json::Text;
use sabir_wire::protocol::{
    AnswerContext, AppliedEdit, Artefact, DecodedRequest, Encoded, splice_model,
};
use sabir_wire::target::Target;
use sabir_wire::{LossKind, Protocol, Report};

use crate::answer::AnswerMode;
use crate::attempt::edits::Edited;
use crate::attempt::gateway_facts::GatewayFacts;
use crate::attempt::notes::Notes;
use crate::attempt::prepare::{Read, Rewritten};
use crate::attempt::verbatim::verbatim;
use crate::attempt::{edits, repair, translated};
use crate::call::Call;
use crate::config::types::Repair;
use crate::failure::Result;
use crate::recall::without_members;
use crate::recalled::Recalled;
use crate::route::Candidate;
use crate::state::Snapshot;
use crate::surface::{Change, History};
use crate::upstream::Payload;
use crate::{govern, ingress, surface};

/// The body written anew, if anything of it must change; else the client's own bytes will do.
pub(super) fn rewritten(
    snapshot: &Snapshot,
    call: &Call<'_>,
    candidate: &Candidate,
    notes: &mut Notes<'_>,
) -> Result<Option<Payload<'static>>> {
    let target = candidate.provider.targets.of(&candidate.model);
    if let Some(recalled) = call.recalled_for(&candidate.provider.name) {
        return continued(snapshot, call, (candidate, &target), recalled, notes).map(Some);
    }
    let may_change =
        may_be_mended(snapshot, call) || may_hold_foreign(call.body, call.client, &target);
    let encoded = match may_change {
        true => encoded(snapshot, call, (candidate, &target), notes)?,
        false => None,
    };
    Ok(encoded.or_else(|| spliced(call, candidate, notes)))
}

/// The same under rules on its tools: they see the request, and their report decides whether it is written anew.
pub(super) fn governed(
    snapshot: &Snapshot,
    (call, decoded): Read<'_, '_>,
    candidate: &Candidate,
    notes: &mut Notes<'_>,
) -> Result<Rewritten> {
    ingress::check_density(&call.survey)?;
    let target = candidate.provider.targets.of(&candidate.model);
    let recalled = call.recalled_for(&candidate.provider.name);
    // What was decoded before is the whole conversation, also where the provider has the beginning of it.
    let is_whole = recalled.is_some() || call.recalled.is_none();
    let mut decoded = match (decoded.filter(|_| is_whole), recalled) {
        (Some(decoded), _) => *decoded,
        (None, Some(recalled)) => recalled.decoded()?,
        (None, None) => call.decoded_own()?,
    };
    // What is to be cleared is named by the client's names for its tools.
    let edited = match may_be_edited(call, candidate) {
        true => edits::apply(&mut decoded)?,
        false => None,
    };
    let governed = govern::request(call, &mut decoded, (call.client, &target))?;
    if recalled.is_none() && call.recalled.is_some() {
        // The provider has the conversation, and so has the gateway.
        govern::check_rounds(call, call.decoded()?.request())?;
    }
    let mut context = AnswerContext::by(&decoded, call.client, &Target::default());
    let Governed { mut report, renamed } = governed;
    renamed.report_on(decoded.request(), &mut report);
    let is_named_alike = renamed.is_empty();
    let offer = govern::offer(call, &decoded, (&mut context, renamed));
    if offer.is_some() && !report.is_empty() {
        context.echo = translated::echo(call, notes)?;
    }
    let is_same = report.is_empty() && is_named_alike && edited.is_none();
    let body = match is_same {
        true => rewritten(snapshot, call, candidate, notes)?,
        false => {
            check_drops(call, &report)?;
            notes.add_losses(call.name_turns(report));
            let is_mended = recalled.is_some() || may_be_mended(snapshot, call);
            let changing = Changing { is_mended, is_needed: true };
            let body = changed(call, (candidate, &target), decoded, changing, notes)?;
            body.map(|body| without_wish(body, edited.as_ref())).transpose()?
        }
    };
    let facts = GatewayFacts::of(call, notes);
    context.applied_edits = edited.map(|edited| edited.applied);
    let is_plain = facts.are_default() && context.applied_edits.is_none();
    let mode = match offer.is_none() && is_plain {
        true => AnswerMode::PassThrough,
        false => AnswerMode::Translate { context: Box::new(facts.added_to(context)), offer },
    };
    Ok(Rewritten { body, mode })
}

/// Refuses to leave out what a strict client has sent.
fn check_drops(call: &Call<'_>, report: &Report) -> Result<()> {
    let dropped = Encoded { body: String::new(), report: report.clone() };
    match call.is_strict() {
        true => dropped.strict().map(drop).map_err(translated::refused),
        false => Ok(()),
    }
}

/// The body without what the client wants left out, for a server that leaves nothing out itself: those of other vendors have
/// the protocol, and not all of its additions.
pub(super) fn cleared(
    snapshot: &Snapshot,
    call: &Call<'_>,
    candidate: &Candidate,
    notes: &mut Notes<'_>,
) -> Result<Option<(Payload<'static>, Vec<AppliedEdit>)>> {
    if !may_be_edited(call, candidate) {
        return Ok(None);
    }
    ingress::check_density(&call.survey)?;
    let mut decoded = call.decoded()?;
    let Some(edited) = edits::apply(&mut decoded)? else { return Ok(None) };
    let recalled = call.recalled_for(&candidate.provider.name);
    let is_mended = may_be_mended(snapshot, call) || recalled.is_some_and(|it| !it.is_fresh());
    let changing = Changing { is_mended, is_needed: true };
    let target = candidate.provider.targets.of(&candidate.model);
    let body = changed(call, (candidate, &target), decoded, changing, notes)?.unwrap_or_default();
    Ok(Some((without_wish(body, Some(&edited))?, edited.applied)))
}

/// Whether a client may want something left out that its server does not leave out itself; false only if it does not.
fn may_be_edited(call: &Call<'_>, candidate: &Candidate) -> bool {
    let recalled = call.recalled_for(&candidate.provider.name);
    let body = recalled.map_or(call.body, |recalled| &recalled.body);
    let edited_by = surface::of(call.client).compaction.edited_by;
    let is_named = |member: &str| memmem::find(body.as_bytes(), member.as_bytes()).is_some();
    candidate.provider.config.dialect.is_some() && edited_by.is_some_and(is_named)
}

/// A body without the wish that was granted.
fn without_wish(body: String, edited: Option<&Edited>) -> Result<Payload<'static>> {
    let body = match edited.and_then(|edited| edited.member) {
        Some(member) => without_members(&body, &[member])?,
        None => body,
    };
    Ok(body.into_bytes().into())
}

/// A body that goes on from what the gateway keeps. Where nothing stands before the client's own messages, they are sent as
/// they are, and so is what stands there if nothing of it has to change.
fn continued(
    snapshot: &Snapshot,
    call: &Call<'_>,
    (candidate, target): (&Candidate, &Target),
    recalled: &Recalled,
    notes: &mut Notes<'_>,
) -> Result<Payload<'static>> {
    let own = match recalled.is_fresh() {
        true => Some(verbatim(recalled)?.unwrap_or_else(|| recalled.body.clone())),
        false => verbatim(recalled)?,
    };
    let own = own.filter(|body| !may_hold_foreign(body, call.client, target));
    let is_mended = !recalled.is_fresh() || may_be_mended(snapshot, call);
    let written = match &own {
        Some(_) if !is_mended => None,
        _ => {
            let changing = Changing { is_mended, is_needed: own.is_none() };
            changed(call, (candidate, target), recalled.decoded()?, changing, notes)?
        }
    };
    let body = match written {
        Some(body) => body,
        None => as_sent(call, candidate, own.unwrap_or_else(|| recalled.body.clone()), notes)?,
    };
    Ok(body.into_bytes().into())
}

/// A body with nothing changed but the model and the fields that the server would refuse.
fn as_sent(
    call: &Call<'_>,
    candidate: &Candidate,
    body: String,
    notes: &mut Notes<'_>,
) -> Result<String> {
    let body = match stripped(call, candidate, &body) {
        Some((body, report)) => {
            notes.add_losses(report);
            body
        }
        None => body,
    };
    Ok(splice_model(&body, &candidate.model)?.unwrap_or(body))
}

/// The client's own bytes without the fields that the server would refuse.
fn spliced(
    call: &Call<'_>,
    candidate: &Candidate,
    notes: &mut Notes<'_>,
) -> Option<Payload<'static>> {
    let (body, report) = stripped(call, candidate, call.body)?;
    let body = splice_model(&body, &candidate.model).ok()?.unwrap_or(body);
    notes.add_losses(report);
    Some(body.into_bytes().into())
}

/// A body without the fields that the server would refuse. A strict client gets the provider's refusal instead.
fn stripped(call: &Call<'_>, candidate: &Candidate, body: &str) -> Option<(String, Report)> {
    let dialect = candidate.provider.config.dialect?;
    match call.is_strict() {
        true => None,
        false => (surface::of(call.client).history.strip)(body, dialect),
    }
}

/// The body decoded, changed and written anew; none if nothing of it had to change.
fn encoded(
    snapshot: &Snapshot,
    call: &Call<'_>,
    (candidate, target): (&Candidate, &Target),
    notes: &mut Notes<'_>,
) -> Result<Option<Payload<'static>>> {
    ingress::check_density(&call.survey)?;
    // What cannot be read is for the provider to refuse.
    let Ok(decoded) = call.decoded_own() else { return Ok(None) };
    let surface = surface::of(call.client);
    // A count may have its conversation one level deeper, where it is looked after on its own. Who has none at all is told
    // so by the provider.
    if !surface.counting.wrappers.is_empty() && decoded.request().messages.is_empty() {
        return Ok(None);
    }
    let is_mended = may_be_mended(snapshot, call);
    let changing = Changing { is_mended, is_needed: false };
    let body = changed(call, (candidate, target), decoded, changing, notes)?;
    Ok(body.map(|body| body.into_bytes().into()))
}

/// Why a request is written anew.
#[derive(Clone, Copy)]
struct Changing {
    /// Whether histories are mended.
    is_mended: bool,
    /// Whether it is written even if nothing of it has to change.
    is_needed: bool,
}

/// A request as its provider takes it; none if nothing of it had to change.
fn changed(
    call: &Call<'_>,
    (candidate, target): (&Candidate, &Target),
    mut decoded: DecodedRequest<'_>,
    changing: Changing,
    notes: &mut Notes<'_>,
) -> Result<Option<String>> {
    let surface = surface::of(call.client);
    notes.check()?;
    let Changing { is_mended, is_needed } = changing;
    let mut report = withhold(decoded.edit(), &surface.history, target);
    if is_mended && !refers_elsewhere(decoded.request(), surface.session.reference) {
        report.extend(repair::mend(decoded.edit(), call.client, call.client)?);
    }
    let is_changed = is_mended || !report.is_empty();
    let change = Change { target, is_repaired: is_mended, is_changed };
    report.extend((surface.history.adapt)(decoded.edit(), &change));
    if report.is_empty() && !is_needed {
        return Ok(None);
    }
    if !call.client.facts().names_model_in_path {
        decoded.edit().model = Some(Text::plain(candidate.model.clone()));
    }
    notes.check()?;
    let encoded = decoded.encode(call.client, target)?;
    notes.add_losses(call.name_turns(report));
    notes.add_losses(call.name_turns(encoded.report));
    let body = match stripped(call, candidate, &encoded.body) {
        Some((body, report)) => {
            notes.add_losses(report);
            body
        }
        None => encoded.body,
    };
    Ok(Some(body))
}

fn may_be_mended(snapshot: &Snapshot, call: &Call<'_>) -> bool {
    snapshot.config().repair == Repair::Always && call.session.is_none()
}

/// Whether a body may hold what another vendor made and this one refuses; false only if it holds none.
fn may_hold_foreign(body: &str, client: Protocol, target: &Target) -> bool {
    let may_hold_foreign = surface::of(client).history.may_hold_foreign;
    may_hold_foreign(body, target) || Artefact::may_be_carried_in(body)
}

/// Takes reasoning of other vendors out of a conversation, and their signatures off other parts.
fn withhold(request: &mut Request<'_>, history: &History, target: &Target) -> Report {
    let is_foreign = |part: &Part<'_>| is_foreign(part, history, target);
    let mut report = Report::default();
    request.messages.retain_mut(|message| {
        let parts = std::mem::take(&mut message.parts);
        let was_empty = parts.is_empty();
        let kept = parts.into_iter().filter_map(|part| without(part, &is_foreign, &mut report));
        message.parts = kept.collect();
        was_empty || !message.parts.is_empty()
    });
    report
}

fn is_foreign(part: &Part<'_>, history: &History, target: &Target) -> bool {
    match part.semantics().artefact() {
        Some(artefact) => (history.refuses_artefacts_of)(artefact.issuer(), target),
        None => {
            matches!(part.content(), Content::Reasoning(_)) && (history.is_foreign_unsigned)(part)
        }
    }
}

fn without<'p>(
    part: Part<'p>,
    is_foreign: &impl Fn(&Part<'_>) -> bool,
    report: &mut Report,
) -> Option<Part<'p>> {
    if !is_foreign(&part) {
        return Some(part);
    }
    let pointer = part.semantics().place().to_string();
    report.lose(pointer, LossKind::Withheld, "only its issuer can read it");
    match part.content() {
        Content::Reasoning(_) | Content::Opaque(_) => None,
        _ => Some(Part::new(part.into_content())),
    }
}

/// Whether parts of the conversation are with the provider alone, so that a call may be there which is not here.
fn refers_elsewhere(request: &Request<'_>, reference: Option<&str>) -> bool {
    let is_reference = |part: &Part<'_>| match part.content() {
        Content::Opaque(opaque) => reference.is_some_and(|reference| opaque.kind == reference),
        _ => false,
    };
    request.messages.iter().flat_map(|message| &message.parts).any(is_reference)
}
