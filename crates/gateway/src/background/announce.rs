//! The beginning of an answer that nobody waits for: whose work it is, and what the client gets at once.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use sabir_store::{Error, NewJob, Record, ResponseId, TurnId};
use sabir_wire::Protocol;
use sabir_wire::json::{Reader, Text};
use sabir_wire::protocol::{AnswerContext, Echo};

use crate::answer::InFlight;
use crate::background::job::Job;
use crate::background::tail;
use crate::call::{LargeCall, unmarked};
use crate::config::types::{GatewayKey, Level};
use crate::egress::Reply;
use crate::failure::Result;
use crate::memory::Memory;
use crate::pool::Wanted;
use crate::recall::{absent, out_of_order, trouble, without_members};
use crate::route::Resolved;
use crate::state::Snapshot;
use crate::surface::{Background, Trouble};
use crate::{egress, ingress, surface};

/// Whether the provider works on the answer by itself: it speaks the client's protocol, and is sent what the client sent.
pub(crate) fn passes(call: &LargeCall, resolved: &Resolved, flight: &InFlight) -> bool {
    let Some(candidate) = resolved.sole_target() else { return false };
    let provider = &candidate.provider;
    let is_own = provider.endpoint_for(call.client).is_some_and(|it| it.is_native_to(call.client));
    let recalled = call.recalled.get();
    let is_sent_whole = recalled.is_none_or(|recalled| recalled.is_kept_by(&provider.name));
    let is_conversation = flight.trace.turn().is_some_and(|turn| turn.conversation.is_some());
    // Nobody would hold its calls to the rules when they are fetched.
    is_own && is_sent_whole && !is_conversation && call.rules.is_none()
}

/// An answer that the gateway is about to work on.
pub(crate) struct Announced {
    pub(crate) job: Job,
    /// The call as it is worked on.
    pub(crate) call: Arc<LargeCall>,
    /// What the client is told at once.
    pub(crate) reply: Reply,
}

/// Announces an answer and keeps that it was. None if the call is to be answered at once: nothing of it can be kept.
pub(crate) async fn announce(
    snapshot: &Arc<Snapshot>,
    key: Option<&Arc<GatewayKey>>,
    call: LargeCall,
    flight: &mut InFlight,
) -> Result<Result<Announced, LargeCall>> {
    let client = call.client;
    let memory = memory(snapshot, &call)?;
    let background = surface::of(client).state.background;
    let (Some(background), Some(turn)) = (background, flight.trace.turn()) else {
        return Ok(Err(call));
    };
    let turn = TurnId::new(&*turn.turn).map_err(|error| out_of_order(&error))?;
    let context = AnswerContext {
        model: Some(Text::plain(call.model.clone())),
        seed: Text::plain(flight.trace.id().to_owned()),
        created_s: flight.trace.began_s(),
        ..AnswerContext::default()
    };
    let (is_streamed, bytes) = (call.delivery.is_stream(), call.body.len());
    let work = move |_: &Wanted| worked_on(call, &background, context);
    let Written { call, announced, first } = snapshot.shared.pool.run_on(bytes, work).await?;
    let id = ResponseId::new((background.id)(flight.trace.id()));
    let id = id.map_err(|error| out_of_order(&error))?;
    let (store, owner) = (memory.store().clone(), memory.owner(key));
    let jobs_max = snapshot.config().limits.jobs_max;
    let guard = snapshot.shared.jobs.begin((owner.clone(), id.clone()), jobs_max)?;
    let record = Record::new(&announced[..]).map_err(|error| out_of_order(&error))?;
    let new = NewJob {
        owner: owner.clone(),
        id: id.clone(),
        turn,
        provider: None,
        is_streamed,
        body: record,
    };
    store.add_job(new).await.map_err(|error| out_of_order(&error))?;
    let job = Job {
        snapshot: Arc::clone(snapshot),
        store,
        owner,
        id,
        background,
        announced: announced.clone(),
        guard,
        is_streamed,
    };
    if let Some(first) = first {
        job.emit_first(first).await?;
    }
    let reply = reply(&job, announced, (client, flight));
    Ok(Ok(Announced { job, call: Arc::new(call), reply }))
}

/// The memory that keeps the answer, if all that is asked for can be kept.
fn memory<'s>(snapshot: &'s Snapshot, call: &LargeCall) -> Result<&'s Memory> {
    if let Some(missing) = call.recalled.get().and_then(|recalled| recalled.missing()) {
        return Err(absent(call.client, missing));
    }
    if !call.asked.is_kept {
        return Err(trouble(call.client, &Trouble::UnkeptBackground));
    }
    let memory = snapshot.shared.memory.as_ref();
    let memory = memory.filter(|memory| memory.level() >= Level::Stateful);
    match memory {
        None => Err(trouble(call.client, &Trouble::Unkept)),
        Some(memory) if memory.store().is_of_files() => {
            let reason = "an answer that nobody waits for could not be found by its id";
            Err(out_of_order(&Error::unsupported(reason)))
        }
        Some(memory) => Ok(memory),
    }
}

/// What is written before anybody works on an answer.
struct Written {
    /// Without the field that providers are not to see.
    call: LargeCall,
    /// The answer, which repeats the call.
    announced: Bytes,
    /// The events that its stream begins with, if it is streamed.
    first: Option<String>,
}

fn worked_on(
    call: LargeCall,
    background: &Background,
    context: AnswerContext<'static>,
) -> Result<Written> {
    let source = unmarked(&call.body);
    let echo = Echo::of(Reader::new(source))?.stored().in_background();
    let announced = (background.announce)(&AnswerContext { echo: Some(echo), ..context });
    let first = call.delivery.is_stream().then(|| (background.announcement)(&announced));
    let body = without_members(source, &[background.member])?;
    let skimmed = ingress::skim(call.client, &body)?;
    let (nodes, model_at) = (skimmed.survey.nodes(), skimmed.model_at);
    let call = LargeCall { body, nodes, model_at, ..call };
    Ok(Written { call, announced: announced.into(), first })
}

fn reply(job: &Job, announced: Bytes, (client, flight): (Protocol, &InFlight)) -> Reply {
    let mut reply = match job.is_streamed {
        true => egress::stream(tail(&job.snapshot, (job.owner.clone(), job.id.clone()), client, 0)),
        false => egress::json(StatusCode::OK, announced),
    };
    egress::add_headers(reply.headers_mut(), client, &HeaderMap::new(), &flight.trace);
    reply
}
