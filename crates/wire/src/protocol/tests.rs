//! What the tests of every protocol need: bodies as values, streams as events, and back.

use serde_json::Value;

use crate::loss::Report;
use crate::protocol::{AnswerContext, Event, Fold, Order, Protocol, StreamDecoder, StreamEncoder};
use crate::sse::Frame;

pub(super) fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

/// The value at a pointer of a body.
pub(super) fn at(body: &str, pointer: &str) -> Value {
    value(body).pointer(pointer).cloned().unwrap_or(Value::Null)
}

/// The entries of a report, as `kind pointer`.
pub(super) fn listed(report: &Report) -> Vec<String> {
    report.entries().iter().map(|loss| format!("{} {}", loss.kind, loss.pointer)).collect()
}

/// Checks that each request is refused, and where.
#[track_caller]
pub(super) fn check_refused(protocol: Protocol, cases: &[(&str, &str)]) {
    for (body, pointer) in cases {
        let error = protocol.decode_request(body.as_bytes()).unwrap_err();
        assert_eq!(error.pointer(), *pointer, "{body}");
    }
}

/// The events of a stream of payloads, checked to be in order.
pub(super) fn events(protocol: Protocol, payloads: &[impl ToString]) -> Vec<Event<'static>> {
    let mut events = Vec::new();
    let mut decoder = StreamDecoder::new(protocol);
    for data in payloads {
        let frame = Frame { event: None, data: &data.to_string() };
        decoder = decoder.step(&frame, &mut |event| events.push(event.into_owned())).unwrap();
    }
    decoder.end(&mut |event| events.push(event));
    let mut order = Order::default();
    events.iter().for_each(|event| order.step(event).unwrap());
    events
}

/// The whole answer that events stand for, in that protocol.
pub(super) fn folded(protocol: Protocol, events: Vec<Event<'_>>) -> Value {
    let mut fold = Fold::default();
    events.into_iter().for_each(|event| fold.step(event));
    value(&protocol.encode_response(&fold.finish(), protocol, &AnswerContext::default()).body)
}

/// The payloads of the frames that events of `source` are written as, and what they lose by it.
pub(super) fn written(
    protocol: Protocol,
    (source, events): (Protocol, Vec<Event<'static>>),
    context: AnswerContext<'_>,
) -> (Vec<String>, Report) {
    let mut out = String::new();
    let mut encoder = StreamEncoder::new(protocol, source, context);
    for event in events {
        encoder = encoder.step(event, &mut out);
    }
    let report = encoder.end(&mut out);
    let payloads = out.lines().filter_map(|line| line.strip_prefix("data: "));
    (payloads.map(str::to_owned).collect(), report)
}
