//! What each API refuses, in its own words, one broken rule at a time; each case beside a neighbour that is accepted.

mod anthropic_messages;
mod gemini;
mod openai_chat;
mod openai_responses;

use sabir_wire::Protocol;
use serde_json::Value;

use crate::support::{Mode, ask};

/// A request that is fine, with some members replaced.
fn with(mut body: Value, changes: Value) -> Value {
    let members = body.as_object_mut().expect("a body is an object");
    members.extend(changes.as_object().cloned().expect("changes are an object"));
    body
}

#[track_caller]
fn accepts(protocol: Protocol, body: &Value) {
    let answer = ask(protocol, body, Mode::Whole);
    assert_eq!(answer.status, 200, "{}\n{body}", answer.text());
}

#[track_caller]
fn refuses(protocol: Protocol, body: &Value, words: &str) {
    let answer = ask(protocol, body, Mode::Whole);
    assert_eq!(answer.status, 400, "{body}");
    assert!(answer.message().contains(words), "{}\nexpected: {words}\n{body}", answer.message());
}
