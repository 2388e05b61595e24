//! The laws of every translation, over any samples.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sabir_wire::protocol::{Artefact, Encoded};
use sabir_wire::{Error, Fault, FaultKind, Protocol, Report};
use serde_json::Value;

use crate::canonical::Statement;
use crate::sample::{Kind, Sample};
use crate::{meaning, translate};

mod frames;
mod history;
mod honesty;
mod pointers;
mod prefix;
mod replay;
pub mod round_trip;
mod streams;
mod watched;

/// A law that a sample breaks.
#[derive(Clone, Debug)]
pub struct Violation {
    pub law: Law,
    /// The protocol that was translated to, where the law is about two.
    pub target: Option<Protocol>,
    pub detail: String,
}

/// The laws, by the numbers that the design gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Law {
    /// The sample can be read at all.
    Decodes,
    /// 1: the same protocol, decoded and encoded, keeps its bytes; encoded anew, as after an edit, it says the same.
    SameProtocol,
    /// 2: encoding what an encoder wrote changes nothing.
    EncodeIsStable,
    /// 3: folding and unfolding are each other's inverse.
    FoldsAndUnfolds,
    /// 4: any split of the bytes gives the same events.
    AnySplit,
    /// 5: what was written states what was read, or the report says otherwise.
    Honest,
    /// 6: every event sequence is legal.
    LegalOrder,
    /// 7: a stream that is cut off never finishes.
    TruncationShows,
    /// 8: no input panics.
    NoPanic,
    /// 9: appended turns leave earlier translated messages alone.
    PrefixStable,
    /// 10: what a provider answered comes back to it as it was, through a client of any protocol.
    Replay,
    /// An entry of the report names a place of the input.
    PointsIntoInput,
    /// What is kept of a history comes back, in its own protocol and through every other.
    Kept,
    /// A history means the same however a client spells it.
    MeansTheSame,
    /// Who watches a passing answer and who decodes it learn the same.
    WatchedAlike,
}

/// Runs every law that applies to a sample.
pub fn check(sample: &Sample) -> Vec<Violation> {
    let checked = catch_unwind(AssertUnwindSafe(|| match sample.kind {
        Kind::Request => requests(sample),
        Kind::Response => responses(sample),
        Kind::Stream => streams::check(sample),
        Kind::Error { status } => errors(sample, status),
    }));
    checked.unwrap_or_else(|panic| vec![violation(Law::NoPanic, None, panic_message(&panic))])
}

pub(crate) fn violation(
    law: Law,
    target: impl Into<Option<Protocol>>,
    detail: impl Into<String>,
) -> Violation {
    Violation { law, target: target.into(), detail: detail.into() }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

fn requests(sample: &Sample) -> Vec<Violation> {
    let Sample { protocol, body, model, .. } = sample;
    if sample.was_refused && protocol.decode_request(body).is_err() {
        return Vec::new();
    }
    let translate = |from: Protocol, to: Protocol, body: &[u8]| match from == to {
        // Within one protocol the body says all there is to say; the model is for the foreign encoders.
        true => translate::request_anew(from, body),
        false => translate::request(from, to, body, model.as_deref()),
    };
    let model = model.as_deref();
    let read = |from: Protocol, body: &[u8]| {
        let mut decoded = from.decode_request(body)?;
        if let Some(model) = model.filter(|_| from == *protocol) {
            decoded.edit().model = Some(model.to_owned().into());
        }
        Ok(Statement::of_request(&decoded))
    };
    let mut violations = bodies(*protocol, body, &translate, &read);
    violations.extend(untouched(*protocol, body));
    violations.extend(prefix::check(sample));
    violations.extend(history::request(sample));
    violations
}

/// Law 1: a request that nobody edited is its own bytes, unless they may carry what another vendor sealed.
fn untouched(protocol: Protocol, body: &[u8]) -> Option<Violation> {
    if Artefact::may_be_carried_in(&String::from_utf8_lossy(body)) {
        return None;
    }
    let (same, report) = translate::request(protocol, protocol, body, None).ok()?;
    let is_kept = report.is_empty() && body.ends_with(same.as_bytes());
    (!is_kept).then(|| violation(Law::SameProtocol, None, "the bytes changed"))
}

fn responses(sample: &Sample) -> Vec<Violation> {
    let read =
        |from: Protocol, body: &[u8]| Ok(Statement::of_answer(from, &from.decode_response(body)?));
    let mut violations = bodies(sample.protocol, &sample.body, &translate::response, &read);
    violations.extend(streams::unfold(sample));
    violations.extend(watched::whole(sample));
    violations.extend(replay::whole(sample));
    violations.extend(history::answer(sample));
    violations
}

/// Translates a body from one protocol to another.
type Translate<'t> = &'t dyn Fn(Protocol, Protocol, &[u8]) -> Result<(String, Report), Error>;

/// Reads what a body states.
type Read<'t> = &'t dyn Fn(Protocol, &[u8]) -> Result<Statement, Error>;

/// Laws 1, 2 and 5 for bodies of any kind.
fn bodies(
    protocol: Protocol,
    body: &[u8],
    translate: Translate<'_>,
    read: Read<'_>,
) -> Vec<Violation> {
    let before: Value = match serde_json::from_slice(body) {
        Ok(value) => value,
        Err(error) => return vec![violation(Law::Decodes, None, error.to_string())],
    };
    let same = match translate(protocol, protocol, body) {
        Ok((same, report)) if report.is_empty() => same,
        Ok((_, report)) => {
            let detail = format!("a report on the same protocol: {:?}", report.entries());
            return vec![violation(Law::SameProtocol, None, detail)];
        }
        Err(error) => return vec![violation(Law::Decodes, None, error.to_string())],
    };
    let mut violations = Vec::new();
    match serde_json::from_str::<Value>(&same) {
        Ok(after) => {
            let differences = meaning::unreported(protocol, &before, &after, &Report::default());
            let detail = |at| format!("{at} says something else");
            violations.extend(
                differences.into_iter().map(|at| violation(Law::SameProtocol, None, detail(at))),
            );
        }
        Err(error) => violations.push(violation(Law::SameProtocol, None, error.to_string())),
    }
    for target in Protocol::ALL.into_iter().filter(|target| *target != protocol) {
        violations.extend(pair((protocol, target), body, &before, translate, read));
    }
    violations
}

fn pair(
    (protocol, target): (Protocol, Protocol),
    body: &[u8],
    before: &Value,
    translate: Translate<'_>,
    read: Read<'_>,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    let (there, report) = match translate(protocol, target, body) {
        Ok(translated) => translated,
        Err(error) => return vec![violation(Law::Decodes, target, error.to_string())],
    };
    violations.extend(pointers::check(target, before, &report));
    match translate(target, target, there.as_bytes()) {
        Ok((again, _)) if equal(&again, &there) => {}
        Ok((again, _)) => {
            let detail = difference_of_texts(&there, &again);
            violations.push(violation(Law::EncodeIsStable, target, detail));
        }
        Err(error) => violations.push(violation(Law::EncodeIsStable, target, error.to_string())),
    }
    match (read(protocol, body), read(target, there.as_bytes())) {
        // An answer that failed is an error, which has a law of its own.
        (Ok(before), _) if before.has_failed() => {}
        (Ok(before), Ok(after)) => {
            violations.extend(honesty::check(target, &before, &after, &report));
        }
        (Err(error), _) | (_, Err(error)) => {
            violations.push(violation(Law::Honest, target, error.to_string()));
        }
    }
    violations
}

fn errors(sample: &Sample, status: Option<u16>) -> Vec<Violation> {
    let fault = sample.protocol.decode_fault(status, &sample.body);
    let mut violations = Vec::new();
    let (_, same) = sample.protocol.encode_fault(&fault);
    let before = serde_json::from_slice::<Value>(&sample.body);
    if let Ok(before) = &before
        && serde_json::from_str::<Value>(&same).ok().as_ref() != Some(before)
    {
        violations.push(violation(Law::SameProtocol, None, "the error came back changed"));
    }
    for target in Protocol::ALL {
        let (status, Encoded { body, report }) = target.translate_fault(&fault);
        let again = target.decode_fault(status, body.as_bytes());
        let (status_again, body_again) = target.encode_fault(&again);
        if status != status_again || !equal(&body, &body_again) {
            let detail = difference_of_texts(&body, &body_again);
            violations.push(violation(Law::EncodeIsStable, target, detail));
        }
        violations.extend(fault_kept(target, &fault, &again));
        if let Ok(before) = &before {
            let back = encoded_back(sample.protocol, &again, before);
            violations.extend(pointers::check(target, before, &report));
            violations.extend(round_trip::honesty(
                (sample.protocol, target),
                before,
                &[back],
                &report,
            ));
        }
    }
    violations
}

/// An error as its own protocol encodes it again, in a list where it came in one.
fn encoded_back(protocol: Protocol, fault: &Fault<'_>, before: &Value) -> Value {
    let (_, body) = protocol.encode_fault(fault);
    let back: Value = serde_json::from_str(&body).unwrap_or_default();
    if before.is_array() && !back.is_array() { Value::Array(vec![back]) } else { back }
}

/// Law 5 for errors asks for more than a report: every protocol tells what happened, in the words of the upstream.
fn fault_kept(target: Protocol, fault: &Fault<'_>, again: &Fault<'_>) -> Option<Violation> {
    let (sent, arrived) = (fault.message.to_str(), again.message.to_str());
    if !arrived.contains(&*sent) {
        let detail = format!("the message {sent:?} became {arrived:?}");
        return Some(violation(Law::Honest, target, detail));
    }
    let (one, other) = (nearest(target, fault.kind), again.kind);
    let detail = format!("the error {one:?} became {other:?}");
    (one != other).then(|| violation(Law::Honest, target, detail))
}

/// The class by which a protocol can state an error. Google's codes are fewer than the others'.
fn nearest(target: Protocol, kind: FaultKind) -> FaultKind {
    match (target, kind) {
        (Protocol::Gemini, FaultKind::Billing) => FaultKind::RateLimit,
        (Protocol::Gemini, FaultKind::Unprocessable) => FaultKind::BadRequest,
        (_, kind) => kind,
    }
}

fn equal(one: &str, other: &str) -> bool {
    match (serde_json::from_str::<Value>(one), serde_json::from_str::<Value>(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

fn difference_of_texts(one: &str, other: &str) -> String {
    match (serde_json::from_str::<Value>(one), serde_json::from_str::<Value>(other)) {
        (Ok(one), Ok(other)) => first_difference("", &one, &other).unwrap_or_default(),
        _ => "one of them is not JSON".to_owned(),
    }
}

/// The first place at which two values differ, with both sides, for people.
pub(crate) fn first_difference(pointer: &str, before: &Value, after: &Value) -> Option<String> {
    match (before, after) {
        (Value::Object(one), Value::Object(other)) => {
            let added = other.keys().filter(|key| !one.contains_key(*key));
            one.keys().chain(added).find_map(|key| {
                let below = format!("{pointer}/{key}");
                match (one.get(key), other.get(key)) {
                    (Some(one), Some(other)) => first_difference(&below, one, other),
                    (one, other) => Some(difference(&below, one, other)),
                }
            })
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            (one.iter()).zip(other).enumerate().find_map(|(index, (one, other))| {
                first_difference(&format!("{pointer}/{index}"), one, other)
            })
        }
        (one, other) if one == other => None,
        (one, other) => Some(difference(pointer, Some(one), Some(other))),
    }
}

fn difference(pointer: &str, before: Option<&Value>, after: Option<&Value>) -> String {
    let short = |value: Option<&Value>| match value {
        Some(value) => value.to_string().chars().take(160).collect::<String>(),
        None => "nothing".to_owned(),
    };
    format!("{pointer}: {} became {}", short(before), short(after))
}
