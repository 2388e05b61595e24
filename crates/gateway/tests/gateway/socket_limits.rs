//! What a socket and its messages may take: lanes, bytes, time and silence.

use std::collections::HashMap;
use std::sync::mpsc as threads;
use std::sync::{Arc, Mutex};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;

use crate::harness::*;
use crate::memory::STORE;
use crate::sockets::{Client, chat_provider, served_by, text, user};
use crate::waiting::wait_for;

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

/// A client for which the system takes little that it has not read.
async fn narrow(gateway: &Running) -> Client {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 * 1024).unwrap();
    let stream = socket.connect(gateway.address).await.unwrap();
    let url = format!("ws://{}/v1/responses", gateway.address);
    Client(client_async(url, stream).await.unwrap().0)
}

#[tokio::test]
async fn a_client_that_reads_late_gets_every_frame_whole_and_in_its_order() {
    const LANES: [&str; 3] = ["a", "b", "c"];
    let texts: Vec<String> = (0..3_000).map(|at| format!("{at} {} ", "x".repeat(1_000))).collect();
    let chunks: String = texts.iter().map(|text| chat_chunk(text)).collect();
    let end = r#"data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    let stream = sse(&format!("{chunks}{end}\n\ndata: [DONE]\n\n"));
    let provider = Provider::start(vec![Script::Reply(stream); LANES.len()]);
    let gateway = served_by(&provider);
    let mut client = narrow(&gateway).await;
    for lane in LANES {
        client.create("p/m", user("x"), json!({"store": false, "stream_id": lane})).await;
    }
    wait_for(|| match provider.received().is_empty() {
        true => Err("the provider was never asked".to_owned()),
        false => Ok(()),
    });
    // What the socket itself has to say goes between whole frames.
    client.0.send(Message::Ping("ping".into())).await.unwrap();
    client.0.send(Message::text("nonsense")).await.unwrap();
    let (mut received, mut ended, mut refused, mut pongs) = (HashMap::new(), 0, 0, 0);
    while ended < LANES.len() || refused == 0 || pongs == 0 {
        let next = tokio::time::timeout(PATIENCE, client.0.next()).await.unwrap();
        let event = match next.unwrap().unwrap() {
            Message::Text(text) => serde_json::from_str::<Value>(&text).unwrap(),
            Message::Pong(_) => {
                pongs += 1;
                continue;
            }
            other => panic!("{other:?}"),
        };
        match event["type"].as_str().unwrap() {
            "error" => refused += 1,
            "response.completed" => ended += 1,
            "response.output_text.delta" => {
                let lane = event["stream_id"].as_str().unwrap().to_owned();
                let received: &mut String = received.entry(lane).or_default();
                received.push_str(event["delta"].as_str().unwrap());
            }
            _ => {}
        }
    }
    assert_eq!(refused, 1);
    for lane in LANES {
        assert!(received[lane] == texts.concat(), "lane {lane}");
    }
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
async fn a_long_message_may_take_longer_than_a_client_may_be_silent() {
    let gateway = Running::start(&format!("{STORE}[limits]\nmax_socket_silence = \"600ms\"\n"));
    let mut client = Client::open(&gateway).await;
    let message = json!({"type": "response.create", "model": "sim", "input": "x", "store": false});
    let message = format!("{message}{}", " ".repeat(8));
    let stream = client.0.get_mut();
    stream.write_all(&head_of(message.len())).await.unwrap();
    let (begun, rest) = message.as_bytes().split_at(message.len() - 8);
    stream.write_all(begun).await.unwrap();
    for byte in rest {
        // Three pings are as long as a client may be silent.
        let mut ping = [0; 2];
        stream.read_exact(&mut ping).await.unwrap();
        assert_eq!(ping, [0x89, 0]);
        stream.write_all(&[*byte]).await.unwrap();
    }
    client.answer().await;
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
