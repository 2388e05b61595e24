//! Requests whose end two readers could see in two places: they are refused, their connection closes, and nothing of them or
//! behind them reaches a provider.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;

use crate::harness::*;

/// Sends bytes on a connection of their own.
fn send(gateway: &Running, bytes: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(gateway.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    BufReader::new(stream)
}

/// All that comes until the connection closes. One that closes with bytes unread may say so by a reset.
fn until_closed(reader: &mut BufReader<TcpStream>) -> String {
    let mut rest = Vec::new();
    if let Err(error) = reader.read_to_end(&mut rest) {
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}");
    }
    String::from_utf8(rest).unwrap()
}

fn start() -> (Provider, Running) {
    let provider = Provider::whole(&chat_answer("hi"));
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    (provider, gateway)
}

/// A request in one chunk, and another one that whoever goes by the length would see in its place.
fn two_in_one(path: &str, fields: &str) -> String {
    let body = messages("p/m", false);
    let (length, smuggled) = (body.len(), "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{fields}\r\n\
         {length:x}\r\n{body}\r\n0\r\n\r\n{smuggled}"
    )
}

#[test]
fn a_request_with_a_length_and_a_coding_is_refused_in_the_clients_protocol() {
    for (path, kind) in [
        ("/v1/messages", "/error/type"),
        ("/v1/chat/completions", "/error/type"),
        ("/v1/responses", "/error/type"),
        ("/v1beta/models/p%2Fm:generateContent", "/error/status"),
        ("/passthrough/p/v1/x", "/error/type"),
        ("/healthz", "/error/type"),
    ] {
        for fields in [
            "content-length: 5\r\ntransfer-encoding: chunked\r\n",
            "transfer-encoding: chunked\r\ncontent-length: 5\r\n",
            "Transfer-Encoding:chunked\r\nx: y\r\nCONTENT-LENGTH:\t0\r\n",
        ] {
            let (provider, gateway) = start();
            let mut answers = send(&gateway, &two_in_one(path, fields));
            let reply = Reply::read(&mut answers);
            assert_eq!(reply.status, 400, "{path} {fields}: {}", reply.body);
            assert_eq!(reply.header("connection"), Some("close"), "{path} {fields}");
            assert!(reply.json().pointer(kind).is_some(), "{path} {fields}: {}", reply.body);
            assert!(reply.body.contains("transfer-encoding"), "{}", reply.body);
            assert_eq!(until_closed(&mut answers), "", "{path} {fields}");
            assert!(provider.received().is_empty(), "{path} {fields}");
        }
    }
}

#[test]
fn codings_other_than_one_chunked_are_refused() {
    for fields in [
        "transfer-encoding: identity, chunked\r\n",
        "transfer-encoding: chunked, chunked\r\n",
        "transfer-encoding: gzip, chunked\r\n",
        "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: identity\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: ,chunked\r\n",
        // These the server beneath refuses by itself.
        "transfer-encoding: chunked, identity\r\n",
        "transfer-encoding: identity\r\n",
        "transfer-encoding: xchunked\r\n",
        "transfer-encoding: chunked;q=1\r\n",
        "transfer-encoding:\r\n",
    ] {
        check_refused(&two_in_one("/v1/messages", fields));
    }
    let old = two_in_one("/v1/messages", "transfer-encoding: chunked\r\n");
    check_refused(&old.replacen("HTTP/1.1", "HTTP/1.0", 1));
}

#[test]
fn lengths_that_are_not_one_number_are_refused() {
    for fields in [
        "content-length: 5\r\ncontent-length: 6\r\n",
        "content-length: 5\r\ncontent-length: 5\r\n",
        "content-length: 5, 5\r\n",
        "content-length: 5, 6\r\n",
        "content-length: +5\r\n",
        "content-length: -5\r\n",
        "content-length: 0x5\r\n",
        "content-length: 5 5\r\n",
        "content-length: 5.0\r\n",
        "content-length: 99999999999999999999\r\n",
        "content-length:\r\n",
    ] {
        check_refused(&two_in_one("/v1/messages", fields));
    }
}

#[test]
fn heads_that_are_not_by_the_grammar_are_refused() {
    for fields in [
        "content-length : 5\r\n",
        "content-length\t: 5\r\n",
        "transfer-encoding : chunked\r\n",
        " content-length: 5\r\n",
        "x: y\r\n content-length: 5\r\n",
        "x: y\r\n\tz\r\n",
        "content-length: 5\0\r\n",
        "x: y\0\r\n",
        "x: y\rcontent-length: 5\r\n",
        "x: y\ncontent-length: 5\r\n",
        "content-length: 5\n",
        ": 5\r\n",
        "content-length 5\r\n",
    ] {
        check_refused(&two_in_one("/v1/messages", fields));
    }
    for host in ["other.example", "localhost:1", "localhost@other.example"] {
        let target = format!("POST http://{host}/v1/messages HTTP/1.1");
        let request = two_in_one("/v1/messages", "content-length: 5\r\n");
        let (provider, gateway) = start();
        let mut answers =
            send(&gateway, &request.replacen("POST /v1/messages HTTP/1.1", &target, 1));
        assert_eq!(Reply::read(&mut answers).status, 400, "{host}");
        assert!(provider.received().is_empty(), "{host}");
    }
}

#[track_caller]
fn check_refused(request: &str) {
    let (provider, gateway) = start();
    let mut answers = send(&gateway, request);
    let reply = Reply::read(&mut answers);
    assert_eq!(reply.status, 400, "{request:?}: {}", reply.body);
    assert!(reply.json()["error"]["message"].is_string(), "{request:?}: {}", reply.body);
    assert_eq!(until_closed(&mut answers), "", "{request:?}");
    assert!(provider.received().is_empty(), "{request:?}");
}

#[test]
fn chunks_that_are_not_by_the_grammar_are_refused() {
    let body = messages("p/m", false);
    let length = body.len();
    for chunks in [
        format!("{length:x}\n{body}\r\n0\r\n\r\n"),
        format!("+{length:x}\r\n{body}\r\n0\r\n\r\n"),
        format!("{length:x} \r\n{body}\r\n0\r\n\r\n"),
        format!("0x{length:x}\r\n{body}\r\n0\r\n\r\n"),
        format!("{length:x};a=\"\r\n{body}\r\n0\r\n\r\n"),
        format!("{length:x}\r\n{body}!\r\n0\r\n\r\n"),
        format!("{length:x}\r\n{body}\n0\r\n\r\n"),
        format!("{length:x}\r\n{body}\r\n0\r\nx : y\r\n\r\n"),
    ] {
        let head = "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\n\
                    transfer-encoding: chunked\r\n\r\n";
        let behind = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
        check_refused(&format!("{head}{chunks}{behind}"));
        // The same behind a head that is being served.
        let (provider, gateway) = start();
        let mut answers = send(&gateway, head);
        assert_eq!(read_head(&mut answers).0, 100);
        answers.get_mut().write_all(format!("{chunks}{behind}").as_bytes()).unwrap();
        assert_eq!(Reply::read(&mut answers).status, 400, "{chunks:?}");
        assert_eq!(until_closed(&mut answers), "", "{chunks:?}");
        assert!(provider.received().is_empty(), "{chunks:?}");
    }
}

#[test]
fn requests_with_one_end_are_served_one_after_the_other() {
    let (provider, gateway) = start();
    let body = messages("p/m", false);
    let length = body.len();
    let head = "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json";
    let chunked = format!("{head}\r\nTransfer-Encoding: Chunked\r\n\r\n{length:x};a=b\r\n{body}");
    let requests = [
        format!("{chunked}\r\n0\r\nx: y\r\n\r\n"),
        format!("{head}\r\nContent-Length: {length}\r\n\r\n{body}\r\n"),
        format!("{chunked}\r\n00\r\n\r\n"),
        format!("{head}\r\ncontent-length:{length}\r\n\r\n{body}"),
    ];
    let mut answers = send(&gateway, &requests.concat());
    for request in &requests {
        let reply = Reply::read(&mut answers);
        assert_eq!(reply.status, 200, "{request}: {}", reply.body);
    }
    assert_eq!(provider.received().len(), 4);
}

#[test]
fn a_head_that_cannot_be_read_is_refused_in_words() {
    let (provider, gateway) = start();
    let served = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(70_000));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(300));
    for (head, status, words) in [
        ("GET / HTTP/1.1\r\nhost : a\r\n\r\n", 400, "cannot be read"),
        ("GET /\r\n\r\n", 400, "cannot be read"),
        ("\u{16}\u{3}\u{1}\r\n\r\n", 400, "without TLS"),
        ("POST / HTTP/1.1\r\ncontent-length: +5\r\n\r\n", 400, "`content-length`"),
        ("POST / HTTP/1.1\r\ntransfer-encoding: gzip\r\n\r\n", 400, "`chunked`"),
        (&long, 414, "target"),
        (&many, 431, "headers"),
    ] {
        for before in ["", served] {
            let mut answers = send(&gateway, &format!("{before}{head}"));
            if !before.is_empty() {
                assert_eq!(Reply::read(&mut answers).status, 200);
            }
            let reply = Reply::read(&mut answers);
            assert_eq!(reply.status, status, "{head:.60}: {}", reply.body);
            let message = reply.json()["error"]["message"].to_string();
            assert!(message.contains(words), "{head:.60}: {message}");
            assert_eq!(until_closed(&mut answers), "", "{head:.60}");
        }
    }
    assert!(provider.received().is_empty());
}
