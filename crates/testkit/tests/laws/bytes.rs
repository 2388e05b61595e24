//! Hostile bytes: nothing panics, whatever comes.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any};
use proptest::prop_oneof;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use sabir_testkit::fuzz::Mutation;
use sabir_testkit::sample::{Kind, Sample};
use sabir_testkit::{fuzz, generate, sample};
use sabir_wire::{ErrorKind, Protocol};

use crate::config;
use crate::fixtures::folder;

/// Hands the bytes to everything that reads a body of this kind.
fn read(protocol: Protocol, kind: Kind, bytes: &[u8]) {
    match kind {
        Kind::Request => fuzz::decode_request(protocol, bytes),
        Kind::Response => fuzz::decode_response(protocol, bytes),
        Kind::Stream => fuzz::decode_stream(protocol, bytes),
        Kind::Error { .. } => fuzz::decode_fault(protocol, bytes),
    }
}

fn read_as_everything(bytes: &[u8]) {
    fuzz::sse(bytes);
    fuzz::json(bytes);
    fuzz::schema(bytes);
    fuzz::encode_stream(bytes);
    for protocol in Protocol::ALL {
        for kind in [Kind::Request, Kind::Response, Kind::Stream, Kind::Error { status: None }] {
            read(protocol, kind, bytes);
        }
    }
}

/// Runs a check over what a strategy generates; a panic is the failure.
fn hold<T: std::fmt::Debug>(inputs: impl Strategy<Value = T>, check: impl Fn(T)) {
    let outcome = TestRunner::new(config()).run(&inputs, |input| {
        check(input);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

#[test]
fn arbitrary_bytes_are_refused_or_read() {
    hold(vec(any::<u8>(), 0..200), |bytes| read_as_everything(&bytes));
}

#[test]
fn arbitrary_tokens_are_refused_or_read() {
    const TOKENS: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "null",
        "true",
        "-",
        "0",
        "1e9",
        "\"type\":",
        "\"text\"",
        "\"role\":",
        "\"content\":",
        "data: ",
        "event: ",
        "\n",
        "\r",
        "\n\n",
        "é",
        " ",
    ];
    let token = prop_oneof![8 => select(TOKENS), 1 => Just("\u{0}")];
    hold(vec(token, 0..40), |tokens| read_as_everything(tokens.concat().as_bytes()));
}

/// Fixtures of one kind of body, mutated.
fn mutated_fixtures(is_kind: fn(Kind) -> bool) {
    let mut samples = sample::below(&folder()).expect("the fixtures can be read");
    samples.retain(|sample| is_kind(sample.kind));
    assert!(!samples.is_empty());
    let inputs = (select(samples.clone()), select(samples), vec(any::<Mutation>(), 1..5));
    hold(inputs, |(sample, other, mutations): (Sample, Sample, Vec<Mutation>)| {
        let mut bytes = sample.body.clone();
        for mutation in &mutations {
            mutation.apply(&mut bytes, &other.body);
        }
        read(sample.protocol, sample.kind, &bytes);
        read(other.protocol, sample.kind, &bytes);
    });
}

#[test]
fn mutated_requests_are_refused_or_read() {
    mutated_fixtures(|kind| kind == Kind::Request);
}

#[test]
fn mutated_responses_are_refused_or_read() {
    mutated_fixtures(|kind| kind == Kind::Response);
}

#[test]
fn mutated_streams_are_refused_or_read() {
    mutated_fixtures(|kind| kind == Kind::Stream);
}

#[test]
fn mutated_errors_are_read() {
    mutated_fixtures(|kind| matches!(kind, Kind::Error { .. }));
}

#[test]
fn any_sequence_of_events_can_be_written() {
    hold(vec(any::<u8>(), 0..240), |bytes| fuzz::encode_stream(&bytes));
}

#[test]
fn any_schema_can_be_translated_and_stays_as_it_is_from_there() {
    hold(generate::spelled(generate::schema()), |bytes| fuzz::schema(&bytes));
}

#[test]
fn any_split_of_any_bytes_gives_the_same_frames() {
    let piece =
        select(&["data: a", "event: b", ": c", "\n", "\r", "\r\n", "\u{feff}", "data:"][..]);
    hold(vec(piece, 0..30), |pieces| fuzz::sse(pieces.concat().as_bytes()));
}

#[test]
fn nesting_beyond_the_limit_is_refused_and_not_followed() {
    for protocol in Protocol::ALL {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let deep = format!("{{\"a\":{}1{}}}", open.repeat(20_000), close.repeat(20_000));
            for result in [
                protocol.decode_request(deep.as_bytes()).map(drop),
                protocol.decode_response(deep.as_bytes()).map(drop),
            ] {
                let kind = result.err().map(|error| error.kind());
                assert_eq!(kind, Some(ErrorKind::Limit), "{protocol:?} {open}");
            }
            read_as_everything(deep.as_bytes());
        }
    }
}
