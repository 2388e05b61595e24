//! Streams: the same answer as whole ones, in pieces, in every protocol.

use sabir_client::{Client, Count, Message, Protocol, StreamEvent, Tool};

use crate::servers::Simulators;

fn client(simulators: &Simulators, protocol: Protocol) -> Client {
    let client = Client::new(protocol, &simulators.url(protocol)).unwrap();
    client.with_key("k").unwrap().with_model("sim")
}

#[tokio::test]
async fn an_answer_in_pieces_is_the_whole_answer_in_every_protocol() {
    let simulators = Simulators::start();
    let schema = r#"{"type":"object","properties":{"cmd":{"type":"string"}},"required":["cmd"]}"#;
    let tools = [Tool::new("bash", "Runs a command", schema).unwrap()];
    for protocol in Protocol::ALL {
        let client = client(&simulators, protocol);
        for text in ["Hello unicode", "please call bash", "repeat 40 words"] {
            let messages = [Message::system("Be brief."), Message::user(text)];
            let whole = client.chat(&messages, &tools).await.unwrap();
            let mut stream = client.stream(&messages, &tools).await.unwrap();
            let (mut shown, mut calls, mut ends) = (String::new(), Vec::new(), 0);
            while let Some(event) = stream.next().await.unwrap() {
                match event {
                    StreamEvent::Text(text) => shown.push_str(&text),
                    StreamEvent::ToolCall(call) => calls.push(call),
                    StreamEvent::End(_) => ends += 1,
                    _ => {}
                }
            }
            let streamed = stream.into_answer();
            let protocol = protocol.as_str();
            assert_eq!(shown, streamed.reply.content, "{protocol} {text}");
            assert!(calls == streamed.reply.tool_calls);
            assert_eq!(ends, 1);
            let mut expected = whole.reply.clone();
            for (call, streamed) in expected.tool_calls.iter_mut().zip(&streamed.reply.tool_calls) {
                call.id.clone_from(&streamed.id);
            }
            assert_eq!(streamed.reply.to_json(), expected.to_json(), "{protocol}");
            assert_eq!(streamed.usage[Count::Output], whole.usage[Count::Output], "{protocol}");
            assert!(whole.usage[Count::Input].is_some_and(|tokens| tokens > 0), "{protocol}");
        }
    }
}

#[tokio::test]
async fn calls_of_a_protocol_without_ids_can_be_answered() {
    let simulators = Simulators::start();
    let schema = r#"{"type":"object","properties":{}}"#;
    let tools = [Tool::new("look", "Looks", schema).unwrap()];
    for protocol in Protocol::ALL {
        let client = client(&simulators, protocol);
        let mut messages = vec![Message::user("please look")];
        let reply = client.chat(&messages, &tools).await.unwrap().reply;
        let id = reply.tool_calls[0].id.clone();
        assert!(!id.is_empty(), "{}", protocol.as_str());
        messages.push(reply.into_message());
        messages.push(Message::tool(id, "a red door"));
        let answer = client.chat(&messages, &tools).await.unwrap();
        assert!(answer.reply.content.contains("a red door"), "{}", protocol.as_str());
    }
}

#[tokio::test]
async fn the_end_is_the_last_event_and_nothing_follows() {
    let simulators = Simulators::start();
    let client = client(&simulators, Protocol::OpenaiChat);
    let mut stream = client.stream(&[Message::user("Hello")], &[]).await.unwrap();
    let mut last = None;
    while let Some(event) = stream.next().await.unwrap() {
        last = Some(event);
    }
    assert_eq!(last, Some(StreamEvent::End("stop")));
    assert_eq!(stream.next().await.unwrap(), None);
}
