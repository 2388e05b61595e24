//! What the gateway takes of memory for large bodies, seen from outside: at most eight times the unpacked body while it is
//! served, and at most 100 MB when all have been. Each case has a process of its own, whose memory nobody has used before.

mod bodies;
mod gateway;
mod provider;
mod socket;

use std::io::Write;
use std::net::TcpStream;
use std::thread;

use bodies::Body;
use gateway::Gateway;
use provider::Upstream;
use provider::Upstream::{Server, Simulator};
use sabir_wire::Protocol;
use sabir_wire::Protocol::{AnthropicMessages, Gemini, OpenaiChat, OpenaiResponses};
use socket::Socket;

use crate::waiting::wait_for;

/// What a body may take, in times its length.
const TIMES: usize = 8;

/// What is resident of a process beside its body: pages of code and of stacks that are touched for the first time.
const TOUCHED_BYTES: usize = 1024 * 1024;

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

/// Bodies that are far shorter, and take a thread and its buffers all the same.
const SMALL_BODIES_BYTES: [usize; 3] = [256 * 1024, 512 * 1024, 1024 * 1024];

#[test]
fn a_small_request_takes_little_more() {
    for bytes in SMALL_BODIES_BYTES {
        for (from, to, upstream, name) in CASES.iter().step_by(4).copied() {
            let body = Body::of(from, name, bytes);
            let (taken, _) = taken(to, upstream, &body);
            println!("{:5.2} {from:?} to {to:?}, {name}: {taken}", taken as f64 / bytes as f64);
            assert!(taken <= TIMES * bytes + FIXED_BYTES, "{from:?} to {to:?}, {name}: {taken}");
        }
    }
}

#[test]
fn a_packed_request_takes_at_most_eight_times_its_unpacked_body() {
    let case = (OpenaiChat, AnthropicMessages, Server, "texts");
    assert_eq!(over(case, Body::packed), None);
}

#[test]
fn a_schema_of_many_alternatives_takes_at_most_eight_times_its_unpacked_body() {
    let small = |to| (to, Body::all_of(2 * BODY_BYTES));
    let bombs = [
        (Gemini, Body::all_of(60_000_000).packed()),
        (OpenaiChat, Body::all_of(60_000_000).packed()),
    ];
    for (to, body) in
        [AnthropicMessages, Gemini, OpenaiResponses].map(small).into_iter().chain(bombs)
    {
        let gateway = Gateway::start(to, Server);
        let before = gateway.rest(OpenaiChat);
        let status = gateway.ask(&body);
        let taken = gateway.peak_bytes().saturating_sub(before);
        let (sent, unpacked) = (body.bytes.len(), body.unpacked_bytes);
        println!(
            "{:5.2} to {to:?}: {taken} bytes for {sent} of {unpacked}, {status}",
            taken as f64 / unpacked as f64
        );
        assert_eq!(status, if body.is_packed { 413 } else { 200 }, "{to:?}");
        assert!(taken <= TIMES * unpacked + TOUCHED_BYTES, "{to:?}: {taken}");
        wait_for("it keeps more than it may", || {
            (gateway.resident_bytes().saturating_sub(before) <= LEFT_BYTES_MAX).then_some(())
        });
    }
}

#[test]
fn a_simulator_answers_long_conversations_within_the_same_bounds() {
    for to in Protocol::ALL {
        let (taken, status) = taken(to, Simulator, &Body::prose(BODY_BYTES));
        assert_eq!(status, 200, "{to:?}");
        assert!(taken <= TIMES * BODY_BYTES + TOUCHED_BYTES, "{to:?}: {taken}");
    }
}

/// What a case takes, if it is too much.
fn over(case: Case, sent: fn(Body) -> Body) -> Option<String> {
    let (from, to, upstream, name) = case;
    let body = sent(Body::of(from, name, BODY_BYTES));
    let (taken, status) = taken(to, upstream, &body);
    let most = TIMES * body.unpacked_bytes + TOUCHED_BYTES;
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

/// An element as often as a body has room for it.
fn repeated(element: &str, separator: &str) -> String {
    vec![element; BODY_BYTES / (element.len() + separator.len())].join(separator)
}

/// Bodies that are not simply translated, and where they go. Whether they are served or refused is not what is asked here.
fn odd_bodies() -> Vec<(&'static str, &'static str, String)> {
    let user = r#"{"role":"user","content":"a"}"#;
    let chat = |text: &str| {
        format!(
            r#"{{"model":"up/m","messages":[{{"role":"user","content":"{text}"}}],"tools":[{{"type":"function","function":{{"name":"f"}}}}]}}"#
        )
    };
    vec![
        (
            "a word that may ask for a summary",
            "/v1/chat/completions",
            format!(r#"{{"model":"up/m","compact":1,"messages":[{}]}}"#, repeated(user, ",")),
        ),
        (
            "a summary of short messages",
            "/v1/responses/compact",
            format!(r#"{{"model":"up/m","input":[{}]}}"#, repeated(user, ",")),
        ),
        (
            "a summary of one long text",
            "/v1/responses/compact",
            format!(r#"{{"model":"up/m","input":"{}"}}"#, repeated("a b", " ")),
        ),
        (
            "an answer that nobody waits for",
            "/v1/responses",
            format!(
                r#"{{"model":"up/m","background":true,"instructions":"{}","input":"a"}}"#,
                repeated("a b", " ")
            ),
        ),
        (
            "an answer that is kept",
            "/v1/responses",
            format!(
                r#"{{"model":"up/m","store":true,"instructions":"{}","input":"a"}}"#,
                repeated("a b", " ")
            ),
        ),
        (
            "a call that is kept",
            "/v1/responses",
            format!(r#"{{"model":"up/m","store":true,"input":"{}"}}"#, repeated("a b", " ")),
        ),
        (
            "metadata",
            "/v1/conversations",
            format!(r#"{{"metadata":{{{}}}}}"#, repeated(r#""a":"""#, ",")),
        ),
        ("items", "/v1/conversations", format!(r#"{{"items":[{}]}}"#, repeated(user, ","))),
        (
            "an item of short parts",
            "/v1/conversations",
            format!(
                r#"{{"items":[{{"role":"user","content":[{}]}}]}}"#,
                repeated(r#"{"type":"input_text","text":""}"#, ",")
            ),
        ),
        ("short words", "/v1/chat/completions", chat(&repeated("a", " "))),
        ("short lines", "/v1/chat/completions", chat(&repeated("a", r"\n"))),
        ("dictated calls", "/v1/chat/completions", chat(&repeated("call f with {}", r"\n"))),
    ]
}

/// Histories that are taken in.
fn imports() -> Vec<(&'static str, &'static str, String)> {
    let user = r#"{"role":"user","content":"a"}"#;
    vec![
        (
            "a transcript of mistakes",
            "/sabir/v1/conversations",
            format!(r#"{{"transcript":[{}]}}"#, repeated("0", ",")),
        ),
        (
            "a transcript of short messages",
            "/sabir/v1/conversations",
            format!(r#"{{"transcript":[{}]}}"#, repeated(user, ",")),
        ),
        (
            "short messages with their times",
            "/sabir/v1/conversations",
            format!(
                r#"{{"transcript":[{}]}}"#,
                repeated(r#"{"role":"user","content":"a","timestamp":1700000000000}"#, ",")
            ),
        ),
        (
            "short messages of a protocol",
            "/sabir/v1/conversations",
            format!(
                r#"{{"as":"openai-chat","messages":{{"messages":[{}]}}}}"#,
                repeated(user, ",")
            ),
        ),
        (
            "messages that are none",
            "/sabir/v1/conversations",
            format!(r#"{{"as":"openai-chat","messages":{{"messages":[{}]}}}}"#, repeated("0", ",")),
        ),
        (
            "times",
            "/sabir/v1/conversations",
            format!(
                r#"{{"as":"openai-chat","messages":{{"messages":[{user}]}},"times":[{}]}}"#,
                repeated("0", ",")
            ),
        ),
    ]
}

/// What does not grow with a body: the pages that the store keeps at hand once it has written them (4 MiB, whatever is written).
const FIXED_BYTES: usize = 4 * 1024 * 1024;

#[test]
fn a_body_that_is_not_simply_translated_takes_no_more_than_others() {
    let mut over = Vec::new();
    for (what, path, body) in odd_bodies().into_iter().chain(imports()) {
        let take = || {
            let gateway = Gateway::start(OpenaiChat, Simulator);
            let before = gateway.rest(OpenaiChat).max(gateway.rest(OpenaiResponses));
            let reply = gateway.post_to(path, "", body.as_bytes());
            let taken = gateway.peak_bytes().saturating_sub(before);
            println!("{:5.2} {what}: {}", taken as f64 / body.len() as f64, &reply[..15]);
            taken
        };
        let is_kept = !path.contains("chat") && !path.contains("compact");
        let most = TIMES * body.len() + if is_kept { FIXED_BYTES } else { 0 };
        // When threads happen to run adds a little. What a body needs, it needs each time.
        let taken = take();
        if taken > most && take() > most {
            over.push(format!("{what}: {taken} bytes for {}", body.len()));
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n"));
}

/// What all bodies together may take in the tests below.
const TOGETHER: &str = "bodies_bytes_max = \"16 MiB\"";
const TOGETHER_BYTES: usize = 16 * 1024 * 1024;

#[test]
fn half_sent_bodies_and_messages_take_no_more_than_all_may_together() {
    for is_socket in [false, true] {
        let gateway = Gateway::limited(OpenaiChat, Server, TOGETHER);
        let before = gateway.rest(OpenaiResponses);
        let half = vec![b'a'; 4 * BODY_BYTES];
        let mut begun: Vec<TcpStream> = Vec::new();
        for _ in 0..10 {
            let mut stream = match is_socket {
                true => Socket::open(&gateway).begin(2 * half.len()),
                false => gateway.begin("/v1/responses", "", 2 * half.len()),
            };
            // Whoever is refused may find the connection closed.
            let _ = stream.write_all(&half);
            begun.push(stream);
        }
        wait_for("bodies that nobody counts", || {
            let held = gateway.metric("sabir_bodies_bytes");
            (half.len()..=TOGETHER_BYTES).contains(&held).then_some(())
        });
        let taken = gateway.peak_bytes().saturating_sub(before);
        assert!(taken <= 2 * TOGETHER_BYTES, "socket: {is_socket}, {taken} bytes");
        drop(begun);
        wait_for("bodies that are gone", || {
            (gateway.metric("sabir_bodies_bytes") == 0).then_some(())
        });
    }
}

#[test]
fn a_socket_keeps_nothing_of_a_large_message() {
    let gateway = Gateway::start(OpenaiChat, Server);
    let before = gateway.rest(OpenaiResponses);
    let text = "some words ".repeat(BODY_BYTES / 11);
    let message =
        format!(r#"{{"type":"response.create","model":"up/m","store":true,"input":"{text}"}}"#);
    let sockets: Vec<Socket> = (0..10)
        .map(|_| {
            let mut socket = Socket::open(&gateway);
            socket.send(message.as_bytes());
            let last = socket.read_until("response.completed");
            assert!(last.contains("\"hi\""), "{last}");
            socket
        })
        .collect();
    wait_for("sockets that keep their messages", || {
        let left = gateway.resident_bytes().saturating_sub(before);
        println!("{left} bytes are left of {} messages of {}", sockets.len(), message.len());
        (left <= 4 * message.len()).then_some(())
    });
}
