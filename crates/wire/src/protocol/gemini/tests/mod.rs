//! Behaviour that only this protocol has.

mod answers;
mod faults;
mod foreign;
mod logprobs;
mod requests;
mod streams;

use serde_json::Value;

use crate::protocol::tests::{at, check_refused, listed, value};
use crate::protocol::{AnswerContext, Event, tests as shared};
use crate::{Fault, FaultKind, Protocol};

const SELF: Protocol = Protocol::Gemini;

/// The whole answer that a stream of payloads stands for.
fn folded(payloads: &[impl ToString]) -> Value {
    shared::folded(SELF, shared::events(SELF, payloads))
}
