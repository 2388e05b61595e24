//! Conversations that the gateway keeps: continued by any protocol, on any provider, by whoever began them.

use sabir_wire::Protocol;
use serde_json::{Value, json};

use crate::harness::*;
use crate::waiting::wait_for;

pub(crate) const STORE: &str = "\n[store]\nurl = \"memory:\"\n";

/// A gateway with a provider of each protocol, named after it, which gives these answers one after the other.
pub(crate) struct House {
    pub(crate) gateway: Running,
    pub(crate) providers: Vec<(Protocol, Provider)>,
}

impl House {
    pub(crate) fn of(answers: &[&str]) -> Self {
        Self::with(answers, "")
    }

    pub(crate) fn with(answers: &[&str], more: &str) -> Self {
        let providers: Vec<(Protocol, Provider)> = Protocol::ALL
            .into_iter()
            .map(|protocol| {
                let scripts = answers.iter().zip(1..);
                let scripts = scripts.map(|(text, number)| {
                    Script::Reply(json(200, "", &answer(protocol, text, number)))
                });
                (protocol, Provider::start(scripts.collect()))
            })
            .collect();
        let tables =
            providers.iter().map(|(protocol, it)| it.toml(protocol.as_str(), protocol.as_str()));
        let toml = tables.chain([STORE.to_owned(), more.to_owned()]).collect::<String>();
        Self { gateway: Running::start(&toml), providers }
    }

    /// What a provider was sent last.
    pub(crate) fn sent(&self, protocol: Protocol) -> String {
        let (_, provider) = self.providers.iter().find(|(it, _)| *it == protocol).unwrap();
        provider.received().last().unwrap().body.clone()
    }

    /// What a provider was sent last, once it was sent anything.
    pub(crate) fn sent_soon(&self, protocol: Protocol) -> String {
        let (_, provider) = self.providers.iter().find(|(it, _)| *it == protocol).unwrap();
        wait_for(|| {
            let received = provider.received();
            received.last().map(|it| it.body.clone()).ok_or_else(|| "never asked".to_owned())
        })
    }

    /// Says something in a conversation by header.
    pub(crate) fn send_text(
        &self,
        client: Protocol,
        upstream: Protocol,
        conversation: &str,
        text: &str,
    ) -> Reply {
        let (path, body) = request(client, upstream.as_str(), text);
        self.gateway
            .request(&format!("POST {path}\r\nsabir-conversation: {conversation}\r\n"), &body)
    }

    pub(crate) fn responses(&self, body: &Value) -> Reply {
        self.gateway.post("/v1/responses", &body.to_string())
    }
}

/// A request of a protocol that says one thing.
pub(crate) fn request(client: Protocol, provider: &str, text: &str) -> (String, String) {
    let model = format!("{provider}/m");
    let path = match client {
        Protocol::OpenaiChat => "/v1/chat/completions".to_owned(),
        Protocol::OpenaiResponses => "/v1/responses".to_owned(),
        Protocol::AnthropicMessages => "/v1/messages".to_owned(),
        _ => format!("/v1beta/models/{model}:generateContent"),
    };
    let body = match client {
        Protocol::OpenaiChat => {
            json!({"model": model, "messages": [{"role": "user", "content": text}]})
        }
        Protocol::OpenaiResponses => json!({"model": model, "input": text}),
        Protocol::AnthropicMessages => {
            json!({"model": model, "max_tokens": 99, "messages": [{"role": "user", "content": text}]})
        }
        _ => json!({"contents": [{"role": "user", "parts": [{"text": text}]}]}),
    };
    (path, body.to_string())
}

/// An answer of a protocol that says one thing.
pub(crate) fn answer(protocol: Protocol, text: &str, number: usize) -> String {
    let usage = json!({"input_tokens": 1, "output_tokens": 1, "total_tokens": 2});
    let body = match protocol {
        Protocol::OpenaiChat => {
            json!({"id": format!("chatcmpl-{number}"), "object": "chat.completion",
            "created": 1, "model": "m", "choices": [{"index": 0, "finish_reason": "stop",
                "message": {"role": "assistant", "content": text}}]})
        }
        Protocol::OpenaiResponses => {
            json!({"id": format!("resp_own{number}"), "object": "response",
            "created_at": 1, "status": "completed", "model": "m", "output": [{"type": "message",
                "id": format!("msg_own{number}"), "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}]}], "usage": usage})
        }
        Protocol::AnthropicMessages => json!({"id": format!("msg_{number}"), "type": "message",
            "role": "assistant", "model": "m", "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn", "stop_sequence": null,
            "usage": {"input_tokens": 1, "output_tokens": 1}}),
        _ => json!({"candidates": [{"index": 0, "finishReason": "STOP",
            "content": {"role": "model", "parts": [{"text": text}]}}], "modelVersion": "m"}),
    };
    body.to_string()
}

#[track_caller]
fn assert_holds(body: &str, facts: &[&str]) {
    let mut rest = body;
    for fact in facts {
        let at = rest.find(fact).unwrap_or_else(|| panic!("no {fact:?}, or not in order: {body}"));
        rest = &rest[at..];
        assert_eq!(body.matches(fact).count(), 1, "{fact:?} twice: {body}");
    }
}

#[test]
fn three_turns_of_any_protocols_are_one_conversation() {
    for (number, first) in Protocol::ALL.into_iter().enumerate() {
        for second in Protocol::ALL {
            for third in Protocol::ALL {
                let house = House::of(&["ANSWER1", "ANSWER2", "ANSWER3"]);
                let upstream = |turn: usize| Protocol::ALL[(number + turn) % 4];
                let reply = house.send_text(first, upstream(0), "new", "FACT1");
                assert_eq!(reply.status, 200, "{}", reply.body);
                let id = reply.header("sabir-conversation").unwrap().to_owned();
                assert!(reply.header("sabir-turn").is_some());
                let reply = house.send_text(second, upstream(1), &id, "FACT2");
                assert_eq!(reply.status, 200, "{first:?} {second:?}: {}", reply.body);
                assert_eq!(reply.header("sabir-conversation"), Some(&*id));
                assert_holds(&house.sent(upstream(1)), &["FACT1", "ANSWER1", "FACT2"]);
                let reply = house.send_text(third, upstream(2), &id, "FACT3");
                assert_eq!(reply.status, 200, "{first:?} {second:?} {third:?}: {}", reply.body);
                let sent = house.sent(upstream(2));
                for fact in ["FACT1", "FACT2", "FACT3"] {
                    assert_eq!(sent.matches(fact).count(), 1, "{fact}: {sent}");
                }
                assert_eq!(sent.matches("ANSWER1").count(), 2, "{sent}");
            }
        }
    }
}

#[test]
fn a_chain_goes_on_with_any_provider() {
    for upstream in Protocol::ALL {
        let house = House::of(&["BLUE", "GREEN", "RED"]);
        let model = format!("{}/m", upstream.as_str());
        let first = house.responses(&json!({"model": "anthropic-messages/m", "input": "FACT1",
            "instructions": "be brief"}));
        assert_eq!(first.status, 200, "{}", first.body);
        let id = first.json()["id"].as_str().unwrap().to_owned();
        assert!(id.starts_with("resp_"), "{id}");
        assert_eq!(first.json()["store"], true);
        let second = house.responses(&json!({"model": model, "input": "FACT2",
            "previous_response_id": id}));
        assert_eq!(second.status, 200, "{upstream:?}: {}", second.body);
        let sent = house.sent(upstream);
        for fact in ["FACT1", "BLUE", "FACT2"] {
            assert_eq!(sent.matches(fact).count(), 1, "{upstream:?} {fact}: {sent}");
        }
        // Instructions are never carried over, and no provider gets the chain.
        assert!(!sent.contains("be brief"), "{sent}");
        assert!(!sent.contains("previous_response_id"), "{sent}");
    }
}

#[test]
fn instructions_among_the_items_are_part_of_a_chain() {
    let house = House::of(&["BLUE", "GREEN"]);
    let first = house.responses(&json!({"model": "openai-chat/m", "instructions": "ONCE",
        "input": [{"role": "developer", "content": "ALWAYS"}, {"role": "user", "content": "FACT1"}]}));
    let id = first.json()["id"].as_str().unwrap().to_owned();
    let second = house.responses(&json!({"model": "openai-chat/m", "previous_response_id": id,
        "input": [{"role": "developer", "content": "LATER"}, {"role": "user", "content": "FACT2"}]}));
    assert_eq!(second.status, 200, "{}", second.body);
    let sent = house.sent(Protocol::OpenaiChat);
    assert_holds(&sent, &["ALWAYS", "FACT1", "BLUE", "LATER", "FACT2"]);
    assert!(!sent.contains("ONCE"), "{sent}");
}

#[test]
fn an_answer_can_be_asked_for_again() {
    let house = House::of(&["BLUE"]);
    for provider in ["openai-chat", "openai-responses"] {
        let body = json!({"model": format!("{provider}/m"), "input": [
            {"role": "user", "content": "FACT1"}, {"role": "user", "content": "FACT2"}]});
        let created = house.responses(&body).json();
        let id = created["id"].as_str().unwrap();
        let read = house.gateway.get(&format!("/v1/responses/{id}"));
        assert_eq!((read.status, read.json()), (200, created.clone()), "{provider}");
        let items = house.gateway.get(&format!("/v1/responses/{id}/input_items?order=asc&limit=1"));
        let items = items.json();
        assert_eq!(items["data"][0]["content"], json!([{"type": "input_text", "text": "FACT1"}]));
        assert_eq!(items["has_more"], true);
        let last = items["last_id"].as_str().unwrap();
        let rest =
            house.gateway.get(&format!("/v1/responses/{id}/input_items?order=asc&after={last}"));
        assert_eq!(rest.json()["data"][0]["content"][0]["text"], "FACT2", "{}", rest.body);
        assert_eq!(rest.json()["has_more"], false);
        let deleted = house.gateway.request(&format!("DELETE /v1/responses/{id}"), "");
        assert_eq!(deleted.json(), json!({"id": id, "object": "response", "deleted": true}));
        for gone in [format!("GET /v1/responses/{id}"), format!("DELETE /v1/responses/{id}")] {
            let reply = house.gateway.request(&gone, "");
            assert_eq!(reply.status, 404, "{gone}");
            let message = format!("Response with id '{id}' not found.");
            assert_eq!(reply.json()["error"]["message"], message.as_str());
        }
    }
}

#[test]
fn a_chain_that_nobody_knows_is_refused_in_the_vendors_words() {
    let house = House::of(&["BLUE"]);
    let unknown =
        json!({"model": "openai-chat/m", "input": "x", "previous_response_id": "resp_no"});
    let reply = house.responses(&unknown);
    assert_eq!(reply.status, 400);
    let error = &reply.json()["error"];
    assert_eq!(error["message"], "Previous response with id 'resp_no' not found.");
    assert_eq!(error["code"], "previous_response_not_found");
    assert_eq!(error["param"], "previous_response_id");
    let misspelt = json!({"model": "openai-chat/m", "input": "x", "previous_response_id": "a b"});
    let reply = house.responses(&misspelt);
    assert!(reply.body.contains("Expected an ID that contains letters"), "{}", reply.body);
    let both = json!({"model": "openai-chat/m", "input": "x", "previous_response_id": "resp_no",
        "conversation": "conv_x"});
    assert_eq!(house.responses(&both).json()["error"]["code"], "mutually_exclusive_parameters");
    // A provider of the same protocol may know what is unknown here.
    let elsewhere =
        json!({"model": "openai-responses/m", "input": "x", "previous_response_id": "resp_no"});
    assert_eq!(house.responses(&elsewhere).status, 200);
    assert!(house.sent(Protocol::OpenaiResponses).contains("\"resp_no\""));
}

#[test]
fn what_is_not_stored_cannot_be_continued() {
    let house = House::of(&["BLUE"]);
    let first = house.responses(&json!({"model": "openai-chat/m", "input": "x", "store": false}));
    assert_eq!(first.json()["store"], false);
    assert_eq!(first.header("sabir-turn"), None);
    let id = first.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(house.gateway.get(&format!("/v1/responses/{id}")).status, 404);
}

#[test]
fn a_provider_that_keeps_the_chain_is_sent_its_id() {
    let house = House::of(&["BLUE", "GREEN"]);
    let first = json!({"model": "openai-responses/m", "input": "FACT1"});
    assert_eq!(house.responses(&first).json()["id"], "resp_own1");
    let second = json!({"model": "openai-responses/m", "input": "FACT2",
        "previous_response_id": "resp_own1"});
    assert_eq!(house.responses(&second).json()["id"], "resp_own2");
    let sent = house.sent(Protocol::OpenaiResponses);
    assert!(sent.contains("\"resp_own1\"") && !sent.contains("FACT1"), "{sent}");
    let third = json!({"model": "gemini/m", "input": "FACT3", "previous_response_id": "resp_own2"});
    assert_eq!(house.responses(&third).status, 200);
    let sent = house.sent(Protocol::Gemini);
    for fact in ["FACT1", "BLUE", "FACT2", "GREEN", "FACT3"] {
        assert_eq!(sent.matches(fact).count(), 1, "{fact}: {sent}");
    }
}

#[test]
fn a_provider_that_keeps_nothing_is_sent_the_chain() {
    let reply = |text: &str, number: usize| {
        let kept = answer(Protocol::OpenaiResponses, text, number);
        let unkept = kept.replacen('{', "{\"store\":false,", 1);
        Script::Reply(json(200, "", &unkept))
    };
    let provider = Provider::start(vec![reply("BLUE", 1), reply("GREEN", 2)]);
    let gateway = Running::start(&(provider.toml("p", "openai-responses") + STORE));
    let first = json!({"model": "p/m", "input": "FACT1"});
    assert_eq!(gateway.post("/v1/responses", &first.to_string()).status, 200);
    let second = json!({"model": "p/m", "input": "FACT2", "previous_response_id": "resp_own1"});
    assert_eq!(gateway.post("/v1/responses", &second.to_string()).status, 200);
    let sent = &provider.received()[1].body;
    assert_holds(sent, &["FACT1", "BLUE", "FACT2"]);
    assert!(!sent.contains("previous_response_id"), "{sent}");
}

#[test]
fn instructions_among_the_items_of_a_chain_are_carried_over() {
    for upstream in Protocol::ALL {
        let house = House::of(&["BLUE", "GREEN", "RED"]);
        let model = format!("{}/m", upstream.as_str());
        let input =
            json!([{"role": "system", "content": "be KIND"}, {"role": "user", "content": "FACT1"}]);
        let first = house.responses(&json!({"model": "gemini/m", "input": input})).json();
        let second = json!({"model": "openai-chat/m", "input": "FACT2", "instructions": "be QUICK",
            "previous_response_id": first["id"]});
        let second = house.responses(&second).json();
        let third = json!({"model": model, "input": "FACT3", "previous_response_id": second["id"]});
        assert_eq!(house.responses(&third).status, 200);
        let sent = house.sent(upstream);
        for fact in ["KIND", "FACT1", "FACT2", "FACT3"] {
            assert_eq!(sent.matches(fact).count(), 1, "{upstream:?} {fact}: {sent}");
        }
        assert!(!sent.contains("QUICK"), "{sent}");
        let id = first["id"].as_str().unwrap();
        let items = house.gateway.get(&format!("/v1/responses/{id}/input_items?order=asc"));
        assert_eq!(items.json()["data"][0]["role"], "system", "{}", items.body);
    }
}

#[test]
fn items_are_known_by_their_ids() {
    let house = House::of(&["BLUE", "GREEN"]);
    let first = house.responses(&json!({"model": "gemini/m", "input": "FACT1"})).json();
    let item = first["output"][0]["id"].as_str().unwrap();
    let second = json!({"model": "openai-chat/m", "input": [{"role": "user", "content": "FACT1"},
        {"type": "item_reference", "id": item}, {"role": "user", "content": "FACT2"}]});
    let reply = house.responses(&second);
    assert_eq!(reply.status, 200, "{}", reply.body);
    let sent: Value = serde_json::from_str(&house.sent(Protocol::OpenaiChat)).unwrap();
    assert_eq!(sent["messages"][1]["role"], "assistant", "{sent}");
    assert!(sent["messages"][1].to_string().contains("BLUE"), "{sent}");
    let unknown =
        json!({"model": "openai-chat/m", "input": [{"type": "item_reference", "id": "rs_no"}]});
    let reply = house.responses(&unknown);
    assert_eq!(reply.status, 404);
    assert!(reply.body.contains("Item with id 'rs_no' not found."), "{}", reply.body);
}

#[test]
fn a_thread_goes_on_once_from_each_message() {
    for upstream in Protocol::ALL {
        let house = House::of(&["BLUE", "GREEN"]);
        let model = format!("{}/m", upstream.as_str());
        let begin = json!({"model": model, "max_tokens": 9, "system": "be KIND", "thread": {"type": "create"},
            "tools": [{"name": "look", "input_schema": {"type": "object", "properties": {}}}],
            "messages": [{"role": "user", "content": "FACT1"}]});
        let first = house.gateway.post("/v1/messages", &begin.to_string());
        assert_eq!(first.status, 200, "{upstream:?}: {}", first.body);
        assert!(!house.sent(upstream).contains("\"thread\""));
        let id = first.json()["id"].as_str().unwrap().to_owned();
        let go_on = json!({"model": model, "max_tokens": 9, "messages": [{"role": "user", "content": "FACT2"}],
            "thread": {"type": "continue", "previous_message_id": id}});
        let second = house.gateway.post("/v1/messages", &go_on.to_string());
        assert_eq!(second.status, 200, "{upstream:?}: {}", second.body);
        let sent = house.sent(upstream);
        for fact in ["FACT1", "BLUE", "FACT2", "KIND", "look"] {
            assert_eq!(sent.matches(fact).count(), 1, "{upstream:?} {fact}: {sent}");
        }
        let again = house.gateway.post("/v1/messages", &go_on.to_string());
        assert_eq!(again.status, 400, "{}", again.body);
        assert_eq!(again.json()["error"]["details"]["error_code"], "thread_already_continued");
        let unknown = go_on.to_string().replace(&id, "msg_no");
        let unknown = house.gateway.post("/v1/messages", &unknown);
        assert_eq!(unknown.status, 404);
        assert_eq!(unknown.json()["error"]["details"]["error_code"], "thread_not_found");
    }
}

#[test]
fn a_client_that_sends_everything_adds_nothing_twice() {
    let house = House::of(&["BLUE", "GREEN", "RED"]);
    let head = "POST /v1/chat/completions\r\nsabir-conversation: mine\r\n";
    let send_text = |messages: Value| {
        let body = json!({"model": "anthropic-messages/m", "messages": messages});
        let reply = house.gateway.request(head, &body.to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert_eq!(reply.header("sabir-conversation"), Some("mine"));
    };
    let system = json!({"role": "system", "content": "be kind"});
    let user = |text: &str| json!({"role": "user", "content": text});
    let model = |text: &str| json!({"role": "assistant", "content": text});
    send_text(json!([system, user("FACT1")]));
    send_text(json!([system, user("FACT1"), model("BLUE"), user("FACT2")]));
    let sent = house.sent(Protocol::AnthropicMessages);
    assert_holds(&sent, &["FACT1", "BLUE", "FACT2"]);
    // From here on only what is new is sent, and the instructions go on.
    send_text(json!([user("FACT3")]));
    let sent = house.sent(Protocol::AnthropicMessages);
    assert_holds(&sent, &["FACT1", "BLUE", "FACT2", "GREEN", "FACT3"]);
    assert_eq!(sent.matches("be kind").count(), 1, "{sent}");
}

#[test]
fn a_call_that_is_sent_again_with_everything_is_answered_anew() {
    let house = House::of(&["BLUE", "GREEN", "RED", "GRAY"]);
    let head = "POST /v1/chat/completions\r\nsabir-conversation: mine\r\n";
    let send = |messages: &Value| {
        let body = json!({"model": "anthropic-messages/m", "messages": messages});
        let reply = house.gateway.request(head, &body.to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        house.sent(Protocol::AnthropicMessages)
    };
    let user = |text: &str| json!({"role": "user", "content": text});
    let model = |text: &str| json!({"role": "assistant", "content": text});
    send(&json!([user("FACT1")]));
    let everything = json!([user("FACT1"), model("BLUE"), user("FACT2")]);
    let first = send(&everything);
    // As SDKs do it when an answer did not reach them.
    assert_eq!(send(&everything), first);
    let sent = send(&json!([user("FACT3")]));
    assert_holds(&sent, &["FACT1", "BLUE", "FACT2", "RED", "FACT3"]);
    assert!(!sent.contains("GREEN"), "{sent}");
    let kept = house.gateway.get("/sabir/v1/conversations/mine").json();
    assert_eq!(kept["turns"].as_array().unwrap().len(), 3, "{kept}");
    let listed = house.gateway.get("/sabir/v1/conversations").json();
    assert_eq!(listed["data"][0]["turns"], 3, "{listed}");
}

#[test]
fn a_conversation_serves_one_call_at_a_time() {
    let (send, pieces) = std::sync::mpsc::channel();
    let pieces = std::sync::Arc::new(std::sync::Mutex::new(pieces));
    let provider = Provider::start(vec![Script::Pieces(pieces)]);
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE));
    let (path, body) = request(Protocol::Gemini, "p", "FACT1");
    let head = format!("POST {path}\r\nsabir-conversation: busy\r\n");
    let mut first = gateway.send(&head, &body);
    crate::waiting::wait_for(|| {
        (!provider.received().is_empty()).then_some(()).ok_or("not asked".to_owned())
    });
    let second = gateway.request(&head, &body);
    assert_eq!(second.status, 400, "{}", second.body);
    assert_eq!(second.header("retry-after"), Some("1"));
    send.send(json(200, "", &answer(Protocol::OpenaiChat, "BLUE", 1))).unwrap();
    assert_eq!(Reply::read(&mut first).status, 200);
    let unknown = gateway.request(&head.replace("busy", "conv_unknown"), &body);
    assert_eq!(unknown.status, 404, "{}", unknown.body);
}

#[test]
fn a_turn_that_failed_leaves_nothing() {
    let refusal =
        r#"{"error":{"message":"no","type":"invalid_request_error","param":null,"code":null}}"#;
    let answers = vec![
        Script::Reply(json(400, "", refusal)),
        Script::Reply(json(200, "", &answer(Protocol::OpenaiChat, "BLUE", 2))),
    ];
    let provider = Provider::start(answers);
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE));
    let (path, body) = request(Protocol::AnthropicMessages, "p", "FACT1");
    let head = format!("POST {path}\r\nsabir-conversation: again\r\n");
    assert_eq!(gateway.request(&head, &body).status, 400);
    let reply = gateway.request(&head, &body);
    assert_eq!(reply.status, 200, "{}", reply.body);
    let sent = &provider.received()[1].body;
    assert_eq!(sent.matches("FACT1").count(), 1, "{sent}");
}

#[test]
fn what_one_key_keeps_is_unknown_to_others() {
    let keys = "[auth]\nrequired = true\n[[auth.key]]\nname = \"a\"\nvalue = { value = \"key-a-123456\" }\n\
                [[auth.key]]\nname = \"b\"\nvalue = { value = \"key-b-123456\" }\n";
    let house = House::with(&["BLUE", "GREEN"], keys);
    let ask = |key: &str, body: &Value| {
        let head = format!("POST /v1/responses\r\nauthorization: Bearer {key}\r\n");
        house.gateway.request(&head, &body.to_string())
    };
    let body = json!({"model": "openai-chat/m", "input": "FACT1"});
    let id = ask("key-a-123456", &body).json()["id"].as_str().unwrap().to_owned();
    let next = json!({"model": "openai-chat/m", "input": "FACT2", "previous_response_id": id});
    let foreign = ask("key-b-123456", &next);
    assert_eq!(foreign.json()["error"]["code"], "previous_response_not_found");
    for (key, status) in [("key-b-123456", 404), ("key-a-123456", 200)] {
        let head = format!("GET /v1/responses/{id}\r\nauthorization: Bearer {key}\r\n");
        assert_eq!(house.gateway.request(&head, "").status, status);
    }
    assert_eq!(ask("key-a-123456", &next).status, 200);
}

#[test]
fn streams_are_kept_as_they_were_told() {
    let house = House::of(&["BLUE", "GREEN"]);
    for provider in ["anthropic-messages", "openai-chat", "gemini"] {
        let body = json!({"model": format!("{provider}/m"), "input": "FACT1", "stream": true});
        let stream = house.responses(&body);
        assert_eq!(stream.status, 200, "{}", stream.body);
        let last = stream.body.lines().rfind(|line| line.starts_with("data: {")).unwrap();
        let last: Value = serde_json::from_str(last.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(last["type"], "response.completed");
        let id = last["response"]["id"].as_str().unwrap();
        let read = house.gateway.get(&format!("/v1/responses/{id}"));
        assert_eq!(read.json(), last["response"], "{provider}");
    }
}

#[test]
fn an_answer_that_breaks_off_is_kept_as_far_as_it_came() {
    let answers = vec![
        Script::Reply(sse(&chat_chunk("BLUE"))),
        Script::Reply(json(200, "", &answer(Protocol::OpenaiChat, "GREEN", 2))),
    ];
    let provider = Provider::start(answers);
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE));
    let head = "POST /v1/messages\r\nsabir-conversation: cut\r\n";
    let broken = gateway.request(head, &messages("p/m", true));
    assert!(broken.body.contains("event: error"), "{}", broken.body);
    let (_, body) = request(Protocol::AnthropicMessages, "p", "FACT2");
    let reply = gateway.request(head, &body);
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_holds(&provider.received()[1].body, &["hello", "BLUE", "FACT2"]);
}

#[test]
fn a_session_of_an_agent_is_a_conversation_where_everything_is_kept() {
    let house = House::with(&["BLUE", "GREEN", "RED"], "record = \"full\"\n");
    let marked = |text: &str| json!({"role": "user", "content": [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]});
    let plain = |text: &str| json!({"role": "user", "content": text});
    let model =
        |text: &str| json!({"role": "assistant", "content": [{"type": "text", "text": text}]});
    let ask = |turn: usize, messages: Value| {
        let body = json!({"model": "anthropic-messages/m", "max_tokens": 9, "messages": messages})
            .to_string();
        let head = "POST /v1/messages\r\nx-claude-code-session-id: s-1\r\n";
        let reply = house.gateway.request(head, &body);
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert!(reply.header("sabir-turn").is_some());
        // Nothing is changed on the way.
        let sent: Value = serde_json::from_str(&house.sent(Protocol::AnthropicMessages)).unwrap();
        assert_eq!(sent["messages"], messages, "turn {turn}");
    };
    // Nobody waits for what nobody asked for.
    let turns = |count: usize| {
        crate::waiting::wait_for(|| {
            let listed = house.gateway.get("/sabir/v1/conversations/s-1");
            let turns = (listed.status == 200).then(|| listed.json()["turns"].clone());
            let is_there = turns.and_then(|turns| turns.as_array().map(Vec::len)) == Some(count);
            is_there.then_some(()).ok_or(listed.body)
        });
        house.gateway.get("/sabir/v1/conversations/s-1").json()["turns"].clone()
    };
    ask(1, json!([marked("FACT1")]));
    turns(1);
    ask(2, json!([plain("FACT1"), model("BLUE"), marked("FACT2")]));
    let both = turns(2);
    assert_eq!(both[1]["parent"], both[0]["id"], "{both}");
    let reply = house.send_text(Protocol::OpenaiChat, Protocol::Gemini, "s-1", "FACT3");
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_holds(&house.sent(Protocol::Gemini), &["FACT1", "BLUE", "FACT2", "GREEN", "FACT3"]);
}
