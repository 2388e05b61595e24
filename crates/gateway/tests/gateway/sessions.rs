//! Calls that ask for nothing, where everything is kept: each is joined to the conversation that it goes on with.

use std::sync::{Arc, Mutex, mpsc};

use sabir_wire::Protocol;
use serde_json::{Value, json};

use crate::harness::*;
use crate::memory::{House, STORE, answer};
use crate::rounds::calling_by;
use crate::rows::Folder;
use crate::waiting::wait_for;

const FULL: &str = "record = \"full\"\n";

/// A client that sends its whole history with each call, as those of its protocol do.
struct Client {
    protocol: Protocol,
    model: String,
    history: Vec<Value>,
}

impl Client {
    fn new(protocol: Protocol, provider: &str) -> Self {
        Self { protocol, model: format!("{provider}/m"), history: Vec::new() }
    }

    fn add_text(&mut self, text: &str) {
        self.history.push(match self.protocol {
            Protocol::Gemini => json!({"role": "user", "parts": [{"text": text}]}),
            _ => json!({"role": "user", "content": text}),
        });
    }

    fn ask(&mut self, gateway: &Running) -> Reply {
        let (model, history) = (&self.model, &self.history);
        let (path, body) = match self.protocol {
            Protocol::OpenaiChat => {
                ("/v1/chat/completions".to_owned(), json!({"model": model, "messages": history}))
            }
            Protocol::OpenaiResponses => (
                "/v1/responses".to_owned(),
                json!({"model": model, "input": history, "store": false}),
            ),
            Protocol::AnthropicMessages => (
                "/v1/messages".to_owned(),
                json!({"model": model, "max_tokens": 99, "messages": history}),
            ),
            _ => {
                (format!("/v1beta/models/{model}:generateContent"), json!({ "contents": history }))
            }
        };
        let reply = gateway.post(&path, &body.to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        let answer = reply.json();
        match self.protocol {
            Protocol::OpenaiChat => self.history.push(answer["choices"][0]["message"].clone()),
            Protocol::OpenaiResponses => {
                self.history.extend(answer["output"].as_array().unwrap().iter().cloned());
            }
            Protocol::AnthropicMessages => {
                self.history.push(json!({"role": "assistant", "content": answer["content"]}));
            }
            _ => self.history.push(answer["candidates"][0]["content"].clone()),
        }
        reply
    }

    /// Answers the call that was made last.
    fn answer_call(&mut self, result: &str) {
        let last = self.history.last().unwrap();
        self.history.push(match self.protocol {
            Protocol::OpenaiChat => {
                json!({"role": "tool", "tool_call_id": last["tool_calls"][0]["id"], "content": result})
            }
            Protocol::OpenaiResponses => {
                json!({"type": "function_call_output", "call_id": last["call_id"], "output": result})
            }
            Protocol::AnthropicMessages => json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": last["content"][0]["id"], "content": result}]}),
            _ => {
                let call = &last["parts"][0]["functionCall"];
                let mut response = json!({"name": call["name"], "response": {"output": result}});
                if let Some(id) = call.get("id") {
                    response["id"] = id.clone();
                }
                json!({"role": "user", "parts": [{"functionResponse": response}]})
            }
        });
    }
}

/// Waits until the conversations have so many turns each, the newest first. Nobody waits for what nobody asked for.
fn conversations(gateway: &Running, turns: &[u64]) -> Vec<Value> {
    wait_for(|| {
        let listed = gateway.get("/sabir/v1/conversations").json()["data"].clone();
        let listed = listed.as_array().unwrap().clone();
        let counts: Vec<u64> = listed.iter().map(|it| it["turns"].as_u64().unwrap()).collect();
        if counts == turns { Ok(listed) } else { Err(format!("{listed:?}, expected {turns:?}")) }
    })
}

#[test]
fn a_history_that_is_sent_again_is_the_same_conversation() {
    for client in Protocol::ALL {
        for upstream in Protocol::ALL {
            let answers = [
                answer(upstream, "BLUE", 1),
                calling_by(upstream, Some("call_1")),
                answer(upstream, "RED", 3),
            ];
            let scripts = answers.map(|body| Script::Reply(json(200, "", &body))).to_vec();
            let provider = Provider::start(scripts);
            let gateway = Running::start(&(provider.toml("p", upstream.as_str()) + STORE + FULL));
            let mut talk = Client::new(client, "p");
            talk.add_text("FACT1");
            talk.ask(&gateway);
            let begun = conversations(&gateway, &[1]);
            talk.add_text("FACT2");
            talk.ask(&gateway);
            conversations(&gateway, &[2]);
            talk.answer_call("FACT3");
            talk.ask(&gateway);
            let listed = conversations(&gateway, &[3]);
            assert_eq!((&listed[0]["id"], &listed[0]["title"]), (&begun[0]["id"], &json!("FACT1")));
            let id = listed[0]["id"].as_str().unwrap();
            let turns =
                gateway.get(&format!("/sabir/v1/conversations/{id}")).json()["turns"].clone();
            assert_eq!(turns[2]["parent"], turns[1]["id"], "{client:?} {upstream:?}: {turns}");
            // What is stored of it is what was said, once.
            let kept = gateway.get(&format!("/sabir/v1/conversations/{id}/messages")).body;
            for fact in ["FACT1", "BLUE", "FACT2", "FACT3", "RED"] {
                assert_eq!(kept.matches(fact).count(), 1, "{client:?} {upstream:?} {fact}: {kept}");
            }
        }
    }
}

#[test]
fn a_history_that_was_read_and_is_not_kept_is_kept_the_next_time() {
    let refusal = json(400, "", r#"{"error":{"message":"no","type":"invalid_request_error"}}"#);
    let answered = json(200, "", &answer(Protocol::OpenaiChat, "GREEN", 1));
    let provider = Provider::start(vec![Script::Reply(refusal), Script::Reply(answered)]);
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE + FULL));
    let mut talk = Client::new(Protocol::OpenaiChat, "p");
    talk.add_text("FACT1");
    talk.history.push(json!({"role": "assistant", "content": "BLUE"}));
    talk.add_text("FACT2");
    let body = json!({"model": talk.model, "messages": talk.history}).to_string();
    assert_eq!(gateway.post("/v1/chat/completions", &body).status, 400);
    talk.ask(&gateway);
    let listed = conversations(&gateway, &[1]);
    let id = listed[0]["id"].as_str().unwrap();
    let kept = gateway.get(&format!("/sabir/v1/conversations/{id}/messages")).body;
    for fact in ["FACT1", "BLUE", "FACT2", "GREEN"] {
        assert_eq!(kept.matches(fact).count(), 1, "{fact}: {kept}");
    }
}

#[test]
fn another_history_is_another_conversation() {
    let house = House::with(&["BLUE", "GREEN", "RED", "GOLD"], FULL);
    let ask = |client: &mut Client, text: &str| {
        client.add_text(text);
        client.ask(&house.gateway);
    };
    let mut first = Client::new(Protocol::OpenaiChat, "openai-chat");
    ask(&mut first, "FACT1");
    conversations(&house.gateway, &[1]);
    // The same beginning, but not all of what was said.
    let mut edited = Client::new(Protocol::OpenaiChat, "openai-chat");
    edited.add_text("FACT1");
    edited.history.push(json!({"role": "assistant", "content": "something else"}));
    ask(&mut edited, "FACT2");
    conversations(&house.gateway, &[1, 1]);
    // Another protocol that says the same goes on with it.
    let mut same = Client::new(Protocol::AnthropicMessages, "anthropic-messages");
    same.add_text("FACT1");
    same.history.push(json!({"role": "assistant", "content": [{"type": "text", "text": "BLUE"}]}));
    ask(&mut same, "FACT3");
    conversations(&house.gateway, &[2, 1]);
    // What somebody asked for by name goes on by its name alone.
    let named = house.send_text(Protocol::OpenaiChat, Protocol::Gemini, "story", "FACT4");
    assert_eq!(named.status, 200);
    let mut beside = Client::new(Protocol::OpenaiChat, "openai-chat");
    beside.add_text("FACT4");
    beside.history.push(json!({"role": "assistant", "content": "BLUE"}));
    ask(&mut beside, "FACT5");
    let listed = conversations(&house.gateway, &[1, 1, 2, 1]);
    assert_eq!(listed[1]["id"], "story");
}

#[test]
fn sub_agents_of_a_session_have_conversations_of_their_own() {
    let house = House::with(&["BLUE", "GREEN", "RED", "GOLD"], FULL);
    let head = "POST /v1/chat/completions\r\nsession-id: s-1\r\n";
    let ask = |messages: Value| {
        let body = json!({"model": "openai-chat/m", "messages": messages}).to_string();
        assert_eq!(house.gateway.request(head, &body).status, 200);
    };
    let user = |text: &str| json!({"role": "user", "content": text});
    let model = |text: &str| json!({"role": "assistant", "content": text});
    ask(json!([user("MAIN")]));
    conversations(&house.gateway, &[1]);
    ask(json!([user("PART")]));
    conversations(&house.gateway, &[1, 1]);
    ask(json!([user("PART"), model("GREEN"), user("more of it")]));
    conversations(&house.gateway, &[2, 1]);
    ask(json!([user("MAIN"), model("BLUE"), user("go on")]));
    let listed = conversations(&house.gateway, &[2, 2]);
    assert_eq!(listed[0]["id"], "s-1");
}

#[test]
fn turns_without_a_pause_stay_in_one_conversation() {
    let turns = 20;
    let scripts = (0..turns).map(|_| Script::Reply(json(200, "", &chat_answer("BLUE")))).collect();
    let (provider, folder) = (Provider::start(scripts), Folder::new());
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + &folder.toml("full")));
    let mut talk = Client::new(Protocol::OpenaiChat, "p");
    for turn in 0..turns {
        talk.add_text(&format!("FACT{turn}"));
        talk.ask(&gateway);
    }
    conversations(&gateway, &[turns]);
}

#[test]
fn streams_without_a_pause_stay_in_one_conversation() {
    let turns = 20;
    let stream = sse(&(chat_chunk("BLUE") + "data: [DONE]\n\n"));
    let scripts = (0..turns).map(|_| Script::Reply(stream.clone())).collect();
    let (provider, folder) = (Provider::start(scripts), Folder::new());
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + &folder.toml("full")));
    let mut history = Vec::new();
    for turn in 0..turns {
        history.push(json!({"role": "user", "content": format!("FACT{turn}")}));
        let body = json!({"model": "p/m", "stream": true, "messages": history}).to_string();
        let mut reply = gateway.send("POST /v1/chat/completions\r\n", &body);
        read_head(&mut reply);
        // Nothing behind the last event is waited for.
        let mut chunks = std::iter::from_fn(|| read_chunk(&mut reply));
        assert!(chunks.any(|chunk| String::from_utf8_lossy(&chunk).contains("[DONE]")));
        history.push(json!({"role": "assistant", "content": "BLUE"}));
    }
    conversations(&gateway, &[turns]);
}

#[test]
fn calls_of_a_session_at_once_have_a_conversation_each() {
    let (pieces, scripts): (Vec<_>, Vec<_>) = (0..2)
        .map(|_| {
            let (piece, pieces) = mpsc::channel();
            (piece, Script::Pieces(Arc::new(Mutex::new(pieces))))
        })
        .unzip();
    let provider = Provider::start(scripts);
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE + FULL));
    let head = "POST /v1/chat/completions\r\nsession-id: s-1\r\n";
    let mut replies = ["MAIN", "TITLE"].map(|text| {
        let messages = json!([{"role": "user", "content": text}]);
        gateway.send(head, &json!({"model": "p/m", "messages": messages}).to_string())
    });
    wait_for(|| match provider.received().len() {
        2 => Ok(()),
        count => Err(format!("{count} calls")),
    });
    for piece in pieces {
        piece.send(json(200, "", &chat_answer("BLUE"))).unwrap();
    }
    let mut turns = replies.each_mut().map(|reply| {
        let reply = Reply::read(reply);
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.header("sabir-turn").unwrap().to_owned()
    });
    let mut kept: Vec<String> = conversations(&gateway, &[1, 1])
        .iter()
        .map(|it| {
            let path = format!("/sabir/v1/conversations/{}", it["id"].as_str().unwrap());
            gateway.get(&path).json()["turns"][0]["id"].as_str().unwrap().to_owned()
        })
        .collect();
    turns.sort();
    kept.sort();
    assert_eq!(kept, turns);
}

/// Of the bytes on disk to those of the last request. It holds all that was said.
const ROOM_MAX: f64 = 1.2;

impl Client {
    /// Asks with a cache marker at the end of the history, which the next call has elsewhere.
    fn ask_marked(&mut self, gateway: &Running) {
        let last = self.history.len() - 1;
        let is_marked = self.protocol == Protocol::AnthropicMessages
            && self.history[last]["content"].is_array();
        if is_marked {
            self.history[last]["content"][0]["cache_control"] = json!({"type": "ephemeral"});
        }
        self.ask(gateway);
        if is_marked {
            let block = self.history[last]["content"][0].as_object_mut().unwrap();
            block.remove("cache_control");
        }
    }
}

#[test]
fn a_session_takes_little_more_room_than_its_last_request() {
    let empty = Folder::new();
    Running::start(&(Provider::whole("").toml("p", "openai-chat") + &empty.toml("full"))).stop();
    for protocol in [Protocol::AnthropicMessages, Protocol::OpenaiResponses] {
        let turns = 100;
        let call = |turn: u64| calling_by(protocol, Some(&format!("call_{turn:016x}")));
        let scripts = (0..turns).map(|turn| Script::Reply(json(200, "", &call(turn)))).collect();
        let (provider, folder) = (Provider::start(scripts), Folder::new());
        let toml = provider.toml("p", protocol.as_str()) + &folder.toml("full");
        let mut gateway = Running::start(&toml);
        let mut talk = Client::new(protocol, "p");
        talk.add_text("Count as far as you can.");
        for turn in 0..turns {
            talk.ask_marked(&gateway);
            let numbers = (0..220).map(|line| format!("{}\n", turn * 1000 + line));
            talk.answer_call(&numbers.collect::<String>());
        }
        conversations(&gateway, &[turns]);
        gateway.stop();
        let stated = Value::from(talk.history).to_string().len();
        let room = (folder.bytes() - empty.bytes()) as f64 / stated as f64;
        assert!(room <= ROOM_MAX, "{protocol:?}: {room:.2} times {stated} bytes");
    }
}
