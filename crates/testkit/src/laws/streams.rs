//! The laws of streams: 3 to 7, and 5 by the answers that streams fold to.

use sabir_wire::conversation::Response;
use sabir_wire::protocol::{
    AnswerContext, Event, Fold, Order, StreamEncoder, unfold as unfold_response,
};
use sabir_wire::{FaultKind, Protocol, Report};
use serde_json::Value;

use crate::canonical::Statement;
use crate::laws::{
    Law, Violation, first_difference, frames, honesty, pointers, replay, violation, watched,
};
use crate::sample::Sample;
use crate::translate;

/// How many places a stream is split or cut at; long streams are sampled evenly.
const CUTS_MAX: usize = 60;

pub(super) fn check(sample: &Sample) -> Vec<Violation> {
    let (protocol, bytes) = (sample.protocol, sample.body.as_slice());
    let whole = Translated::of(protocol, [bytes]);
    let mut violations = Vec::new();
    if whole.is_truncated() && !sample.is_cut {
        violations.push(violation(Law::Decodes, None, whole.fault_message()));
    }
    violations.extend(whole.disorder.iter().map(|it| violation(Law::LegalOrder, None, it)));
    violations.extend(stable_fold(protocol, &whole.response));
    violations.extend(splits(protocol, bytes, &whole));
    violations.extend(cuts(protocol, bytes, &whole));
    violations.extend(watched::stream(sample));
    violations.extend(replay::stream(sample));
    for target in Protocol::ALL {
        violations.extend(pair(protocol, target, bytes, &whole.response));
    }
    violations
}

/// Law 3 for whole answers: unfolding and folding gives the answer again, in legal order.
pub(super) fn unfold(sample: &Sample) -> Vec<Violation> {
    let protocol = sample.protocol;
    let Ok(response) = protocol.decode_response(&sample.body) else { return Vec::new() };
    let (mut fold, mut order, mut disorder) = (Fold::default(), Order::default(), None);
    unfold_response(response.clone(), &mut |event| {
        if let Err(error) = order.step(&event) {
            disorder.get_or_insert_with(|| error.to_string());
        }
        fold.step(event);
    });
    let mut violations = Vec::new();
    violations.extend(disorder.map(|detail| violation(Law::LegalOrder, None, detail)));
    let difference = difference(protocol, &response, &fold.finish());
    violations.extend(difference.map(|it| violation(Law::FoldsAndUnfolds, None, it)));
    violations
}

/// A stream as it was decoded.
struct Translated {
    response: Response<'static>,
    /// The stream as this project writes it in its own protocol, which has every event.
    written: String,
    disorder: Option<String>,
}

impl Translated {
    fn of<'c>(protocol: Protocol, chunks: impl IntoIterator<Item = &'c [u8]>) -> Self {
        let (mut fold, mut order, mut disorder) = (Fold::default(), Order::default(), None);
        let mut written = String::new();
        let mut encoder = Some(StreamEncoder::new(protocol, protocol, AnswerContext::default()));
        translate::decode_stream(protocol, chunks, &mut |event: Event<'_>| {
            if let Err(error) = order.step(&event) {
                disorder.get_or_insert_with(|| error.to_string());
            }
            fold.step(event.clone());
            encoder = encoder.take().map(|encoder| encoder.step(event, &mut written));
        });
        if let Some(encoder) = encoder {
            let _ = encoder.end(&mut written);
        }
        Self { response: fold.finish(), written, disorder }
    }

    fn fault_message(&self) -> String {
        let fault = self.response.fault.as_ref();
        fault.map(|fault| fault.message.to_str().into_owned()).unwrap_or_default()
    }

    fn is_truncated(&self) -> bool {
        self.response.fault.as_ref().is_some_and(|fault| fault.kind == FaultKind::Truncated)
    }
}

fn encoded(protocol: Protocol, response: &Response<'_>) -> Value {
    let encoded = protocol.encode_response(response, protocol, &AnswerContext::default());
    serde_json::from_str(&encoded.body).unwrap_or_default()
}

fn difference(protocol: Protocol, one: &Response<'_>, other: &Response<'_>) -> Option<String> {
    first_difference("", &encoded(protocol, one), &encoded(protocol, other))
}

/// Law 3 for streams: decoding the encoded fold gives the fold again.
fn stable_fold(protocol: Protocol, response: &Response<'_>) -> Option<Violation> {
    if response.fault.is_some() {
        return None;
    }
    let encoded = protocol.encode_response(response, protocol, &AnswerContext::default());
    let detail = match protocol.decode_response(encoded.body.as_bytes()) {
        Ok(again) => difference(protocol, response, &again)?,
        Err(error) => error.to_string(),
    };
    Some(violation(Law::FoldsAndUnfolds, None, detail))
}

/// Law 4: any split of the bytes gives the same events.
fn splits(protocol: Protocol, bytes: &[u8], whole: &Translated) -> Option<Violation> {
    let single = Translated::of(protocol, bytes.chunks(1));
    let halves = places(bytes.len()).map(|at| {
        let (head, tail) = bytes.split_at(at);
        Translated::of(protocol, [head, tail])
    });
    std::iter::once(single)
        .chain(halves)
        .any(|translated| translated.written != whole.written)
        .then(|| violation(Law::AnySplit, None, "a split changed the events"))
}

/// Law 7: a stream cut off before its end is truncated; if it is not, nothing of the answer was missing.
fn cuts(protocol: Protocol, bytes: &[u8], whole: &Translated) -> Option<Violation> {
    if whole.response.fault.is_some() {
        return None;
    }
    places(bytes.len()).find_map(|at| {
        let cut = Translated::of(protocol, [&bytes[..at]]);
        if cut.is_truncated() || cut.response.fault.is_some() {
            return None;
        }
        let same_end = content(protocol, &cut.response) == content(protocol, &whole.response);
        let detail = format!("cut at byte {at} of {} it still finished", bytes.len());
        (!same_end).then(|| violation(Law::TruncationShows, None, detail))
    })
}

/// What the answer itself says, without usage and other trailers that may follow its end.
fn content(protocol: Protocol, response: &Response<'_>) -> Value {
    let mut value = encoded(protocol, response);
    if let Value::Object(object) = &mut value {
        object.retain(|key, _| matches!(&**key, "choices" | "content" | "output" | "candidates"));
    }
    value
}

fn places(len: usize) -> impl Iterator<Item = usize> {
    let step = (len / CUTS_MAX).max(1);
    (1..len).step_by(step).chain(len.saturating_sub(CUTS_MAX / 2).max(1)..len)
}

/// Translates to another protocol and back, and compares the answers that both streams fold to.
fn pair(
    protocol: Protocol,
    target: Protocol,
    bytes: &[u8],
    whole: &Response<'_>,
) -> Vec<Violation> {
    let (there, report) = translate::stream(protocol, target, bytes);
    let mut violations = pointers::check(target, &Value::Array(frames::values(bytes)), &report);
    let translated = Translated::of(target, [there.as_bytes()]);
    let ends_well = translated.response.fault.is_none();
    let message = translated.fault_message();
    violations.extend(translated.disorder.map(|it| violation(Law::LegalOrder, target, it)));
    match (whole.fault.is_none(), ends_well) {
        (true, true) | (false, false) => {
            violations.extend(honest(
                (protocol, target),
                (bytes, whole),
                (there.as_bytes(), &translated.response),
                &report,
            ));
        }
        (true, false) => violations.push(violation(Law::Honest, target, message)),
        (false, true) => {
            let detail = "a stream that failed was translated into one that did not";
            violations.push(violation(Law::TruncationShows, target, detail));
        }
    }
    violations
}

/// The report with every entry also at the place in the answer that its frame is about.
pub(super) fn in_answer(protocol: Protocol, bytes: &[u8], report: &Report) -> Report {
    let frames = frames::values(bytes);
    let mut both = report.clone();
    for loss in report.entries() {
        let places = [
            frames::in_answer(protocol, &frames, &loss.pointer),
            frames::in_first_part(&frames, &loss.pointer),
        ];
        for pointer in places.into_iter().flatten() {
            both.lose(pointer, loss.kind, loss.reason.clone());
        }
    }
    both
}

/// Law 5 for streams, by the answers that both of them fold to.
fn honest(
    (protocol, target): (Protocol, Protocol),
    (bytes, before): (&[u8], &Response<'_>),
    (there, after): (&[u8], &Response<'_>),
    report: &Report,
) -> Option<Violation> {
    let frames = frames::values(bytes);
    let place = |pointer: &str| frames::in_answer(protocol, &frames, pointer);
    let report = in_answer(protocol, bytes, report);
    let has_failed = before.fault.is_some();
    let before = Statement::of_answer(protocol, before).placed(place);
    let after = Statement::of_answer(target, after);
    if !has_failed {
        return honesty::check(target, &before, &after, &report);
    }
    // What was said before an error arrives. How it failed has a law of its own, and what it cost no place beside that.
    let (mut before, mut after) = (before.parts(), after.parts());
    // A call that was cut off arrives, or it does not.
    if before.calls() != after.calls() {
        (before, after) = (before.without_cut_calls(), after.without_cut_calls());
    }
    // Who reads a piece of no call again may wait for the rest of one to the end: it is enough that it was written.
    if protocol == target {
        let pieces = before.opaque_as_written(&frames::parts_of_gemini(there));
        (before, after) = (before.without_opaque(&pieces), after.without_opaque(&pieces));
    }
    honesty::check(target, &before, &after, &report)
}
