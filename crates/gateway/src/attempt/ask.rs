//! Asking one target after the other until one of them answers, whatever it is that is asked.

use std::borrow::Cow;
use std::sync::Arc;

use sabir_wire::FaultKind;

use crate::attempt::Means;
use crate::attempt::Prepared;
use crate::attempt::health;
use crate::attempt::verdict;
use crate::attempt::verdict::Verdict;
use crate::failure::Failure;
use crate::failure::Result;
use crate::observe::Trace;
use crate::observe::Upstream;
use crate::observe::Whose;
use crate::route::Candidate;
use crate::route::Resolved;

/// Something that any of a model's targets can be asked for.
pub(super) trait Question {
    type Answer;

    const BEARING: Bearing;

    /// The request as the target will see it.
    async fn prepare<'a>(
        &'a self,
        means: Means<'a>,
        candidate: &Candidate,
        trace: &mut Trace,
    ) -> Result<Prepared<'a>>;

    /// The answer, where nobody has to be asked for it.
    fn known(&self, _prepared: &Prepared<'_>) -> Option<Self::Answer> {
        None
    }

    /// One try.
    async fn open(
        &self,
        means: Means<'_>,
        provider: usize,
        prepared: &Prepared<'_>,
        trace: &mut Trace,
    ) -> Result<Self::Answer>;
}

/// What a question means for those that follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bearing {
    /// It takes its turn among the targets, and tells how they fare.
    Answer,
    /// It goes where the next answer will come from, and tells nothing of it: what it asks for has limits of its own.
    Aside,
}

/// Asks the targets in order until one begins to answer; the last failure is the client's if none does.
pub(super) async fn ask<Q: Question>(
    means: Means<'_>,
    question: &Q,
    resolved: &Resolved,
    trace: &mut Trace,
) -> Result<Q::Answer> {
    let order = health::in_order(means.gateway, resolved, Q::BEARING);
    let mut last = None;
    for health::Ranked { rank, candidate } in order {
        let route = match rank {
            0 => resolved.route.as_str().into(),
            _ => format!("fallback:{}", rank + 1).into(),
        };
        match target(means, question, candidate, route, trace).await {
            Ok(answer) => return Ok(answer),
            Err(failure) if verdict::of(&failure) == Verdict::Final => return Err(failure),
            Err(failure) => last = Some(failure),
        }
    }
    Err(last.unwrap_or_else(|| {
        let message = "the model has no targets";
        Failure::new(Whose::Gateway, FaultKind::Internal, message)
    }))
}

/// Asks one target, again if the failure may pass by itself.
async fn target<Q: Question>(
    means: Means<'_>,
    question: &Q,
    candidate: &Candidate,
    route: Cow<'static, str>,
    trace: &mut Trace,
) -> Result<Q::Answer> {
    let upstream = &means.gateway.upstreams[candidate.provider];
    let prepared = question.prepare(means, candidate, trace).await?;
    trace.goes_to(
        candidate.provider,
        Upstream {
            provider: Arc::clone(&upstream.name),
            protocol: prepared.endpoint.protocol,
            model: candidate.model.clone(),
            route,
            attempts: trace.upstream().map_or(0, |before| before.attempts),
        },
    );
    if let Some(answer) = question.known(&prepared) {
        trace.tries_nobody();
        return Ok(answer);
    }
    if let Some(permit) = upstream.queue.enter().await? {
        trace.holds(permit);
    }
    let mut tries_left = means.gateway.config.providers[candidate.provider].retries;
    loop {
        trace.tries();
        let failure = match question.open(means, candidate.provider, &prepared, trace).await {
            Ok(answer) => {
                if Q::BEARING == Bearing::Answer {
                    upstream.health.answered();
                }
                return Ok(answer);
            }
            Err(failure) => failure,
        };
        let verdict = verdict::of(&failure);
        if verdict != Verdict::Final && Q::BEARING == Bearing::Answer {
            upstream.health.failed();
        }
        match verdict {
            Verdict::Again(pause) if tries_left > 0 => {
                tries_left -= 1;
                tokio::time::sleep(pause).await;
            }
            _ => return Err(failure),
        }
    }
}
