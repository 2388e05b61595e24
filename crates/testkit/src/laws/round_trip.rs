//! The round trip, which the law of honesty once was: there and back again, every leaf that differs is in the report.
//!
//! It is advice, not a law: what a way back spells otherwise is no loss. It finds what two readings of one protocol agree on
//! by mistake, so `cargo xtask laws --round-trip` still runs it.

use sabir_wire::{Error, Protocol, Report};
use serde_json::Value;

use crate::laws::{Law, Translate, Violation, violation};
use crate::sample::{Kind, Sample};
use crate::{meaning, translate};

mod returned;

/// What comes back otherwise from every other protocol, and no report covers.
pub fn check(sample: &Sample) -> Vec<Violation> {
    match sample.kind {
        Kind::Request => requests(sample),
        Kind::Response => {
            every(sample.protocol, &sample.body, &translate::response, &[&translate::response])
        }
        Kind::Stream | Kind::Error { .. } => Vec::new(),
    }
}

fn requests(sample: &Sample) -> Vec<Violation> {
    let Sample { protocol, body, model, .. } = sample;
    let translate = |from: Protocol, to: Protocol, body: &[u8]| {
        let model = model.as_deref().filter(|_| from != to);
        // A model that stood in the path goes back there.
        match model.is_some() && to == *protocol {
            true => translate::request_as_sent(from, to, body, model),
            false => translate::request(from, to, body, model),
        }
    };
    let any_model =
        |from: Protocol, to: Protocol, body: &[u8]| translate::request_for_any(from, to, body);
    every(*protocol, body, &translate, &[&translate, &any_model])
}

fn every(
    protocol: Protocol,
    body: &[u8],
    translate: Translate<'_>,
    ways_back: &[Translate<'_>],
) -> Vec<Violation> {
    let Ok(before) = serde_json::from_slice::<Value>(body) else { return Vec::new() };
    let targets = Protocol::ALL.into_iter().filter(|target| *target != protocol);
    let pair = |target| pair((protocol, target), (body, &before), translate, ways_back);
    targets.flat_map(pair).collect()
}

fn pair(
    (protocol, target): (Protocol, Protocol),
    (body, before): (&[u8], &Value),
    translate: Translate<'_>,
    ways_back: &[Translate<'_>],
) -> Vec<Violation> {
    let Ok((there, report)) = translate(protocol, target, body) else { return Vec::new() };
    let backs: Result<Vec<Value>, Error> = (ways_back.iter())
        .map(|way_back| way_back(target, protocol, there.as_bytes()))
        .map(|back| back.map(|(back, _)| serde_json::from_str(&back).unwrap_or_default()))
        .collect();
    match backs {
        Ok(backs) => honesty((protocol, target), before, &backs, &report),
        Err(error) => vec![violation(Law::Honest, target, error.to_string())],
    }
}

/// What differs was reported, and what was reported as dropped did not come back.
pub(super) fn honesty(
    (protocol, target): (Protocol, Protocol),
    before: &Value,
    backs: &[Value],
    report: &Report,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    let unreported = lost(protocol, before, backs, report);
    if !unreported.is_empty() {
        let detail = format!("not reported: {}", unreported.join(" "));
        violations.push(violation(Law::Honest, target, detail));
    }
    let Some(after) = backs.first() else { return violations };
    let returned = returned::drops_that_came_back(protocol, before, after, report);
    violations.extend(returned.into_iter().map(|pointer| {
        let detail = format!("reported as dropped and came back: {pointer}");
        violation(Law::Honest, target, detail)
    }));
    violations
}

/// What no way back restores. A way back is a translation too, with losses and a report of its own: for a model that
/// refuses a setting, the setting that had arrived does not return. So what any of them restores had arrived.
fn lost(protocol: Protocol, before: &Value, backs: &[Value], report: &Report) -> Vec<String> {
    let differences = backs.iter().map(|back| meaning::unreported(protocol, before, back, report));
    let lost_in_both = |lost: Vec<String>, next: Vec<String>| {
        lost.into_iter().filter(|pointer| next.contains(pointer)).collect()
    };
    differences.reduce(lost_in_both).unwrap_or_default()
}
