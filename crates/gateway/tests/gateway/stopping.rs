//! A gateway whose time is over, and what those learn who still wait for it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::harness::*;
use crate::waiting::let_pass;

const SHORT_GRACE: &str = "[limits]\nshutdown_grace = \"100ms\"\n";

/// A gateway that has little time to stop, and a provider which answers so and then falls silent.
fn short_of_time(protocol: &str, begun: String) -> (Provider, Running) {
    let (left, _) = mpsc::channel();
    let provider = Provider::start(vec![Script::Hold(begun, left)]);
    let gateway = Running::start(&(provider.toml("p", protocol) + SHORT_GRACE));
    (provider, gateway)
}

fn rest(mut client: BufReader<TcpStream>) -> String {
    let mut rest = String::new();
    client.read_to_string(&mut rest).unwrap();
    rest
}

const GEMINI: &str = r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#;

#[test]
fn a_stream_that_has_no_more_time_ends_with_an_error_of_its_protocol() {
    let responses = r#"{"model":"p/m","stream":true,"input":"hello"}"#.to_owned();
    for (path, body, sign) in [
        ("/v1/messages", messages("p/m", true), "event: error"),
        ("/v1/chat/completions", chat("p/m", true), "data: {\"error\""),
        ("/v1/responses", responses, "response.failed"),
        ("/v1beta/models/p%2Fm:streamGenerateContent?alt=sse", GEMINI.to_owned(), "\"error\""),
        ("/v1beta/models/p%2Fm:streamGenerateContent", GEMINI.to_owned(), "\"error\""),
    ] {
        let (_provider, mut gateway) = short_of_time("openai-chat", sse(&chat_chunk("begun")));
        let mut client = gateway.send(&format!("POST {path}"), &body);
        assert_eq!(read_head(&mut client).0, 200);
        gateway.stop();
        let rest = rest(client);
        assert!(rest.contains("begun") && rest.contains(sign), "{path}: {rest}");
        assert!(rest.contains("shuts down") && rest.ends_with("0\r\n\r\n"), "{path}: {rest}");
    }
}

#[test]
fn bytes_that_are_not_looked_into_are_cut() {
    let (_provider, mut gateway) = short_of_time("openai-chat", sse("begun"));
    let mut client = gateway.send("GET /passthrough/p/v1/x", "");
    assert_eq!(read_head(&mut client).0, 200);
    gateway.stop();
    let rest = rest(client);
    assert!(rest.contains("begun") && !rest.ends_with("0\r\n\r\n"), "{rest}");
}

#[test]
fn who_waits_for_an_answer_that_has_not_begun_is_told_to_come_back() {
    let (provider, mut gateway) = short_of_time("openai-chat", String::new());
    let mut waiting = [
        gateway.send("POST /v1/messages", &messages("p/m", false)),
        gateway.send("POST /v1/chat/completions", &chat("p/m", true)),
        gateway.send("GET /passthrough/p/v1/x", ""),
    ];
    while provider.received().len() < waiting.len() {
        std::thread::yield_now();
    }
    gateway.stop();
    for client in &mut waiting {
        let reply = Reply::read(client);
        assert!(matches!(reply.status, 503 | 529), "{}", reply.status);
        assert!(reply.body.contains("shuts down"), "{}", reply.body);
    }
}

#[test]
fn whoever_has_not_asked_does_not_keep_a_gateway_from_stopping() {
    let provider = Provider::whole(&chat_answer("hi"));
    let mut gateway = Running::start(&provider.toml("p", "openai-chat"));
    let mut kept = gateway.send("GET /healthz", "");
    assert_eq!(Reply::read(&mut kept).status, 200);
    let fresh = TcpStream::connect(gateway.address).unwrap();
    let mut half = TcpStream::connect(gateway.address).unwrap();
    half.write_all(b"POST /v1/mess").unwrap();
    gateway.wait_for_metric("sabir_connections 4");
    let asked_at = Instant::now();
    gateway.stop();
    assert!(asked_at.elapsed() < Duration::from_secs(5), "{:?}", asked_at.elapsed());
    drop((fresh, half));
}

#[test]
fn whoever_has_stopped_in_the_middle_of_a_body_does_not_keep_a_gateway_from_stopping() {
    let provider = Provider::whole(&chat_answer("hi"));
    let mut gateway = Running::start(&provider.toml("p", "openai-chat"));
    let half =
        b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 500\r\n\r\n{\"mod";
    let mut kept = gateway.send("GET /healthz", "");
    assert_eq!(Reply::read(&mut kept).status, 200);
    kept.get_mut().write_all(half).unwrap();
    let mut fresh = TcpStream::connect(gateway.address).unwrap();
    fresh.write_all(half).unwrap();
    gateway.wait_for_metric("sabir_requests_in_flight 2");
    let asked_at = Instant::now();
    gateway.stop();
    assert!(asked_at.elapsed() < Duration::from_secs(5), "{:?}", asked_at.elapsed());
    drop((kept, fresh));
}

#[test]
fn a_body_that_is_still_coming_in_is_waited_for() {
    let provider = Provider::whole(&chat_answer("hi"));
    let mut gateway = Running::start(&provider.toml("p", "openai-chat"));
    let body = messages("p/m", false);
    let (first, rest) = body.split_at(20);
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut client = TcpStream::connect(gateway.address).unwrap();
    client.write_all((head + first).as_bytes()).unwrap();
    gateway.wait_for_metric("sabir_requests_in_flight 1");
    gateway.stop_soon();
    for piece in rest.as_bytes().chunks(rest.len().div_ceil(5)) {
        let_pass(Duration::from_millis(400));
        client.write_all(piece).unwrap();
    }
    assert_eq!(Reply::read(&mut BufReader::new(client)).status, 200);
    gateway.stop();
}

/// More than the buffers between the two ends hold.
const LONG_BYTES: usize = 24 << 20;

#[test]
fn a_client_that_is_slow_to_read_gets_all_of_its_answer() {
    let provider = Provider::whole(&chat_answer(&"x".repeat(LONG_BYTES)));
    let mut gateway = Running::start(&provider.toml("p", "openai-chat"));
    let mut client = gateway.send("POST /v1/chat/completions", &chat("p/m", false));
    client.fill_buf().unwrap();
    gateway.stop_soon();
    let_pass(Duration::from_millis(1_500));
    assert!(Reply::read(&mut client).body.len() > LONG_BYTES);
    gateway.stop();
}
