//! A running gateway: conversations by header, in any protocol, and what it shows of them.

use sabir_client::{
    ErrorKind, Gateway, Message, NewConversation, Page, Protocol, StreamEvent, Transcript,
};

use crate::servers::Running;

#[tokio::test]
async fn a_conversation_goes_on_by_its_header_in_every_protocol() {
    let running = Running::start("");
    let gateway = Gateway::new(&running.url).unwrap();
    let begun = gateway.client("sim").with_conversation("new").unwrap();
    let mut stream = begun.stream(&[Message::user("My name is Ada.")], &[]).await.unwrap();
    let id = stream.head().conversation().unwrap().to_owned();
    assert!(id.starts_with("conv_"));
    assert!(stream.head().turn().is_some_and(|turn| turn.starts_with("turn_")));
    assert!(stream.head().provider().is_some_and(|name| name.starts_with("sim-")));
    assert_eq!(stream.head().model(), Some("sim"));
    let mut is_shown = false;
    while let Some(event) = stream.next().await.unwrap() {
        is_shown |= matches!(event, StreamEvent::Text(_));
    }
    assert!(is_shown);
    for protocol in Protocol::ALL {
        let client = gateway.client_in(protocol, "sim").with_conversation(&id).unwrap();
        let answer = client.chat(&[Message::user("Go on.")], &[]).await.unwrap();
        assert_eq!(answer.head.conversation(), Some(&*id), "{}", protocol.as_str());
    }
    assert_eq!(gateway.transcript(&id).await.unwrap().messages().len(), 10);
    let turns = gateway.turns(&id).await.unwrap();
    assert_eq!(turns.len(), 5);
    assert!(turns.iter().all(|turn| turn.status == "finished" && turn.usage.is_some()));
    let page = Page { query: Some("ada".to_owned()), ..Page::default() };
    let listed = gateway.conversations(&page).await.unwrap();
    assert_eq!((&*listed.data[0].id, listed.data[0].turns), (&*id, 5));
}

#[tokio::test]
async fn a_model_that_nobody_serves_is_known_before_it_is_asked() {
    let running = Running::start("");
    let gateway = Gateway::new(&running.url).unwrap();
    gateway.check_model("sim-chat/any model").await.unwrap();
    let error = gateway.check_model("nope").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    assert!(error.to_string().contains("nope"), "{error}");
}

#[tokio::test]
async fn a_transcript_begins_a_conversation_and_comes_back() {
    let running = Running::start("");
    let gateway = Gateway::new(&running.url).unwrap();
    let json = r#"[{"role":"system","content":"Be brief.","timestamp":1},
        {"role":"user","content":"Hello","timestamp":2},{"role":"assistant","content":"Hi","timestamp":3}]"#;
    let transcript = Some(Transcript::parse(json).unwrap());
    let new = NewConversation { id: Some("mine".to_owned()), transcript };
    assert_eq!(gateway.begin(&new).await.unwrap().id, "mine");
    let kept = gateway.transcript("mine").await.unwrap();
    assert_eq!(kept.messages()[1].timestamp_ms(), Some(2));
    assert_eq!(kept.messages()[2].message().content, "Hi");
    let error = gateway.begin(&new).await.unwrap_err();
    assert_eq!(error.code(), Some("conversation_exists"));

    let fork = gateway.fork("mine", None).await.unwrap();
    assert_ne!(fork.id, "mine");
    gateway.delete("mine").await.unwrap();
    assert_eq!(gateway.transcript("mine").await.unwrap_err().kind(), ErrorKind::NotFound);
    let messages = gateway.messages_as(&fork.id, Protocol::Gemini).await.unwrap();
    assert!(messages.as_str().contains("systemInstruction"));
}

#[tokio::test]
async fn a_model_that_nobody_serves_is_said_to_be_so() {
    let running = Running::start("");
    let gateway = Gateway::new(&running.url).unwrap();
    let models = gateway.models().await.unwrap();
    assert!(models.iter().any(|model| model == "sim"), "{models:?}");
    let client = gateway.client("nobody-serves-this");
    let error = client.chat(&[Message::user("Hi")], &[]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn a_gateway_that_wants_keys_gets_one_in_every_protocol() {
    let auth = "[auth]\nrequired = true\n[[auth.key]]\nname = \"ci\"\nvalue = { value = \"0123456789abcdef\" }";
    let running = Running::start(auth);
    let gateway = Gateway::new(&running.url).unwrap();
    let asked = gateway.client("sim").chat(&[Message::user("Hi")], &[]).await.unwrap_err();
    assert_eq!(asked.kind(), ErrorKind::Authentication);
    let gateway = gateway.with_key("0123456789abcdef").unwrap();
    for protocol in Protocol::ALL {
        let client = gateway.client_in(protocol, "sim");
        client.chat(&[Message::user("Hi")], &[]).await.unwrap();
    }
}
