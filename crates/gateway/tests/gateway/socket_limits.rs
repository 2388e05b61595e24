//! What a socket and its messages may take: lanes, bytes, time and silence.

use std::sync::mpsc as threads;
use std::sync::{Arc, Mutex};

use futures_util::SinkExt as _;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;

use crate::harness::*;
use crate::memory::STORE;
use crate::sockets::{Client, chat_provider, served_by, text, user};

#[tokio::test]
async fn a_message_that_is_too_long_closes_the_socket_with_words() {
    let gateway = Running::start(&format!("{STORE}[limits]\nmax_body_size = \"64KiB\"\n"));
    let mut client = Client::open(&gateway).await;
    client.create("sim", json!("x".repeat(70_000)), json!({})).await;
    let error = client.next().await.unwrap();
    assert_eq!(error["status"], 413, "{error}");
    assert!(error["error"]["message"].as_str().unwrap().contains("max_body_size"), "{error}");
    assert!(client.next().await.is_none());
    gateway.wait_for_metric("sabir_bodies_bytes 0");
}

#[tokio::test]
async fn there_are_so_many_lanes_and_calls_that_wait() {
    let (left, _has_left) = threads::channel();
    let provider = Provider::start(vec![Script::Hold(String::new(), left)]);
    let gateway = served_by(&provider);
    let mut client = Client::open(&gateway).await;
    for lane in 0..17 {
        let more = json!({"store": false, "stream_id": lane.to_string()});
        client.create("p/m", user("x"), more).await;
    }
    let error = client.next().await.unwrap();
    assert_eq!((&error["status"], &error["stream_id"]), (&json!(429), &json!("16")), "{error}");
    for _ in 0..65 {
        client.create("p/m", user("x"), json!({"store": false, "stream_id": "0"})).await;
    }
    assert_eq!(client.next().await.unwrap()["status"], 429);
    client.create("p/m", user("x"), json!({"stream_id": "y".repeat(300)})).await;
    assert_eq!(client.next().await.unwrap()["error"]["param"], "stream_id");
}

/// The head of a text of so many bytes, whose mask changes nothing.
fn head_of(length: usize) -> Vec<u8> {
    [&[0x81, 0x80 | 127][..], &(length as u64).to_be_bytes(), &[0; 4]].concat()
}

/// Begins a message and sends so many bytes of it.
async fn half_send(client: &mut Client, length: usize, sent: usize) {
    let stream = client.0.get_mut();
    stream.write_all(&head_of(length)).await.unwrap();
    stream.write_all(&vec![b' '; sent]).await.unwrap();
}

#[tokio::test]
async fn messages_count_with_all_bodies_as_far_as_they_have_come() {
    let provider = chat_provider(&["ANSWER1"]);
    let limits = "[limits]\nbodies_bytes_max = \"1MB\"\n";
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + limits));
    let mut first = Client::open(&gateway).await;
    half_send(&mut first, 900_000, 700_000).await;
    gateway.wait_for_metric("sabir_bodies_bytes 700000");
    let mut second = Client::open(&gateway).await;
    half_send(&mut second, 900_000, 500_000).await;
    let refused = second.next().await.unwrap();
    assert_eq!((&refused["type"], &refused["status"]), (&json!("error"), &json!(503)));
    assert!(second.next().await.is_none(), "nothing more is read of it");
    gateway.wait_for_metric("sabir_bodies_bytes 700000");
    first.0.get_mut().write_all(&[b' '; 200]).await.unwrap();
    gateway.wait_for_metric("sabir_bodies_bytes 700200");
    drop(first);
    gateway.wait_for_metric("sabir_bodies_bytes 0");
    // Pings are no messages.
    let mut third = Client::open(&gateway).await;
    for _ in 0..100 {
        third.0.send(Message::Ping(vec![0; 100].into())).await.unwrap();
    }
    third.create("p/m", user("FACT1"), json!({"store": false, "generate": false})).await;
    third.answer().await;
    drop(third);
    gateway.wait_for_metric("sabir_bodies_bytes 0");
}

#[tokio::test]
async fn a_message_counts_until_it_is_answered() {
    let (left, has_left) = threads::channel();
    let provider = Provider::start(vec![Script::Hold(sse(&chat_chunk("ANSWER1")), left)]);
    let gateway = served_by(&provider);
    let mut client = Client::open(&gateway).await;
    client.create("p/m", user(&"a".repeat(100_000)), json!({})).await;
    while client.next().await.unwrap()["type"] != "response.output_text.delta" {}
    let metrics = gateway.get("/metrics").body;
    let held = metrics.lines().find_map(|it| it.strip_prefix("sabir_bodies_bytes ")).unwrap();
    assert!((100_000..200_000).contains(&held.parse::<usize>().unwrap()), "{held}");
    drop(client);
    has_left.recv_timeout(PATIENCE).unwrap();
    gateway.wait_for_metric("sabir_bodies_bytes 0");
}

#[tokio::test]
async fn a_socket_has_its_time() {
    let provider = chat_provider(&["ANSWER1"]);
    let limits = "[limits]\nmax_socket_duration = \"300ms\"\n";
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE + limits));
    let mut client = Client::open(&gateway).await;
    client.create("p/m", user("x"), json!({"store": false})).await;
    client.answer().await;
    let error = client.next().await.expect("words before the end");
    assert_eq!(
        (&error["type"], &error["status"], &error["error"]["code"]),
        (&json!("error"), &json!(400), &json!("websocket_connection_limit_reached"))
    );
    assert!(client.next().await.is_none());
}

#[tokio::test]
async fn a_turn_that_began_in_time_is_answered() {
    let (pieces, script) = threads::channel();
    let provider = Provider::start(vec![Script::Pieces(Arc::new(Mutex::new(script)))]);
    let limits = "[limits]\nmax_socket_duration = \"300ms\"\n";
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE + limits));
    let mut client = Client::open(&gateway).await;
    client.create("p/m", user("x"), json!({"store": false})).await;
    pieces.send(sse(&chat_chunk("ANSWER1"))).unwrap();
    assert_eq!(client.next().await.unwrap()["type"], "response.created");
    // A call that comes when the time is over is not begun.
    let late = tokio::time::Instant::now() + std::time::Duration::from_millis(400);
    while tokio::time::timeout_at(late, client.next()).await.is_ok() {}
    client.create("p/m", user("y"), json!({"store": false})).await;
    pieces.send(CHAT_END.to_owned()).unwrap();
    drop(pieces);
    assert_eq!(text(&client.answer().await), "ANSWER1");
    let error = client.next().await.unwrap();
    assert_eq!(error["error"]["code"], "websocket_connection_limit_reached");
    assert!(client.next().await.is_none());
    assert_eq!(provider.received().len(), 1);
}

#[tokio::test]
async fn a_client_that_says_nothing_is_given_up() {
    let limits = "[limits]\nmax_socket_silence = \"300ms\"\n";
    let gateway = Running::start(&(STORE.to_owned() + limits));
    let mut stream = TcpStream::connect(gateway.address).await.unwrap();
    // One that does not even answer pings: the library would.
    let head = "GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n\
        sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes()).await.unwrap();
    let mut read = Vec::new();
    let reading = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut read);
    tokio::time::timeout(PATIENCE, reading).await.unwrap().unwrap();
    assert!(read.windows(21).any(|it| it == b"nothing came for too "), "{read:?}");
    // One that answers them stays.
    let mut client = Client::open(&gateway).await;
    let later = tokio::time::Instant::now() + std::time::Duration::from_millis(900);
    assert!(tokio::time::timeout_at(later, client.next()).await.is_err(), "nothing is said");
    client.create("sim-chat/sim", user("x"), json!({"store": false})).await;
    client.answer().await;
}
