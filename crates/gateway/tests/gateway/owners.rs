//! What one key keeps, no other key ever sees: random sequences of everything that two keys may do to each other.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::harness::*;
use crate::memory::STORE;

const KEYS: &str = "[auth]\nrequired = true\n[[auth.key]]\nname = \"a\"\nvalue = { value = \"key-0-123456\" }\n\
                    [[auth.key]]\nname = \"b\"\nvalue = { value = \"key-1-123456\" }\n";

/// Something that a key does, to what it or the other one made: `at` picks one of all that there is.
#[derive(Clone, Debug)]
struct Step {
    key: usize,
    act: Act,
    at: prop::sample::Index,
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Answer,
    Chain,
    Refer,
    ReadAnswer,
    ListInput,
    Submit,
    DeleteAnswer,
    Begin,
    BeginNamed,
    Call,
    CallByHeader,
    CallByName,
    Read,
    Change,
    ListItems,
    AddItem,
    ReadItem,
    DeleteItem,
    Delete,
    List,
    Turns,
    Messages,
    Fork,
    ForkByHeader,
    DeleteOwn,
}

fn step() -> impl Strategy<Value = Step> {
    let act = prop::sample::select(vec![
        Act::Answer,
        Act::Chain,
        Act::Refer,
        Act::ReadAnswer,
        Act::ListInput,
        Act::Submit,
        Act::DeleteAnswer,
        Act::Begin,
        Act::BeginNamed,
        Act::Call,
        Act::CallByHeader,
        Act::CallByName,
        Act::Read,
        Act::Change,
        Act::ListItems,
        Act::AddItem,
        Act::ReadItem,
        Act::DeleteItem,
        Act::Delete,
        Act::List,
        Act::Turns,
        Act::Messages,
        Act::Fork,
        Act::ForkByHeader,
        Act::DeleteOwn,
    ]);
    let at = any::<prop::sample::Index>();
    (0..2_usize, act, at).prop_map(|(key, act, at)| Step { key, act, at })
}

/// Something that has an id.
#[derive(Clone, Debug)]
struct Thing {
    owner: usize,
    id: String,
}

/// A gateway with two keys, and all ids that either was ever told.
struct Town {
    gateway: Running,
    provider: Provider,
    answers: Vec<Thing>,
    conversations: Vec<Thing>,
    items: Vec<Thing>,
    turns: Vec<Thing>,
    calls: usize,
}

/// What each key says has this in it, and nothing else has.
fn mark(key: usize) -> &'static str {
    ["APPLE", "PEAR"][key]
}

impl Town {
    fn new() -> Self {
        let provider = Provider::whole(&chat_answer("fine"));
        let toml = provider.toml("p", "openai-chat") + STORE + KEYS;
        let gateway = Running::start(&toml);
        let (answers, conversations) = (Vec::new(), Vec::new());
        let (items, turns) = (Vec::new(), Vec::new());
        Self { gateway, provider, answers, conversations, items, turns, calls: 0 }
    }

    /// Asks, and looks whether anything of the other key comes back or goes to the provider.
    fn ask(&mut self, key: usize, head: &str, body: &Value) -> Reply {
        let asked = self.provider.received().len();
        let (line, headers) = head.split_once("\r\n").unwrap_or((head, ""));
        let head = format!("{line}\r\nauthorization: Bearer key-{key}-123456\r\n{headers}");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let reply = self.gateway.request(&head, &body);
        assert!(reply.status < 500, "{head}: {}", reply.body);
        let other = mark(1 - key);
        assert!(!reply.body.contains(other), "{head} shows {}", reply.body);
        for received in &self.provider.received()[asked..] {
            assert!(!received.body.contains(other), "{head} sends {}", received.body);
        }
        self.note(key, &reply);
        reply
    }

    /// Remembers every id that a key is told.
    fn note(&mut self, key: usize, reply: &Reply) {
        for (header, things) in
            [("sabir-turn", &mut self.turns), ("sabir-conversation", &mut self.conversations)]
        {
            let thing = reply.header(header).map(|id| Thing { owner: key, id: id.to_owned() });
            things.extend(thing.filter(|_| reply.status == 200));
        }
        let Ok(body) = serde_json::from_str::<Value>(&reply.body) else { return };
        let mut found = Vec::new();
        collect_ids(&body, &mut found);
        for id in found {
            let things = match id.split('_').next() {
                Some("resp") => &mut self.answers,
                Some("conv") => &mut self.conversations,
                Some("msg" | "rs" | "fc" | "fco") => &mut self.items,
                _ => continue,
            };
            if reply.status == 200 && !things.iter().any(|thing| thing.id == id) {
                things.push(Thing { owner: key, id });
            }
        }
    }

    fn words(&mut self, key: usize) -> String {
        self.calls += 1;
        // Some words are the same again and again: equal messages of two keys are two messages.
        format!("{} {}", mark(key), self.calls % 3)
    }

    fn take(&mut self, step: &Step) {
        let key = step.key;
        let pick = |things: &[Thing]| match things {
            [] => Thing { owner: 2, id: "conv_never".to_owned() },
            _ => step.at.get(things).clone(),
        };
        let (answer, conversation) = (pick(&self.answers), pick(&self.conversations));
        let (item, turn) = (pick(&self.items), pick(&self.turns));
        let words = self.words(key);
        let picked = Picked { key, answer, conversation, item, turn, words };
        let (owner, head, body) = about_answers(step.act, &picked)
            .unwrap_or_else(|| about_conversations(step.act, &picked));
        let conversation = &picked.conversation;
        let reply = self.ask(key, &head, &body);
        // A name that both may give is not the other's.
        let is_foreign = owner == 1 - key && conversation.id != "shared";
        if is_foreign {
            assert!(matches!(reply.status, 400 | 404), "{head}: {} {}", reply.status, reply.body);
            let unknown = reply.body.contains("not found");
            assert!(unknown, "{head}: {}", reply.body);
        }
    }

    /// Whatever the other one tried, all that a key has is there, and every list is its own.
    fn check(&mut self) {
        for key in 0..2 {
            let listing = self.ask(key, "GET /sabir/v1/conversations?limit=100", &Value::Null);
            for conversation in listing.json()["data"].as_array().unwrap() {
                let id = conversation["id"].as_str().unwrap();
                let is_own = |thing: &Thing| thing.id == id && thing.owner == key;
                assert!(id == "shared" || self.conversations.iter().any(is_own), "{id}");
                let items = format!("GET /v1/conversations/{id}/items?limit=100");
                assert_eq!(self.ask(key, &items, &Value::Null).status, 200);
                let messages = format!("GET /sabir/v1/conversations/{id}/messages");
                assert_eq!(self.ask(key, &messages, &Value::Null).status, 200);
            }
        }
    }
}

/// What a step is about.
struct Picked {
    key: usize,
    answer: Thing,
    conversation: Thing,
    item: Thing,
    turn: Thing,
    words: String,
}

/// Whose thing is asked for, the head of the request and its body.
type Asked = (usize, String, Value);

impl Picked {
    /// A call with one more member.
    fn call_with(&self, name: &str, value: &str) -> Value {
        json!({"model": "p/m", "input": self.words, name: value})
    }
}

fn about_answers(act: Act, picked: &Picked) -> Option<Asked> {
    let Picked { key, answer, item, words, .. } = picked;
    let key = *key;
    let nothing = Value::Null;
    Some(match act {
        Act::Answer => {
            let call = json!({"model": "p/m", "input": words});
            (key, "POST /v1/responses".to_owned(), call)
        }
        Act::Chain => (
            answer.owner,
            "POST /v1/responses".to_owned(),
            picked.call_with("previous_response_id", &answer.id),
        ),
        Act::Refer => {
            let input = json!([{"type": "item_reference", "id": item.id}]);
            let body = json!({"model": "p/m", "input": input});
            // What was in a conversation only is no item of an answer.
            let owner = if item.owner == key { 2 } else { item.owner };
            (owner, "POST /v1/responses".to_owned(), body)
        }
        Act::ReadAnswer => (answer.owner, format!("GET /v1/responses/{}", answer.id), nothing),
        Act::ListInput => {
            (answer.owner, format!("GET /v1/responses/{}/input_items", answer.id), nothing)
        }
        Act::Submit => {
            let head = format!("POST /v1/responses/{}/submit_tool_outputs", answer.id);
            (answer.owner, head, json!({"tool_outputs": []}))
        }
        Act::DeleteAnswer => (answer.owner, format!("DELETE /v1/responses/{}", answer.id), nothing),
        _ => return None,
    })
}

fn about_conversations(act: Act, picked: &Picked) -> Asked {
    let Picked { key, conversation, item, turn, words, .. } = picked;
    let key = *key;
    let chat = json!({"model": "p/m", "messages": [{"role": "user", "content": words}]});
    let items = json!({"items": [{"role": "user", "content": words}]});
    let vendor = format!("/v1/conversations/{}", conversation.id);
    let own = format!("/sabir/v1/conversations/{}", conversation.id);
    let nothing = Value::Null;
    match act {
        Act::Begin => (key, "POST /v1/conversations".to_owned(), items),
        Act::BeginNamed => {
            let transcript = json!([{"role": "user", "content": words}]);
            let body = json!({"id": "shared", "transcript": transcript});
            (2, "POST /sabir/v1/conversations".to_owned(), body)
        }
        Act::Call => (
            conversation.owner,
            "POST /v1/responses".to_owned(),
            picked.call_with("conversation", &conversation.id),
        ),
        Act::CallByHeader => {
            let head =
                format!("POST /v1/chat/completions\r\nsabir-conversation: {}\r\n", conversation.id);
            let is_given = conversation.id.starts_with("conv_");
            (if is_given { conversation.owner } else { key }, head, chat)
        }
        Act::CallByName => {
            let head = "POST /v1/chat/completions\r\nsabir-conversation: shared\r\n";
            (key, head.to_owned(), chat)
        }
        Act::Read => (conversation.owner, format!("GET {vendor}"), nothing),
        Act::Change => {
            let body = json!({"metadata": {"by": words}});
            (conversation.owner, format!("POST {vendor}"), body)
        }
        Act::ListItems => (conversation.owner, format!("GET {vendor}/items?limit=100"), nothing),
        Act::AddItem => (conversation.owner, format!("POST {vendor}/items"), items),
        Act::ReadItem => (conversation.owner, format!("GET {vendor}/items/{}", item.id), nothing),
        Act::DeleteItem => {
            (conversation.owner, format!("DELETE {vendor}/items/{}", item.id), nothing)
        }
        Act::Delete => (conversation.owner, format!("DELETE {vendor}"), nothing),
        Act::List => (key, "GET /sabir/v1/conversations?limit=100".to_owned(), nothing),
        Act::Turns => (conversation.owner, format!("GET {own}"), nothing),
        Act::Messages => (conversation.owner, format!("GET {own}/messages"), nothing),
        Act::Fork => (conversation.owner, format!("POST {own}/fork"), json!({"after": turn.id})),
        Act::ForkByHeader => {
            let head = format!(
                "POST /v1/chat/completions\r\nsabir-conversation: {}@{}\r\n",
                conversation.id, turn.id
            );
            (conversation.owner, head, chat)
        }
        Act::DeleteOwn => (conversation.owner, format!("DELETE {own}"), nothing),
        _ => unreachable!("all others are about answers"),
    }
}

/// Every value of a member `id`, however deep.
fn collect_ids(value: &Value, ids: &mut Vec<String>) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| collect_ids(value, ids)),
        Value::Object(members) => {
            for (name, value) in members {
                match value.as_str() {
                    Some(id) if name == "id" => ids.push(id.to_owned()),
                    _ => collect_ids(value, ids),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn nothing_of_one_key_is_ever_visible_to_another() {
    let config =
        Config { cases: 24, max_shrink_iters: 64, failure_persistence: None, ..Config::default() };
    let sequences = prop::collection::vec(step(), 30..60);
    let run = |steps: Vec<Step>| {
        let mut town = Town::new();
        steps.iter().for_each(|step| town.take(step));
        town.check();
        Ok(())
    };
    TestRunner::new(config).run(&sequences, run).unwrap();
}
