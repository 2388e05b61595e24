//! Asking one target after the other until one of them answers, whatever it is that is asked.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use sabir_wire::FaultKind;
use tokio::time::Instant;

use crate::answer::InFlight;
use crate::attempt::prepare::Prepared;
use crate::attempt::verdict::Verdict;
use crate::attempt::{Handles, order, switch, verdict};
use crate::failure::{Failure, Result, Whose};
use crate::observe::Upstream;
use crate::route::{Candidate, Resolved, Stay};
use crate::trace::Trace;
use crate::upstream::{Endpoint, Provider, Turn};

/// Something that any of a model's targets can be asked for.
pub(super) trait Attempt {
    type Output;

    const AFFECTS_HEALTH: AffectsHealth;

    /// The request as the target will see it.
    async fn prepare<'a>(
        &'a self,
        handles: Handles<'a>,
        candidate: &'a Candidate,
        trace: &mut Trace,
    ) -> Result<Prepared<'a>>;

    /// The answer, where nobody has to be asked for it.
    fn known(&self, _prepared: &Prepared<'_>) -> Option<Self::Output> {
        None
    }

    /// One attempt.
    async fn open(
        &self,
        handles: Handles<'_>,
        asked: (&Provider, Option<Turn<'_>>),
        prepared: &Prepared<'_>,
        flight: &mut InFlight,
    ) -> Result<Self::Output>;
}

/// Whether an attempt takes its turn among the targets, and its outcome counts for their health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AffectsHealth {
    Yes,
    /// It goes where the next answer will come from. What it asks for has rate limits of its own, which say nothing of
    /// answers.
    No,
}

/// Asks the targets in order until one begins to answer; the last failure is the client's if none does. Behind a target that
/// the prompt does not fit come only those whose window is known to be wider, and where the class of a request decides, those for
/// long input.
pub(super) async fn ask<A: Attempt>(
    handles: Handles<'_>,
    attempt: &A,
    resolved: &Resolved,
    flight: &mut InFlight,
) -> Result<A::Output> {
    let order = order::of(resolved, A::AFFECTS_HEALTH);
    let order = order.into_iter().chain(order::for_long_input(resolved));
    let mut last: Option<Box<Failure>> = None;
    let mut narrow = None;
    for ranked in order {
        if !ranked.is_asked_beyond(narrow) {
            continue;
        }
        let (rank, candidate) = (ranked.rank, ranked.candidate);
        let switch = switch::of(resolved, candidate, last.is_some());
        let route = switch::label(resolved, rank, switch.as_ref());
        flight.trace.set_switch(switch);
        match target(handles, attempt, (candidate, resolved.stay.as_ref()), route, flight).await {
            Ok(answer) => {
                if A::AFFECTS_HEALTH == AffectsHealth::Yes {
                    switch::remember(resolved, candidate);
                }
                return Ok(answer);
            }
            Err(failure) if failure.fault.kind == FaultKind::ContextTooLong => {
                // Where nobody knows the window, none is known to be wider.
                let window = failure.fault.overflow.window.or_else(|| candidate.window());
                narrow = Some(narrow.max(window).unwrap_or(u64::MAX));
                // That the prompt does not fit one which has no room for it says nothing of why another failed.
                let has_other =
                    last.as_ref().is_some_and(|it| it.fault.kind != FaultKind::ContextTooLong);
                if !(has_other && resolved.exceeds(candidate)) {
                    last = Some(failure);
                }
            }
            Err(failure) if verdict::of(&failure) == Verdict::Final => return Err(failure),
            Err(failure) => last = Some(failure),
        }
    }
    Err(last.unwrap_or_else(|| {
        let message = "the model has no targets";
        Failure::new(Whose::Gateway, FaultKind::Internal, message)
    }))
}

/// Asks one target, once it is ready to be asked.
async fn target<A: Attempt>(
    handles: Handles<'_>,
    attempt: &A,
    (candidate, stay): (&Candidate, Option<&Stay>),
    route: Cow<'static, str>,
    flight: &mut InFlight,
) -> Result<A::Output> {
    let provider = &candidate.provider;
    let is_answer = A::AFFECTS_HEALTH == AffectsHealth::Yes;
    for agent in provider.endpoints.iter().filter_map(Endpoint::agent).filter(|_| is_answer) {
        // Boxed, since every connection has room for the largest future of all.
        Box::pin(agent.probe(&candidate.model)).await;
    }
    let prepared = attempt.prepare(handles, candidate, &mut flight.trace).await?;
    flight.admission.release_permit();
    let attempts = flight.trace.upstream().map_or(0, |before| before.attempts);
    flight.trace.set_upstream(
        provider,
        Upstream {
            provider: Arc::clone(&provider.name),
            protocol: prepared.endpoint.protocol,
            model: candidate.model.clone(),
            route,
            attempts,
            is_agent: prepared.endpoint.agent().is_some(),
        },
    );
    if let Some(answer) = attempt.known(&prepared) {
        flight.trace.skip_attempt();
        return Ok(answer);
    }
    if let Some(permit) = provider.queue.enter().await? {
        flight.admission.hold_permit(permit);
    }
    persist(handles, attempt, (candidate, stay), &prepared, flight).await
}

/// Asks a target, and again if the failure may pass by itself.
async fn persist<A: Attempt>(
    handles: Handles<'_>,
    attempt: &A,
    (candidate, stay): (&Candidate, Option<&Stay>),
    prepared: &Prepared<'_>,
    flight: &mut InFlight,
) -> Result<A::Output> {
    let mut tries_left = candidate.provider.config.retries;
    loop {
        match once(handles, attempt, (candidate, stay), prepared, flight).await {
            Ok(answer) => return Ok(answer),
            Err((_, Some(pause))) if tries_left > 0 => {
                tries_left -= 1;
                tokio::time::sleep(pause).await;
            }
            Err((failure, _)) => return Err(failure),
        }
    }
}

/// One attempt. A failure comes with the pause before another, if that may help.
async fn once<A: Attempt>(
    handles: Handles<'_>,
    attempt: &A,
    (candidate, stay): (&Candidate, Option<&Stay>),
    prepared: &Prepared<'_>,
    flight: &mut InFlight,
) -> Result<A::Output, (Box<Failure>, Option<Duration>)> {
    let provider = &candidate.provider;
    let affects_health = A::AFFECTS_HEALTH == AffectsHealth::Yes;
    flight.trace.begin_attempt();
    let began = Instant::now();
    let turn = provider.keys.take(stay.map(Stay::conversation));
    let mut failure = match attempt.open(handles, (provider, turn), prepared, flight).await {
        Ok(answer) => {
            turn.into_iter().for_each(Turn::answered);
            if affects_health {
                provider.health.answered();
                candidate.pace.measured(began.elapsed());
            }
            return Ok(answer);
        }
        Err(failure) => failure,
    };
    // That counters are asked too often is no sign for answers.
    let speaks_of_key = affects_health || failure.fault.kind != FaultKind::RateLimit;
    let turn = turn.filter(|_| speaks_of_key);
    if turn.is_some_and(|turn| turn.is_turned_away(&provider.name, &mut failure)) {
        return Err((failure, Some(Duration::ZERO)));
    }
    let verdict = verdict::of(&failure);
    if verdict != Verdict::Final && affects_health {
        provider.health.failed();
    }
    match verdict {
        Verdict::Again(pause) => Err((failure, Some(pause))),
        _ => Err((failure, None)),
    }
}
