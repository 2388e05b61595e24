//! Fixtures keep the laws, and give what they say they give.

use std::fs;
use std::path::{Path, PathBuf};

use sabir_testkit::{expect, laws, meaning, sample, translate};
use sabir_wire::conversation::Response;
use sabir_wire::protocol::AnswerContext;
use sabir_wire::target::Target;
use sabir_wire::{Diagnostics, Protocol};
use serde_json::Value;

/// Every case of the project.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// A test for each case, named by its folders.
mod cases {
    include!(concat!(env!("OUT_DIR"), "/cases.rs"));
}

/// Holds a case to the laws, to its expectations, and its streams to the whole answers beside them.
#[track_caller]
fn check(case: &str) {
    let case = Path::new(case);
    let samples = sample::below(case).expect("the case can be read");
    let mut broken: Vec<String> = samples
        .iter()
        .flat_map(|sample| laws::check(sample).into_iter().map(|it| described(&sample.name, &it)))
        .collect();
    broken.extend(expect::check(case).unwrap_or_else(|error| vec![format!("{error:#}")]));
    broken.extend(Protocol::ALL.into_iter().filter_map(|it| fold_difference(case, it)));
    assert!(broken.is_empty(), "{} problems:\n{}", broken.len(), broken.join("\n"));
}

pub(crate) fn described(name: &str, violation: &laws::Violation) -> String {
    let target = violation.target.map_or("", Protocol::as_str);
    format!("{name}: {:?} {target}: {}", violation.law, violation.detail)
}

/// How a stream differs from the whole answer beside it, where a protocol has both.
fn fold_difference(case: &Path, protocol: Protocol) -> Option<String> {
    let read = |name: &str| fs::read(case.join(protocol.as_str()).join(name)).ok();
    let (response, stream) = (read("response.json")?, read("stream.sse")?);
    let difference = difference(protocol, &response, &stream)?;
    Some(format!("{}: the stream does not fold to the answer:{difference}", protocol.as_str()))
}

#[test]
fn the_cases_are_found() {
    let count = expect::cases(&folder()).unwrap().len();
    assert!(count > 350, "only {count} cases were found");
}

/// Diagnostics are for people: whatever becomes of them, every payload is the same.
#[test]
fn what_is_diagnosed_of_a_request_changes_no_payload() {
    let samples = sample::below(&folder()).expect("the cases can be read");
    let mut compared = 0;
    for sample in samples.iter().filter(|sample| sample.kind == sample::Kind::Request) {
        let Ok(decoded) = sample.protocol.decode_request(&sample.body) else { continue };
        let payloads = || {
            Protocol::ALL.map(|to| decoded.encode(to, &Target::default()).map(|it| it.body).ok())
        };
        let before = payloads();
        drop(Diagnostics::of(&decoded));
        assert_eq!(payloads(), before, "{}", sample.name);
        compared += 1;
    }
    assert!(compared > 200, "only {compared} requests were compared");
}

/// How the answer that the stream folds to differs from the one beside it, both in their own protocol.
fn difference(protocol: Protocol, response: &[u8], stream: &[u8]) -> Option<String> {
    let whole = match protocol.decode_response(response) {
        Ok(whole) => encoded(protocol, &whole),
        Err(error) => return Some(error.to_string()),
    };
    let folded = encoded(protocol, &translate::fold(protocol, stream));
    // A stream does not repeat the nulls of a whole answer.
    let same = meaning::same(protocol, &whole, &folded);
    (!same).then(|| format!("\n    whole  {whole}\n    folded {folded}"))
}

pub(crate) fn encoded(protocol: Protocol, response: &Response<'_>) -> Value {
    let encoded = protocol.encode_response(response, protocol, &AnswerContext::default());
    serde_json::from_str(&encoded.body).expect("an encoder writes JSON")
}
