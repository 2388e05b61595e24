//! A provider on a port of its own, which reads whatever comes and always says the same.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use sabir_wire::Protocol;

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upstream {
    /// A server outside of the gateway.
    Server,
    /// A simulator inside of it.
    Simulator,
}

/// Starts a provider that serves until the tests end.
pub(crate) fn start(protocol: Protocol) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream, protocol));
        }
    });
    address
}

/// Answers what comes on a connection, until nothing does.
fn serve(stream: TcpStream, protocol: Protocol) {
    let mut reader = BufReader::new(stream);
    while let Some(length) = read_head(&mut reader) {
        std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink()).unwrap();
        let body = answer(protocol);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length:";
        let reply = format!("{head} {}\r\n\r\n{body}", body.len());
        if reader.get_mut().write_all(reply.as_bytes()).is_err() {
            return;
        }
    }
}

/// How long the body behind the next head is.
fn read_head(reader: &mut impl BufRead) -> Option<u64> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim_end() {
            "" if line.is_empty() => return None,
            "" => return Some(length),
            line => {
                let line = line.to_ascii_lowercase();
                let stated = line.strip_prefix("content-length:").map(str::trim);
                length = stated.map_or(length, |it| it.parse().unwrap());
            }
        }
    }
}

fn answer(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::OpenaiChat => {
            r#"{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}"#
        }
        Protocol::OpenaiResponses => {
            r#"{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"hi","annotations":[]}]}]}"#
        }
        Protocol::AnthropicMessages => {
            r#"{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}"#
        }
        Protocol::Gemini => {
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hi"}]},"finishReason":"STOP","index":0}],"modelVersion":"m","responseId":"r"}"#
        }
    }
}
