//! A refusal that clients of a protocol know only as the failure of a stream that has begun.

use std::sync::Arc;

use http::HeaderMap;
use sabir_wire::FaultKind;
use sabir_wire::json::{Reader, Text};
use sabir_wire::protocol::{AnswerContext, Echo};

use crate::answer::form::Form;
use crate::answer::translation::Translation;
use crate::answer::{Answering, Ended, InFlight};
use crate::call::{Call, Delivery};
use crate::failure::{Failure, Result};
use crate::observe::Outcome;
use crate::state::Snapshot;
use crate::surface;
use crate::tap::Head;

/// The answer that states a failure, where the client of a stream looks for it there and not in a status.
pub(crate) async fn stated_in_stream(
    snapshot: &Snapshot,
    call: &Call<'_>,
    failure: Box<Failure>,
    flight: &InFlight,
) -> Result<Box<Answering>> {
    if failure.fault.kind != FaultKind::ContextTooLong
        || call.delivery != Delivery::Stream
        || !surface::of(call.client).reports_overflow_in_stream
    {
        return Err(failure);
    }
    let context = AnswerContext {
        model: Some(Text::plain(call.model.clone())),
        seed: Text::plain(flight.trace.id().to_owned()),
        created_s: flight.trace.began_s(),
        echo: echo(snapshot, call).await,
        ..AnswerContext::default()
    };
    let Failure { fault, whose, .. } = *failure;
    let ended = Ended { fault: Some(fault.kind), ..Ended::plain(Outcome::Failed(whose)) };
    let stream = Translation::new(call.recipient(), call.client, context, None).refused(fault);
    let head = Head { status: 200, headers: HeaderMap::new() };
    Ok(Box::new(Answering::ended(head, Form::Translation(Box::new(stream)), ended)))
}

/// What the answer repeats of the request, as far as it can be read.
async fn echo(snapshot: &Snapshot, call: &Call<'_>) -> Option<Echo<'static>> {
    let of = |call: &Call<'_>| Echo::of(Reader::surveyed(&call.survey)).ok().map(Echo::into_owned);
    if !surface::of(call.client).repeats_request {
        return None;
    }
    let Some(large) = call.large.map(Arc::clone) else { return of(call) };
    Box::pin(snapshot.shared.pool.run(move |_| Ok(of(&large.lend())))).await.ok().flatten()
}
