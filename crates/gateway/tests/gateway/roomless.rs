//! What `files:` have no room for: refused with the reason, or done as the manual says.

use std::path::Path;
use std::sync::Arc;

use sabir_gateway::config;
use serde_json::{Value, json};

use crate::harness::*;
use crate::transcripts::{Sessions, answers, ask};

/// The lines of the manual's table, each with the test that holds the gateway to it.
const LINES: [(&str, fn()); 16] = [
    ("images, audio, video, files, items that only one protocol has", media_are_refused),
    ("thinking", thinking_is_refused_in_a_call_and_reported_in_an_answer),
    (
        "names of speakers, developers, marks of failed results, calls of custom tools, several texts, citations, cache markers",
        what_rides_on_messages_is_left_out_and_reported,
    ),
    ("signatures", signatures_are_there_as_long_as_the_gateway),
    ("tools of a conversation", tools_are_those_of_each_call),
    ("titles", the_first_words_are_the_title),
    ("metadata of a conversation", what_stands_beside_a_conversation_is_refused),
    ("`ID@TURN`, a fork after a turn", what_stands_beside_a_conversation_is_refused),
    (
        "`previous_response_id`, reading answers by id, submissions, `thread`",
        answers_are_not_found_by_their_ids,
    ),
    ("`background`", nobody_can_come_back_for_an_answer),
    ("`/v1/conversations` of Responses, `conversation`", conversations_of_responses_are_refused),
    ("rows of calls, `sabir usage`", what_no_file_has_room_for_is_not_pretended),
    (
        "calls without the header, agent sessions",
        a_configuration_that_files_cannot_serve_is_refused_with_the_reason,
    ),
    ("gateway keys", a_configuration_that_files_cannot_serve_is_refused_with_the_reason),
    ("`keep`", a_configuration_that_files_cannot_serve_is_refused_with_the_reason),
    ("several gateways", a_file_that_another_gateway_wrote_meanwhile_stays),
];

#[test]
fn the_manual_lists_what_files_have_no_room_for() {
    let manual = include_str!("../../../../docs/memory.md");
    let (_, table) = manual.split_once("| | with `files:` |\n|---|---|\n").unwrap();
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let listed: Vec<&str> = rows.map(|row| row.split(" | ").next().unwrap()).collect();
    let held: Vec<String> = LINES.iter().map(|(line, _)| format!("| {line}")).collect();
    assert_eq!(listed, held);
}

/// A gateway of files before a provider that answers as often as is asked.
struct House {
    gateway: Running,
    provider: Provider,
    sessions: Sessions,
}

impl House {
    fn new() -> Self {
        Self::of(answers(9), "openai-chat")
    }

    fn of(provider: Provider, protocol: &str) -> Self {
        let sessions = Sessions::new();
        let gateway = Running::start(&sessions.toml(&provider.toml("p", protocol)));
        Self { gateway, provider, sessions }
    }

    /// A request of any path in a conversation.
    fn ask_at(&self, path: &str, body: &Value) -> Reply {
        let head = format!("POST {path}\r\nsabir-conversation: talk\r\n");
        self.gateway.request(&head, &body.to_string())
    }

    /// A refusal says what is not kept, and which store would keep it.
    #[track_caller]
    fn assert_refused(&self, reply: &Reply, reason: &str) {
        assert_eq!(reply.status, 400, "{}", reply.body);
        assert!(reply.body.contains("unsupported_by_store"), "{}", reply.body);
        assert!(reply.body.contains(reason) && reply.body.contains("sqlite:"), "{}", reply.body);
        assert!(self.provider.received().is_empty());
    }
}

#[test]
fn media_are_refused() {
    let house = House::new();
    let chat =
        |part: Value| json!({"model": "p/m", "messages": [{"role": "user", "content": [part]}]});
    let image = json!({"type": "image_url", "image_url": {"url": "https://a.example/b.png"}});
    let audio = json!({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}});
    let file = json!({"type": "file", "file": {"file_data": "data:application/pdf;base64,AAAA", "filename": "a.pdf"}});
    for (part, reason) in [(image, "no images"), (audio, "no audio"), (file, "no files")] {
        let reply = house.ask_at("/v1/chat/completions", &chat(part));
        house.assert_refused(&reply, reason);
    }
    let video = json!({"contents": [{"role": "user", "parts": [{"inlineData": {"mimeType": "video/mp4", "data": "AAAA"}}]}]});
    let reply = house.ask_at("/v1beta/models/p%2Fm:generateContent", &video);
    house.assert_refused(&reply, "no video");
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}});
    let items = json!({"model": "p/m", "input": [{"role": "user", "content": "Hi"}, search]});
    let reply = house.ask_at("/v1/responses", &items);
    house.assert_refused(&reply, "only texts, calls and their results");
    // The conversation is free all the same.
    assert_eq!(ask(&house.gateway, "talk", "Hi").status, 200);
}

#[test]
fn an_answer_that_no_file_can_hold_ends_in_a_storage_error() {
    let image = json!({"candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model",
        "parts": [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]}}]});
    let house = House::of(Provider::whole(&image.to_string()), "gemini");
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "Draw"}]}]});
    let reply = house.ask_at("/v1beta/models/p%2Fm:generateContent", &body);
    assert_eq!(reply.status, 503, "{}", reply.body);
    assert!(reply.body.contains("storage_error"), "{}", reply.body);
    assert!(reply.body.contains("no images"), "{}", reply.body);
    assert_eq!(house.sessions.read("talk"), json!([]));
}

#[test]
fn thinking_is_refused_in_a_call_and_reported_in_an_answer() {
    let thought = json!({"choices": [{"index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": "Hello", "reasoning_content": "a greeting"}}]});
    let sessions = Sessions::new();
    let provider = Provider::start(vec![Script::Reply(json(200, "", &thought.to_string()))]);
    let gateway = Running::start(&sessions.toml(&provider.toml("p", "openai-chat")));
    let head = "POST /v1/messages\r\nsabir-conversation: talk\r\n";
    let body = json!({"model": "p/m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "Hello"}]},
        {"role": "user", "content": "Again"}]});
    let reply = gateway.request(head, &body.to_string());
    assert_eq!(reply.status, 400, "{}", reply.body);
    assert!(reply.body.contains("a transcript has no reasoning"), "{}", reply.body);
    assert_eq!(ask(&gateway, "talk", "Hi").status, 200);
    assert!(!sessions.read("talk").to_string().contains("a greeting"));
    let turn = &gateway.get("/sabir/v1/conversations/talk").json()["turns"][0];
    let loss = json!({"pointer": "", "kind": "dropped", "reason": "a transcript has no reasoning"});
    assert!(turn["losses"].as_array().unwrap().contains(&loss), "{turn}");
}

#[test]
fn what_rides_on_messages_is_left_out_and_reported() {
    let house = House::new();
    let marked = json!({"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}});
    let failed =
        json!({"type": "tool_result", "tool_use_id": "t1", "content": "dark", "is_error": true});
    let asked = json!({"model": "p/m", "max_tokens": 9, "messages": [{"role": "user", "content": [marked]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {}}]},
        {"role": "user", "content": [failed]}]});
    assert_eq!(house.ask_at("/v1/messages", &asked).status, 200);
    let named = json!([{"role": "developer", "content": "Be brief."}, {"role": "user", "name": "ada", "content": "Hi"}]);
    let asked = json!({"model": "p/m", "messages": named});
    assert_eq!(house.ask_at("/v1/chat/completions", &asked).status, 200);
    let kept = house.gateway.get("/sabir/v1/conversations/talk").json();
    let begun = json!({"id": "imported", "as": "openai-chat", "messages": {"messages": named}});
    let imported = house.gateway.post("/sabir/v1/conversations", &begun.to_string()).json();
    let (no_names, no_developers) = (
        "a transcript has no names of speakers",
        "a transcript has no developers: what they say is the system's",
    );
    for (losses, reason) in [
        (&kept["turns"][0]["losses"], "a transcript has no `cache_control`"),
        (&kept["turns"][0]["losses"], "a transcript has no marks of failed results"),
        (&kept["turns"][1]["losses"], no_names),
        (&kept["turns"][1]["losses"], no_developers),
        (&imported["losses"], no_names),
        (&imported["losses"], no_developers),
    ] {
        let reasons: Vec<&Value> =
            losses.as_array().into_iter().flatten().map(|loss| &loss["reason"]).collect();
        assert!(reasons.contains(&&json!(reason)), "{reason}: {reasons:?}");
    }
}

#[test]
fn signatures_are_there_as_long_as_the_gateway() {
    let call = json!({"functionCall": {"name": "look", "args": {"at": "sky"}}, "thoughtSignature": "c2VhbGVk"});
    let answer = json!({"candidates": [{"index": 0, "finishReason": "STOP",
        "content": {"role": "model", "parts": [call]}}]});
    let house = House::of(Provider::whole(&answer.to_string()), "gemini");
    let tools = json!([{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]);
    let asked =
        json!({"model": "p/m", "tools": tools, "messages": [{"role": "user", "content": "Hi"}]});
    let reply = house.ask_at("/v1/chat/completions", &asked);
    let id = reply.json()["choices"][0]["message"]["tool_calls"][0]["id"].clone();
    let result = json!({"model": "p/m", "tools": tools, "messages": [{"role": "tool", "tool_call_id": id, "content": "blue"}]});
    assert_eq!(house.ask_at("/v1/chat/completions", &result).status, 200);
    assert!(house.provider.received()[1].body.contains("c2VhbGVk"));
    assert!(!house.sessions.read("talk").to_string().contains("c2VhbGVk"));
}

#[test]
fn tools_are_those_of_each_call() {
    let house = House::new();
    let tools = json!([{"type": "function", "function": {"name": "look"}}]);
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let begun = json!({"id": "talk", "as": "openai-chat", "messages": {"messages": messages, "tools": tools}});
    let reply = house.gateway.post("/sabir/v1/conversations", &begun.to_string());
    house.assert_refused(&reply, "no tools");
    assert!(!house.sessions.file("talk").exists());
    let asked = json!({"model": "p/m", "tools": tools, "messages": messages});
    assert_eq!(house.ask_at("/v1/chat/completions", &asked).status, 200);
    assert_eq!(ask(&house.gateway, "talk", "And now?").status, 200);
    let sent = house.provider.received();
    assert!(sent[0].body.contains("look") && !sent[1].body.contains("look"), "{}", sent[1].body);
}

#[test]
fn the_first_words_are_the_title() {
    let house = House::new();
    let begun = json!({"id": "talk", "title": "Mine", "transcript": [{"role": "user", "content": "Hello there"}]});
    let begun = house.gateway.post("/sabir/v1/conversations", &begun.to_string());
    assert_eq!((begun.status, &begun.json()["title"]), (200, &json!("Hello there")));
    let listed = house.gateway.get("/sabir/v1/conversations").json();
    assert_eq!(listed["data"][0]["title"], "Hello there");
}

#[test]
fn what_stands_beside_a_conversation_is_refused() {
    let house = House::new();
    let begun = r#"{"id":"other","metadata":{"a":"b"}}"#;
    house.assert_refused(&house.gateway.post("/sabir/v1/conversations", begun), "no metadata");
    assert!(!house.sessions.file("other").exists());
    house.gateway.post("/sabir/v1/conversations", r#"{"id":"talk"}"#);
    house.assert_refused(&ask(&house.gateway, "talk@turn_1", "Hi"), "at their end");
    let fork = house.gateway.post("/sabir/v1/conversations/talk/fork", r#"{"after":"turn_1"}"#);
    house.assert_refused(&fork, "at their end");
}

#[test]
fn answers_are_not_found_by_their_ids() {
    let (sessions, provider) = (Sessions::new(), answers(2));
    let gateway = Running::start(&sessions.toml(&provider.toml("p", "openai-chat")));
    let reply = gateway.post("/v1/responses", r#"{"model":"p/m","input":"Hi"}"#);
    assert_eq!((reply.status, &reply.json()["store"]), (200, &json!(false)), "{}", reply.body);
    let id = reply.json()["id"].as_str().unwrap().to_owned();
    let body = json!({"model": "p/m", "input": "And now?", "previous_response_id": id});
    let chained = gateway.post("/v1/responses", &body.to_string());
    assert_eq!(chained.status, 400, "{}", chained.body);
    assert_eq!(gateway.get(&format!("/v1/responses/{id}")).status, 404);
    let results = r#"{"tool_outputs":[{"tool_call_id":"c","output":"x"}]}"#;
    let submitted = gateway.post(&format!("/v1/responses/{id}/submit_tool_outputs"), results);
    assert_eq!(submitted.status, 404, "{}", submitted.body);
    let thread = r#"{"model":"p/m","max_tokens":9,"thread":{"type":"continue","previous_message_id":"msg_1"},"messages":[]}"#;
    let continued = gateway.post("/v1/messages", thread);
    assert_eq!(continued.status, 404, "{}", continued.body);
    assert!(continued.body.contains("thread_not_found"), "{}", continued.body);
    assert!(std::fs::read_dir(sessions.0.join("sessions")).unwrap().next().is_none());
}

#[test]
fn nobody_can_come_back_for_an_answer() {
    let house = House::new();
    let body = json!({"model": "p/m", "input": "Hi", "background": true});
    let reason = "nobody waits for";
    house.assert_refused(&house.gateway.post("/v1/responses", &body.to_string()), reason);
    house.assert_refused(&house.ask_at("/v1/responses", &body), reason);
    assert_eq!(ask(&house.gateway, "talk", "Hi").status, 200);
}

#[test]
fn conversations_of_responses_are_refused() {
    let house = House::new();
    house.assert_refused(&house.gateway.post("/v1/conversations", "{}"), "sabir-conversation");
    assert_eq!(house.gateway.get("/v1/conversations/conv_1").status, 404);
    let body = r#"{"model":"p/m","input":"Hi","conversation":"conv_1"}"#;
    let reply = house.gateway.post("/v1/responses", body);
    assert_eq!((reply.status, &reply.json()["error"]["param"]), (400, &json!("conversation")));
}

#[test]
fn what_no_file_has_room_for_is_not_pretended() {
    let sessions = Sessions::new();
    let gateway = Running::start(&sessions.toml(""));
    let usage = gateway.get("/sabir/v1/usage");
    assert_eq!(usage.status, 400, "{}", usage.body);
    assert!(usage.body.contains("no rows of calls"), "{}", usage.body);
}

#[test]
fn a_configuration_that_files_cannot_serve_is_refused_with_the_reason() {
    let key = "[[auth.key]]\nname = \"ci\"\nvalue = { value = \"0123456789abcdef\" }\n";
    for (more, reason) in [
        (format!("[store]\nurl = \"files:data\"\n{key}"), "no owners"),
        ("[store]\nurl = \"files:data\"\nrecord = \"full\"\n".to_owned(), "full"),
        ("[store]\nurl = \"files:data\"\nrecord = \"metadata\"\n".to_owned(), "metadata"),
    ] {
        let problems = config::parse(&more, Path::new("sabir.toml"), &|_| None).unwrap_err();
        assert!(problems.to_string().contains(reason), "{problems}");
    }
    let fine = "[store]\nurl = \"files:data\"\n";
    let config = config::parse(fine, Path::new("sabir.toml"), &|_| None).unwrap();
    assert!(config.store.summary().contains("sabir-conversation"), "{}", config.store.summary());
}

/// Of two gateways, one adds a turn while the other waits for its answer.
#[test]
fn a_file_that_another_gateway_wrote_meanwhile_stays() {
    let (sessions, own) = (Sessions::new(), answers(2));
    let second = Arc::new(Running::start(&sessions.toml(&own.toml("p", "openai-chat"))));
    let meanwhile = Arc::clone(&second);
    let slow = Script::Answer(Arc::new(move |_: &Received| {
        assert_eq!(ask(&meanwhile, "talk", "meanwhile").status, 200);
        json(200, "", &chat_answer("too late"))
    }));
    let provider = Provider::start(vec![Script::Reply(json(200, "", &chat_answer("one"))), slow]);
    let first = Running::start(&sessions.toml(&provider.toml("p", "openai-chat")));
    assert_eq!(ask(&first, "talk", "Hi").status, 200);
    let late = ask(&first, "talk", "Who was first?");
    assert_eq!(
        (late.status, &late.json()["error"]["code"]),
        (503, &json!("storage_error")),
        "{}",
        late.body
    );
    let kept = sessions.read("talk");
    let texts: Vec<&Value> = kept.as_array().unwrap().iter().map(|it| &it["content"]).collect();
    assert_eq!(texts, ["Hi", "one", "meanwhile", "answer 0"]);
}
