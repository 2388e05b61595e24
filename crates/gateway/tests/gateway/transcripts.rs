//! `files:`: conversations as transcripts that people can read and edit.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::harness::*;
use crate::waiting::wait_for;

/// A folder of conversations that goes with its test.
pub(crate) struct Sessions(pub(crate) PathBuf);

impl Sessions {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("sessions-{}-{number}", std::process::id());
        Self(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name))
    }

    pub(crate) fn toml(&self, providers: &str) -> String {
        format!("{providers}\n[store]\nurl = \"files:{}\"\n", self.0.display())
    }

    pub(crate) fn file(&self, id: &str) -> PathBuf {
        self.0.join("sessions").join(id).join("transcript.json")
    }

    pub(crate) fn read(&self, id: &str) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.file(id)).unwrap()).unwrap()
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn ask(gateway: &Running, conversation: &str, text: &str) -> Reply {
    let body = json!({"model": "p/m", "messages": [{"role": "user", "content": text}]});
    let head = format!("POST /v1/chat/completions\r\nsabir-conversation: {conversation}\r\n");
    gateway.request(&head, &body.to_string())
}

pub(crate) fn answers(count: usize) -> Provider {
    let answer = |number| json(200, "", &chat_answer(&format!("answer {number}")));
    Provider::start((0..count).map(|number| Script::Reply(answer(number))).collect())
}

#[test]
fn a_conversation_is_a_file_and_an_edited_file_is_what_is_sent() {
    let (sessions, provider) = (Sessions::new(), answers(2));
    let gateway = Running::start(&sessions.toml(&provider.toml("p", "openai-chat")));
    let reply = ask(&gateway, "talk", "My name is Ada.");
    assert_eq!(reply.status, 200, "{}", reply.body);
    let kept = sessions.read("talk");
    assert_eq!(kept[0]["content"], "My name is Ada.");
    assert_eq!((&kept[1]["role"], &kept[1]["content"]), (&json!("assistant"), &json!("answer 0")));
    assert!(kept[1]["timestamp"].as_i64().unwrap() > 1_700_000_000_000);
    let text = std::fs::read_to_string(sessions.file("talk")).unwrap();
    assert_eq!(text, serde_json::to_string_pretty(&kept).unwrap());

    let edited = text.replace("Ada", "Grace").replace("answer 0", "Hello, Grace");
    std::fs::write(sessions.file("talk"), edited).unwrap();
    assert_eq!(ask(&gateway, "talk", "Who am I?").status, 200);
    let sent: Value = serde_json::from_str(&provider.received()[1].body).unwrap();
    let texts: Vec<&str> = sent["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["content"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["My name is Grace.", "Hello, Grace", "Who am I?"]);
    assert_eq!(sessions.read("talk").as_array().unwrap().len(), 4);
}

#[test]
fn a_restart_goes_on_where_the_file_ends_and_lists_it() {
    let (sessions, provider) = (Sessions::new(), answers(2));
    let toml = sessions.toml(&provider.toml("p", "openai-chat"));
    let mut first = Running::start(&toml);
    assert_eq!(ask(&first, "talk", "one").status, 200);
    first.stop();
    let second = Running::start(&toml);
    assert_eq!(ask(&second, "talk", "two").status, 200);
    assert_eq!(sessions.read("talk").as_array().unwrap().len(), 4);
    let listed = second.get("/sabir/v1/conversations?query=one").json();
    let found =
        (&listed["data"][0]["id"], &listed["data"][0]["title"], &listed["data"][0]["turns"]);
    assert_eq!(found, (&json!("talk"), &json!("one"), &json!(2)));
    let transcript = second.get("/sabir/v1/conversations/talk/messages").json();
    assert_eq!(transcript[3]["content"], "answer 1");
}

#[test]
fn clients_of_every_protocol_share_a_file() {
    let (sessions, provider) = (Sessions::new(), answers(2));
    let gateway = Running::start(&sessions.toml(&provider.toml("p", "openai-chat")));
    let head = "POST /v1/messages\r\nsabir-conversation: talk\r\nanthropic-version: 2023-06-01\r\n";
    let body = r#"{"model":"p/m","max_tokens":9,"system":"Be brief.","messages":[{"role":"user","content":"Hi"}]}"#;
    let reply = gateway.request(head, body);
    assert_eq!(reply.status, 200, "{}", reply.body);
    let head = "POST /v1/responses\r\nsabir-conversation: talk\r\n";
    let reply = gateway.request(head, r#"{"model":"p/m","input":"And now?"}"#);
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_eq!(reply.json()["store"], false);
    let kept = sessions.read("talk");
    let roles: Vec<&str> =
        kept.as_array().unwrap().iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user", "assistant"]);
}

#[test]
fn providers_of_every_protocol_answer_into_a_file() {
    let sessions = Sessions::new();
    let gateway = Running::start(&sessions.toml(""));
    let providers = ["sim-chat", "sim-responses", "sim-anthropic", "sim-gemini"];
    for (provider, stream) in providers.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let message = json!({"role": "user", "content": "Hi"});
        let body =
            json!({"model": format!("{provider}/m"), "stream": stream, "messages": [message]});
        let head = "POST /v1/chat/completions\r\nsabir-conversation: talk\r\n";
        let reply = gateway.request(head, &body.to_string());
        assert_eq!(reply.status, 200, "{provider}: {}", reply.body);
        assert!(!reply.body.contains("error"), "{provider}: {}", reply.body);
    }
    assert_eq!(sessions.read("talk").as_array().unwrap().len(), 2 * 2 * providers.len());
}

#[test]
fn a_file_that_nobody_can_read_is_neither_sent_nor_replaced() {
    let (sessions, provider) = (Sessions::new(), answers(1));
    let gateway = Running::start(&sessions.toml(&provider.toml("p", "openai-chat")));
    let file = sessions.file("talk");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "not a transcript").unwrap();
    let reply = ask(&gateway, "talk", "Hi");
    assert_eq!(reply.status, 503, "{}", reply.body);
    assert!(reply.body.contains("cannot be read"), "{}", reply.body);
    assert!(reply.body.contains(&file.display().to_string()), "{}", reply.body);
    assert!(provider.received().is_empty());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "not a transcript");
    std::fs::write(&file, "[]").unwrap();
    assert_eq!(ask(&gateway, "talk", "Hi").status, 200);
}

#[test]
fn a_file_whose_name_has_dots_goes_on_and_none_is_begun_under_such_a_name() {
    let (sessions, provider) = (Sessions::new(), answers(1));
    let gateway = Running::start(&sessions.toml(&provider.toml("p", "openai-chat")));
    let refused = ask(&gateway, "notes.v1", "Hi");
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert!(refused.body.contains("letters, digits, `_` or `-`"), "{}", refused.body);
    let file = sessions.file("notes.v1");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, r#"[{"role":"user","content":"My name is Ada."}]"#).unwrap();
    let reply = ask(&gateway, "notes.v1", "Who am I?");
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert!(provider.received()[0].body.contains("Ada"));
    assert_eq!(sessions.read("notes.v1").as_array().unwrap().len(), 3);
}

#[test]
fn a_file_may_have_a_name_in_any_alphabet() {
    let (sessions, provider) = (Sessions::new(), answers(1));
    let gateway = Running::start(&sessions.toml(&provider.toml("p", "openai-chat")));
    let file = sessions.file("заметки");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, r#"[{"role":"user","content":"My name is Ada."}]"#).unwrap();
    let listed = gateway.get("/sabir/v1/conversations").json();
    assert_eq!(listed["data"][0]["id"], "заметки", "{listed}");
    let path = "/sabir/v1/conversations/%D0%B7%D0%B0%D0%BC%D0%B5%D1%82%D0%BA%D0%B8/messages";
    assert_eq!(gateway.get(path).json()[0]["content"], "My name is Ada.");
    let reply = ask(&gateway, "заметки", "Who am I?");
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_eq!(sessions.read("заметки").as_array().unwrap().len(), 3);
    assert_eq!(ask(&gateway, "записки", "Hi").status, 400);
}

#[test]
fn a_file_that_nobody_can_read_can_be_deleted() {
    let sessions = Sessions::new();
    let gateway = Running::start(&sessions.toml(""));
    let file = sessions.file("broken");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    for content in [&b"[{\"role\":"[..], b"\xff"] {
        std::fs::write(&file, content).unwrap();
        let reply = gateway.request("DELETE /sabir/v1/conversations/broken", "");
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert!(!file.exists());
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    }
    assert_eq!(gateway.request("DELETE /sabir/v1/conversations/broken", "").status, 404);
}

#[test]
fn an_id_that_can_be_no_file_is_unknown() {
    let (sessions, provider) = (Sessions::new(), answers(0));
    let gateway = Running::start(&sessions.toml(&provider.toml("p", "openai-chat")));
    for id in ["a%20b", ".hidden", "..", "%2e%2e%2fx", "caf%C3%A9", "a%00b"] {
        for request in ["GET", "DELETE"] {
            let reply = gateway.request(&format!("{request} /sabir/v1/conversations/{id}"), "");
            assert_eq!(reply.status, 404, "{request} {id}: {}", reply.body);
        }
        let reply = gateway.post(&format!("/sabir/v1/conversations/{id}/fork"), "{}");
        assert_eq!(reply.status, 404, "{id}: {}", reply.body);
        let reply = gateway.get(&format!("/sabir/v1/conversations?after={id}"));
        assert_eq!(reply.status, 404, "{id}: {}", reply.body);
    }
    for id in [".hidden", "a.", ".."] {
        let reply = ask(&gateway, id, "Hi");
        assert_eq!(reply.status, 400, "{id}: {}", reply.body);
    }
}

#[test]
fn a_call_that_is_refused_begins_no_file() {
    let refused = json(401, "", r#"{"error":{"message":"no"}}"#);
    let provider = Provider::start(vec![Script::Reply(refused.clone()), Script::Reply(refused)]);
    let sessions = Sessions::new();
    let gateway = Running::start(&sessions.toml(&provider.toml("p", "openai-chat")));
    assert_eq!(ask(&gateway, "talk", "Hi").status, 401);
    let folder = sessions.0.join("sessions").join("talk");
    wait_for(|| if folder.exists() { Err("the file stays".to_owned()) } else { Ok(()) });
    let file = sessions.file("mine");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "[]").unwrap();
    assert_eq!(ask(&gateway, "mine", "Hi").status, 401);
    assert_eq!(gateway.get("/sabir/v1/conversations/mine").status, 200);
    assert!(file.exists());
}

#[test]
fn a_session_that_went_another_way_is_written_anew_behind_what_both_have() {
    let sessions = Sessions::new();
    let gateway = Running::start(&sessions.toml(""));
    let message = |role: &str, text: &str| json!({"role": role, "content": text});
    let join = |messages: &[Value]| {
        let order = json!({"id": "s-1", "as": "anthropic-messages", "join": true,
            "messages": {"messages": messages}});
        let reply = gateway.post("/sabir/v1/conversations", &order.to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.json()
    };
    let texts = |id: &str| -> Vec<String> {
        let kept = sessions.read(id);
        let texts = kept.as_array().unwrap().iter();
        texts.map(|it| it["content"].as_str().unwrap().to_owned()).collect()
    };
    let mut messages = vec![message("user", "FACT1"), message("assistant", "BLUE")];
    messages.extend([message("user", "wrong"), message("assistant", "RED")]);
    join(&messages);
    // What somebody has added to a message that stays, stays.
    let marked = std::fs::read_to_string(sessions.file("s-1")).unwrap();
    let marked = marked.replace("\"content\": \"BLUE\"", "\"mark\": 1,\n    \"content\": \"BLUE\"");
    std::fs::write(sessions.file("s-1"), marked).unwrap();
    messages.truncate(2);
    messages.extend([
        message("user", "right"),
        message("assistant", "GREEN"),
        message("user", "more"),
    ]);
    let joined = join(&messages);
    assert_eq!((&joined["added"], &joined["turns"]), (&json!(3), &json!(3)));
    assert_eq!(texts("s-1"), ["FACT1", "BLUE", "right", "GREEN", "more"]);
    assert_eq!(sessions.read("s-1")[1]["mark"], 1);
    assert_eq!(texts(joined["kept_as"].as_str().unwrap()), ["FACT1", "BLUE", "wrong", "RED"]);
    assert_eq!(gateway.get("/sabir/v1/conversations").json()["data"].as_array().unwrap().len(), 2);
    assert_eq!(join(&messages)["added"], 0);
}

#[test]
fn instructions_that_came_as_an_item_stay_in_the_file() {
    let (sessions, provider) = (Sessions::new(), answers(2));
    let gateway = Running::start(&sessions.toml(&provider.toml("p", "openai-chat")));
    let roles = |id: &str| -> Vec<String> {
        let kept = sessions.read(id);
        let roles = kept.as_array().unwrap().iter();
        roles.map(|it| it["role"].as_str().unwrap().to_owned()).collect()
    };
    let input =
        json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]);
    let order = json!({"id": "imported", "as": "openai-responses", "messages": {"input": &input}});
    let reply = gateway.post("/sabir/v1/conversations", &order.to_string());
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_eq!(roles("imported"), ["system", "user"]);

    let head = "POST /v1/responses\r\nsabir-conversation: asked\r\n";
    for input in [input, json!("again")] {
        let reply = gateway.request(head, &json!({"model": "p/m", "input": input}).to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
    }
    assert_eq!(roles("asked"), ["system", "user", "assistant", "user", "assistant"]);
}

#[test]
fn a_file_that_nobody_can_read_is_listed_as_such() {
    let sessions = Sessions::new();
    let gateway = Running::start(&sessions.toml(""));
    for (id, content) in [
        ("broken", &b"[{\"role\":"[..]),
        ("halved", br#"[{"role":"user","content":"a\ud800b"}]"#),
        ("whole", b"[]"),
    ] {
        let file = sessions.file(id);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, content).unwrap();
    }
    let listed = gateway.get("/sabir/v1/conversations").json();
    let unreadable = |id: &str| {
        let listed = listed["data"].as_array().unwrap().iter().find(|it| it["id"] == id).unwrap();
        listed["unreadable"].as_str().map(str::to_owned)
    };
    assert!(unreadable("broken").unwrap().contains("cannot be read"), "{listed}");
    assert!(unreadable("halved").unwrap().contains("half of a surrogate pair"), "{listed}");
    assert_eq!(unreadable("whole"), None);
    let shown = gateway.get("/sabir/v1/conversations/halved/messages");
    assert_eq!(shown.status, 503, "{}", shown.body);
    assert!(shown.body.contains("/0/content"), "{}", shown.body);
}

/// Calls of one answer, as Responses has them, and their results.
fn parallel_calls() -> Value {
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "look", "arguments": "{}"});
    let result = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": id});
    let text = |role: &str, text: &str| json!({"type": "message", "role": role, "content": text});
    json!([
        text("user", "Hi"),
        text("assistant", "I look."),
        call("c1"),
        call("c2"),
        result("c1"),
        result("c2")
    ])
}

#[test]
fn calls_of_one_answer_are_one_message_of_a_transcript() {
    let sessions = Sessions::new();
    for toml in [String::new(), sessions.toml("")] {
        let gateway = Running::start(&toml);
        let order = json!({"id": "talk", "as": "openai-responses", "messages": {"input": parallel_calls()}});
        let begun = gateway.post("/sabir/v1/conversations", &order.to_string());
        assert_eq!(begun.status, 200, "{}", begun.body);
        let transcript = gateway.get("/sabir/v1/conversations/talk/messages").json();
        let outline: Vec<(&str, usize)> = transcript
            .as_array()
            .unwrap()
            .iter()
            .map(|it| {
                (it["role"].as_str().unwrap(), it["tool_calls"].as_array().map_or(0, Vec::len))
            })
            .collect();
        assert_eq!(outline, [("user", 0), ("assistant", 2), ("tool", 0), ("tool", 0)]);
        assert_eq!(transcript[1]["content"], "I look.");
        // So a server of Chat takes it, which wants each call answered right behind it.
        let copy = json!({"id": "copy", "transcript": transcript});
        assert_eq!(gateway.post("/sabir/v1/conversations", &copy.to_string()).status, 200);
        let asked =
            json!({"model": "sim-chat/m", "messages": [{"role": "user", "content": "Go on"}]});
        let head = "POST /v1/chat/completions\r\nsabir-conversation: copy\r\n";
        let reply = gateway.request(head, &asked.to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
    }
    assert_eq!(sessions.read("talk").as_array().unwrap().len(), 4);
}

#[test]
fn results_of_several_calls_stay_where_a_session_went_another_way() {
    let text = |role: &str, text: &str| json!({"role": role, "content": text});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "look", "input": {}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": id});
    let messages = vec![
        text("user", "Hi"),
        json!({"role": "assistant", "content": [call("c1"), call("c2")]}),
        json!({"role": "user", "content": [result("c1"), result("c2")]}),
        text("assistant", "BLUE"),
    ];
    let item =
        |it: &Value| json!({"type": "message", "role": it["role"], "content": it["content"]});
    let mut items = parallel_calls().as_array().unwrap().clone();
    items.push(item(&messages[3]));
    for (protocol, list, begun) in
        [("anthropic-messages", "messages", messages), ("openai-responses", "input", items)]
    {
        let sessions = Sessions::new();
        let gateway = Running::start(&sessions.toml(""));
        let join = |way: [&str; 2]| {
            let texts = [text("user", way[0]), text("assistant", way[1])];
            let more = texts.iter().map(|it| if list == "input" { item(it) } else { it.clone() });
            let history: Vec<Value> = begun.iter().cloned().chain(more).collect();
            let order =
                json!({"id": "s-1", "as": protocol, "join": true, "messages": {list: history}});
            let reply = gateway.post("/sabir/v1/conversations", &order.to_string());
            assert_eq!(reply.status, 200, "{}", reply.body);
        };
        join(["wrong", "RED"]);
        join(["right", "GREEN"]);
        let kept = sessions.read("s-1");
        let texts: Vec<&str> =
            kept.as_array().unwrap().iter().map(|it| it["content"].as_str().unwrap()).collect();
        assert_eq!(texts[2..], ["c1", "c2", "BLUE", "right", "GREEN"], "{protocol}");
        assert_eq!(kept[1]["tool_calls"].as_array().unwrap().len(), 2, "{protocol}");
    }
}
