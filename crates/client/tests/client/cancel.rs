//! Whoever drops an answer ends it: the server sees the connection close.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use sabir_client::{Client, Message, Protocol, StreamEvent};

const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// A server that sends one delta and waits for the end of the connection.
fn endless() -> (String, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let frame = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n";
        let chunk = format!("{HEAD}{:x}\r\n{frame}\r\n", frame.len());
        stream.write_all(chunk.as_bytes()).unwrap();
        let mut rest = [0; 4096];
        while stream.read(&mut rest).unwrap() > 0 {}
    });
    (url, thread)
}

#[tokio::test]
async fn a_dropped_stream_closes_its_connection() {
    let (url, server) = endless();
    let client = Client::new(Protocol::OpenaiChat, &url).unwrap().with_model("m");
    let mut stream = client.stream(&[Message::user("Hi")], &[]).await.unwrap();
    assert_eq!(stream.next().await.unwrap(), Some(StreamEvent::Text("Hi".to_owned())));
    drop(stream);
    server.join().unwrap();
}

#[tokio::test]
async fn a_wait_that_is_given_up_loses_nothing() {
    let (url, server) = endless();
    let client = Client::new(Protocol::OpenaiChat, &url).unwrap().with_model("m");
    let mut stream = client.stream(&[Message::user("Hi")], &[]).await.unwrap();
    stream.next().await.unwrap();
    let waited = tokio::time::timeout(Duration::from_millis(20), stream.next()).await;
    assert!(waited.is_err());
    assert_eq!(stream.into_answer().reply.content, "Hi");
    server.join().unwrap();
}
