//! What goes wrong: a kind for code, a message for people, and no key in either.

use std::time::Duration;

use sabir_client::{Client, ErrorKind, Message, Protocol, Timeouts};

use crate::servers::{Scripted, Simulators, json};

fn asking(simulators: &Simulators, protocol: Protocol, model: &str) -> Client {
    let client = Client::new(protocol, &simulators.url(protocol)).unwrap();
    client.with_key("k").unwrap().with_model(model)
}

#[tokio::test]
async fn a_provider_s_error_has_a_kind_in_every_protocol() {
    let simulators = Simulators::start();
    for protocol in Protocol::ALL {
        for (model, kind) in [
            ("fault-401", ErrorKind::Authentication),
            ("fault-404", ErrorKind::NotFound),
            ("fault-429", ErrorKind::RateLimit),
            ("fault-400", ErrorKind::Refused),
            ("fault-500", ErrorKind::Provider),
            ("fault-503", ErrorKind::Provider),
        ] {
            let error = asking(&simulators, protocol, model)
                .chat(&[Message::user("Hi")], &[])
                .await
                .unwrap_err();
            assert_eq!(error.kind(), kind, "{} {model}", protocol.as_str());
            assert_eq!(error.status(), model.split('-').nth(1).and_then(|it| it.parse().ok()));
        }
        let error = asking(&simulators, protocol, "fault-429-30")
            .stream(&[Message::user("Hi")], &[])
            .await
            .unwrap_err();
        assert_eq!(error.retry_after_s(), Some(30), "{}", protocol.as_str());
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_never_ends() {
    let simulators = Simulators::start();
    for protocol in Protocol::ALL {
        for (model, kinds) in [
            ("fault-truncated", &[ErrorKind::Truncated][..]),
            ("fault-disconnect", &[ErrorKind::Truncated]),
            ("fault-garbage-stream", &[ErrorKind::Malformed, ErrorKind::Truncated]),
            ("fault-stream-error", &[ErrorKind::Provider, ErrorKind::RateLimit]),
        ] {
            let client = asking(&simulators, protocol, model);
            let stream = client.stream(&[Message::user("repeat 50 words")], &[]).await.unwrap();
            let error = stream.finish().await.unwrap_err();
            assert!(kinds.contains(&error.kind()), "{} {model}: {error:?}", protocol.as_str());
        }
    }
}

#[tokio::test]
async fn what_was_shown_before_a_break_is_still_there() {
    let simulators = Simulators::start();
    let client = asking(&simulators, Protocol::AnthropicMessages, "fault-disconnect");
    let mut stream = client.stream(&[Message::user("repeat 50 words")], &[]).await.unwrap();
    while let Ok(Some(_)) = stream.next().await {}
    assert_eq!(stream.next().await.unwrap(), None);
    assert!(!stream.into_answer().reply.content.is_empty());
}

#[tokio::test]
async fn a_server_that_falls_silent_is_not_waited_for_for_ever() {
    let simulators = Simulators::start();
    let timeouts = Timeouts { idle: Duration::from_millis(100), ..Timeouts::default() };
    let client = asking(&simulators, Protocol::OpenaiChat, "fault-silent").with_timeouts(timeouts);
    let stream = client.stream(&[Message::user("Hi")], &[]).await.unwrap();
    assert_eq!(stream.finish().await.unwrap_err().kind(), ErrorKind::Timeout);
}

#[tokio::test]
async fn nobody_at_an_address_is_an_error_of_its_own() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let client = Client::new(Protocol::OpenaiChat, &url).unwrap().with_model("m");
    let error = client.chat(&[Message::user("Hi")], &[]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect);
}

#[tokio::test]
async fn no_key_is_shown_by_an_error_or_by_debug_output() {
    let body = r#"{"error":{"message":"bad key sk-private","code":"sk-private"}}"#;
    let server = Scripted::start(vec![json(401, body)]);
    let client = Client::new(Protocol::OpenaiChat, &server.url).unwrap();
    let client = client.with_key("sk-private").unwrap().with_model("m");
    let error = client.chat(&[Message::user("a prompt")], &[]).await.unwrap_err();
    let shown = format!("{client:?} {error:?} {error} {:?}", error.code());
    assert!(!shown.contains("private"), "{shown}");
}

#[test]
fn what_cannot_be_asked_is_refused_at_once() {
    for url in ["", "api.openai.com", "ftp://x", "http://u:p@h/v1", "http://h/v1?key=1"] {
        let error = Client::new(Protocol::OpenaiChat, url).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{url}");
        assert!(!error.to_string().contains("u:p"));
    }
    let client = Client::new(Protocol::OpenaiChat, "http://h/v1").unwrap();
    assert_eq!(client.clone().with_key("a\nb").unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(client.with_header("a b", "c").unwrap_err().kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn an_answer_that_is_none_says_so() {
    for body in ["<html>", "[]", "{\"choices\":1}"] {
        let server = Scripted::json(body);
        let client = Client::new(Protocol::OpenaiChat, &server.url).unwrap().with_model("m");
        let error = client.chat(&[Message::user("Hi")], &[]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed, "{body}");
    }
}
