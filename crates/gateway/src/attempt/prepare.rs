//! What is sent to a target: the client's own bytes where nothing has to change, else a translation.

use std::borrow::Cow;
use std::sync::Arc;

use http::HeaderMap;
use sabir_wire::json::{Reader, Text, Writer};
use sabir_wire::protocol::{AnswerContext, Echo, Encoded};
use sabir_wire::target::Target;
use sabir_wire::{FaultKind, Protocol, Report};

use crate::answer::AnswerMode;
use crate::attempt::agent::Adapted;
use crate::attempt::notes::{Notes, Stamp};
use crate::attempt::{
    agent, artefacts, cache_key, edits, late_system, repair, same_protocol, token_estimate, window,
};
use crate::call::{Action, Call, LargeCall};
use crate::config::types::Repair;
use crate::failure::{Failure, Result, Whose};
use crate::memory::Lacking;
use crate::observe::Losses;
use crate::recall::absent;
use crate::route::Candidate;
use crate::state::Snapshot;
use crate::trace::Trace;
use crate::upstream::{Endpoint, Payload, outgoing_headers};
use crate::{ingress, surface};

/// A request as a target will see it.
#[derive(Debug)]
pub(crate) struct Prepared<'a> {
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) path: String,
    pub(crate) headers: Cow<'a, HeaderMap>,
    pub(crate) body: Payload<'a>,
    pub(crate) mode: AnswerMode,
}

/// A body as a target wants it, apart from the client's.
#[derive(Debug)]
struct Rewritten {
    /// None if the client's own bytes will do.
    body: Option<Payload<'static>>,
    mode: AnswerMode,
}

impl Rewritten {
    /// The same with all small blocks of memory made anew; that of a large body goes back wherever it is freed.
    fn settled(self) -> Self {
        let Self { body, mode } = self;
        let mode = match mode {
            AnswerMode::PassThrough => AnswerMode::PassThrough,
            AnswerMode::Translate(context) => {
                AnswerMode::Translate(Box::new(AnswerContext::clone(&context)))
            }
        };
        Self { body, mode }
    }
}

/// What is sent to a target.
pub(super) async fn prepare<'a>(
    snapshot: &'a Snapshot,
    call: &Call<'a>,
    candidate: &'a Candidate,
    trace: &mut Trace,
) -> Result<Prepared<'a>> {
    trace.clear_losses();
    window::check(call, candidate)?;
    let (prepared, lacking) = prepare_once(snapshot, call, candidate, trace);
    let Some(lacking) = lacking else { return prepared };
    // Boxed, since every connection has room for the largest future of all.
    Box::pin(async move {
        match snapshot.shared.artefacts.fetch(lacking).await {
            true => prepare_once(snapshot, call, candidate, trace).0,
            false => prepared,
        }
    })
    .await
}

/// The same with what is known, and what the store may have beside.
fn prepare_once<'a>(
    snapshot: &'a Snapshot,
    call: &Call<'a>,
    candidate: &'a Candidate,
    trace: &mut Trace,
) -> (Result<Prepared<'a>>, Option<Lacking>) {
    trace.clear_losses();
    let mut notes = Notes::of(trace);
    let prepared = prepare_noting(snapshot, call, candidate, &mut notes);
    let (losses, lacking) = notes.into_parts();
    trace.add_losses(losses);
    (prepared, lacking)
}

/// The same for whoever has no trace at hand.
pub(super) fn prepare_noting<'a>(
    snapshot: &'a Snapshot,
    call: &Call<'a>,
    candidate: &'a Candidate,
    notes: &mut Notes<'_>,
) -> Result<Prepared<'a>> {
    let rewritten = rewrite(snapshot, call, candidate, notes)?;
    assemble(call, candidate, rewritten)
}

/// The same for a large body, which other threads read and write.
pub(super) async fn prepare_large<'a>(
    snapshot: &'a Arc<Snapshot>,
    (call, large): (&Call<'a>, &Arc<LargeCall>),
    candidate: &'a Candidate,
    trace: &mut Trace,
) -> Result<Prepared<'a>> {
    let (mut rewritten, lacking) = rewrite_large(snapshot, large, candidate, trace).await?;
    if let Some(lacking) = lacking
        && snapshot.shared.artefacts.fetch(lacking).await
    {
        drop(rewritten);
        rewritten = rewrite_large(snapshot, large, candidate, trace).await?.0;
    }
    let Rewritten { body, mode } = rewritten?;
    assemble(call, candidate, Rewritten { body: body.map(Payload::shared), mode })
}

async fn rewrite_large(
    snapshot: &Arc<Snapshot>,
    large: &Arc<LargeCall>,
    candidate: &Candidate,
    trace: &mut Trace,
) -> Result<(Result<Rewritten>, Option<Lacking>)> {
    trace.clear_losses();
    let (own, large, stamp) = (Arc::clone(snapshot), Arc::clone(large), Stamp::of(trace));
    let target = candidate.clone();
    let work = move |wanted: &_| {
        let mut notes = stamp.notes(wanted);
        let call = large.lend();
        let rewritten =
            window::check(&call, &target).and_then(|()| rewrite(&own, &call, &target, &mut notes));
        Ok((rewritten, notes.into_parts()))
    };
    let settle = |(rewritten, (losses, lacking)): (Result<Rewritten>, (Losses, Option<_>))| {
        let noted = (losses.fitting(usize::MAX), lacking.clone());
        (rewritten.map(Rewritten::settled), noted)
    };
    let (rewritten, (losses, lacking)) = snapshot.shared.pool.run_apart(work, settle).await?;
    trace.add_losses(losses);
    Ok((rewritten, lacking))
}

fn rewrite(
    snapshot: &Snapshot,
    call: &Call<'_>,
    candidate: &Candidate,
    notes: &mut Notes<'_>,
) -> Result<Rewritten> {
    let endpoint = candidate.provider.endpoint_for(call.client).ok_or_else(without_endpoint)?;
    if endpoint.is_native_to(call.client) {
        let body = same_protocol::rewritten(snapshot, call, candidate, notes)?;
        return Ok(Rewritten { body, mode: own_mode(call, notes)? });
    }
    translated(snapshot, call, (candidate, endpoint), notes)
}

/// Whether an answer with open calls asks for their results, in a protocol whose answers can be continued by them.
fn requires_action(call: &Call<'_>) -> bool {
    let value = call.header("sabir-requires-action");
    surface::of(call.client).state.has_responses
        && value.is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// The conversation that an answer says it is part of, in a protocol whose answers say so.
fn conversation(call: &Call<'_>, notes: &Notes<'_>) -> Option<Text<'static>> {
    let conversation =
        notes.conversation().filter(|_| surface::of(call.client).state.has_responses);
    conversation.map(|id| Text::plain(id.to_owned()))
}

/// An answer in the client's own protocol passes as it is, unless it must say what its provider does not know.
fn own_mode(call: &Call<'_>, notes: &Notes<'_>) -> Result<AnswerMode> {
    let (requires_action, conversation) = (requires_action(call), conversation(call, notes));
    let in_background = call.asked.in_background;
    if !requires_action && !in_background && conversation.is_none() {
        return Ok(AnswerMode::PassThrough);
    }
    let asked = AnswerContext::by(&call.decoded()?, call.client, &Target::default());
    let seed = Text::plain(notes.id().to_owned());
    let context = AnswerContext { requires_action, in_background, conversation, seed, ..asked };
    Ok(AnswerMode::Translate(Box::new(context)))
}

fn assemble<'a>(
    call: &Call<'a>,
    candidate: &'a Candidate,
    rewritten: Rewritten,
) -> Result<Prepared<'a>> {
    let provider = &candidate.provider;
    let endpoint = provider.endpoint_for(call.client).ok_or_else(without_endpoint)?;
    let Rewritten { body, mode } = rewritten;
    let body = body.unwrap_or_else(|| spliced(call, &candidate.model));
    let is_through = endpoint.is_native_to(call.client);
    Ok(Prepared {
        path: path(endpoint, call, &candidate.model, is_through),
        headers: outgoing_headers(call, &provider.config, endpoint),
        endpoint,
        body,
        mode,
    })
}

pub(super) fn without_endpoint() -> Box<Failure> {
    Failure::new(Whose::Gateway, FaultKind::Internal, "the provider has no endpoint")
}

/// The client's own bytes with the target's model.
pub(super) fn spliced<'c>(call: &Call<'c>, model: &str) -> Payload<'c> {
    match call.model_at.clone() {
        Some(place) if call.model != model => {
            let mut name = Writer::default();
            name.value(&*surface::of(call.client).model_in_body(model));
            Payload::spliced(call.body, place, name.into_string())
        }
        _ => call.body.as_bytes().into(),
    }
}

/// What the client refers to is with another provider, or nowhere.
fn kept_elsewhere(
    client: Protocol,
    param: &'static str,
    provider: &str,
    upstream: Protocol,
) -> Box<Failure> {
    let message = format!(
        "`{param}` needs a provider that keeps responses; the model you asked for is served by \
         {provider} over {}, which does not",
        upstream.as_str()
    );
    Failure::stating(Whose::Client, (surface::of(client).session.refuse)(message, param))
}

fn translated(
    snapshot: &Snapshot,
    call: &Call<'_>,
    (candidate, endpoint): (&Candidate, &Endpoint),
    notes: &mut Notes<'_>,
) -> Result<Rewritten> {
    let (provider, upstream) = (&candidate.provider, endpoint.protocol);
    let model = candidate.model.as_str();
    if let Some(missing) = call.recalled.as_ref().and_then(|recalled| recalled.missing()) {
        return Err(absent(call.client, missing));
    }
    let is_supplied = |param: &&'static str| {
        call.recalled.is_some() && surface::of(call.client).state.own_members.contains(param)
    };
    if let Some(param) = call.session.filter(|param| !is_supplied(param)) {
        return Err(kept_elsewhere(call.client, param, &provider.name, upstream));
    }
    ingress::check_density(&call.survey)?;
    let mut decoded = Box::new(call.decoded()?);
    notes.check()?;
    let edited = edits::apply(&mut decoded)?;
    let put_back = artefacts::put_back(snapshot, &mut decoded, (candidate, upstream), notes);
    let repairs = match snapshot.config().repair {
        Repair::Translated | Repair::Always => repair::mend(decoded.edit(), call.client, upstream)?,
        Repair::Off => Report::default(),
    };
    let moves = late_system::place(decoded.edit(), upstream, provider.config.late_system);
    decoded.edit().model = Some(Text::plain(model));
    if call.delivery.is_stream() {
        decoded.edit().stream = Some(true);
    }
    let target = provider.targets.of(model);
    let named = cache_key::name(decoded.edit(), call, (upstream, &target));
    let adapted = match endpoint.agent() {
        Some(config) => agent::adapt(&mut decoded, (config, upstream))?,
        None => Adapted::default(),
    };
    notes.check()?;
    let mut encoded = match adapted.prompt {
        Some(body) => Encoded { body, report: Report::default() },
        None => decoded.encode(upstream, &target)?,
    };
    encoded.report.extend(adapted.report);
    encoded.report = call.name_turns(encoded.report);
    if let Some(edited) = &edited {
        encoded.report = edited.granted(encoded.report);
    }
    let encoded = match call.is_strict() {
        true => strict(encoded, notes)?,
        false => encoded,
    };
    let context = AnswerContext::by(&decoded, upstream, &target);
    let estimated_input = Some(token_estimate::about(decoded.request()));
    // It takes several times as much memory as the body, and what follows takes some of its own.
    drop(decoded);
    let echo = match surface::of(call.client).repeats_request {
        true => {
            let echo = Echo::of(Reader::surveyed(&call.survey))?.into_owned();
            let echo = if notes.is_kept() { echo.stored() } else { echo };
            Some(if call.asked.in_background { echo.in_background() } else { echo })
        }
        false => None,
    };
    let context = AnswerContext {
        echo,
        show_reasoning: call.shows_reasoning(),
        requires_action: requires_action(call),
        conversation: conversation(call, notes),
        in_background: call.asked.in_background,
        seed: Text::plain(notes.id().to_owned()),
        created_s: notes.began_s(),
        estimated_input,
        applied_edits: edited.map(|edited| edited.applied),
        ..context
    };
    notes.add_losses(call.name_turns(put_back));
    notes.add_losses(call.name_turns(repairs));
    notes.add_losses(call.name_turns(moves));
    notes.add_losses(named);
    notes.add_losses(encoded.report);
    let body = Some(encoded.body.into_bytes().into());
    Ok(Rewritten { body, mode: AnswerMode::Translate(Box::new(context)) })
}

/// Refuses a translation that drops anything; the exchange keeps the report all the same.
fn strict(encoded: Encoded, notes: &mut Notes<'_>) -> Result<Encoded> {
    if encoded.report.drops().next().is_some() {
        notes.add_losses(encoded.report.clone());
    }
    encoded.strict().map_err(refused)
}

fn refused(error: sabir_wire::Error) -> Box<Failure> {
    let message = format!("sabir-strict: {error}");
    Failure::new(Whose::Policy, FaultKind::BadRequest, message)
}

/// The path of a call. That of a client's own protocol keeps its query; an agent is told the model instead.
fn path(endpoint: &Endpoint, call: &Call<'_>, model: &str, is_through: bool) -> String {
    if endpoint.agent().is_some() {
        return model.to_owned();
    }
    let surface = surface::of(endpoint.protocol);
    // Whoever counts has a path of its own.
    let action = match call.action {
        Action::Compact => Action::Compact,
        Action::Generate | Action::CountTokens => Action::Generate,
    };
    let path = surface::Path { action, model, delivery: call.delivery };
    let path = surface.path(&endpoint.base_path, &path).unwrap_or_default();
    let query = match is_through {
        true => call.query.map(surface::without_key).filter(|query| !query.is_empty()),
        false => {
            let query = surface.stream_query.filter(|_| call.delivery.is_stream());
            query.map(str::to_owned)
        }
    };
    match query {
        Some(query) => format!("{path}?{query}"),
        None => path,
    }
}
