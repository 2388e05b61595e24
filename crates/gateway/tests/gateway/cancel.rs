//! A client that leaves, a client that is slow, and a gateway that is told to stop.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex, mpsc};

use crate::harness::*;

#[test]
fn a_client_that_leaves_takes_its_upstream_request_with_it() {
    for (path, body) in
        [("/v1/messages", messages("p/m", true)), ("/v1/chat/completions", chat("p/m", true))]
    {
        let (left, gone) = mpsc::channel();
        let provider = Provider::start(vec![Script::Hold(sse(&chat_chunk("begun")), left)]);
        let gateway = Running::start(&provider.toml("p", "openai-chat"));
        let mut client = gateway.send(&format!("POST {path}"), &body);
        assert_eq!(read_head(&mut client).0, 200);
        drop(client);
        gone.recv_timeout(PATIENCE).unwrap();
        gateway.wait_for_metric("sabir_requests_in_flight 0");
        assert!(gateway.get("/metrics").body.contains("outcome=\"cancelled\"} 1"));
    }
}

#[test]
fn a_client_that_leaves_before_the_answer_has_begun_does_too() {
    let (left, gone) = mpsc::channel();
    let provider = Provider::start(vec![Script::Hold(String::new(), left)]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let client = gateway.send("POST /v1/messages", &messages("p/m", false));
    while provider.received().is_empty() {
        std::thread::yield_now();
    }
    drop(client);
    gone.recv_timeout(PATIENCE).unwrap();
    gateway.wait_for_metric("sabir_requests_in_flight 0");
}

#[test]
fn a_client_that_had_more_to_say_when_it_left_does_too() {
    for more in ["\r\n", "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"] {
        let (left, gone) = mpsc::channel();
        let provider = Provider::start(vec![Script::Hold(String::new(), left)]);
        let gateway = Running::start(&provider.toml("p", "openai-chat"));
        let client = gateway.send("POST /v1/messages", &messages("p/m", false));
        client.get_ref().write_all(more.as_bytes()).unwrap();
        while provider.received().is_empty() {
            std::thread::yield_now();
        }
        drop(client);
        gone.recv_timeout(PATIENCE).unwrap();
        gateway.wait_for_metric("sabir_requests_in_flight 0");
        gateway.wait_for_metric("sabir_connections 1");
    }
}

#[test]
fn requests_that_come_at_once_are_answered_one_after_the_other() {
    let provider = Provider::whole(&chat_answer("hi"));
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let mut client = gateway.send("POST /v1/messages", &messages("p/m", false));
    let next = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    client.get_ref().write_all(next.repeat(2).as_bytes()).unwrap();
    assert!(Reply::read(&mut client).body.contains("hi"));
    assert_eq!(Reply::read(&mut client).body, "ok\n");
    assert_eq!(Reply::read(&mut client).body, "ok\n");
}

#[test]
fn events_leave_as_soon_as_they_arrive() {
    let (sender, pieces) = mpsc::channel();
    let provider = Provider::start(vec![Script::Pieces(Arc::new(Mutex::new(pieces)))]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    sender.send(sse(&chat_chunk("one"))).unwrap();
    let mut client = gateway.send("POST /v1/messages", &messages("p/m", true));
    read_head(&mut client);
    let until = |client: &mut _, word: &str| {
        let mut seen = String::new();
        while !seen.contains(word) {
            seen += &String::from_utf8(read_chunk(client).unwrap()).unwrap();
        }
    };
    until(&mut client, "one");
    sender.send(chat_chunk("two")).unwrap();
    until(&mut client, "two");
    sender.send(CHAT_END.to_owned()).unwrap();
    drop(sender);
    until(&mut client, "message_stop");
}

/// More than all buffers between the two ends together hold.
const FLOOD_BYTES: usize = 64 << 20;

#[test]
fn a_client_that_does_not_read_stops_its_provider() {
    let (report, stopped) = mpsc::channel();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let _ = stream.read(&mut request).unwrap();
        stream.set_write_timeout(Some(std::time::Duration::from_millis(500))).unwrap();
        stream.write_all(sse("").as_bytes()).unwrap();
        let chunk = chat_chunk(&"x".repeat(10_000));
        let mut sent = 0;
        while sent < FLOOD_BYTES && stream.write_all(chunk.as_bytes()).is_ok() {
            sent += chunk.len();
        }
        report.send(sent).unwrap();
    });
    let gateway = Running::start(&format!(
        "[[provider]]\nname = \"p\"\nprotocol = \"openai-chat\"\nbase_url = \"http://{address}/v1\"\napi_key = {{ value = \"k\" }}\n"
    ));
    let client = gateway.send("POST /v1/messages", &messages("p/m", true));
    let sent = stopped.recv_timeout(PATIENCE).unwrap();
    assert!(sent < FLOOD_BYTES, "the provider was never slowed");
    drop(client);
}

#[test]
fn a_gateway_that_is_told_to_stop_lets_streams_finish() {
    let (sender, pieces) = mpsc::channel();
    let provider = Provider::start(vec![Script::Pieces(Arc::new(Mutex::new(pieces)))]);
    let mut gateway = Running::start(&provider.toml("p", "openai-chat"));
    sender.send(sse(&chat_chunk("one"))).unwrap();
    let mut client = gateway.send("POST /v1/messages", &messages("p/m", true));
    read_head(&mut client);
    gateway.stop_soon();
    let ending = std::thread::spawn(move || gateway.stop());
    sender.send(chat_chunk("two") + CHAT_END).unwrap();
    drop(sender);
    let mut body = String::new();
    while let Some(chunk) = read_chunk(&mut client) {
        body += &String::from_utf8(chunk).unwrap();
    }
    assert!(body.contains("two") && body.contains("message_stop"), "{body}");
    ending.join().unwrap();
}
