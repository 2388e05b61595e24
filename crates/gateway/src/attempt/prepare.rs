//! What is sent to a target: the client's own bytes where nothing has to change, else a translation.

use std::borrow::Cow;
use std::sync::Arc;

use http::HeaderMap;
use sabir_wire::FaultKind;
use sabir_wire::json::{Reader, Writer};
use sabir_wire::protocol::{AnswerContext, AppliedEdit, DecodedRequest, Echo};
use sabir_wire::target::Target;

use crate::answer::AnswerMode;
use crate::attempt::gateway_facts::GatewayFacts;
use crate::attempt::notes::{Notes, Stamp};
use crate::attempt::translated::translated;
use crate::attempt::{same_protocol, window};
use crate::call::{Action, Call, LargeCall};
use crate::failure::{Failure, Result, Whose};
use crate::memory::Lacking;
use crate::observe::Losses;
use crate::route::Candidate;
use crate::state::Snapshot;
use crate::surface;
use crate::trace::Trace;
use crate::upstream::{Endpoint, Payload, outgoing_headers};

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
pub(super) struct Rewritten {
    /// None if the client's own bytes will do.
    pub(super) body: Option<Payload<'static>>,
    pub(super) mode: AnswerMode,
}

impl Rewritten {
    /// The same with all small blocks of memory made anew; that of a large body goes back wherever it is freed.
    fn settled(self) -> Self {
        let Self { body, mode } = self;
        let mode = match mode {
            AnswerMode::PassThrough => AnswerMode::PassThrough,
            AnswerMode::Translate { context, offer } => {
                let echo = context.echo.as_ref().map(Echo::apart);
                let context = Box::new(AnswerContext { echo, ..AnswerContext::clone(&context) });
                AnswerMode::Translate { context, offer }
            }
        };
        Self { body, mode }
    }
}

/// A call, and the same decoded where somebody had to do that before.
pub(super) type Read<'r, 'a> = (&'r Call<'a>, Option<Box<DecodedRequest<'r>>>);

/// What is sent to a target.
pub(super) async fn prepare<'a>(
    snapshot: &'a Snapshot,
    (call, decoded): Read<'_, 'a>,
    candidate: &'a Candidate,
    trace: &mut Trace,
) -> Result<Prepared<'a>> {
    trace.clear_losses();
    window::check(call, candidate)?;
    let (prepared, lacking) = prepare_once(snapshot, (call, decoded), candidate, trace);
    let Some(lacking) = lacking else { return prepared };
    // Boxed, since every connection has room for the largest future of all.
    Box::pin(async move {
        match snapshot.shared.artefacts.fetch(lacking).await {
            true => prepare_once(snapshot, (call, None), candidate, trace).0,
            false => prepared,
        }
    })
    .await
}

/// The same with what is known, and what the store may have beside.
fn prepare_once<'a>(
    snapshot: &'a Snapshot,
    read: Read<'_, 'a>,
    candidate: &'a Candidate,
    trace: &mut Trace,
) -> (Result<Prepared<'a>>, Option<Lacking>) {
    trace.clear_losses();
    let mut notes = Notes::of(trace);
    let prepared = prepare_noting(snapshot, read, candidate, &mut notes);
    let (losses, lacking) = notes.into_parts();
    trace.add_losses(losses);
    (prepared, lacking)
}

/// The same for whoever has no trace at hand.
pub(super) fn prepare_noting<'a>(
    snapshot: &'a Snapshot,
    (call, decoded): Read<'_, 'a>,
    candidate: &'a Candidate,
    notes: &mut Notes<'_>,
) -> Result<Prepared<'a>> {
    let rewritten = rewrite(snapshot, (call, decoded), candidate, notes)?;
    assemble(call, candidate, rewritten)
}

/// What other threads made of a large body, or why they could not, and what they noted.
#[derive(Debug)]
pub(super) struct Written {
    rewritten: Result<Rewritten>,
    losses: Losses,
    lacking: Option<Lacking>,
}

impl Written {
    pub(super) fn of(
        snapshot: &Snapshot,
        (call, decoded): Read<'_, '_>,
        candidate: &Candidate,
        mut notes: Notes<'_>,
    ) -> Self {
        let rewritten = window::check(call, candidate)
            .and_then(|()| rewrite(snapshot, (call, decoded), candidate, &mut notes));
        let (losses, lacking) = notes.into_parts();
        Self { rewritten, losses, lacking }
    }

    /// The same with all small blocks of memory made anew.
    pub(super) fn settled(self) -> Self {
        let Self { rewritten, losses, lacking } = self;
        let losses = losses.fitting(usize::MAX);
        Self { rewritten: rewritten.map(Rewritten::settled), losses, lacking: lacking.clone() }
    }
}

/// The same for a large body, which other threads read and write. It may have been written for the target before.
pub(super) async fn prepare_large<'a>(
    snapshot: &'a Arc<Snapshot>,
    (call, large, written): (&Call<'a>, &Arc<LargeCall>, Option<Written>),
    candidate: &'a Candidate,
    trace: &mut Trace,
) -> Result<Prepared<'a>> {
    trace.clear_losses();
    let mut written = match written {
        Some(written) => written,
        None => write_large(snapshot, large, candidate, trace).await?,
    };
    if let Some(lacking) = written.lacking.take()
        && snapshot.shared.artefacts.fetch(lacking).await
    {
        drop(written);
        written = write_large(snapshot, large, candidate, trace).await?;
    }
    trace.add_losses(written.losses);
    let Rewritten { body, mode } = written.rewritten?;
    assemble(call, candidate, Rewritten { body: body.map(Payload::shared), mode })
}

async fn write_large(
    snapshot: &Arc<Snapshot>,
    large: &Arc<LargeCall>,
    candidate: &Candidate,
    trace: &Trace,
) -> Result<Written> {
    let (own, large, stamp) = (Arc::clone(snapshot), Arc::clone(large), Stamp::of(trace));
    let target = candidate.clone();
    let work = move |wanted: &_| {
        let call = large.lend();
        Ok(Written::of(&own, (&call, None), &target, stamp.notes(wanted)))
    };
    snapshot.shared.pool.run_apart(work, Written::settled).await
}

fn rewrite(
    snapshot: &Snapshot,
    (call, decoded): Read<'_, '_>,
    candidate: &Candidate,
    notes: &mut Notes<'_>,
) -> Result<Rewritten> {
    let endpoint = candidate.provider.endpoint_for(call.client).ok_or_else(without_endpoint)?;
    if endpoint.is_native_to(call.client) && call.is_governed() {
        return same_protocol::governed(snapshot, (call, decoded), candidate, notes);
    }
    if endpoint.is_native_to(call.client) {
        let (body, applied) = match same_protocol::cleared(snapshot, call, candidate, notes)? {
            Some((body, applied)) => (Some(body), Some(applied)),
            None => (same_protocol::rewritten(snapshot, call, candidate, notes)?, None),
        };
        return Ok(Rewritten { body, mode: own_mode(call, applied, notes)? });
    }
    translated(snapshot, (call, decoded), (candidate, endpoint), notes)
}

/// An answer in the client's own protocol passes as it is, unless it must state what its provider does not know.
fn own_mode(
    call: &Call<'_>,
    applied_edits: Option<Vec<AppliedEdit>>,
    notes: &Notes<'_>,
) -> Result<AnswerMode> {
    let facts = GatewayFacts::of(call, notes);
    if facts.are_default() && applied_edits.is_none() {
        return Ok(AnswerMode::PassThrough);
    }
    let context = AnswerContext::by(&call.decoded()?, call.client, &Target::default());
    let context = AnswerContext { applied_edits, ..context };
    Ok(AnswerMode::translate(facts.added_to(context)))
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
    let surface = surface::of(call.client);
    match call.model_at.clone() {
        Some(place) if !names(call, &call.body[place.clone()], model) => {
            let mut name = Writer::default();
            name.value(&*surface.model_in_body(model));
            Payload::spliced(call.body, place, name.into_string())
        }
        _ => call.body.as_bytes().into(),
    }
}

/// Whether the member of a call's body names this model, or none. Where the path names it, the body may name another.
fn names(call: &Call<'_>, member: &str, model: &str) -> bool {
    let surface = surface::of(call.client);
    if surface.collection.is_none() {
        return call.model == model;
    }
    let stated = Reader::new(member).string();
    stated.map_or(member == "null", |stated| {
        surface.model_in_body(&stated.to_str()) == surface.model_in_body(model)
    })
}

/// The path of a call. That of a client's own protocol keeps its query; an agent is given the model instead.
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
