//! Answers that nobody waits for: asked for again by their id, followed from any event on, cancelled, and never left running.

use std::path::PathBuf;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};

use sabir_wire::Protocol;
use serde_json::{Value, json};

use crate::harness::*;
use crate::memory::{House, STORE, answer};
use crate::waiting::wait_for;

fn background(model: &str, stream: bool) -> Value {
    json!({"model": model, "input": "FACT1", "background": true, "stream": stream,
        "metadata": {"a": "b"}})
}

/// The answer once nobody works on it any more.
fn ended(gateway: &Running, id: &str) -> Value {
    wait_for(|| {
        let answer = gateway.get(&format!("/v1/responses/{id}")).json();
        match answer["status"].as_str() {
            Some("queued" | "in_progress") => Err(format!("never ended: {answer}")),
            _ => Ok(answer),
        }
    })
}

/// The events of a stream, which must be whole.
fn events(body: &str) -> Vec<Value> {
    assert!(body.ends_with("data: [DONE]\n\n"), "{body}");
    let data = body.lines().filter_map(|line| line.strip_prefix("data: {"));
    data.map(|data| serde_json::from_str(&format!("{{{data}")).unwrap()).collect()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

fn streamed_chat(texts: &[&str]) -> String {
    let chunks: String = texts.iter().map(|text| chat_chunk(text)).collect();
    let end = r#"data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}"#;
    sse(&format!("{chunks}{end}\n\ndata: [DONE]\n\n"))
}

/// A provider that stalls after its first text, and notices when the gateway disconnects.
fn silent(begun: String) -> (Provider, mpsc::Receiver<()>) {
    let (left, has_left) = mpsc::channel();
    (Provider::start(vec![Script::Hold(begun, left)]), has_left)
}

/// A folder for a store that two gateways share.
pub(crate) struct SharedStore(PathBuf);

impl SharedStore {
    pub(crate) fn new(name: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let folder = folder.join(format!("background-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn toml(&self) -> String {
        format!("\n[store]\nurl = \"sqlite:{}\"\n", self.0.join("shared.db").display())
    }
}

impl Drop for SharedStore {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn an_answer_is_queued_and_then_there_on_every_upstream() {
    for upstream in Protocol::ALL {
        if upstream == Protocol::OpenaiResponses {
            continue;
        }
        let house = House::of(&["ANSWER1", "ANSWER2"]);
        let model = format!("{}/m", upstream.as_str());
        let reply = house.responses(&background(&model, false));
        assert_eq!(reply.status, 200, "{}", reply.body);
        let queued = reply.json();
        assert_eq!(queued["status"], "queued");
        assert_eq!(queued["background"], true);
        assert_eq!(queued["store"], true);
        assert_eq!(queued["output"], json!([]));
        assert_eq!(queued["metadata"], json!({"a": "b"}));
        let id = queued["id"].as_str().unwrap();
        assert!(id.starts_with("resp_"), "{id}");
        let answer = ended(&house.gateway, id);
        assert_eq!(answer["status"], "completed", "{answer}");
        assert_eq!(answer["id"], id);
        assert_eq!(answer["background"], true);
        assert_eq!(answer["output"][0]["content"][0]["text"], "ANSWER1");
        assert!(!house.sent(upstream).contains("background"), "{}", house.sent(upstream));
        let next = json!({"model": model, "input": "FACT2", "previous_response_id": id});
        assert_eq!(house.responses(&next).status, 200);
        let sent = house.sent(upstream);
        assert!(sent.contains("FACT1") && sent.contains("ANSWER1"), "{sent}");
        let inputs = house.gateway.get(&format!("/v1/responses/{id}/input_items")).json();
        assert_eq!(inputs["data"][0]["content"][0]["text"], "FACT1");
    }
}

#[test]
fn a_stream_is_followed_from_any_event_on() {
    let provider = Provider::start(vec![Script::Reply(streamed_chat(&["one ", "two"]))]);
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE));
    let reply = gateway.post("/v1/responses", &background("p/m", true).to_string());
    assert_eq!(reply.header("content-type"), Some("text/event-stream; charset=utf-8"));
    let all = events(&reply.body);
    let emitted = kinds(&all);
    assert_eq!(emitted[..3], ["response.created", "response.queued", "response.in_progress"]);
    assert_eq!(emitted.last(), Some(&"response.completed"));
    for (event, number) in all.iter().zip(0..) {
        assert_eq!(event["sequence_number"], number, "{event}");
    }
    let id = all[0]["response"]["id"].as_str().unwrap();
    assert_eq!(all[0]["response"]["status"], "queued");
    let last = &all.last().unwrap()["response"];
    assert_eq!((&last["id"], &last["background"]), (&json!(id), &json!(true)));
    assert_eq!(&gateway.get(&format!("/v1/responses/{id}")).json(), last);
    check_resumptions(&gateway, id, &all);
    assert_eq!(events(&gateway.get(&format!("/v1/responses/{id}?stream=true")).body), all);
    let wrong = gateway.get(&format!("/v1/responses/{id}?stream=true&starting_after=x"));
    assert_eq!(wrong.status, 400, "{}", wrong.body);
}

#[test]
fn a_stream_that_loses_its_client_goes_on() {
    let (pieces, script) = mpsc::channel();
    let script = Script::Pieces(Arc::new(Mutex::new(script)));
    let provider = Provider::start(vec![script]);
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE));
    let mut client = gateway.send("POST /v1/responses", &background("p/m", true).to_string());
    assert_eq!(read_head(&mut client).0, 200);
    let first = String::from_utf8(read_chunk(&mut client).unwrap()).unwrap();
    let data = first.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let created: Value = serde_json::from_str(data).unwrap();
    let id = created["response"]["id"].as_str().unwrap();
    drop(client);
    let whole = streamed_chat(&["one ", "two"]);
    let (begun, rest) = whole.split_at(whole.len() / 2);
    pieces.send(begun.to_owned()).unwrap();
    let mut resumed =
        gateway.send(&format!("GET /v1/responses/{id}?stream=true&starting_after=1"), "");
    assert_eq!(read_head(&mut resumed).0, 200);
    let chunk = String::from_utf8(read_chunk(&mut resumed).unwrap()).unwrap();
    assert!(chunk.contains("response.in_progress"), "{chunk}");
    pieces.send(rest.to_owned()).unwrap();
    drop(pieces);
    let mut live = chunk;
    while let Some(chunk) = read_chunk(&mut resumed) {
        live += &String::from_utf8(chunk).unwrap();
    }
    assert_eq!(kinds(&events(&live)).last(), Some(&"response.completed"));
    assert_eq!(ended(&gateway, id)["output"][0]["content"][0]["text"], "one two");
}

#[test]
fn what_was_not_asked_for_in_that_way_cannot_be_followed_or_cancelled() {
    let house = House::of(&["ANSWER1"]);
    let plain = json!({"model": "openai-chat/m", "input": "x"});
    let id = house.responses(&plain).json()["id"].as_str().unwrap().to_owned();
    let reply = house.gateway.get(&format!("/v1/responses/{id}?stream=true"));
    let message =
        "This response cannot be streamed because it was not created with background=true.";
    assert_eq!((reply.status, &reply.json()["error"]["message"]), (400, &json!(message)));
    let reply = house.gateway.post(&format!("/v1/responses/{id}/cancel"), "");
    assert_eq!(reply.json()["error"]["message"], "Cannot cancel a synchronous response.");
    let queued = house.responses(&background("openai-chat/m", false)).json();
    let id = queued["id"].as_str().unwrap();
    ended(&house.gateway, id);
    let reply = house.gateway.get(&format!("/v1/responses/{id}?stream=true"));
    let message = "This response cannot be streamed because it was not created with stream=true.";
    assert_eq!((reply.status, &reply.json()["error"]["message"]), (400, &json!(message)));
    let reply = house.gateway.post(&format!("/v1/responses/{id}/cancel"), "");
    assert_eq!((reply.status, &reply.json()["status"]), (200, &json!("completed")));
}

#[test]
fn what_is_not_kept_cannot_be_left_to_itself() {
    let house = House::of(&["ANSWER1"]);
    let mut body = background("openai-chat/m", false);
    body["store"] = json!(false);
    let reply = house.responses(&body);
    assert_eq!(reply.status, 400);
    assert_eq!(reply.json()["error"]["message"], "Background mode requires 'store' to be true.");
    assert_eq!(reply.json()["error"]["param"], "background");
    body = background("openai-chat/m", false);
    body["previous_response_id"] = json!("resp_nobody");
    assert_eq!(house.responses(&body).json()["error"]["code"], "previous_response_not_found");
    let nothing = House::with(&["ANSWER1"], "record = \"metadata\"\n");
    let reply = nothing.responses(&background("openai-chat/m", false));
    assert_eq!(reply.status, 400);
    assert!(reply.body.contains("stateful"), "{}", reply.body);
}

#[test]
fn a_failure_of_the_provider_is_the_end_of_the_answer() {
    let refusal =
        json(400, "", r#"{"error":{"message":"too bad","type":"invalid_request_error"}}"#);
    for stream in [false, true] {
        let provider = Provider::start(vec![Script::Reply(refusal.clone())]);
        let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE));
        let reply = gateway.post("/v1/responses", &background("p/m", stream).to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        let id = match stream {
            false => reply.json()["id"].as_str().unwrap().to_owned(),
            true => {
                let all = events(&reply.body);
                let expected = ["response.created", "response.queued", "response.failed"];
                assert_eq!(kinds(&all), expected);
                assert_eq!(all[2]["sequence_number"], 2);
                let id = all[0]["response"]["id"].as_str().unwrap().to_owned();
                check_resumptions(&gateway, &id, &all);
                id
            }
        };
        let failed = ended(&gateway, &id);
        assert_eq!(failed["status"], "failed");
        assert!(failed["error"]["message"].as_str().unwrap().contains("too bad"), "{failed}");
        let next = json!({"model": "p/m", "input": "x", "previous_response_id": id});
        let reply = gateway.post("/v1/responses", &next.to_string());
        assert_eq!(reply.json()["error"]["code"], "previous_response_not_found");
    }
}

#[test]
fn a_cancelled_answer_ends_the_work_of_its_provider() {
    for (begun, stream) in [(String::new(), false), (sse(&chat_chunk("begun")), true)] {
        let (provider, has_left) = silent(begun);
        let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE));
        let head = "POST /v1/responses";
        let mut client = gateway.send(head, &background("p/m", stream).to_string());
        let (_, headers) = read_head(&mut client);
        let exchange = headers.iter().find(|(name, _)| name == "sabir-exchange").unwrap();
        let id = format!("resp_{}", exchange.1);
        wait_for(|| match provider.received().is_empty() {
            true => Err("the provider was never asked".to_owned()),
            false => Ok(()),
        });
        for _ in 0..2 {
            let reply = gateway.post(&format!("/v1/responses/{id}/cancel"), "");
            assert_eq!((reply.status, &reply.json()["status"]), (200, &json!("cancelled")));
        }
        has_left.recv_timeout(PATIENCE).unwrap();
        let cancelled = ended(&gateway, &id);
        assert_eq!(cancelled["status"], "cancelled");
        gateway.wait_for_metric("sabir_requests_in_flight 0");
        if stream {
            let mut followed = String::new();
            while let Some(chunk) = read_chunk(&mut client) {
                followed += &String::from_utf8(chunk).unwrap();
            }
            let all = events(&followed);
            let last = all.last().unwrap();
            assert_eq!((&last["type"], &last["response"]), (&json!("response.failed"), &cancelled));
            assert_eq!(last["sequence_number"], all.len() - 1);
            check_resumptions(&gateway, &id, &all);
        }
    }
}

/// What is read from any event on is what was read at first, and behind the last there is nothing.
fn check_resumptions(gateway: &Running, id: &str, all: &[Value]) {
    for after in 0..all.len() + 3 {
        let path = format!("/v1/responses/{id}?stream=true&starting_after={after}");
        let behind = all.get(after + 1..).unwrap_or_default();
        assert_eq!(events(&gateway.get(&path).body), behind, "{after}");
    }
    let far = format!("/v1/responses/{id}?stream=true&starting_after=4000000000");
    assert_eq!(events(&gateway.get(&far).body), [] as [Value; 0]);
}

#[test]
fn a_deleted_answer_is_not_worked_on() {
    let (provider, has_left) = silent(String::new());
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE));
    let queued = gateway.post("/v1/responses", &background("p/m", false).to_string()).json();
    let path = format!("/v1/responses/{}", queued["id"].as_str().unwrap());
    wait_for(|| match provider.received().is_empty() {
        true => Err("the provider was never asked".to_owned()),
        false => Ok(()),
    });
    assert_eq!(gateway.request(&format!("DELETE {path}"), "").json()["deleted"], true);
    has_left.recv_timeout(PATIENCE).unwrap();
    assert_eq!(gateway.get(&path).status, 404);
}

#[test]
fn there_are_so_many_at_once_and_each_has_so_much_time() {
    let (provider, has_left) = silent(String::new());
    let limits = "\n[limits]\nmax_background = 1\nmax_background_duration = \"300ms\"\n";
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE + limits));
    let body = background("p/m", false).to_string();
    let queued = gateway.post("/v1/responses", &body).json();
    let refused = gateway.post("/v1/responses", &body);
    assert_eq!(refused.status, 503, "{}", refused.body);
    assert!(refused.body.contains("max_background"), "{}", refused.body);
    let failed = ended(&gateway, queued["id"].as_str().unwrap());
    assert_eq!(failed["status"], "failed");
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(message.contains("max_background_duration"), "{message}");
    has_left.recv_timeout(PATIENCE).unwrap();
}

#[test]
fn another_node_reads_follows_and_cancels() {
    let store = SharedStore::new("nodes");
    let (provider, has_left) = silent(sse(&chat_chunk("begun")));
    let toml = provider.toml("p", "openai-chat") + &store.toml();
    let (first, second) = (Running::start(&toml), Running::start(&toml));
    let mut client = first.send("POST /v1/responses", &background("p/m", true).to_string());
    let (_, headers) = read_head(&mut client);
    let exchange = headers.iter().find(|(name, _)| name == "sabir-exchange").unwrap();
    let id = format!("resp_{}", exchange.1);
    let mut follower = second.send(&format!("GET /v1/responses/{id}?stream=true"), "");
    assert_eq!(read_head(&mut follower).0, 200);
    let mut emitted = String::new();
    while !emitted.contains("begun") {
        emitted += &String::from_utf8(read_chunk(&mut follower).unwrap()).unwrap();
    }
    assert_eq!(second.get(&format!("/v1/responses/{id}")).json()["status"], "in_progress");
    let reply = second.post(&format!("/v1/responses/{id}/cancel"), "");
    assert_eq!(reply.json()["status"], "cancelled", "{}", reply.body);
    has_left.recv_timeout(PATIENCE).unwrap();
    assert_eq!(ended(&first, &id)["status"], "cancelled");
    while let Some(chunk) = read_chunk(&mut follower) {
        emitted += &String::from_utf8(chunk).unwrap();
    }
    let all = events(&emitted);
    assert_eq!(kinds(&all).last(), Some(&"response.failed"));
    assert_eq!(all.last().unwrap()["response"]["status"], "cancelled");
    check_resumptions(&first, &id, &all);
    check_resumptions(&second, &id, &all);
}

#[test]
fn a_stream_is_taken_up_again_from_any_event_on_another_node() {
    let store = SharedStore::new("resume");
    let provider = Provider::start(vec![Script::Reply(streamed_chat(&["one ", "two ", "three"]))]);
    let toml = provider.toml("p", "openai-chat") + &store.toml();
    let (mut first, second) = (Running::start(&toml), Running::start(&toml));
    let reply = first.post("/v1/responses", &background("p/m", true).to_string());
    let all = events(&reply.body);
    let id = all[0]["response"]["id"].as_str().unwrap();
    let check = |gateway: &Running| {
        for after in 0..all.len() {
            let path = format!("/v1/responses/{id}?stream=true&starting_after={after}");
            assert_eq!(events(&gateway.get(&path).body), all[after + 1..], "{after}");
        }
        let last = &all.last().unwrap()["response"];
        assert_eq!(&gateway.get(&format!("/v1/responses/{id}")).json(), last);
    };
    check(&second);
    // Also when the node that worked on it is gone.
    first.stop();
    check(&second);
}

#[tokio::test]
async fn what_a_node_that_died_was_working_on_says_so() {
    let store = SharedStore::new("died");
    let url = store.toml();
    let url = url.split('"').nth(1).unwrap().to_owned();
    // A node whose lease ended a minute ago.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let past = i64::try_from(now.as_millis()).unwrap() - 60_000;
    let options = sabir_store::Options {
        node: sabir_store::NodeId::new("dead").unwrap(),
        data_folder: PathBuf::new(),
        clock: sabir_store::Clock::Manual(Arc::new(past.into())),
        form: None,
    };
    let dead = sabir_store::Store::open(&url, options).await.unwrap();
    dead.heartbeat().await.unwrap();
    let body = r#"{"id":"resp_dead","object":"response","status":"queued","background":true,"error":null,"output":[]}"#;
    let job = sabir_store::NewJob {
        owner: sabir_store::Owner::nobody(),
        id: sabir_store::ResponseId::new("resp_dead").unwrap(),
        turn: sabir_store::TurnId::new("turn_dead").unwrap(),
        provider: None,
        is_streamed: true,
        body: sabir_store::Record::new(body).unwrap(),
    };
    dead.add_job(job).await.unwrap();
    drop(dead);
    tokio::task::spawn_blocking(move || {
        let (one, other) = (Running::start(&store.toml()), Running::start(&store.toml()));
        for gateway in [one, other] {
            // The first look says it: a client that asks once is not told of work that nobody does.
            let failed = gateway.get("/v1/responses/resp_dead").json();
            assert_eq!(failed["status"], "failed");
            let message = failed["error"]["message"].as_str().unwrap();
            assert!(message.contains("stopped before it was done"), "{message}");
            let followed = events(&gateway.get("/v1/responses/resp_dead?stream=true").body);
            assert_eq!(kinds(&followed).last(), Some(&"response.failed"));
        }
    })
    .await
    .unwrap();
}

#[test]
fn a_gateway_that_stops_says_what_became_of_its_work() {
    let store = SharedStore::new("stop");
    let (provider, _has_left) = silent(String::new());
    let toml = provider.toml("p", "openai-chat") + &store.toml();
    let mut first = Running::start(&format!("{toml}[limits]\nshutdown_grace = \"100ms\"\n"));
    let queued = first.post("/v1/responses", &background("p/m", false).to_string()).json();
    let id = queued["id"].as_str().unwrap();
    first.stop();
    let second = Running::start(&toml);
    let failed = second.get(&format!("/v1/responses/{id}")).json();
    assert_eq!(failed["status"], "failed");
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(message.contains("shuts down"), "{message}");
}

#[test]
fn a_gateway_that_stops_lets_its_work_end() {
    let store = SharedStore::new("grace");
    let (pieces, script) = mpsc::channel();
    let provider = Provider::start(vec![Script::Pieces(Arc::new(Mutex::new(script)))]);
    let toml = provider.toml("p", "openai-chat") + &store.toml();
    let mut first = Running::start(&toml);
    let queued = first.post("/v1/responses", &background("p/m", false).to_string()).json();
    let id = queued["id"].as_str().unwrap();
    wait_for(|| match provider.received().is_empty() {
        true => Err("the provider was never asked".to_owned()),
        false => Ok(()),
    });
    first.stop_soon();
    pieces.send(json(200, "", &answer(Protocol::OpenaiChat, "ANSWER1", 1))).unwrap();
    drop(pieces);
    first.stop();
    let answer = Running::start(&toml).get(&format!("/v1/responses/{id}")).json();
    assert_eq!(answer["output"][0]["content"][0]["text"], "ANSWER1", "{answer}");
}

#[test]
fn a_provider_of_the_same_protocol_works_by_itself() {
    let own = |status: &str| {
        json!({"id": "resp_own", "object": "response", "created_at": 1, "status": status,
            "background": true, "model": "m", "output": []})
        .to_string()
    };
    let scripts = ["queued", "in_progress", "cancelled", "completed"];
    let scripts = scripts.map(|status| Script::Reply(json(200, "", &own(status))));
    let provider = Provider::start(scripts.to_vec());
    let gateway = Running::start(&(provider.toml("p", "openai-responses") + STORE));
    let body = background("p/m", false).to_string();
    let reply = gateway.post("/v1/responses", &body);
    assert_eq!((reply.status, reply.body), (200, own("queued")));
    assert_eq!(gateway.get("/v1/responses/resp_own").body, own("in_progress"));
    assert_eq!(gateway.post("/v1/responses/resp_own/cancel", "").body, own("cancelled"));
    let follow = "/v1/responses/resp_own?stream=true&starting_after=3";
    assert_eq!(gateway.get(follow).body, own("completed"));
    let received = provider.received();
    let lines: Vec<&str> = received.iter().map(|it| it.line.as_str()).collect();
    let expected = [
        "POST /v1/responses HTTP/1.1",
        "GET /v1/responses/resp_own HTTP/1.1",
        "POST /v1/responses/resp_own/cancel HTTP/1.1",
        "GET /v1/responses/resp_own?stream=true&starting_after=3 HTTP/1.1",
    ];
    assert_eq!(lines, expected);
    assert_eq!(received[0].body, body.replace("p/m", "m"));
    assert_eq!(received[1].header("authorization"), Some("Bearer sk-upstream"));
}

#[test]
fn a_conversation_of_the_gateways_goes_on_whoever_answers() {
    let house = House::of(&["ANSWER1", "ANSWER2"]);
    let body = background("openai-responses/m", false).to_string();
    let begin = "POST /v1/responses\r\nsabir-conversation: chat-1\r\n";
    let queued = house.gateway.request(begin, &body).json();
    let id = queued["id"].as_str().unwrap();
    assert!(!house.sent_soon(Protocol::OpenaiResponses).contains("background"));
    let answer = ended(&house.gateway, id);
    assert_eq!((&answer["id"], &answer["background"]), (&json!(id), &json!(true)));
    let client = Protocol::AnthropicMessages;
    let reply = house.send_text(client, Protocol::OpenaiChat, "chat-1", "FACT2");
    assert_eq!(reply.status, 200, "{}", reply.body);
    let sent = house.sent(Protocol::OpenaiChat);
    assert!(sent.contains("FACT1") && sent.contains("ANSWER1"), "{sent}");
}

#[test]
fn one_key_does_not_see_the_work_of_another() {
    let provider = Provider::start(vec![Script::Reply(json(
        200,
        "",
        &answer(Protocol::OpenaiChat, "ANSWER1", 1),
    ))]);
    let keys = "[auth]\nrequired = true\n[[auth.key]]\nname = \"a\"\nvalue = { value = \"key-a\" }\n\
                [[auth.key]]\nname = \"b\"\nvalue = { value = \"key-b\" }\n";
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE + keys));
    let head = |line: &str, key: &str| format!("{line}\r\nauthorization: Bearer {key}\r\n");
    let body = background("p/m", false).to_string();
    let queued = gateway.request(&head("POST /v1/responses", "key-a"), &body).json();
    let id = queued["id"].as_str().unwrap();
    for line in ["GET", "DELETE"].map(|method| format!("{method} /v1/responses/{id}")) {
        assert_eq!(gateway.request(&head(&line, "key-b"), "").status, 404, "{line}");
    }
    let cancel = format!("POST /v1/responses/{id}/cancel");
    assert_eq!(gateway.request(&head(&cancel, "key-b"), "").status, 404);
    assert_eq!(gateway.request(&head(&format!("GET /v1/responses/{id}"), "key-a"), "").status, 200);
}
