//! Getting an answer: one target after the other, until the first event of one of them is there.

mod answer;
mod count;
mod estimate;
mod feed;
mod headers;
mod health;
mod hidden;
mod late;
mod open;
mod own;
mod payload;
mod prepare;
mod queue;
mod refusal;
mod repair;
mod targets;
mod thoughts;
mod unsigned;
mod unthinking;
mod upstream;
mod verdict;
mod words;

pub(crate) use answer::AnswerBody;
pub(crate) use count::count;
pub(crate) use feed::Feed;
pub(crate) use headers::base as base_headers;
pub(crate) use headers::gateways;
pub(crate) use headers::is_for_client;
pub(crate) use headers::is_vendors_own;
pub(crate) use hidden::HiddenKey;
pub(crate) use open::Opened;
pub(crate) use open::RawRequest;
pub(crate) use open::Whole;
pub(crate) use open::begin_raw;
pub(crate) use open::collect;
pub(crate) use payload::Payload;
pub(crate) use prepare::Prepared;
pub(crate) use prepare::without_key;
pub(crate) use upstream::Upstream;
pub(crate) use upstream::auth_header;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use sabir_backend::http::Client;

use crate::Gateway;
use crate::attempt::verdict::Verdict;
use crate::call::Call;
use crate::failure::Failure;
use crate::failure::Result;
use crate::observe::Trace;
use crate::route::Candidate;
use crate::route::Resolved;

/// What a try needs beside the call.
#[derive(Clone, Copy)]
pub(crate) struct Means<'a> {
    pub(crate) gateway: &'a Gateway,
    pub(crate) client: &'a Client,
}

/// Asks the targets in order until one begins to answer; the last failure is the client's if none does.
pub(crate) async fn answer(
    means: Means<'_>,
    call: &Call<'_>,
    resolved: &Resolved,
    trace: &mut Trace,
) -> Result<Opened> {
    let order = health::in_order(means.gateway, resolved);
    let mut last = None;
    for health::Ranked { rank, candidate } in order {
        let route = match rank {
            0 => resolved.route.as_str().into(),
            _ => format!("fallback:{}", rank + 1).into(),
        };
        match target(means, call, candidate, route, trace).await {
            Ok(opened) => return Ok(opened),
            Err(failure) if verdict::of(&failure) == Verdict::Final => return Err(failure),
            Err(failure) => last = Some(failure),
        }
    }
    Err(last.unwrap_or_else(|| {
        let message = "the model has no targets";
        Failure::new(crate::observe::Whose::Gateway, sabir_wire::FaultKind::Internal, message)
    }))
}

/// Asks one target, again if the failure may pass by itself.
async fn target(
    means: Means<'_>,
    call: &Call<'_>,
    candidate: &Candidate,
    route: Cow<'static, str>,
    trace: &mut Trace,
) -> Result<Opened> {
    let provider = &means.gateway.config.providers[candidate.provider];
    let upstream = &means.gateway.upstreams[candidate.provider];
    let prepared = prepare::prepare(means.gateway, call, candidate, trace)?;
    trace.goes_to(
        candidate.provider,
        crate::observe::Upstream {
            provider: Arc::clone(&upstream.name),
            protocol: prepared.endpoint.protocol,
            model: candidate.model.clone(),
            route,
            attempts: trace.upstream().map_or(0, |before| before.attempts),
        },
    );
    if let Some(permit) = upstream.queue.enter().await? {
        trace.holds(permit);
    }
    let mut tries_left = provider.retries;
    loop {
        trace.tries();
        let mut failure = match open::open(means, call, candidate.provider, &prepared, trace).await
        {
            Ok(opened) => {
                upstream.health.answered();
                return Ok(opened);
            }
            Err(failure) => failure,
        };
        upstream.key.hide_in(&mut failure.fault);
        if verdict::of(&failure) != Verdict::Final {
            upstream.health.failed();
        }
        match verdict::of(&failure) {
            Verdict::Again(pause) if tries_left > 0 => {
                tries_left -= 1;
                tokio::time::sleep(pause).await;
            }
            _ => return Err(failure),
        }
    }
}

/// How long to wait before another try where the provider does not say.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);
