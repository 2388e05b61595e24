//! A client learns of no name that its tools have upstream.

use std::fs;

use sabir_testkit::translate;
use sabir_wire::Protocol;
use sabir_wire::conversation::{Content, Response};
use sabir_wire::protocol::{AnswerContext, StreamEncoder};

use crate::fixtures::folder;

/// An answer that calls a tool, by the name that the tool has upstream and the client's own.
const ANSWER: &str = "answer/tools/tool-call-only";
const UPSTREAM: &str = "lookup_tide";
const CLIENT: &str = "harbour.lookup/tide";

fn context() -> AnswerContext<'static> {
    let names = vec![(UPSTREAM.to_owned().into(), CLIENT.to_owned().into())];
    AnswerContext { names, ..AnswerContext::default() }
}

fn called(response: &Response<'_>) -> Vec<String> {
    let parts = response.candidates.iter().flat_map(|candidate| &candidate.message.parts);
    let names = parts.filter_map(|part| match part.content() {
        Content::ToolCall(call) => Some(call.name.to_str().into_owned()),
        _ => None,
    });
    names.collect()
}

#[track_caller]
fn check((upstream, client): (Protocol, Protocol), shown: &str, response: &Response<'_>) {
    assert_eq!(called(response), [CLIENT], "{upstream:?} to {client:?}");
    assert!(!shown.contains(UPSTREAM), "{upstream:?} to {client:?}: {shown}");
}

fn pairs() -> impl Iterator<Item = (Protocol, Protocol)> {
    let all = Protocol::ALL.into_iter();
    all.flat_map(|from| Protocol::ALL.map(|to| (from, to))).filter(|(from, to)| from != to)
}

fn read(upstream: Protocol, file: &str) -> Vec<u8> {
    fs::read(folder().join(ANSWER).join(upstream.as_str()).join(file)).expect("the file is there")
}

#[test]
fn calls_of_whole_answers_have_the_clients_names() {
    for (upstream, client) in pairs() {
        let body = read(upstream, "response.json");
        let response = upstream.decode_response(&body).expect("it can be read");
        let shown = client.encode_response(&response, upstream, &context()).body;
        let again = client.decode_response(shown.as_bytes()).expect("it can be read again");
        check((upstream, client), &shown, &again);
    }
}

#[test]
fn calls_of_streams_have_the_clients_names() {
    for (upstream, client) in pairs() {
        let mut shown = String::new();
        let mut encoder = Some(StreamEncoder::new(client, upstream, context()));
        translate::decode_stream(upstream, [&*read(upstream, "stream.sse")], &mut |event| {
            encoder = encoder.take().map(|encoder| encoder.step(event, &mut shown));
        });
        let _report = encoder.expect("the stream goes on to its end").end(&mut shown);
        check((upstream, client), &shown, &translate::fold(client, shown.as_bytes()));
    }
}
