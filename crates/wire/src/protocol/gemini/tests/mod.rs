//! Behaviour that only this protocol has.

mod answers;
mod faults;
mod foreign;
mod logprobs;
mod requests;
mod streams;

use serde_json::Value;

use crate::Protocol;
use crate::Report;
use crate::protocol::Asked;
use crate::protocol::Event;
use crate::protocol::Fold;
use crate::protocol::Order;
use crate::protocol::StreamDecoder;
use crate::sse::Frame;

const GEMINI: Protocol = Protocol::Gemini;

fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

/// The value at a pointer of a body.
fn at(body: &str, pointer: &str) -> Value {
    value(body).pointer(pointer).cloned().unwrap_or(Value::Null)
}

/// The entries of a report, as `kind pointer`.
fn told(report: &Report) -> Vec<String> {
    report.entries().iter().map(|loss| format!("{} {}", loss.kind, loss.pointer)).collect()
}

/// Reads a stream of payloads; every sequence of events must be legal.
fn events(payloads: &[&str]) -> Vec<Event<'static>> {
    let mut events = Vec::new();
    let mut decoder = StreamDecoder::new(GEMINI);
    for data in payloads {
        let frame = Frame { event: None, data };
        decoder = decoder.step(&frame, &mut |event| events.push(event.into_owned())).unwrap();
    }
    decoder.end(&mut |event| events.push(event));
    let mut order = Order::default();
    events.iter().for_each(|event| order.step(event).unwrap());
    events
}

/// The whole answer that events stand for, in this protocol.
fn folded(events: Vec<Event<'_>>) -> String {
    let mut fold = Fold::default();
    events.into_iter().for_each(|event| fold.step(event));
    GEMINI.encode_response(&fold.finish(), GEMINI, &Asked::default()).body
}
