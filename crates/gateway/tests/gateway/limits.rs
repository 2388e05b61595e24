//! What clients may take of a gateway together, and how long one may leave an answer lying.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

use crate::harness::*;
use crate::memory::STORE;
use crate::waiting::let_pass;

/// Begins a request whose body has so many bytes, and sends some of them.
fn half_sent(gateway: &Running, length: usize, sent: usize) -> TcpStream {
    let mut stream = TcpStream::connect(gateway.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&vec![b' '; sent]).unwrap();
    stream
}

#[test]
fn bodies_together_take_no_more_than_they_may() {
    let provider = Provider::whole(&chat_answer("hi"));
    let limits = "[limits]\nbodies_bytes_max = \"1MB\"\n";
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + limits));
    let first = half_sent(&gateway, 900_000, 700_000);
    gateway.wait_for_metric("sabir_bodies_bytes 700000");
    let spaces = " ".repeat(500_000);
    for (path, body, status) in [
        ("/v1/messages", messages("p/m", false), 529),
        ("/v1/chat/completions", chat("p/m", false), 503),
        ("/passthrough/p/v1/x", chat("p/m", false), 503),
    ] {
        let refused = gateway.post(path, &(spaces.clone() + &body));
        assert_eq!((refused.status, refused.header("retry-after")), (status, Some("2")), "{path}");
        assert!(refused.json()["error"]["message"].as_str().unwrap().contains("bytes"), "{path}");
        assert_eq!(gateway.post(path, &body).status, 200, "{path}: a small one has room");
    }
    drop(first);
    gateway.wait_for_metric("sabir_bodies_bytes 0");
    let reply = gateway.post("/v1/messages", &(spaces + &messages("p/m", false)));
    assert_eq!(reply.status, 200, "{}", reply.body);
    gateway.wait_for_metric("sabir_bodies_bytes 0");
}

#[test]
fn a_body_counts_as_far_as_it_has_come() {
    let provider = Provider::whole(&chat_answer("hi"));
    let limits = "[limits]\nbodies_bytes_max = \"1MB\"\n";
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + limits));
    let waiting: Vec<_> = (0..20).map(|_| half_sent(&gateway, 900_000, 10)).collect();
    gateway.wait_for_metric("sabir_bodies_bytes 200");
    assert_eq!(gateway.post("/v1/messages", &messages("p/m", false)).status, 200);
    drop(waiting);
}

#[test]
fn what_is_recalled_counts_like_a_body() {
    let provider = Provider::whole(&chat_answer("hi"));
    let limits = "[limits]\nbodies_bytes_max = \"1MB\"\n";
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE + limits));
    let long = "hello ".repeat(100_000);
    let first = gateway.post("/v1/responses", &format!(r#"{{"model":"p/m","input":"{long}"}}"#));
    let id = first.json()["id"].as_str().unwrap().to_owned();
    let next = format!(r#"{{"model":"p/m","input":"on","previous_response_id":"{id}"}}"#);
    gateway.wait_for_metric("sabir_bodies_bytes 0");
    let other = half_sent(&gateway, 900_000, 700_000);
    gateway.wait_for_metric("sabir_bodies_bytes 700000");
    let refused = gateway.post("/v1/responses", &next);
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("2")));
    assert_eq!(provider.received().len(), 1);
    drop(other);
    gateway.wait_for_metric("sabir_bodies_bytes 0");
    let reply = gateway.post("/v1/responses", &next);
    assert_eq!(reply.status, 200, "{}", reply.body);
    gateway.wait_for_metric("sabir_bodies_bytes 0");
}

#[test]
fn a_body_that_would_never_have_room_is_too_large() {
    let gateway = Running::start("[limits]\nbodies_bytes_max = \"1MB\"\n");
    let body = messages("sim", false).replace("hello", &"x".repeat(1_000_000));
    assert_eq!(gateway.post("/v1/messages", &body).status, 413);
}

#[test]
fn an_unpacked_body_counts_as_long_as_it_has_become() {
    let (left, _gone) = mpsc::channel();
    let provider = Provider::start(vec![Script::Hold(String::new(), left)]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let body = messages("p/m", false).replace("hello", &"hello ".repeat(100_000));
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(body.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let mut stream = TcpStream::connect(gateway.address).unwrap();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        packed.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&packed).unwrap();
    gateway.wait_for_metric(&format!("sabir_bodies_bytes {}", body.len()));
    drop(stream);
    gateway.wait_for_metric("sabir_bodies_bytes 0");
}

#[test]
fn connections_beyond_the_limit_are_refused() {
    let gateway = Running::start("[limits]\nmax_connections = 2\n");
    let open: Vec<_> = (0..2).map(|_| TcpStream::connect(gateway.address).unwrap()).collect();
    let mut refused = TcpStream::connect(gateway.address).unwrap();
    refused.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut reply = String::new();
    refused.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 503 ") && reply.contains("retry-after: 1"), "{reply}");
    drop(open);
    // The connections end a moment after their clients have left.
    let served = || {
        let mut stream = TcpStream::connect(gateway.address).unwrap();
        let _ = stream.write_all(b"GET /metrics HTTP/1.0\r\nhost: localhost\r\n\r\n");
        let mut reply = String::new();
        let _ = stream.read_to_string(&mut reply);
        reply.contains("sabir_connections_refused_total")
    };
    let until = std::time::Instant::now() + PATIENCE;
    while !served() {
        assert!(std::time::Instant::now() < until, "nobody is let in again");
    }
}

/// A provider that sends events as long as anybody takes them, and notices when nobody does.
fn flood() -> (String, mpsc::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (left, gone) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]).unwrap();
        stream.write_all(sse("").as_bytes()).unwrap();
        let chunk = chat_chunk(&"x".repeat(10_000));
        while stream.write_all(chunk.as_bytes()).is_ok() {}
        left.send(()).unwrap();
    });
    let toml = format!(
        "[[provider]]\nname = \"p\"\nprotocol = \"openai-chat\"\nbase_url = \"http://{address}/v1\"\napi_key = {{ value = \"k\" }}\n"
    );
    (toml, gone)
}

#[test]
fn a_client_that_does_not_read_is_given_up() {
    for (path, body) in [
        ("/v1/messages", messages("p/m", true)),
        ("/v1/chat/completions", chat("p/m", true)),
        ("/passthrough/p/v1/x", chat("p/m", true)),
    ] {
        let (provider, gone) = flood();
        let gateway = Running::start(&(provider + "[limits]\nwrite_timeout = \"300ms\"\n"));
        let client = gateway.send(&format!("POST {path}"), &body);
        gone.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{path}: it is never ended"));
        gateway.wait_for_metric("sabir_requests_in_flight 0");
        drop(client);
    }
}

#[test]
fn a_client_that_reads_little_has_no_longer_than_a_stream_may_take() {
    let (provider, gone) = flood();
    let limits = "[limits]\nwrite_timeout = \"1h\"\nmax_stream_duration = \"300ms\"\n";
    let gateway = Running::start(&(provider + limits));
    let mut client = gateway.send("POST /v1/messages", &messages("p/m", true));
    let until = std::time::Instant::now() + PATIENCE;
    while gone.recv_timeout(Duration::from_millis(50)).is_err() {
        let _ = client.read(&mut [0; 64]).unwrap();
        assert!(std::time::Instant::now() < until, "it is never ended");
    }
    gateway.wait_for_metric("sabir_requests_in_flight 0");
}

#[test]
fn a_client_that_reads_slowly_but_steadily_is_not_given_up() {
    let (provider, gone) = flood();
    let gateway = Running::start(&(provider + "[limits]\nwrite_timeout = \"3s\"\n"));
    let mut client = gateway.send("POST /passthrough/p/v1/x", &chat("p/m", true));
    for _ in 0..40 {
        let_pass(Duration::from_millis(100));
        client.read_exact(&mut [0; 32 * 1024]).unwrap();
    }
    assert!(gone.try_recv().is_err(), "it reads all the time, and was given up");
}

/// Bodies of a Messages client that take far more memory than their length when they are decoded.
fn many_pieces() -> [String; 4] {
    let hello = r#"{"role":"user","content":"hello"}"#;
    let keys: Vec<String> = (0..60_000).map(|number| format!(r#""k{number}":1"#)).collect();
    let keys = keys.join(",");
    let messages = vec![hello; 40_000].join(",");
    let texts = vec![r#"{"type":"text","text":"a"}"#; 40_000].join(",");
    [
        format!(r#"{{"model":"p/m","max_tokens":9,"messages":[{hello}],{keys}}}"#),
        format!(
            r#"{{"model":"p/m","max_tokens":9,"messages":[{{"role":"user","content":"a",{keys}}}]}}"#
        ),
        format!(r#"{{"model":"p/m","max_tokens":9,"messages":[{messages}]}}"#),
        format!(
            r#"{{"model":"p/m","max_tokens":9,"messages":[{{"role":"user","content":[{texts}]}}]}}"#
        ),
    ]
}

#[test]
fn a_body_of_more_small_pieces_than_its_length_can_carry_is_not_translated() {
    let provider = Provider::whole(&chat_answer("hi"));
    let other = Running::start(&provider.toml("p", "openai-chat"));
    let same = Running::start(&provider.toml("p", "anthropic-messages"));
    for (number, body) in many_pieces().iter().enumerate() {
        for path in ["/v1/messages", "/v1/messages/count_tokens"] {
            let reply = other.post(path, body);
            assert_eq!(reply.status, 413, "{path} {number}: {}", reply.body);
            assert!(reply.body.contains("join short ones"), "{path} {number}: {}", reply.body);
            assert_eq!(same.post(path, body).status, 200, "{path} {number}");
        }
        let order = format!(r#"{{"from":"anthropic-messages","to":"openai-chat","body":{body}}}"#);
        let reply = other.post("/sabir/v1/translate", &order);
        assert_eq!(reply.status, 413, "{number}: {}", reply.body);
    }
}

#[test]
fn an_answer_of_more_small_pieces_than_its_length_can_carry_is_not_translated() {
    let choice =
        r#"{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}"#;
    let answer = format!(r#"{{"id":"a","choices":[{}]}}"#, vec![choice; 20_000].join(","));
    let provider = Provider::whole(&answer);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let order =
        format!(r#"{{"from":"openai-chat","to":"gemini","kind":"response","body":{answer}}}"#);
    assert_eq!(gateway.post("/sabir/v1/translate", &order).status, 413);
    assert_eq!(gateway.post("/v1/messages", &messages("p/m", false)).status, 502);
    let reply = gateway.post("/v1/chat/completions", &chat("p/m", false));
    assert_eq!((reply.status, reply.body.len()), (200, answer.len()));
}
