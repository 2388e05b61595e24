//! What is sent to a target: the client's own bytes where nothing has to change, else a translation.

use std::borrow::Cow;
use std::sync::Arc;

use http::HeaderMap;
use sabir_wire::json::{Reader, Text, Writer};
use sabir_wire::protocol::{AnswerContext, Echo, Encoded};
use sabir_wire::target::Target;
use sabir_wire::{FaultKind, Protocol, Report};

use crate::answer::AnswerMode;
use crate::attempt::notes::{Notes, Stamp};
use crate::attempt::{late_system, repair, same_protocol};
use crate::call::{Action, Call, LargeCall};
use crate::config::types::Repair;
use crate::failure::{Failure, Result, Whose};
use crate::observe::Losses;
use crate::recall::trouble;
use crate::recalled::Missing;
use crate::route::Candidate;
use crate::state::Snapshot;
use crate::surface::Trouble;
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
pub(super) fn prepare<'a>(
    snapshot: &'a Snapshot,
    call: &Call<'a>,
    candidate: &'a Candidate,
    trace: &mut Trace,
) -> Result<Prepared<'a>> {
    trace.clear_losses();
    let mut notes = Notes::of(trace);
    let prepared = prepare_noting(snapshot, call, candidate, &mut notes);
    let losses = notes.into_losses();
    trace.add_losses(losses);
    prepared
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
    trace.clear_losses();
    let (own, large, stamp) = (Arc::clone(snapshot), Arc::clone(large), Stamp::of(trace));
    let target = candidate.clone();
    let work = move |wanted: &_| {
        let mut notes = stamp.notes(wanted);
        let rewritten = rewrite(&own, &large.lend(), &target, &mut notes);
        Ok((rewritten, notes.into_losses()))
    };
    let settle = |(rewritten, losses): (Result<Rewritten>, Losses)| {
        (rewritten.map(Rewritten::settled), losses.fitting(usize::MAX))
    };
    let (rewritten, losses) = snapshot.shared.pool.run_apart(work, settle).await?;
    trace.add_losses(losses);
    let Rewritten { body, mode } = rewritten?;
    assemble(call, candidate, Rewritten { body: body.map(Payload::shared), mode })
}

fn rewrite(
    snapshot: &Snapshot,
    call: &Call<'_>,
    candidate: &Candidate,
    notes: &mut Notes<'_>,
) -> Result<Rewritten> {
    let endpoint = candidate.provider.endpoint_for(call.client).ok_or_else(without_endpoint)?;
    if endpoint.protocol == call.client {
        let body = same_protocol::rewritten(snapshot, call, candidate, notes)?;
        return Ok(Rewritten { body, mode: own_mode(call)? });
    }
    translated(snapshot, call, (candidate, endpoint.protocol), notes)
}

/// Whether an answer with open calls asks for their results, in a protocol whose answers can be continued by them.
fn requires_action(call: &Call<'_>) -> bool {
    let value = call.header("sabir-requires-action");
    surface::of(call.client).state.has_responses
        && value.is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// An answer in the client's own protocol passes as it is, unless the client wants it otherwise.
fn own_mode(call: &Call<'_>) -> Result<AnswerMode> {
    if !requires_action(call) {
        return Ok(AnswerMode::PassThrough);
    }
    let asked = AnswerContext::by(&call.exchange()?, call.client, &Target::default());
    Ok(AnswerMode::Translate(Box::new(AnswerContext { requires_action: true, ..asked })))
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
    let is_through = endpoint.protocol == call.client;
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
    (candidate, upstream): (&Candidate, Protocol),
    notes: &mut Notes<'_>,
) -> Result<Rewritten> {
    let provider = &candidate.provider;
    let model = candidate.model.as_str();
    match call.recalled.as_ref().and_then(|recalled| recalled.missing()) {
        Some(Missing::Answer(id)) => {
            return Err(trouble(call.client, &Trouble::UnknownAnswer(id)));
        }
        Some(Missing::Conversation(id)) => {
            return Err(trouble(call.client, &Trouble::UnknownConversation(id)));
        }
        Some(Missing::Item(id)) => return Err(trouble(call.client, &Trouble::UnknownItem(id))),
        None => {}
    }
    let is_supplied = |param: &&'static str| {
        call.recalled.is_some() && surface::of(call.client).state.own_members.contains(param)
    };
    if let Some(param) = call.session.filter(|param| !is_supplied(param)) {
        return Err(kept_elsewhere(call.client, param, &provider.name, upstream));
    }
    ingress::check_density(&call.survey)?;
    let mut exchange = Box::new(call.exchange()?);
    notes.check()?;
    let repairs = match snapshot.config().repair {
        Repair::Translated | Repair::Always => {
            repair::mend(exchange.edit(), call.client, upstream)?
        }
        Repair::Off => Report::default(),
    };
    let moves = late_system::place(exchange.edit(), upstream, provider.config.late_system);
    exchange.edit().model = Some(Text::plain(model));
    if call.delivery.is_stream() {
        exchange.edit().stream = Some(true);
    }
    let target = provider.targets.of(model);
    notes.check()?;
    let mut encoded = exchange.encode(upstream, &target)?;
    encoded.report = call.name_turns(encoded.report);
    let encoded = match call.is_strict() {
        true => strict(encoded, notes)?,
        false => encoded,
    };
    let context = AnswerContext::by(&exchange, upstream, &target);
    // It takes several times as much memory as the body, and what follows takes some of its own.
    drop(exchange);
    let echo = match surface::of(call.client).repeats_request {
        true => {
            let echo = Echo::of(Reader::surveyed(&call.survey))?.into_owned();
            Some(if notes.is_kept() { echo.stored() } else { echo })
        }
        false => None,
    };
    let context = AnswerContext {
        echo,
        show_reasoning: call.shows_reasoning(),
        requires_action: requires_action(call),
        seed: Text::plain(notes.id().to_owned()),
        created_s: notes.began_s(),
        ..context
    };
    notes.add_losses(call.name_turns(repairs));
    notes.add_losses(call.name_turns(moves));
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

/// The path of a call. That of a client's own protocol keeps its query.
fn path(endpoint: &Endpoint, call: &Call<'_>, model: &str, is_through: bool) -> String {
    let surface = surface::of(endpoint.protocol);
    let path = surface::Path { action: Action::Generate, model, delivery: call.delivery };
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
