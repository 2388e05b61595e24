//! Fixtures keep the laws, and give what they say they give.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use sabir_testkit::expect;
use sabir_testkit::laws;
use sabir_testkit::meaning;
use sabir_testkit::sample;
use sabir_testkit::translate;
use sabir_wire::Protocol;
use sabir_wire::conversation::Response;
use sabir_wire::protocol::Asked;
use serde_json::Value;

/// Every case of the project.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

#[test]
fn every_fixture_keeps_the_laws() {
    let samples = sample::below(&folder()).unwrap();
    assert!(samples.len() > 500, "only {} samples were found", samples.len());
    let broken: Vec<String> = samples
        .iter()
        .flat_map(|sample| laws::check(sample).into_iter().map(|it| told(&sample.name, &it)))
        .collect();
    assert!(broken.is_empty(), "{} violations:\n{}", broken.len(), broken.join("\n"));
}

pub(crate) fn told(name: &str, violation: &laws::Violation) -> String {
    let target = violation.target.map_or("", Protocol::as_str);
    format!("{name}: {:?} {target}: {}", violation.law, violation.detail)
}

#[test]
fn every_expectation_is_met() {
    let (count, misses) = expect::check_all(&folder()).unwrap();
    assert!(count > 300, "only {count} expectations were found");
    let misses: Vec<String> = misses
        .iter()
        .map(|miss| format!("{}: {}\n    {}", miss.case, miss.why, miss.detail))
        .collect();
    assert!(misses.is_empty(), "{} of {count}:\n{}", misses.len(), misses.join("\n"));
}

#[test]
fn a_stream_folds_to_the_whole_answer_beside_it() {
    let mut count = 0;
    let mut broken = Vec::new();
    for case in fs::read_dir(folder()).unwrap() {
        for protocol in Protocol::ALL {
            let folder = case.as_ref().unwrap().path().join(protocol.as_str());
            let (Ok(response), Ok(stream)) =
                (fs::read(folder.join("response.json")), fs::read(folder.join("stream.sse")))
            else {
                continue;
            };
            count += 1;
            broken.extend(
                difference(protocol, &response, &stream)
                    .map(|difference| format!("{}: {difference}", folder.display())),
            );
        }
    }
    assert!(count > 50, "only {count} pairs were found");
    assert!(broken.is_empty(), "{} of {count}:\n{}", broken.len(), broken.join("\n"));
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
    let encoded = protocol.encode_response(response, protocol, &Asked::default());
    serde_json::from_str(&encoded.body).expect("an encoder writes JSON")
}
