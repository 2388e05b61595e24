//! `/v1/conversations`: conversations and their items, as OpenAI's clients keep them.

use sabir_wire::Protocol;
use serde_json::{Value, json};

use crate::harness::*;
use crate::memory::*;
use crate::rounds::streamed;

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

impl House {
    /// Begins a conversation and returns its id.
    fn begin(&self, items: &Value) -> String {
        let body = json!({ "items": items });
        let reply = self.gateway.post("/v1/conversations", &body.to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.json()["id"].as_str().unwrap().to_owned()
    }

    fn list(&self, id: &str, query: &str) -> Value {
        let reply = self.gateway.get(&format!("/v1/conversations/{id}/items?{query}"));
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.json()
    }

    fn add(&self, id: &str, items: &Value) -> Reply {
        let body = json!({ "items": items });
        self.gateway.post(&format!("/v1/conversations/{id}/items"), &body.to_string())
    }

    /// All items, as the SDK pages through them.
    fn all(&self, id: &str) -> Vec<Value> {
        let (mut items, mut after) = (Vec::new(), String::new());
        loop {
            let page = self.list(id, &format!("order=asc{after}"));
            items.extend(page["data"].as_array().unwrap().iter().cloned());
            if page["has_more"] == false {
                return items;
            }
            after = format!("&after={}", page["last_id"].as_str().unwrap());
        }
    }

    fn delete(&self, path: &str) -> Reply {
        self.gateway.request(&format!("DELETE {path}"), "")
    }
}

/// What items say, whatever their ids.
fn texts(items: &[Value]) -> Vec<String> {
    items.iter().map(|item| item["content"][0]["text"].as_str().unwrap().to_owned()).collect()
}

fn ids(items: &[Value]) -> Vec<String> {
    items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn assert_refused(reply: &Reply, status: u16, message: &str) {
    assert_eq!(reply.status, status, "{}", reply.body);
    let error = &reply.json()["error"];
    assert_eq!(error["message"], message);
    assert_eq!(error["type"], "invalid_request_error", "{}", reply.body);
}

#[test]
fn a_conversation_is_begun_read_changed_and_forgotten() {
    let house = House::of(&[]);
    let created = house.gateway.post("/v1/conversations", r#"{"metadata":{"topic":"demo"}}"#);
    assert_eq!(created.status, 200, "{}", created.body);
    let created = created.json();
    let id = created["id"].as_str().unwrap();
    assert!(id.starts_with("conv_"), "{id}");
    assert!(created["created_at"].as_i64().unwrap() > 1_600_000_000);
    let expected = json!({"id": id, "object": "conversation", "created_at": created["created_at"],
        "metadata": {"topic": "demo"}});
    assert_eq!(created, expected);
    let path = format!("/v1/conversations/{id}");
    assert_eq!(house.gateway.get(&path).json(), expected);
    let changed = house.gateway.post(&path, r#"{"metadata":{"a":"b"}}"#);
    assert_eq!((changed.status, &changed.json()["metadata"]), (200, &json!({"a": "b"})));
    assert_eq!(house.gateway.get(&path).json()["metadata"], json!({"a": "b"}));
    let deleted = house.delete(&path);
    let expected = json!({"id": id, "object": "conversation.deleted", "deleted": true});
    assert_eq!((deleted.status, deleted.json()), (200, expected));
    for gone in ["GET", "DELETE"] {
        let reply = house.gateway.request(&format!("{gone} {path}"), "");
        assert_refused(&reply, 404, &format!("Conversation with id '{id}' not found."));
    }
}

#[test]
fn a_conversation_may_begin_with_nothing() {
    let house = House::of(&[]);
    for body in ["", "{}", r#"{"items":[]}"#, r#"{"items":null,"metadata":null}"#] {
        let created = house.gateway.post("/v1/conversations", body);
        assert_eq!((created.status, &created.json()["metadata"]), (200, &json!({})), "{body}");
        let items = house.list(created.json()["id"].as_str().unwrap(), "");
        let expected = json!({"object": "list", "data": [], "first_id": null, "last_id": null,
            "has_more": false});
        assert_eq!(items, expected);
    }
}

#[test]
fn what_cannot_be_kept_is_refused_in_the_vendors_words() {
    let house = House::of(&[]);
    let post = |path: &str, body: &Value| house.gateway.post(path, &body.to_string());
    let many: Vec<Value> = (0..21).map(|number| user(&number.to_string())).collect();
    let too_many = "Invalid 'items': array too long. Expected an array with maximum length 20, but got an array with \
                    length 21 instead.";
    let reply = post("/v1/conversations", &json!({ "items": many }));
    assert_refused(&reply, 400, too_many);
    assert_eq!(reply.json()["error"]["param"], "items");
    assert_eq!(reply.json()["error"]["code"], "array_above_max_length");
    let id = house.begin(&json!([]));
    let path = format!("/v1/conversations/{id}");
    assert_refused(&house.add(&id, &json!(many)), 400, too_many);
    let reply = post(&format!("{path}/items"), &json!({}));
    assert_refused(&reply, 400, "Missing required parameter: 'items'.");
    let reply = post(&path, &json!({}));
    assert_refused(&reply, 400, "Missing required parameter: 'metadata'.");
    let reply = post(&path, &json!({"metadata": {"a": "x".repeat(513)}}));
    let message = "Invalid 'metadata.a': string too long. Expected a string with maximum length 512, but got a string \
                   with length 513 instead.";
    assert_refused(&reply, 400, message);
    assert_eq!(reply.json()["error"]["param"], "metadata.a");
    let reply = house.add(&id, &json!(["hi"]));
    let message = "Invalid type for 'items[0]': expected an object, but got a string instead.";
    assert_refused(&reply, 400, message);
    let reply = house.add(&id, &json!([user("a"), {"role": 1, "content": "b"}]));
    assert_eq!((reply.status, &reply.json()["error"]["param"]), (400, &json!("items[1].role")));
    for query in ["limit=0", "limit=101", "order=up"] {
        assert_eq!(house.gateway.get(&format!("{path}/items?{query}")).status, 400, "{query}");
    }
    let reply = house.gateway.get(&format!("{path}/items?after=msg_no"));
    assert_refused(&reply, 404, "Item with id 'msg_no' not found.");
    assert_eq!(house.all(&id).len(), 0);
}

#[test]
fn items_are_listed_in_pages_and_read_one_by_one() {
    let house = House::of(&[]);
    let many: Vec<Value> = (0..20).map(|number| user(&format!("FACT{number}"))).collect();
    let id = house.begin(&json!(many));
    let more: Vec<Value> = (20..45).map(|number| user(&format!("FACT{number}"))).collect();
    let added = house.add(&id, &json!(more[..20])).json();
    assert_eq!(added["object"], "list");
    assert_eq!(added["has_more"], false);
    assert_eq!(added["data"].as_array().unwrap().len(), 20);
    house.add(&id, &json!(more[20..]));
    let all = house.all(&id);
    let expected: Vec<String> = (0..45).map(|number| format!("FACT{number}")).collect();
    assert_eq!(texts(&all), expected);
    assert_eq!(added["data"].as_array().unwrap()[..], all[20..40]);
    assert_eq!(added["first_id"], all[20]["id"]);
    assert_eq!(added["last_id"], all[39]["id"]);
    let newest = house.list(&id, "limit=2");
    assert_eq!(texts(newest["data"].as_array().unwrap()), ["FACT44", "FACT43"]);
    assert_eq!((&newest["first_id"], &newest["last_id"]), (&all[44]["id"], &all[43]["id"]));
    assert_eq!(newest["has_more"], true);
    let next = house.list(&id, &format!("limit=2&after={}", all[1]["id"].as_str().unwrap()));
    assert_eq!((&next["data"], &next["has_more"]), (&json!([all[0]]), &json!(false)));
    let read = house
        .gateway
        .get(&format!("/v1/conversations/{id}/items/{}", all[7]["id"].as_str().unwrap()));
    assert_eq!((read.status, read.json()), (200, all[7].clone()));
    let expected = json!({"id": all[7]["id"], "type": "message", "role": "user", "status": "completed",
        "content": [{"type": "input_text", "text": "FACT7"}]});
    assert_eq!(all[7], expected);
    let unknown = house.gateway.get(&format!("/v1/conversations/{id}/items/msg_no"));
    assert_refused(&unknown, 404, "Item with id 'msg_no' not found.");
}

#[test]
fn items_of_every_kind_stand_where_they_were_put() {
    let house = House::of(&["BLUE"]);
    let items = json!([
        {"role": "developer", "content": "be KIND"},
        {"role": "user", "content": [{"type": "input_text", "text": "FACT1"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "FOUND"},
    ]);
    let id = house.begin(&items);
    let all = house.all(&id);
    let kinds: Vec<&str> = all.iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "message", "reasoning", "function_call", "function_call_output"]);
    assert_eq!(all[2]["id"], "rs_1");
    for (item, prefix) in all.iter().zip(["msg_", "msg_", "rs_", "fc_", "fco_"]) {
        assert!(item["id"].as_str().unwrap().starts_with(prefix), "{item}");
    }
    let asked = json!({"model": "openai-chat/m", "input": "FACT2", "conversation": id});
    assert_eq!(house.responses(&asked).status, 200);
    let sent = house.sent(Protocol::OpenaiChat);
    for fact in ["KIND", "FACT1", "look", "FOUND", "FACT2"] {
        assert_eq!(sent.matches(fact).count(), 1, "{fact}: {sent}");
    }
}

#[test]
fn an_item_keeps_the_id_that_it_was_sent_with() {
    let house = House::of(&[]);
    let item = |id: &str| json!({"type": "message", "id": id, "role": "user", "content": "FACT1"});
    for name in ["msg_mine", "msg_other"] {
        // The same words in another conversation, under another id.
        let id = house.begin(&json!([item(name)]));
        assert_eq!(house.all(&id)[0]["id"], name);
        let again = house.add(&id, &json!([item(name)]));
        let message = format!(
            "Duplicate item found with id {name}. Remove duplicate items from your input and try again."
        );
        assert_refused(&again, 400, &message);
        let added = house.add(&id, &json!([item("msg_next")])).json();
        assert_eq!(added["data"][0]["id"], "msg_next");
        assert_eq!(ids(&house.all(&id)), [name, "msg_next"]);
    }
}

#[test]
fn items_that_were_only_put_into_a_conversation_are_known_by_their_ids() {
    for upstream in Protocol::ALL {
        let house = House::of(&["BLUE", "GREEN"]);
        let own = json!({"type": "message", "id": "msg_mine", "role": "user", "content": "FACT2"});
        let id = house.begin(&json!([user("FACT1"), own]));
        let call =
            json!({"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"});
        let output =
            json!({"type": "function_call_output", "call_id": "call_1", "output": "FACT3"});
        assert_eq!(house.add(&id, &json!([call, output])).status, 200);
        // The same conversation in the words of another protocol.
        let reply = house.send_text(Protocol::AnthropicMessages, upstream, &id, "FACT4");
        assert_eq!(reply.status, 200, "{}", reply.body);
        let ids = ids(&house.all(&id));
        assert_eq!(ids.len(), 6);
        let refer = |ids: &[String]| {
            let items: Vec<Value> =
                ids.iter().map(|id| json!({"type": "item_reference", "id": id})).collect();
            let model = format!("{}/m", upstream.as_str());
            house.responses(&json!({"model": model, "input": items, "store": false}))
        };
        let reply = refer(&ids);
        assert_eq!(reply.status, 200, "{upstream:?}: {}", reply.body);
        let sent = house.sent(upstream);
        for fact in ["FACT1", "FACT2", "FACT3", "FACT4", "BLUE"] {
            assert_eq!(sent.matches(fact).count(), 1, "{upstream:?} {fact}: {sent}");
        }
        // What was taken out of its place is known by the same ids.
        let path = format!("/v1/conversations/{id}/items/{}", ids[0]);
        assert_eq!(house.delete(&path).status, 200);
        assert_eq!(refer(&ids[1..]).status, 200);
        let unknown = refer(&[ids[0].replace("_0", "_1")]);
        // A provider of the same protocol may know what is unknown here.
        let expected = if upstream == Protocol::OpenaiResponses { 200 } else { 404 };
        assert_eq!(unknown.status, expected, "{}", unknown.body);
    }
}

#[test]
fn an_item_can_be_taken_out_anywhere() {
    let house = House::of(&[]);
    let id = house.begin(&json!([user("A"), user("B"), user("C"), user("D")]));
    let before = house.all(&id);
    let path =
        |at: usize| format!("/v1/conversations/{id}/items/{}", before[at]["id"].as_str().unwrap());
    let deleted = house.delete(&path(1));
    assert_eq!(deleted.status, 200, "{}", deleted.body);
    assert_eq!(deleted.json()["object"], "conversation");
    assert_eq!(deleted.json()["id"], *id);
    let after = house.all(&id);
    assert_eq!(after, [before[0].clone(), before[2].clone(), before[3].clone()]);
    let again = house.delete(&path(1));
    let name = before[1]["id"].as_str().unwrap();
    assert_refused(&again, 404, &format!("Item with id '{name}' not found."));
    assert_eq!(house.delete(&path(3)).status, 200);
    assert_eq!(house.delete(&path(0)).status, 200);
    assert_eq!(house.all(&id), [before[2].clone()]);
    assert_eq!(house.delete(&path(2)).status, 200);
    assert_eq!(house.all(&id).len(), 0);
}

#[test]
fn answers_stand_under_the_ids_that_the_client_was_given() {
    for upstream in Protocol::ALL {
        let house = House::of(&["BLUE", "GREEN", "RED"]);
        let id = house.begin(&json!([user("FACT0")]));
        let model = format!("{}/m", upstream.as_str());
        let mut outputs = Vec::new();
        for fact in ["FACT1", "FACT2"] {
            let asked = json!({"model": model, "input": fact, "conversation": id});
            let reply = house.responses(&asked);
            assert_eq!(reply.status, 200, "{upstream:?}: {}", reply.body);
            outputs.push(reply.json()["output"][0].clone());
        }
        let all = house.all(&id);
        assert_eq!(texts(&all), ["FACT0", "FACT1", "BLUE", "FACT2", "GREEN"], "{upstream:?}");
        assert_eq!((&all[2], &all[4]), (&outputs[0], &outputs[1]), "{upstream:?}");
        // Whatever is taken out, the others keep their names.
        let path = format!("/v1/conversations/{id}/items");
        assert_eq!(house.delete(&format!("{path}/{}", ids(&all)[4])).status, 200);
        assert_eq!(house.all(&id), all[..4]);
        assert_eq!(house.delete(&format!("{path}/{}", ids(&all)[1])).status, 200);
        assert_eq!(house.all(&id), [all[0].clone(), all[2].clone(), all[3].clone()]);
        let asked = json!({"model": model, "input": "FACT3", "conversation": id});
        assert_eq!(house.responses(&asked).status, 200);
        let sent = house.sent(upstream);
        for (fact, count) in [("FACT0", 1), ("FACT1", 0), ("BLUE", 1), ("FACT2", 1), ("FACT3", 1)] {
            assert_eq!(sent.matches(fact).count(), count, "{upstream:?} {fact}: {sent}");
        }
    }
}

#[test]
fn an_answer_names_the_conversation_that_it_is_part_of() {
    for upstream in Protocol::ALL {
        let whole = |number| Script::Reply(json(200, "", &answer(upstream, "BLUE", number)));
        let own: Value =
            serde_json::from_str(&answer(Protocol::OpenaiResponses, "BLUE", 1)).unwrap();
        let piecewise = || streamed(upstream, &own);
        let scripts = vec![whole(1), whole(2), piecewise(), piecewise(), whole(3)];
        let provider = Provider::start(scripts);
        let gateway = Running::start(&(provider.toml("p", upstream.as_str()) + STORE));
        let begun = gateway.post("/v1/conversations", "{}").json();
        let id = begun["id"].as_str().unwrap();
        for is_streamed in [false, true] {
            let by_body = json!({"model": "p/m", "input": "hi", "stream": is_streamed, "conversation": {"id": id}});
            let by_body = gateway.post("/v1/responses", &by_body.to_string());
            let by_header = json!({"model": "p/m", "input": "hi", "stream": is_streamed});
            let head = format!("POST /v1/responses\r\nsabir-conversation: {id}\r\n");
            let by_header = gateway.request(&head, &by_header.to_string());
            for reply in [by_body, by_header] {
                assert_eq!(reply.status, 200, "{}", reply.body);
                let answers: Vec<Value> = match is_streamed {
                    false => vec![reply.json()],
                    true => reply
                        .body
                        .lines()
                        .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
                        .filter_map(|event: Value| event.get("response").cloned())
                        .collect(),
                };
                assert_eq!(answers.len(), if is_streamed { 3 } else { 1 }, "{}", reply.body);
                for answer in answers {
                    assert_eq!(
                        answer["conversation"],
                        json!({"id": id}),
                        "{upstream:?} {}",
                        reply.body
                    );
                    let is_own = answer["id"].as_str().unwrap().starts_with("resp_own");
                    assert_eq!(is_own, upstream == Protocol::OpenaiResponses, "{answer}");
                }
            }
        }
        let alone = gateway.post("/v1/responses", r#"{"model":"p/m","input":"hi"}"#).json();
        assert_eq!(alone.get("conversation"), None, "{alone}");
    }
}

#[test]
fn turns_of_other_protocols_are_items_too() {
    for client in Protocol::ALL {
        for upstream in Protocol::ALL {
            let house = House::of(&["BLUE"]);
            let reply = house.send_text(client, upstream, "new", "FACT1");
            let id = reply.header("sabir-conversation").unwrap().to_owned();
            let all = house.all(&id);
            assert_eq!(texts(&all), ["FACT1", "BLUE"], "{client:?} {upstream:?}");
            let roles = [&all[0]["role"], &all[1]["role"]];
            assert_eq!(roles, [&json!("user"), &json!("assistant")]);
            let path = format!("/v1/conversations/{id}/items/{}", ids(&all)[0]);
            assert_eq!(house.delete(&path).status, 200);
            assert_eq!(house.all(&id), all[1..], "{client:?} {upstream:?}");
        }
    }
}

#[test]
fn results_of_tools_name_their_calls_whatever_the_protocol() {
    // Gemini's clients tell by the order which result belongs to which call.
    let call = json!({"candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model",
        "parts": [{"functionCall": {"name": "look", "args": {"at": 1}}}]}}], "modelVersion": "m"});
    let last = answer(Protocol::Gemini, "BLUE", 2);
    let scripts = [call.to_string(), last].map(|body| Script::Reply(json(200, "", &body))).to_vec();
    let provider = Provider::start(scripts);
    let house = House {
        gateway: Running::start(&(provider.toml("p", "gemini") + STORE)),
        providers: Vec::new(),
    };
    let send = |part: Value| {
        let body = json!({"contents": [{"role": "user", "parts": [part]}]}).to_string();
        let head = "POST /v1beta/models/p/m:generateContent\r\nsabir-conversation: tools\r\n";
        assert_eq!(house.gateway.request(head, &body).status, 200);
    };
    send(json!({"text": "FACT1"}));
    send(json!({"functionResponse": {"name": "look", "response": {"output": "FOUND"}}}));
    let all = house.all("tools");
    let kinds: Vec<&str> = all.iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "function_call", "function_call_output", "message"]);
    assert!(all[1]["call_id"].is_string(), "{all:?}");
    assert_eq!(all[1]["call_id"], all[2]["call_id"]);
}

#[test]
fn a_conversation_that_a_call_works_on_is_locked() {
    let (send, pieces) = std::sync::mpsc::channel();
    let pieces = std::sync::Arc::new(std::sync::Mutex::new(pieces));
    let provider = Provider::start(vec![Script::Pieces(pieces)]);
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE));
    let created = gateway.post("/v1/conversations", r#"{"items":[{"role":"user","content":"A"}]}"#);
    let id = created.json()["id"].as_str().unwrap().to_owned();
    let asked = json!({"model": "p/m", "input": "FACT1", "conversation": id}).to_string();
    let mut first = gateway.send("POST /v1/responses", &asked);
    crate::waiting::wait_for(|| {
        (!provider.received().is_empty()).then_some(()).ok_or("not asked".to_owned())
    });
    let items = format!("/v1/conversations/{id}/items");
    let reply = gateway.post(&items, r#"{"items":[{"role":"user","content":"B"}]}"#);
    let message = "Another process is currently operating on this conversation. Please retry in a few seconds.";
    assert_refused(&reply, 400, message);
    assert_eq!(reply.json()["error"]["code"], "conversation_locked");
    assert_eq!(reply.json()["error"]["param"], "conversation");
    assert_eq!(reply.header("retry-after"), Some("1"));
    assert_eq!(gateway.get(&items).json()["data"].as_array().unwrap().len(), 1);
    send.send(json(200, "", &answer(Protocol::OpenaiChat, "BLUE", 1))).unwrap();
    assert_eq!(Reply::read(&mut first).status, 200);
    assert_eq!(gateway.get(&items).json()["data"].as_array().unwrap().len(), 3);
}

#[test]
fn where_nothing_is_kept_no_conversation_begins() {
    let gateway = Running::start("[store]\nrecord = \"metadata\"\n");
    let reply = gateway.post("/v1/conversations", "{}");
    let message = "This gateway keeps no conversations: set `record = \"stateful\"` in the section `[store]` of its \
                   configuration.";
    assert_refused(&reply, 400, message);
    let reply = gateway.get("/v1/conversations/conv_1");
    assert_refused(&reply, 404, "Conversation with id 'conv_1' not found.");
}

#[test]
fn a_session_of_the_agents_sdk_can_be_replayed() {
    // What OpenAIConversationsSession sends, call by call.
    let house = House::of(&["BLUE"]);
    let id = house.begin(&json!([]));
    assert_eq!(house.all(&id).len(), 0);
    let turn = json!([{"content": "FACT1", "role": "user"},
        {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}", "status": "completed"},
        {"type": "function_call_output", "call_id": "call_1", "output": "FOUND"},
        {"type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "BLUE", "annotations": []}]}]);
    assert_eq!(house.add(&id, &turn).status, 200);
    let all = house.all(&id);
    assert_eq!(all.len(), 4);
    let last = house.list(&id, "limit=1&order=desc");
    let name = last["data"][0]["id"].as_str().unwrap();
    assert_eq!(last["data"][0], all[3]);
    assert_eq!(house.delete(&format!("/v1/conversations/{id}/items/{name}")).status, 200);
    assert_eq!(house.all(&id), all[..3]);
    // Added once more, it says the same again.
    assert_eq!(house.add(&id, &json!([turn[3]])).status, 200);
    let again = house.all(&id);
    assert_eq!(again[..3], all[..3]);
    assert_eq!(again[3]["content"], all[3]["content"]);
    let input: Vec<Value> = all.iter().cloned().chain([user("FACT2")]).collect();
    let reply = house.responses(&json!({"model": "gemini/m", "input": input}));
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_eq!(house.delete(&format!("/v1/conversations/{id}")).status, 200);
}
