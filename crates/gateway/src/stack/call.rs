//! The way of a call: body, target, what it continues, and its answer, which nobody may wait for.

use std::pin::pin;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http_body::Body;

use super::Entry;
use crate::admission::Admission;
use crate::answer::{Answering, InFlight, stated_in_stream};
use crate::attempt::Handles;
use crate::background::Announced;
use crate::call::{Action, Call, LargeCall};
use crate::classing::ReadFor;
use crate::compact::{Outcome, Pending, Reading, Stage};
use crate::config::types::GatewayKey;
use crate::egress::Reply;
use crate::failure::Result;
use crate::ingress::{Arrived, Routed};
use crate::recall::{Asker, Submission};
use crate::recalled::Recalled;
use crate::route::Resolved;
use crate::{attempt, background, classing, compact, egress, ingress, pool, recall};

/// A call whose body is still to be read.
pub(super) async fn call<B>(entry: Entry<'_>, arrived: &Arrived<'_>, body: &mut B) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let protocol = arrived.protocol;
    let mut flight = InFlight::begin(entry.snapshot, protocol, arrived.key);
    let body = match read(arrived, body, &mut flight.admission).await {
        Ok(body) => body,
        Err(failure) => return egress::rescue(protocol, *failure, flight),
    };
    call_with(entry, arrived, body, flight).await
}

/// Results of tools for an answer that is kept: a call like any other, made of them and of what is kept.
pub(super) async fn submit<B>(
    entry: Entry<'_>,
    mut arrived: Arrived<'_>,
    id: &str,
    body: &mut B,
) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let (snapshot, protocol) = (entry.snapshot, arrived.protocol);
    let mut flight = InFlight::begin(snapshot, protocol, arrived.key);
    let submitted = match read(&arrived, body, &mut flight.admission).await {
        Ok(body) => recall::submission(snapshot, arrived.key, id, body).await,
        Err(failure) => Err(failure),
    };
    match submitted {
        Ok(Submission { body, turn }) => {
            arrived.submits_to = Some(turn);
            call_with(entry, &arrived, body.into_bytes(), flight).await
        }
        Err(failure) => egress::rescue(protocol, *failure, flight),
    }
}

/// A call whose body is there.
pub(super) async fn call_with(
    entry: Entry<'_>,
    arrived: &Arrived<'_>,
    body: Vec<u8>,
    mut flight: InFlight,
) -> Reply {
    let Entry { snapshot, client, .. } = entry;
    let protocol = arrived.protocol;
    // A body that takes long to read is read on another thread, so that others do not wait for it on this one.
    if body.len() >= pool::LARGE_BYTES {
        return Box::pin(large_call(entry, arrived, body, flight)).await;
    }
    let mut routed = match ingress::route_call(snapshot, arrived, &body, &mut flight.trace) {
        Ok(routed) => routed,
        Err(failure) => return egress::rescue(protocol, *failure, flight),
    };
    // What it continues is put before it, and decides how much there is to read.
    let handles = Handles { snapshot, client };
    let given = (&routed.call, &routed.resolved);
    let pending = match recalled(handles, arrived, given, &mut flight).await {
        Ok(reading) => reading.split(&mut routed.call.recalled),
        Err(failure) => return egress::rescue(protocol, *failure, flight),
    };
    if routed.call.asked.in_background {
        let call = (routed.call.to_large(), routed.resolved);
        return Box::pin(background_call(entry, arrived, (call, pending), flight)).await;
    }
    if let Some(pending) = pending {
        let given = (&routed.call, &routed.resolved);
        let compacting = compacted((handles, arrived.key), given, *pending, &mut flight);
        match Box::pin(compacting).await {
            Ok(Outcome::Call(recalled)) => routed.call.recalled = Some(recalled),
            Ok(Outcome::Answer(answer)) => {
                return egress::answer(routed.call.recipient(), answer, flight);
            }
            Err(failure) => return egress::rescue(protocol, *failure, flight),
        }
    }
    if routed.call.recalled_bytes() >= pool::LARGE_BYTES {
        let call = (Arc::new(routed.call.to_large()), routed.resolved);
        return Box::pin(long_call(handles, arrived.action, call, flight)).await;
    }
    let outcome = {
        let answering = pin!(answer(handles, &routed, arrived.action, &mut flight));
        snapshot.shared.until_over(answering).await
    };
    match outcome {
        Ok(answering) => egress::answer(routed.call.recipient(), answering, flight),
        Err(failure) => egress::rescue(protocol, *failure, flight),
    }
}

/// The same, for a body whose every reading is left to other threads.
async fn large_call(
    entry: Entry<'_>,
    arrived: &Arrived<'_>,
    body: Vec<u8>,
    mut flight: InFlight,
) -> Reply {
    let Entry { snapshot, client, .. } = entry;
    let routed = {
        let routing = pin!(ingress::route_large_call(snapshot, arrived, body, &mut flight.trace));
        snapshot.shared.until_over(routing).await
    };
    let (call, resolved) = match routed {
        Ok(routed) => routed,
        Err(failure) => return egress::rescue(arrived.protocol, *failure, flight),
    };
    let handles = Handles { snapshot, client };
    let mut conversation = None;
    let pending = match recalled(handles, arrived, (&call.lend(), &resolved), &mut flight).await {
        Ok(reading) => reading.split(&mut conversation),
        Err(failure) => return egress::rescue(arrived.protocol, *failure, flight),
    };
    if call.asked.in_background {
        let call = with_conversation(call, conversation);
        return background_call(entry, arrived, ((call, resolved), pending), flight).await;
    }
    let call = Arc::new(with_conversation(call, conversation));
    pending_call((handles, arrived.key), (call, resolved), pending, flight).await
}

/// The same call behind what was recalled for it.
fn with_conversation(call: Arc<LargeCall>, recalled: Option<Arc<Recalled>>) -> LargeCall {
    let mut call = Arc::try_unwrap(call).unwrap_or_else(|call| call.lend().to_large());
    call.recalled = recalled.map(OnceLock::from).unwrap_or_default();
    call
}

/// A call of which all is known, after the summary that it asks for, if it does.
async fn pending_call(
    (handles, key): (Handles<'_>, Option<&Arc<GatewayKey>>),
    (call, resolved): (Arc<LargeCall>, Resolved),
    pending: Option<Box<Pending>>,
    mut flight: InFlight,
) -> Reply {
    let action = call.action;
    let Some(pending) = pending else {
        return long_call(handles, action, (call, resolved), flight).await;
    };
    let given = (&call.lend_below(pool::LARGE_BYTES), &resolved);
    match Box::pin(compacted((handles, key), given, *pending, &mut flight)).await {
        Ok(Outcome::Call(recalled)) => {
            let call = Arc::new(with_conversation(Arc::clone(&call), Some(recalled)));
            long_call(handles, action, (call, resolved), flight).await
        }
        Ok(Outcome::Answer(answer)) => egress::answer(call.lend().recipient(), answer, flight),
        Err(failure) => egress::rescue(call.client, *failure, flight),
    }
}

/// A call whose answer nobody waits for. The client gets its announcement at once.
async fn background_call(
    entry: Entry<'_>,
    arrived: &Arrived<'_>,
    ((call, resolved), pending): ((LargeCall, Resolved), Option<Box<Pending>>),
    mut flight: InFlight,
) -> Reply {
    let Entry { snapshot, client, supervisor, .. } = entry;
    // A provider of the client's protocol knows by itself how to do that.
    let announced = match pending.is_none() && background::passes(&call, &resolved, &flight) {
        true => Ok(Err(call)),
        false => background::announce(snapshot, arrived.key, call, &mut flight).await,
    };
    let Announced { job, call, reply } = match announced {
        Ok(Ok(announced)) => announced,
        Ok(Err(mut call)) => {
            call.asked.in_background = false;
            let handles = (Handles { snapshot, client }, arrived.key);
            return pending_call(handles, (Arc::new(call), resolved), pending, flight).await;
        }
        Err(failure) => {
            flight.give_up(&failure).await;
            return egress::rescue(arrived.protocol, *failure, flight);
        }
    };
    let (snapshot, client, key) = (Arc::clone(snapshot), client.clone(), arrived.key.cloned());
    let answering = async move {
        let handles = (Handles { snapshot: &snapshot, client: &client }, key.as_ref());
        pending_call(handles, (call, resolved), pending, flight).await
    };
    supervisor.start(Box::pin(job.run(answering)));
    reply
}

/// A call of which all is known, and which takes long to read.
async fn long_call(
    handles: Handles<'_>,
    action: Action,
    (call, resolved): (Arc<LargeCall>, Resolved),
    mut flight: InFlight,
) -> Reply {
    let (shared, recipient) = (&handles.snapshot.shared, call.lend().recipient());
    let opened = {
        // A call that nobody waits for owns its body, however short that is.
        let routed = Routed { call: call.lend_below(pool::LARGE_BYTES), resolved };
        let opening = pin!(opened(handles, &routed, action, &mut flight));
        shared.until_over(opening).await
    };
    // Whoever keeps the answer has no use for the question.
    drop(call);
    let settled = match opened {
        Ok(answering) => {
            let settling = pin!(settled(answering, &mut flight));
            shared.until_over(settling).await
        }
        Err(failure) => Err(failure),
    };
    match settled {
        Ok(answering) => egress::answer(recipient, answering, flight),
        Err(failure) => egress::rescue(recipient.client, *failure, flight),
    }
}

/// What the gateway keeps of the conversation that a call continues, with the summaries that stand in it, and whether one is
/// asked for.
async fn recalled(
    handles: Handles<'_>,
    arrived: &Arrived<'_>,
    (call, resolved): (&Call<'_>, &Resolved),
    flight: &mut InFlight,
) -> Result<Reading> {
    let shared = &handles.snapshot.shared;
    let (action, key) = (arrived.action, arrived.key);
    let asker = Asker { call, action, key, submits_to: arrived.submits_to.as_ref() };
    let recalled = {
        let recalling = pin!(recall::recall(handles.snapshot, asker, flight));
        shared.until_over(recalling).await?
    };
    // A short call may go on from a long conversation, which takes memory like a body.
    let recalled_bytes = recalled.as_ref().map_or(0, |recalled| recalled.bytes());
    if let Err(failure) = flight.admission.hold_body(recalled_bytes) {
        flight.give_up(&failure).await;
        return Err(failure);
    }
    let read = {
        let reading = pin!(compact::read(Stage { handles, call, resolved, key }, recalled));
        shared.until_over(reading).await
    };
    match read {
        Ok(reading) => Ok(reading),
        Err(failure) => {
            flight.give_up(&failure).await;
            Err(failure)
        }
    }
}

/// The conversation with the summary that its call asks for.
async fn compacted(
    (handles, key): (Handles<'_>, Option<&Arc<GatewayKey>>),
    (call, resolved): (&Call<'_>, &Resolved),
    pending: Pending,
    flight: &mut InFlight,
) -> Result<Outcome> {
    let outcome = {
        let stage = Stage { handles, call, resolved, key };
        let compacting = pin!(stage.fulfil(pending, flight));
        handles.snapshot.shared.until_over(compacting).await
    };
    match outcome {
        Ok(Outcome::Answer(mut answering)) => {
            answering.settle(flight).await?;
            Ok(Outcome::Answer(answering))
        }
        Ok(outcome) => Ok(outcome),
        Err(failure) => {
            flight.give_up(&failure).await;
            let stated = stated_in_stream(handles.snapshot, call, failure, flight);
            Box::pin(stated).await.map(Outcome::Answer)
        }
    }
}

async fn read<B>(arrived: &Arrived<'_>, body: &mut B, admission: &mut Admission) -> Result<Vec<u8>>
where
    B: Body<Data = Bytes> + Unpin,
{
    // A place among the requests in flight comes before the body: bodies are what takes memory.
    admission.admit()?;
    ingress::read_body(body, arrived.headers, admission).await
}

async fn answer(
    handles: Handles<'_>,
    routed: &Routed<'_>,
    action: Action,
    flight: &mut InFlight,
) -> Result<Box<Answering>> {
    let answering = opened(handles, routed, action, flight).await?;
    settled(answering, flight).await
}

/// The beginning of an answer, or what is sent in its place.
async fn opened(
    handles: Handles<'_>,
    routed: &Routed<'_>,
    action: Action,
    flight: &mut InFlight,
) -> Result<Box<Answering>> {
    match ask(handles, routed, action, flight).await {
        Ok(answering) => Ok(answering),
        Err(failure) => {
            flight.give_up(&failure).await;
            Box::pin(stated_in_stream(handles.snapshot, &routed.call, failure, flight)).await
        }
    }
}

/// What is to be kept is stored before the head of a whole answer leaves.
async fn settled(mut answering: Box<Answering>, flight: &mut InFlight) -> Result<Box<Answering>> {
    answering.settle(flight).await?;
    Ok(answering)
}

async fn ask(
    handles: Handles<'_>,
    Routed { call, resolved }: &Routed<'_>,
    action: Action,
    flight: &mut InFlight,
) -> Result<Box<Answering>> {
    // Who answers may depend on what kind of work it is, which is known once all of the conversation is there.
    let is_fitted = action == Action::Generate && compact::may_be_fitted(handles, call, flight);
    let purpose = match is_fitted || action == Action::CountTokens {
        true => ReadFor::Class,
        false => ReadFor::Target,
    };
    let chosen =
        classing::choose(handles.snapshot, (call, purpose), resolved, &mut flight.trace).await?;
    let (chosen, ahead) = chosen.map_or((None, None), |it| (Some(it.resolved), it.ahead));
    let resolved = chosen.as_ref().unwrap_or(resolved);
    match action {
        // Boxed, since calls of long conversations are few.
        Action::Generate if is_fitted => {
            Box::pin(compact::answer_fitting(handles, (call, resolved), flight)).await
        }
        Action::Generate | Action::Compact => {
            match attempt::answer_read(handles, (call, ahead), resolved, flight).await {
                Err(failure) if compact::lacks_compaction(&failure, call) => {
                    let given = (call, resolved);
                    Box::pin(compact::answer_in_place(handles, given, failure, flight)).await
                }
                answered => answered,
            }
        }
        Action::CountTokens => Box::pin(attempt::count(handles, call, resolved, flight)).await,
    }
}
