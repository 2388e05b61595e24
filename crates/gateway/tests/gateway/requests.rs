//! Requests that can be read in two ways, that carry several keys, or that come compressed.

use std::io::{BufReader, Write};

use crate::harness::*;

const KEYS: &str =
    "[auth]\nrequired = true\n[[auth.key]]\nname = \"a\"\nvalue = { value = \"good\" }\n";

#[test]
fn one_good_key_among_several_is_enough() {
    let provider = Provider::whole(&chat_answer("hi"));
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + KEYS));
    let ask = |query: &str, headers: &str| {
        let head = format!("POST /v1/messages{query}\r\n{headers}");
        gateway.request(&head, &messages("p/m", false)).status
    };
    assert_eq!(ask("", "authorization: Bearer bad\r\nx-api-key: good\r\n"), 200);
    assert_eq!(ask("", "authorization: Bearer good\r\nx-api-key: bad\r\n"), 200);
    assert_eq!(ask("", "x-api-key: bad\r\nx-goog-api-key: good\r\n"), 200);
    assert_eq!(ask("?key=good", "authorization: Bearer bad\r\n"), 200);
    assert_eq!(ask("?key=bad&key=good", ""), 200);
    assert_eq!(ask("", "authorization: Basic good\r\nx-api-key: good\r\n"), 200);
    assert_eq!(ask("?key=bad", "authorization: Bearer bad\r\nx-api-key: worse\r\n"), 401);
    assert_eq!(ask("", "authorization: Basic good\r\n"), 401);
}

#[test]
fn a_request_names_one_host() {
    let provider = Provider::whole(&chat_answer("hi"));
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let ask = |target: &str, hosts: &str| {
        let mut stream = std::net::TcpStream::connect(gateway.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "GET {target} HTTP/1.1\r\n{hosts}\r\n").unwrap();
        Reply::read(&mut BufReader::new(stream)).status
    };
    assert_eq!(ask("/healthz", "host: localhost\r\nhost: evil.example\r\n"), 400);
    assert_eq!(ask("/healthz", "host: localhost\r\nhost: localhost\r\n"), 400);
    assert_eq!(ask("/healthz", ""), 400);
    assert_eq!(ask("http://evil.example/healthz", "host: localhost\r\n"), 400);
    assert_eq!(ask("http://localhost/healthz", "host: evil.example\r\n"), 400);
    assert_eq!(ask("http://localhost:1/healthz", "host: localhost:2\r\n"), 400);
    assert_eq!(ask("http://evil@localhost/healthz", "host: localhost\r\n"), 400);
    assert_eq!(ask("http://evil.example/healthz", "host: evil.example\r\n"), 403);
    assert_eq!(ask("http://LOCALHOST:80/healthz", "host: localhost\r\n"), 200);
    assert_eq!(ask("http://localhost:4747/healthz", "host: localhost:4747\r\n"), 200);
}

#[test]
fn headers_of_one_connection_stay_on_it() {
    let answer = json(200, "connection: x-hop\r\nx-hop: a\r\nx-end: b\r\nupgrade: h9\r\n", "{}");
    let provider = Provider::start(vec![Script::Reply(answer)]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let head = "POST /passthrough/p/v1/x\r\nconnection: X-Mine , keep-alive\r\nx-mine: a\r\nx-yours: b\r\nkeep-alive: c\r\n";
    let reply = gateway.request(head, "{}");
    assert_eq!((reply.header("x-hop"), reply.header("x-end")), (None, Some("b")));
    assert_eq!(reply.header("upgrade"), None);
    let seen = &provider.received()[0];
    assert_eq!((seen.header("x-mine"), seen.header("x-yours")), (None, Some("b")));
    assert_eq!((seen.header("connection"), seen.header("keep-alive")), (None, None));
}

#[test]
fn whoever_waits_for_a_word_gets_it_from_the_gateway() {
    let provider = Provider::whole("{}");
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let head = "POST /passthrough/p/v1/x\r\nexpect: 100-continue\r\n";
    let mut client = gateway.send(head, "{}");
    assert_eq!(read_head(&mut client).0, 100);
    assert_eq!(Reply::read(&mut client).status, 200);
    assert_eq!(provider.received()[0].header("expect"), None);
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn zstd(body: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(body, ruzstd::encoding::CompressionLevel::Fastest)
}

/// A skippable frame of zstd, which holds nothing of the body.
const SKIPPED: [u8; 11] = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];

/// Sends a body with these lines about its coding, which end with a line end each.
fn send(gateway: &Running, codings: &str, body: &[u8]) -> Reply {
    let mut stream = std::net::TcpStream::connect(gateway.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = body.len();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\n{codings}content-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    Reply::read(&mut BufReader::new(stream))
}

#[test]
fn a_compressed_body_is_read_whole() {
    let provider = Provider::whole(&chat_answer("hi"));
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let body = messages("p/m", false).into_bytes();
    let (head, tail) = body.split_at(30);
    let halves = |pack: fn(&[u8]) -> Vec<u8>| [pack(head), pack(tail)].concat();
    let skipping = [&SKIPPED[..], &zstd(head), &SKIPPED[..], &zstd(tail)].concat();
    for (codings, sent) in [
        ("content-encoding: gzip\r\n", halves(gzip)),
        ("content-encoding: zstd\r\n", halves(zstd)),
        ("content-encoding: zstd\r\n", skipping),
        ("content-encoding: identity, gzip\r\n", gzip(&body)),
        ("content-encoding: X-GZIP , Identity\r\n", gzip(&body)),
        ("content-encoding: gzip, zstd\r\n", zstd(&gzip(&body))),
        ("content-encoding: zstd\r\ncontent-encoding: gzip\r\n", gzip(&zstd(&body))),
        ("content-encoding: , identity,\r\n", body.clone()),
    ] {
        let reply = send(&gateway, codings, &sent);
        assert_eq!(reply.status, 200, "{codings}: {}", reply.body);
    }
    assert!(provider.received().iter().all(|seen| seen.body.contains("hello")));
}

#[test]
fn a_coding_that_is_not_there_or_not_known_is_refused() {
    let provider = Provider::whole(&chat_answer("hi"));
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let body = messages("p/m", false).into_bytes();
    let broken = [&zstd(&body)[..], b"behind"].concat();
    let cut = &gzip(&body)[..40];
    for (codings, sent, status) in [
        ("content-encoding: gzip, compress\r\n", &body[..], 415),
        ("content-encoding: gzip, gzip, gzip, gzip, gzip\r\n", &body[..], 415),
        ("content-encoding: gzip, zstd\r\n", &gzip(&zstd(&body)), 400),
        ("content-encoding: zstd\r\n", &broken, 400),
        ("content-encoding: gzip\r\n", cut, 400),
        ("content-encoding: zstd\r\n", b"", 400),
    ] {
        assert_eq!(send(&gateway, codings, sent).status, status, "{codings}");
    }
    assert!(provider.received().is_empty());
}

#[test]
fn the_limit_holds_for_every_step_of_unpacking() {
    let provider = Provider::whole(&chat_answer("hi"));
    let limits = "[limits]\nmax_body_size = \"100KB\"\n";
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + limits));
    let large = messages("p/m", false).replace("hello", &"x".repeat(2_000_000)).into_bytes();
    for (codings, sent) in [
        ("content-encoding: zstd\r\n", zstd(&large)),
        ("content-encoding: gzip\r\n", gzip(&large)),
        ("content-encoding: gzip, zstd\r\n", zstd(&gzip(&large))),
    ] {
        assert_eq!(send(&gateway, codings, &sent).status, 413, "{codings}");
    }
    let many: Vec<u8> = std::iter::repeat_n(zstd(&vec![b' '; 60_000]), 2).flatten().collect();
    assert_eq!(send(&gateway, "content-encoding: zstd\r\n", &many).status, 413, "two frames");
}
