//! Responses over WebSockets, by a real client: lanes, what is known to a socket alone, errors and ends.

use std::sync::mpsc as threads;
use std::sync::{Arc, Mutex};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::handshake::client::Response;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::harness::*;
use crate::memory::STORE;

pub(crate) struct Client(pub(crate) WebSocketStream<TcpStream>);

impl Client {
    pub(crate) async fn open(gateway: &Running) -> Self {
        Self(handshake(gateway, &[]).await.unwrap().0)
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.0.send(Message::text(message.to_string())).await.unwrap();
    }

    pub(crate) async fn create(&mut self, model: &str, input: Value, more: Value) {
        let mut message = json!({"type": "response.create", "model": model, "input": input});
        let (Value::Object(message_members), Value::Object(more)) = (&mut message, more) else {
            panic!("objects")
        };
        message_members.extend(more);
        self.send(message).await;
    }

    /// The next event; none once the gateway has closed.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            let message = tokio::time::timeout(PATIENCE, self.0.next()).await.unwrap()?;
            match message {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).unwrap()),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// All events of a turn up to its last.
    pub(crate) async fn turn(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let event = self.next().await.expect("a socket that goes on");
            let kind = event["type"].as_str().unwrap().to_owned();
            events.push(event);
            let ends = ["response.completed", "response.incomplete", "response.failed", "error"];
            if ends.contains(&&*kind) {
                return events;
            }
        }
    }

    pub(crate) async fn answer(&mut self) -> Value {
        let last = self.turn().await.pop().unwrap();
        assert_eq!(last["type"], "response.completed", "{last}");
        last["response"].clone()
    }
}

async fn handshake(
    gateway: &Running,
    headers: &[(&'static str, &str)],
) -> Result<(WebSocketStream<TcpStream>, Response), Error> {
    let url = format!("ws://{}/v1/responses", gateway.address);
    let mut request = url.into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    client_async(request, TcpStream::connect(gateway.address).await.unwrap()).await
}

fn refused(outcome: Result<(WebSocketStream<TcpStream>, Response), Error>) -> (u16, Value) {
    match outcome {
        Err(Error::Http(response)) => {
            let body = response.body().clone().unwrap_or_default();
            (response.status().as_u16(), serde_json::from_slice(&body).unwrap_or_default())
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("nobody refused"),
    }
}

/// The simulators alone, which are strict in their protocols.
fn simulated() -> Running {
    Running::start(STORE)
}

const SIMULATORS: [&str; 4] = ["sim-chat", "sim-responses", "sim-anthropic", "sim-gemini"];

pub(crate) fn text(answer: &Value) -> &str {
    let items = answer["output"].as_array().unwrap();
    let message = items.iter().find(|item| item["type"] == "message").unwrap();
    message["content"][0]["text"].as_str().unwrap()
}

pub(crate) fn user(text: &str) -> Value {
    json!([{"type": "message", "role": "user", "content": text}])
}

#[tokio::test]
async fn a_turn_has_the_events_of_a_stream() {
    let gateway = simulated();
    for simulator in SIMULATORS {
        let model = format!("{simulator}/m");
        let body = json!({"model": model, "input": "hello", "stream": true, "store": false});
        let stream = gateway.post("/v1/responses", &body.to_string()).body;
        let streamed = stream.lines().filter_map(|line| line.strip_prefix("data: {"));
        let streamed: Vec<Value> =
            streamed.map(|data| serde_json::from_str(&format!("{{{data}")).unwrap()).collect();
        let mut client = Client::open(&gateway).await;
        client.create(&model, json!("hello"), json!({"store": false, "stream": true})).await;
        let events = client.turn().await;
        let kinds = |events: &[Value]| -> Vec<Value> {
            events.iter().map(|event| event["type"].clone()).collect()
        };
        assert_eq!(kinds(&events), kinds(&streamed), "{simulator}");
        for (event, number) in events.iter().zip(0..) {
            assert_eq!(event["sequence_number"], number);
            assert!(event.get("stream_id").is_none());
        }
    }
}

#[tokio::test]
async fn turns_follow_each_other_and_go_on_from_what_is_stored() {
    let gateway = simulated();
    for simulator in SIMULATORS {
        let model = format!("{simulator}/m");
        let mut client = Client::open(&gateway).await;
        client.create(&model, user("I am Ada"), json!({})).await;
        let first = client.answer().await;
        assert_eq!(first["store"], true, "{simulator}");
        client.create(&model, user("two"), json!({"previous_response_id": first["id"]})).await;
        let second = client.answer().await;
        // What passes says what its provider says, and that simulator states none.
        if simulator != "sim-responses" {
            assert_eq!(second["previous_response_id"], first["id"], "{simulator}");
        }
        let mut other = Client::open(&gateway).await;
        other.create(&model, user("three"), json!({"previous_response_id": second["id"]})).await;
        other.answer().await;
        let kept = gateway.get(&format!("/v1/responses/{}", second["id"].as_str().unwrap()));
        assert_eq!(kept.status, 200);
    }
}

/// A Chat provider that answers streams with these texts.
pub(crate) fn chat_provider(texts: &[&str]) -> Provider {
    let scripts = texts.iter().map(|text| Script::Reply(streamed(text)));
    Provider::start(scripts.collect())
}

fn streamed(text: &str) -> String {
    let end = r#"data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}"#;
    sse(&format!("{}{end}\n\ndata: [DONE]\n\n", chat_chunk(text)))
}

pub(crate) fn served_by(provider: &Provider) -> Running {
    Running::start(&(provider.toml("p", "openai-chat") + STORE))
}

fn after(answer: &Value) -> Value {
    json!({"store": false, "previous_response_id": answer["id"]})
}

#[tokio::test]
async fn the_newest_answer_is_known_to_its_socket_alone() {
    let provider = chat_provider(&["ANSWER1", "ANSWER2", "ANSWER3", "ANSWER4"]);
    let gateway = served_by(&provider);
    let mut client = Client::open(&gateway).await;
    client.create("p/m", user("FACT1"), json!({"store": false})).await;
    let first = client.answer().await;
    assert_eq!(first["store"], false);
    client.create("p/m", json!("FACT2"), after(&first)).await;
    let second = client.answer().await;
    assert_eq!(second["previous_response_id"], first["id"]);
    client.create("p/m", user("FACT3"), after(&second)).await;
    let third = client.answer().await;
    let sent = provider.received().last().unwrap().body.clone();
    let mut at = 0;
    for fact in ["FACT1", "ANSWER1", "FACT2", "ANSWER2", "FACT3"] {
        at += sent[at..].find(fact).unwrap_or_else(|| panic!("{fact}: {sent}"));
        assert_eq!(sent.matches(fact).count(), 1, "{fact}: {sent}");
    }
    // Older ones are gone, and so is everything for others.
    client.create("p/m", user("x"), after(&first)).await;
    let error = client.turn().await.pop().unwrap();
    assert_eq!(error["error"]["code"], "previous_response_not_found");
    assert_eq!((&error["status"], error.get("stream_id")), (&json!(400), None));
    client.create("p/m", user("FACT4"), after(&third)).await;
    client.answer().await;
    let mut other = Client::open(&gateway).await;
    other.create("p/m", user("x"), after(&third)).await;
    assert_eq!(other.turn().await[0]["error"]["code"], "previous_response_not_found");
}

#[tokio::test]
async fn what_failed_is_forgotten_with_what_it_went_on_from() {
    let refusal = json(400, "", r#"{"error":{"message":"no","type":"invalid_request_error"}}"#);
    let scripts = vec![Script::Reply(streamed("ANSWER1")), Script::Reply(refusal)];
    let provider = Provider::start(scripts);
    let gateway = served_by(&provider);
    let mut client = Client::open(&gateway).await;
    client.create("p/m", user("FACT1"), json!({"store": false})).await;
    let first = client.answer().await;
    client.create("p/m", user("x"), after(&first)).await;
    let error = client.turn().await.pop().unwrap();
    assert_eq!((&error["type"], &error["status"]), (&json!("error"), &json!(400)), "{error}");
    client.create("p/m", user("x"), after(&first)).await;
    assert_eq!(client.turn().await[0]["error"]["code"], "previous_response_not_found");
}

#[tokio::test]
async fn a_call_that_only_prepares_can_be_gone_on_from() {
    let provider = chat_provider(&["ANSWER1", "ANSWER2"]);
    let gateway = served_by(&provider);
    let mut client = Client::open(&gateway).await;
    let warm = json!({"store": false, "generate": false, "instructions": "BRIEF"});
    client.create("p/m", user("FACT1"), warm).await;
    let events = client.turn().await;
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["response.created", "response.completed"]);
    let prepared = &events[1]["response"];
    assert_eq!((&prepared["output"], &prepared["status"]), (&json!([]), &json!("completed")));
    assert!(provider.received().is_empty());
    client.create("p/m", user("FACT2"), after(prepared)).await;
    let first = client.answer().await;
    assert_eq!(text(&first), "ANSWER1");
    let sent = provider.received()[0].body.clone();
    assert!(sent.contains("FACT1") && sent.contains("FACT2"), "{sent}");
    assert!(!sent.contains("BRIEF") && !sent.contains("generate"), "{sent}");
    client.create("p/none", user("x"), json!({"generate": false})).await;
    assert_eq!(client.turn().await.pop().unwrap()["response"]["status"], "completed");
    client.create("nobody", user("x"), json!({"generate": false})).await;
    assert_eq!(client.turn().await[0]["error"]["code"], "model_not_found");
}

#[tokio::test]
async fn a_preparation_behind_a_stored_answer_goes_on_from_both() {
    let provider = chat_provider(&["ANSWER1", "ANSWER2"]);
    let gateway = served_by(&provider);
    let mut client = Client::open(&gateway).await;
    client.create("p/m", user("FACT1"), json!({})).await;
    let stored = client.answer().await;
    let more = json!({"store": false, "generate": false, "previous_response_id": stored["id"]});
    client.create("p/m", user("FACT2"), more).await;
    let prepared = client.answer().await;
    client.create("p/m", user("FACT3"), after(&prepared)).await;
    client.answer().await;
    let sent = provider.received().last().unwrap().body.clone();
    for fact in ["FACT1", "ANSWER1", "FACT2", "FACT3"] {
        assert_eq!(sent.matches(fact).count(), 1, "{fact}: {sent}");
    }
}

#[tokio::test]
async fn lanes_go_at_once_and_each_in_its_order() {
    let (pieces, script) = threads::channel();
    let slow = Script::Pieces(Arc::new(Mutex::new(script)));
    let scripts = vec![slow, Script::Reply(streamed("FAST")), Script::Reply(streamed("SECOND"))];
    let provider = Provider::start(scripts);
    let gateway = served_by(&provider);
    let mut client = Client::open(&gateway).await;
    let lane = |name: &str| json!({"store": false, "stream_id": name});
    client.create("p/m", user("one"), lane("slow")).await;
    client.create("p/m", user("two"), lane("slow")).await;
    crate::waiting::wait_for(|| match provider.received().len() {
        1 => Ok(()),
        _ => Err("the first lane never asked".to_owned()),
    });
    client.create("p/m", user("three"), lane("fast")).await;
    let events = client.turn().await;
    assert!(events.iter().all(|event| event["stream_id"] == "fast"), "{events:?}");
    assert_eq!(text(&events.last().unwrap()["response"]), "FAST");
    pieces.send(streamed("FIRST")).unwrap();
    drop(pieces);
    for expected in ["FIRST", "SECOND"] {
        let events = client.turn().await;
        assert!(events.iter().all(|event| event["stream_id"] == "slow"), "{events:?}");
        assert_eq!(text(&events.last().unwrap()["response"]), expected);
    }
}

#[tokio::test]
async fn wrong_messages_are_told_and_the_socket_goes_on() {
    let gateway = simulated();
    let mut client = Client::open(&gateway).await;
    for (message, param) in [
        ("nonsense", Value::Null),
        ("[]", Value::Null),
        (r#"{"type":"response.cancel"}"#, json!("type")),
        (r#"{"type":"response.create","background":true,"model":"sim"}"#, json!("background")),
        (r#"{"type":"response.create","input":"x"}"#, json!("model")),
    ] {
        client.0.send(Message::text(message)).await.unwrap();
        let error = client.next().await.unwrap();
        assert_eq!((&error["type"], &error["status"]), (&json!("error"), &json!(400)), "{error}");
        assert_eq!(error["error"]["type"], "invalid_request_error");
        assert_eq!(error["error"]["param"], param, "{error}");
    }
    client.0.send(Message::binary(vec![1])).await.unwrap();
    assert_eq!(client.next().await.unwrap()["status"], 400);
    client.create("nobody/m", json!("x"), json!({"stream_id": "a"})).await;
    let error = client.next().await.unwrap();
    assert_eq!((&error["status"], &error["stream_id"]), (&json!(404), &json!("a")), "{error}");
    client.send(json!({"type": "response.steer", "previous_response_id": "r", "input": "x"})).await;
    let failed = client.next().await.unwrap();
    assert_eq!(failed["type"], "response.steer.failed");
    assert_eq!(failed["error"]["code"], "steering_not_supported");
    assert_eq!(failed["steer"]["input"], "x");
    client.create("sim", json!("hello"), json!({})).await;
    client.answer().await;
}

#[tokio::test]
async fn a_socket_is_opened_by_whoever_may_ask() {
    let keys =
        "[auth]\nrequired = true\n[[auth.key]]\nname = \"a\"\nvalue = { value = \"key-a\" }\n";
    let gateway = Running::start(&format!("{STORE}{keys}"));
    assert_eq!(refused(handshake(&gateway, &[]).await).0, 401);
    let wrong = [("authorization", "Bearer key-b")];
    assert_eq!(refused(handshake(&gateway, &wrong).await).0, 401);
    let page = [("authorization", "Bearer key-a"), ("origin", "https://evil.example")];
    assert_eq!(refused(handshake(&gateway, &page).await).0, 403);
    let host = [("authorization", "Bearer key-a"), ("host", "evil.example")];
    assert_eq!(refused(handshake(&gateway, &host).await).0, 403);
    let old = [("authorization", "Bearer key-a"), ("sec-websocket-version", "8")];
    let (status, body) = refused(handshake(&gateway, &old).await);
    assert_eq!(status, 426, "{body}");
    let known = [("authorization", "Bearer key-a")];
    let mut client = Client(handshake(&gateway, &known).await.unwrap().0);
    client.create("sim", json!("hello"), json!({})).await;
    client.answer().await;
    assert_eq!(
        gateway.request("GET /v1/responses\r\nauthorization: Bearer key-a\r\n", "").status,
        404
    );
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_work_of_its_provider() {
    let (left, has_left) = threads::channel();
    let provider = Provider::start(vec![Script::Hold(sse(&chat_chunk("begun")), left)]);
    let gateway = served_by(&provider);
    let mut client = Client::open(&gateway).await;
    client.create("p/m", user("x"), json!({"store": false})).await;
    assert_eq!(client.next().await.unwrap()["type"], "response.created");
    drop(client);
    has_left.recv_timeout(PATIENCE).unwrap();
    gateway.wait_for_metric("sabir_requests_in_flight 0");
    gateway.wait_for_metric("sabir_bodies_bytes 0");
}

#[tokio::test]
async fn a_client_that_closes_is_answered() {
    let gateway = simulated();
    for is_asked in [false, true] {
        let mut client = Client::open(&gateway).await;
        if is_asked {
            client.create("sim-chat/m", json!("hello"), json!({"store": false})).await;
            client.answer().await;
        }
        let (code, reason) = (CloseCode::Normal, "done".into());
        client.0.close(Some(CloseFrame { code, reason })).await.unwrap();
        let answer = tokio::time::timeout(PATIENCE, client.0.next()).await.unwrap();
        let Some(Ok(Message::Close(Some(frame)))) = answer else { panic!("{answer:?}") };
        assert_eq!(frame.code, CloseCode::Normal);
    }
}

#[tokio::test]
async fn a_provider_that_breaks_off_fails_the_turn_and_not_the_socket() {
    let scripts =
        vec![Script::Reply(sse(&chat_chunk("begun"))), Script::Reply(streamed("ANSWER1"))];
    let provider = Provider::start(scripts);
    let gateway = served_by(&provider);
    let mut client = Client::open(&gateway).await;
    client.create("p/m", user("x"), json!({"store": false})).await;
    let events = client.turn().await;
    assert_eq!(events.last().unwrap()["type"], "response.failed", "{events:?}");
    client.create("p/m", user("x"), json!({"store": false})).await;
    assert_eq!(text(&client.answer().await), "ANSWER1");
}

#[tokio::test]
async fn a_gateway_that_stops_lets_turns_end_and_closes_sockets() {
    let (pieces, script) = threads::channel();
    let provider = Provider::start(vec![Script::Pieces(Arc::new(Mutex::new(script)))]);
    let mut gateway = served_by(&provider);
    let (mut idle, mut busy) = (Client::open(&gateway).await, Client::open(&gateway).await);
    busy.create("p/m", user("x"), json!({"store": false})).await;
    crate::waiting::wait_for(|| match provider.received().len() {
        1 => Ok(()),
        _ => Err("never asked".to_owned()),
    });
    gateway.stop_soon();
    assert!(idle.next().await.is_none());
    pieces.send(streamed("ANSWER1")).unwrap();
    drop(pieces);
    assert_eq!(text(&busy.answer().await), "ANSWER1");
    assert!(busy.next().await.is_none());
    tokio::task::spawn_blocking(move || gateway.stop()).await.unwrap();
}

#[tokio::test]
async fn a_gateway_that_has_no_more_time_says_so() {
    let (left, _has_left) = threads::channel();
    let provider = Provider::start(vec![Script::Hold(sse(&chat_chunk("begun")), left)]);
    let limits = "[limits]\nshutdown_grace = \"100ms\"\n";
    let mut gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE + limits));
    let mut client = Client::open(&gateway).await;
    client.create("p/m", user("x"), json!({"store": false})).await;
    assert_eq!(client.next().await.unwrap()["type"], "response.created");
    let stopping = tokio::task::spawn_blocking(move || gateway.stop());
    let last = client.turn().await.pop().unwrap();
    assert_eq!(last["type"], "response.failed");
    assert!(
        last["response"]["error"]["message"].as_str().unwrap().contains("shuts down"),
        "{last}"
    );
    stopping.await.unwrap();
}

#[tokio::test]
async fn what_passes_is_what_the_provider_said() {
    let usage = json!({"input_tokens": 1, "output_tokens": 1, "total_tokens": 2});
    let response = |status: &str| {
        json!({"id": "resp_own", "object": "response", "created_at": 1, "status": status,
            "model": "m", "output": [], "store": false, "usage": usage, "odd": 1.0})
    };
    let created = json!({"type": "response.created", "sequence_number": 0, "response": response("in_progress")});
    let completed = json!({"type": "response.completed", "sequence_number": 1, "response": response("completed")});
    let frames = format!("data: {created}\n\ndata: {completed}\n\n");
    let provider = Provider::start(vec![Script::Reply(sse(&frames))]);
    let gateway = Running::start(&(provider.toml("p", "openai-responses") + STORE));
    let beta = [("openai-beta", "responses_websockets=2026-02-06"), ("openai-organization", "o")];
    let mut client = Client(handshake(&gateway, &beta).await.unwrap().0);
    client.create("p/m", user("FACT1"), json!({"store": false, "odd": [1.0]})).await;
    assert_eq!(client.turn().await, [created, completed]);
    client
        .create("p/m", user("FACT2"), json!({"store": false, "previous_response_id": "resp_own"}))
        .await;
    client.turn().await;
    let received = provider.received();
    assert!(received[0].body.contains(r#""odd":[1.0]"#), "{}", received[0].body);
    assert_eq!(received[0].header("openai-organization"), Some("o"));
    assert_eq!(received[0].header("openai-beta"), None);
    let sent = &received[1].body;
    assert!(sent.contains("FACT1") && !sent.contains("previous_response_id"), "{sent}");
}

/// More than what is read on the threads that serve connections.
const LARGE: usize = 400_000;

#[tokio::test]
async fn a_large_message_and_large_events_pass_like_small_ones() {
    let long = |word: &str| format!("{word} ").repeat(LARGE / word.len());
    for is_long in [false, true] {
        let [fact, answer] =
            ["FACT1", "ANSWER1"].map(|word| if is_long { long(word) } else { word.to_owned() });
        let provider = chat_provider(&[&answer, "ANSWER2", "ANSWER3"]);
        let gateway = served_by(&provider);
        let mut client = Client::open(&gateway).await;
        let warm = json!({"store": false, "generate": false, "stream_id": "a"});
        client.create("p/m", user(&fact), warm).await;
        let prepared = client.answer().await;
        let mut go_on = after(&prepared);
        go_on["stream_id"] = "a".into();
        client.create("p/m", user("FACT2"), go_on.clone()).await;
        let events = client.turn().await;
        assert!(events.iter().all(|event| event["stream_id"] == "a"));
        let first = &events.last().unwrap()["response"];
        assert_eq!(first["previous_response_id"], prepared["id"]);
        assert!(text(first) == answer, "{} bytes", text(first).len());
        go_on["previous_response_id"] = first["id"].clone();
        client.create("p/m", user("FACT3"), go_on).await;
        client.answer().await;
        let sent = provider.received().last().unwrap().body.clone();
        assert!(sent.contains(&fact) && sent.contains(&answer) && sent.contains("FACT3"));
        let metrics = gateway.get("/metrics").body;
        let jobs = metrics.lines().find_map(|it| it.strip_prefix("sabir_large_jobs_total "));
        assert_eq!(jobs.unwrap() != "0", is_long);
    }
}

#[tokio::test]
async fn a_client_may_offer_more_than_is_taken() {
    let gateway = simulated();
    let offered = [
        ("sec-websocket-extensions", "permessage-deflate; client_max_window_bits"),
        ("openai-beta", "responses_websockets=2026-02-06"),
    ];
    let (socket, response) = handshake(&gateway, &offered).await.unwrap();
    assert!(response.headers().get("sec-websocket-extensions").is_none());
    let mut client = Client(socket);
    // Codex says `stream`, which a socket need not be told.
    client.create("sim-gemini/sim", user("x"), json!({"store": false, "stream": true})).await;
    client.answer().await;
}

#[tokio::test]
async fn a_compacted_conversation_begins_a_new_chain() {
    let gateway = simulated();
    for simulator in SIMULATORS {
        let model = format!("{simulator}/sim");
        let mut client = Client::open(&gateway).await;
        client.create(&model, user("my name is Ada"), json!({"store": false})).await;
        let first = client.answer().await;
        let mut whole = user("my name is Ada").as_array().unwrap().clone();
        whole.extend(first["output"].as_array().unwrap().clone());
        let asked = json!({"model": model, "input": whole}).to_string();
        let address = gateway.address;
        let compacted = tokio::task::spawn_blocking(move || post(address, &asked)).await.unwrap();
        assert_eq!(compacted["object"], "response.compaction", "{simulator}: {compacted}");
        let mut input = compacted["output"].as_array().unwrap().clone();
        input.extend(user("who am I?").as_array().unwrap().clone());
        client.create(&model, json!(input), json!({"store": false})).await;
        let second = client.answer().await;
        assert_eq!(second["previous_response_id"], Value::Null, "{simulator}");
        client
            .create(
                &model,
                user("and now?"),
                json!({"store": false, "previous_response_id": second["id"]}),
            )
            .await;
        let third = client.answer().await;
        assert_eq!(third["previous_response_id"], second["id"], "{simulator}");
    }
}

fn post(address: std::net::SocketAddr, body: &str) -> Value {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let head = "POST /v1/responses/compact HTTP/1.1\r\nhost: localhost\r\nconnection: close";
    write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    serde_json::from_str(reply.split_once("\r\n\r\n").unwrap().1).unwrap()
}
