//! Every fault that a model's name can ask for, at every API; in process and over a socket.

use std::time::Duration;

use http_body_util::BodyExt;
use sabir_backend::sim::{Server, Simulator, Step};
use sabir_testkit::translate;
use sabir_wire::Protocol;
use sabir_wire::protocol::Event;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::LocalSet;
use tokio::time::Instant;

use crate::support::{Mode, SimulatedResponse, ask, ask_again};

fn body(protocol: Protocol, model: &str) -> Value {
    let messages = json!([{"role": "user", "content": "hello"}]);
    match protocol {
        Protocol::OpenaiChat => json!({"model": model, "messages": messages}),
        Protocol::OpenaiResponses => json!({"model": model, "input": "hello"}),
        Protocol::AnthropicMessages => {
            json!({"model": model, "max_tokens": 99, "messages": messages})
        }
        Protocol::Gemini => json!({"model": model, "contents": [{"parts": [{"text": "hello"}]}]}),
    }
}

fn fault(protocol: Protocol, name: &str, mode: Mode) -> SimulatedResponse {
    ask(protocol, &body(protocol, &format!("my-fault-{name}")), mode)
}

#[test]
fn statuses_have_the_apis_shape() {
    for protocol in Protocol::ALL {
        for status in [400, 401, 403, 404, 413, 429, 500, 502, 503, 529] {
            for mode in [Mode::Whole, Mode::Stream] {
                let answer = fault(protocol, &status.to_string(), mode);
                // Google has no status of its own for an overload.
                let expected = match (protocol, status) {
                    (Protocol::Gemini, 529) => 503,
                    _ => status,
                };
                assert_eq!(answer.status, expected);
                assert!(!answer.message().is_empty());
                assert_eq!(answer.headers.get("retry-after").is_some(), status == 429);
            }
        }
    }
    let kind = |name: &str| {
        fault(Protocol::AnthropicMessages, name, Mode::Whole).json()["error"]["type"].clone()
    };
    assert_eq!(
        (kind("429"), kind("529"), kind("404")),
        (json!("rate_limit_error"), json!("overloaded_error"), json!("not_found_error"))
    );
    let limited = fault(Protocol::Gemini, "429-30", Mode::Whole);
    assert_eq!(limited.headers["retry-after"], "30");
    assert_eq!(limited.json()["error"]["details"][0]["retryDelay"], "30s");
    let page = fault(Protocol::OpenaiChat, "html-502", Mode::Stream);
    assert_eq!(
        (page.status, page.headers["content-type"].as_bytes()),
        (502, b"text/html".as_slice())
    );
}

#[test]
fn flaky_models_fail_every_other_time() {
    let simulator = Simulator::new(Protocol::OpenaiChat);
    let body = body(Protocol::OpenaiChat, "fault-flaky");
    let statuses =
        [(); 4].map(|()| ask_again(&simulator, Protocol::OpenaiChat, &body, Mode::Whole).status);
    assert_eq!(statuses, [503, 200, 503, 200]);
}

/// What our own decoder makes of a stream: how many words, and whether it ends well, in an error, or not at all.
fn outcome(protocol: Protocol, bytes: &[u8]) -> (usize, &'static str) {
    let (mut deltas, mut end) = (0, "nothing");
    translate::decode_stream(protocol, [bytes], &mut |event| match event {
        Event::Delta { .. } => deltas += 1,
        Event::Finish { .. } if end == "nothing" => end = "finish",
        Event::Fault(fault) if end != "fault" => {
            end = if fault.message.to_str().contains("Overloaded") { "error" } else { "truncated" };
        }
        _ => {}
    });
    (deltas, end)
}

#[test]
fn streams_break_where_they_should() {
    for protocol in Protocol::ALL {
        for (name, end, has_text) in [
            ("stream-error", "error", true),
            ("stream-error-first", "error", false),
            ("truncated", "truncated", true),
            ("garbage", "truncated", false),
            ("garbage-stream", "truncated", true),
            ("disconnect", "truncated", true),
            ("disconnect-first", "truncated", false),
            ("slow-stream-1", "finish", true),
            ("slow-first-byte-1", "finish", true),
        ] {
            let answer = fault(protocol, name, Mode::Stream);
            assert_eq!(answer.status, 200);
            let (deltas, found) = outcome(protocol, &answer.bytes);
            assert_eq!((found, deltas > 0), (end, has_text), "{protocol:?} {name}");
            let is_cut = matches!(answer.steps.last(), Some(Step::Disconnect));
            assert_eq!(is_cut, name.starts_with("disconnect"), "{protocol:?} {name}");
        }
    }
}

#[test]
fn whole_answers_break_too() {
    for protocol in Protocol::ALL {
        for name in ["truncated", "garbage", "disconnect", "disconnect-first"] {
            let answer = fault(protocol, name, Mode::Whole);
            assert!(serde_json::from_slice::<Value>(&answer.bytes).is_err(), "{protocol:?} {name}");
        }
        assert_eq!(fault(protocol, "stream-error", Mode::Whole).status, 500);
    }
}

#[test]
fn waits_are_as_long_as_the_name_says() {
    let waits = |name: &str, mode: Mode| {
        let answer = fault(Protocol::AnthropicMessages, name, mode);
        let waits = answer.steps.iter().filter_map(|step| match step {
            Step::Wait(wait) => Some(*wait),
            _ => None,
        });
        waits.max().unwrap_or_default()
    };
    assert_eq!(waits("slow-first-byte", Mode::Whole), Duration::from_secs(5));
    assert_eq!(waits("slow-first-byte-200", Mode::Stream), Duration::from_millis(200));
    assert_eq!(waits("slow-stream", Mode::Stream), Duration::from_millis(50));
    assert_eq!(waits("slow-stream-7", Mode::Stream), Duration::from_millis(7));
    assert_eq!(waits("silent", Mode::Stream), Duration::from_secs(600));
}

#[tokio::test(start_paused = true)]
async fn a_body_keeps_its_times_and_ends_in_its_error() {
    let reply = |name: &str| {
        let headers = crate::support::headers();
        let body = body(Protocol::AnthropicMessages, &format!("fault-{name}"));
        let body = {
            let mut body = body;
            body["stream"] = json!(true);
            body.to_string()
        };
        let incoming = sabir_backend::sim::Incoming {
            method: &http::Method::POST,
            path: "/v1/messages",
            headers: &headers,
            body: body.as_bytes(),
        };
        Simulator::new(Protocol::AnthropicMessages).answer(incoming)
    };
    let begun = Instant::now();
    let all = reply("slow-first-byte-200").into_response().into_body().collect().await;
    assert!(all.is_ok() && begun.elapsed() >= Duration::from_millis(200));

    let mut broken = reply("disconnect").into_response().into_body();
    let mut last = None;
    while let Some(frame) = broken.frame().await {
        last = Some(frame.map(|_| ()).map_err(|error| error.kind()));
    }
    assert_eq!(last, Some(Err(std::io::ErrorKind::ConnectionReset)));

    let begun = Instant::now();
    let mut endless = reply("never-ending").into_response().into_body();
    for _ in 0..1000 {
        assert!(matches!(endless.frame().await, Some(Ok(_))));
    }
    assert!(begun.elapsed() >= Duration::from_secs(15));
}

/// Everything that a server sends to one request before it closes the connection or has ended its answer.
async fn exchange(address: std::net::SocketAddr, path: &str, body: &Value) -> String {
    let mut stream = TcpStream::connect(address).await.expect("the server listens");
    let body = body.to_string();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: sim\r\nauthorization: Bearer k\r\nanthropic-version: 2023-06-01\r\nx-goog-api-key: k\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("the server reads");
    let mut out = Vec::new();
    // A reset is one of the ways in which a connection may break off.
    let _ = stream.read_to_end(&mut out).await;
    String::from_utf8_lossy(&out).into_owned()
}

#[tokio::test]
async fn a_server_answers_for_all_four() {
    LocalSet::new()
        .run_until(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            let address = listener.local_addr().expect("an address");
            tokio::task::spawn_local(Server::default().serve(listener));
            for (protocol, path) in [
                (Protocol::OpenaiChat, "/openai/v1/chat/completions"),
                (Protocol::OpenaiResponses, "/openai/v1/responses"),
                (Protocol::AnthropicMessages, "/anthropic/v1/messages"),
                (Protocol::Gemini, "/gemini/v1beta/models/sim:generateContent"),
            ] {
                let answer = exchange(address, path, &body(protocol, "sim")).await;
                assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
                assert!(
                    answer.contains(&format!("Sabir's {} simulator", protocol.as_str())),
                    "{answer}"
                );
            }
            let mut streamed = body(Protocol::OpenaiChat, "fault-disconnect");
            streamed["stream"] = json!(true);
            let cut = exchange(address, "/openai/v1/chat/completions", &streamed).await;
            assert!(cut.contains("chat.completion.chunk"), "{cut}");
            assert!(!cut.contains("[DONE]") && !cut.ends_with("0\r\n\r\n"), "{cut}");
            let overloaded = body(Protocol::AnthropicMessages, "fault-529");
            let refusal = exchange(address, "/anthropic/v1/messages", &overloaded).await;
            assert!(refusal.starts_with("HTTP/1.1 529 Overloaded\r\n"), "{refusal}");
            let nowhere = exchange(address, "/nowhere", &json!({})).await;
            assert!(nowhere.starts_with("HTTP/1.1 404"), "{nowhere}");
        })
        .await;
}
