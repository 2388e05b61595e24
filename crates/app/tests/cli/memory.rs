//! What the gateway takes of memory for large bodies, seen from outside: at most eight times the unpacked body while it is
//! served, and at most 100 MB when all have been. Each case has a process of its own, whose memory nobody has used before.

mod bodies;
mod gateway;
mod provider;

use std::thread;

use bodies::Body;
use gateway::Gateway;
use provider::Upstream;
use provider::Upstream::{Server, Simulator};
use sabir_wire::Protocol;
use sabir_wire::Protocol::{AnthropicMessages, Gemini, OpenaiChat, OpenaiResponses};

use crate::waiting::wait_for;

/// What a body may take, in times its length.
const TIMES: usize = 8;

/// What may be left of all bodies.
const LEFT_BYTES_MAX: usize = 100_000_000;

/// How many bodies come at once.
const BURST: usize = 12;

/// How long a body is.
const BODY_BYTES: usize = 2 * 1024 * 1024;

/// Who asks whom, and for what.
type Case = (Protocol, Protocol, Upstream, &'static str);

const CASES: &[Case] = &[
    (OpenaiChat, OpenaiChat, Server, "users"),
    (OpenaiChat, OpenaiResponses, Server, "users"),
    (OpenaiChat, AnthropicMessages, Server, "users"),
    (OpenaiChat, AnthropicMessages, Server, "users-and-systems"),
    (OpenaiChat, OpenaiResponses, Server, "blank-users"),
    (OpenaiChat, Gemini, Server, "texts"),
    (OpenaiChat, AnthropicMessages, Server, "cached-texts"),
    (OpenaiChat, Gemini, Server, "calls"),
    (AnthropicMessages, OpenaiChat, Server, "users"),
    (AnthropicMessages, OpenaiResponses, Server, "tools"),
    (AnthropicMessages, Gemini, Server, "stops"),
    (OpenaiResponses, AnthropicMessages, Server, "metadata"),
    (OpenaiResponses, OpenaiChat, Server, "texts"),
    (Gemini, OpenaiChat, Server, "texts"),
    (Gemini, AnthropicMessages, Server, "schema-properties"),
    (OpenaiChat, Gemini, Server, "users-and-systems"),
    (OpenaiChat, Gemini, Server, "assistants-first"),
    (OpenaiChat, AnthropicMessages, Server, "blank-between"),
    (OpenaiChat, AnthropicMessages, Server, "calls-illegal-names"),
    (OpenaiChat, AnthropicMessages, Server, "unknown-keys-of-call"),
    (OpenaiChat, Gemini, Server, "file-ids"),
    (Gemini, OpenaiChat, Server, "users-and-systems"),
    (OpenaiChat, OpenaiChat, Simulator, "users"),
    (OpenaiChat, AnthropicMessages, Simulator, "users"),
    (OpenaiChat, AnthropicMessages, Simulator, "texts"),
    (OpenaiChat, AnthropicMessages, Simulator, "text-escapes"),
    (OpenaiChat, OpenaiChat, Simulator, "tools"),
    (AnthropicMessages, OpenaiResponses, Simulator, "users"),
    (Gemini, OpenaiChat, Simulator, "texts"),
];

#[test]
fn a_request_takes_at_most_eight_times_its_body() {
    let over: Vec<String> = CASES.iter().filter_map(|case| over(*case, Body::plain)).collect();
    assert!(over.is_empty(), "{}", over.join("\n"));
}

#[test]
fn a_packed_request_takes_at_most_eight_times_its_unpacked_body() {
    let case = (OpenaiChat, AnthropicMessages, Server, "texts");
    assert_eq!(over(case, Body::packed), None);
}

#[test]
fn a_simulator_answers_long_conversations_within_the_same_bounds() {
    for to in Protocol::ALL {
        let (taken, status) = taken(to, Simulator, &Body::prose(BODY_BYTES));
        assert_eq!(status, 200, "{to:?}");
        assert!(taken <= TIMES * BODY_BYTES, "{to:?}: {taken}");
    }
}

/// What a case takes, if it is too much.
fn over(case: Case, sent: fn(Body) -> Body) -> Option<String> {
    let (from, to, upstream, name) = case;
    let body = sent(Body::of(from, name, BODY_BYTES));
    let (taken, status) = taken(to, upstream, &body);
    let most = TIMES * body.unpacked_bytes;
    let figures = format!("{case:?}: {taken} bytes for {}, {status}", body.unpacked_bytes);
    println!("{:5.2} {figures}", taken as f64 / body.unpacked_bytes as f64);
    let is_served = status == 200 || upstream == Simulator;
    (taken > most || !is_served).then_some(figures)
}

/// What a gateway takes for a body at most, and the status of its answer.
fn taken(to: Protocol, upstream: Upstream, body: &Body) -> (usize, u16) {
    let gateway = Gateway::start(to, upstream);
    let before = gateway.rest(body.protocol);
    let status = gateway.ask(body);
    (gateway.peak_bytes().saturating_sub(before), status)
}

#[test]
fn little_is_left_of_many_large_bodies() {
    for upstream in [Server, Simulator] {
        let gateway = Gateway::start(AnthropicMessages, upstream);
        let before = gateway.rest(OpenaiChat);
        for name in ["users", "texts", "calls"] {
            let body = Body::of(OpenaiChat, name, BODY_BYTES);
            thread::scope(|scope| {
                for _ in 0..BURST {
                    scope.spawn(|| gateway.ask(&body));
                }
            });
        }
        wait_for("it keeps more than it may", || {
            let left = gateway.resident_bytes().saturating_sub(before);
            println!("{upstream:?}: {left} bytes are left");
            (left <= LEFT_BYTES_MAX).then_some(())
        });
    }
}
