//! Behaviour that only this protocol has.

mod answers;
mod faults;
mod foreign;
mod logprobs;
mod requests;
mod streams;

use serde_json::Value;

use crate::Fault;
use crate::FaultKind;
use crate::Protocol;
use crate::protocol::Asked;
use crate::protocol::Event;
use crate::protocol::tests as shared;
use crate::protocol::tests::at;
use crate::protocol::tests::check_refused;
use crate::protocol::tests::listed;
use crate::protocol::tests::value;

const GEMINI: Protocol = Protocol::Gemini;

/// The whole answer that a stream of payloads stands for.
fn folded(payloads: &[impl ToString]) -> Value {
    shared::folded(GEMINI, shared::events(GEMINI, payloads))
}
