//! `/sabir/v1/conversations`: what is kept, for whoever it belongs to.

use proptest::prelude::*;
use sabir_wire::Protocol;
use serde_json::{Value, json};

use crate::harness::*;
use crate::memory::*;

const PATH: &str = "/sabir/v1/conversations";

impl House {
    pub(crate) fn kept(&self, below: &str) -> Value {
        let reply = self.gateway.get(&format!("{PATH}{below}"));
        assert_eq!(reply.status, 200, "{below}: {}", reply.body);
        reply.json()
    }

    pub(crate) fn begun(&self, body: &Value) -> Value {
        let reply = self.gateway.post(PATH, &body.to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.json()
    }
}

#[track_caller]
pub(crate) fn assert_refused(reply: &Reply, status: u16, message: &str) {
    assert_eq!(reply.status, status, "{}", reply.body);
    assert_eq!(reply.json()["error"]["message"], message);
}

/// A transcript with a round of tools.
fn transcript() -> Value {
    json!([
        {"role": "system", "content": "be KIND", "timestamp": 1_700_000_000_000_i64},
        {"role": "user", "content": "what is in FACT1?", "timestamp": 1_700_000_000_001_i64},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "call_1", "type": "function",
            "function": {"name": "bash", "arguments": "{\"cmd\":\"ls\"}"}}], "timestamp": 1_700_000_000_002_i64},
        {"role": "tool", "content": "FOUND", "tool_call_id": "call_1", "timestamp": 1_700_000_000_003_i64},
        {"role": "assistant", "content": "BLUE", "timestamp": 1_700_000_000_004_i64},
    ])
}

#[test]
fn conversations_are_listed_the_newest_first() {
    let house = House::of(&["BLUE"]);
    let expected = json!({"data": [], "has_more": false});
    assert_eq!(house.kept(""), expected);
    for (name, text) in [("one", "about apples"), ("two", "about Pears"), ("three", "about plums")]
    {
        house.send_text(Protocol::Gemini, Protocol::OpenaiChat, name, text);
    }
    let names = |listing: &Value| -> Vec<String> {
        let data = listing["data"].as_array().unwrap().iter();
        data.map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    };
    let all = house.kept("");
    assert_eq!(all["has_more"], false);
    let first = &all["data"][2];
    let expected = json!({"id": "one", "title": "about apples", "created_at": first["created_at"],
        "updated_at": first["updated_at"], "turns": 1, "protocols": ["gemini"], "models": ["m"]});
    assert_eq!(*first, expected);
    assert!(first["created_at"].as_i64().unwrap() > 1_600_000_000);
    assert_eq!(names(&all), ["three", "two", "one"]);
    let page = house.kept("?limit=2");
    assert_eq!((names(&page), &page["has_more"]), (names(&all)[..2].to_vec(), &json!(true)));
    assert_eq!(names(&house.kept("?limit=2&after=two")), ["one"]);
    assert_eq!(names(&house.kept("?query=pear")), ["two"]);
    assert_eq!(names(&house.kept("?query=ONE")), ["one"]);
    assert_refused(
        &house.gateway.get(&format!("{PATH}?limit=0")),
        400,
        "Invalid 'limit': expected a number from 1 to 100.",
    );
    let unknown = house.gateway.get(&format!("{PATH}?after=no"));
    assert_refused(&unknown, 404, "Conversation with id 'no' not found.");
}

#[test]
fn texts_of_one_message_are_not_glued_in_a_transcript() {
    let house = House::of(&["BLUE"]);
    let text = |text: &str| json!({"type": "text", "text": text});
    let result =
        json!({"type": "tool_result", "tool_use_id": "t", "content": [text("x"), text("y")]});
    house.begun(&json!({"id": "told", "as": "anthropic-messages", "messages": {
        "system": [text("Never touch main"), text("push")],
        "messages": [
            {"role": "user", "content": [text("one"), text("two\n"), text("three")]},
            {"role": "assistant", "content": [text("hm"), {"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
            {"role": "user", "content": [result]},
        ]}}));
    let shown = house.kept("/told/messages?as=transcript");
    let contents: Vec<&str> = shown["transcript"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["content"].as_str().unwrap())
        .collect();
    assert_eq!(contents, ["Never touch main\npush", "one\ntwo\nthree", "hm", "x\ny"]);
    let losses = shown["losses"].as_array().unwrap();
    let pointers: Vec<&str> = losses.iter().map(|it| it["pointer"].as_str().unwrap()).collect();
    assert_eq!(pointers, ["/0", "/1", "/3"], "{shown}");
    assert!(losses.iter().all(|it| it["kind"] == "approximated"), "{shown}");
}

#[test]
fn what_rides_on_messages_is_listed_where_a_transcript_has_no_room_for_it() {
    let house = House::of(&["BLUE"]);
    let call = json!({"id": "c", "type": "function", "note": 1, "function": {"name": "f", "arguments": "{}"}});
    house.begun(&json!({"id": "told", "as": "openai-chat", "messages": {"messages": [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "name": "ada", "content": "Hi", "mood": "good"},
        {"role": "assistant", "content": null, "refusal": null, "tool_calls": [call]},
    ]}}));
    let shown = house.kept("/told/messages?as=transcript");
    let losses: Vec<(&str, &str)> = shown["losses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["pointer"].as_str().unwrap(), it["reason"].as_str().unwrap()))
        .collect();
    let expected = [
        ("/0", "a transcript has no developers: what they say is the system's"),
        ("/1", "a transcript has no `mood`"),
        ("/1", "a transcript has no names of speakers"),
        ("/2", "a transcript has no `note`"),
    ];
    assert_eq!(losses, expected, "{shown}");
}

#[test]
fn a_history_of_one_protocol_comes_back_in_it_as_it_is_kept() {
    let house = House::of(&["BLUE"]);
    let marked = json!({"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}});
    let messages = json!({"system": [marked], "messages": [{"role": "user", "content": [marked]}]});
    let input = json!({"input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "Hello", "annotations": []}]},
    ]});
    for (protocol, body) in [("anthropic-messages", messages), ("openai-responses", input)] {
        house.begun(&json!({"id": protocol, "as": protocol, "messages": body}));
        let mut shown = house.kept(&format!("/{protocol}/messages?as={protocol}&whole=true"));
        assert_eq!(shown["losses"], json!([]), "{shown}");
        shown.as_object_mut().unwrap().remove("losses");
        assert_eq!(shown, body);
    }
    let shown = house.kept("/anthropic-messages/messages?as=gemini&whole=true");
    let losses = shown["losses"].as_array().unwrap().iter();
    let marks = losses.filter(|it| it["pointer"].as_str().unwrap().ends_with("/cache_control"));
    assert_eq!(marks.count(), 2, "{shown}");
}

#[test]
fn a_conversation_tells_its_turns_without_content() {
    let house = House::of(&["BLUE", "GREEN"]);
    let first = house.send_text(Protocol::AnthropicMessages, Protocol::OpenaiChat, "mine", "FACT1");
    let second = house.send_text(Protocol::Gemini, Protocol::OpenaiResponses, "mine", "FACT2");
    let kept = house.kept("/mine");
    let turns = kept["turns"].as_array().unwrap();
    assert_eq!((kept["id"].as_str(), turns.len()), (Some("mine"), 2));
    assert_eq!(turns[0]["id"], first.header("sabir-turn").unwrap());
    assert_eq!(turns[0]["exchange"], first.header("sabir-exchange").unwrap());
    assert_eq!(turns[0]["parent"], Value::Null);
    assert_eq!(turns[0]["client_protocol"], "anthropic-messages");
    assert_eq!(turns[0]["provider"], "openai-chat");
    assert_eq!(turns[0]["model"], "m");
    assert_eq!(turns[0]["status"], "finished");
    assert!(turns[0]["losses"].is_array());
    assert_eq!(turns[1]["parent"], turns[0]["id"]);
    assert_eq!(turns[1]["id"], second.header("sabir-turn").unwrap());
    assert!(turns[1]["usage"].is_object(), "{kept}");
    let members: Vec<&String> = turns[0].as_object().unwrap().keys().collect();
    let expected = [
        "id",
        "created_at",
        "client_protocol",
        "provider",
        "model",
        "status",
        "usage",
        "losses",
        "exchange",
        "parent",
    ];
    assert_eq!(members, expected);
    assert!(!kept.to_string().contains("FACT"), "{kept}");
    let unknown = house.gateway.get(&format!("{PATH}/no"));
    assert_refused(&unknown, 404, "Conversation with id 'no' not found.");
}

#[test]
fn a_transcript_comes_back_as_it_was() {
    let house = House::of(&["GREEN"]);
    let begun = house.begun(&json!({"id": "old", "transcript": transcript()}));
    assert_eq!((&begun["id"], &begun["title"]), (&json!("old"), &json!("what is in FACT1?")));
    let read = house.kept("/old/messages");
    assert_eq!(read, transcript());
    assert_eq!(
        house.kept("/old/messages?as=transcript"),
        json!({"transcript": transcript(), "losses": []})
    );
}

/// Any message that a transcript may hold: few words and times, so that many of them mean the same.
fn message() -> impl Strategy<Value = Value> {
    let text = prop::sample::select(vec!["", "a", "b", " a ", "漢字\n😀", "\u{1b}\"\\"]);
    let arguments = prop::sample::select(vec!["{}", "{\"a\":1}", "{ \"a\": 1 }", "not json", ""]);
    let call = ("call_[12]", "f[12]", arguments).prop_map(|(id, name, arguments)| {
        json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
    });
    let calls = prop::collection::vec(call, 0..3);
    let roles = prop::sample::select(vec!["system", "user", "assistant", "tool"]);
    (roles, text, calls, "call_[12]", 0..3_u8).prop_map(|(role, content, calls, answers, time)| {
        let mut message = json!({"role": role, "content": content});
        match role {
            "tool" => message["tool_call_id"] = json!(answers),
            "assistant" if !calls.is_empty() => message["tool_calls"] = json!(calls),
            _ => {}
        }
        message["timestamp"] = json!(time);
        message
    })
}

#[test]
fn every_transcript_comes_back_byte_for_byte_whatever_else_is_kept() {
    let house = House::of(&[]);
    let transcripts = prop::collection::vec(message(), 1..6);
    let check = |transcript: Vec<Value>| {
        let transcript = Value::Array(transcript);
        let id = house.begun(&json!({"transcript": transcript}))["id"].as_str().unwrap().to_owned();
        let read = house.gateway.get(&format!("{PATH}/{id}/messages")).body;
        prop_assert_eq!(read, transcript.to_string());
        Ok(())
    };
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) };
    proptest::test_runner::TestRunner::new(config).run(&transcripts, check).unwrap();
}

#[test]
fn a_long_history_of_short_messages_is_taken_in_and_goes_on() {
    let house = House::of(&["GREEN"]);
    let message = |index: usize| {
        let role = if index.is_multiple_of(2) { "user" } else { "assistant" };
        json!({"role": role, "content": format!("{index}"), "timestamp": index})
    };
    let transcript: Vec<Value> = (0..25_000).map(message).collect();
    let begun = house.begun(&json!({"id": "long", "transcript": transcript}));
    assert_eq!((&begun["added"], &begun["turns"]), (&json!(25_000), &json!(12_500)));
    assert_eq!(house.kept("/long/messages"), json!(transcript));
    let reply = house.send_text(Protocol::OpenaiChat, Protocol::OpenaiChat, "long", "FACT");
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_eq!(house.kept("/long/messages").as_array().unwrap().len(), 25_002);
}

#[test]
fn an_app_that_sends_everything_repeats_nothing_of_a_transcript() {
    let house = House::of(&["GREEN", "RED"]);
    let old = json!([{"role": "user", "content": "FACT1", "timestamp": 1}, {"role": "assistant", "content": "BLUE", "timestamp": 2}]);
    house.begun(&json!({"id": "old", "transcript": old}));
    let mut messages =
        json!([{"role": "user", "content": "FACT1"}, {"role": "assistant", "content": "BLUE"}]);
    for (word, answer) in [("FACT2", "GREEN"), ("FACT3", "RED")] {
        messages.as_array_mut().unwrap().push(json!({"role": "user", "content": word}));
        let body = json!({"model": "openai-chat/m", "messages": messages});
        let head = "POST /v1/chat/completions\r\nsabir-conversation: old\r\n";
        assert_eq!(house.gateway.request(head, &body.to_string()).status, 200);
        messages.as_array_mut().unwrap().push(json!({"role": "assistant", "content": answer}));
    }
    let kept = house.kept("/old/messages");
    assert_eq!(kept.as_array().unwrap().len(), 6, "{kept}");
    assert_eq!((&kept[0], &kept[1]), (&old[0], &old[1]));
}

#[test]
fn conversations_that_begin_alike_have_thoughts_of_their_own() {
    let answer = |thought: &str| {
        let content = json!([{"type": "thinking", "thinking": thought, "signature": "s"}, {"type": "text", "text": "BLUE"}]);
        let body = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content,
            "stop_reason": "end_turn", "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}});
        Script::Reply(crate::harness::json(200, "", &body.to_string()))
    };
    let provider = Provider::start(vec![answer("ONE"), answer("TWO")]);
    let gateway = Running::start(&format!("{}{STORE}", provider.toml("p", "anthropic-messages")));
    let body =
        json!({"model": "p/m", "max_tokens": 9, "messages": [{"role": "user", "content": "FACT"}]});
    for (name, thought) in [("one", "ONE"), ("two", "TWO")] {
        let head = format!("POST /v1/messages\r\nsabir-conversation: {name}\r\n");
        assert_eq!(gateway.request(&head, &body.to_string()).status, 200);
        let kept = gateway.get(&format!("{PATH}/{name}/messages?as=anthropic-messages"));
        assert!(kept.body.contains(thought), "{}", kept.body);
    }
}

#[test]
fn messages_of_any_protocol_begin_a_conversation_and_lose_nothing() {
    let house = House::of(&["GREEN"]);
    house.begun(&json!({"id": "old", "transcript": transcript()}));
    for protocol in Protocol::ALL {
        let name = protocol.as_str();
        let mut body = house.kept(&format!("/old/messages?as={name}"));
        body.as_object_mut().unwrap().remove("losses");
        // Elsewhere: a message that is known has the time at which it was first said.
        let house = House::of(&["GREEN"]);
        let id = format!("from-{name}");
        let times: Vec<i64> = (1..=9).collect();
        let order = json!({"id": id, "as": name, "messages": body, "times": times});
        assert_eq!(house.begun(&order)["title"], "what is in FACT1?");
        let read = house.kept(&format!("/{id}/messages"));
        let without_times = |list: &Value| -> Vec<Value> {
            let mut list = list.as_array().unwrap().clone();
            for message in &mut list {
                message.as_object_mut().unwrap().remove("timestamp");
            }
            list
        };
        let mut expected = without_times(&transcript());
        // Gemini's calls have no ids.
        let call = read[2]["tool_calls"][0]["id"].clone();
        expected[2]["tool_calls"][0]["id"] = call.clone();
        expected[3]["tool_call_id"] = call;
        assert_eq!(without_times(&read), expected, "{name}");
        assert!(read[4]["timestamp"].as_i64().unwrap() < 10, "{name}: {read}");
    }
}

#[test]
fn what_a_transcript_cannot_hold_is_reported() {
    let house = House::of(&["GREEN"]);
    let body = json!({"messages": [
        {"role": "user", "content": [{"type": "text", "text": "what is it?"},
            {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "a cat", "signature": "s"},
            {"type": "text", "text": "a CAT"}]},
    ]});
    house.begun(&json!({"id": "seen", "as": "messages", "messages": body}));
    let read = house.kept("/seen/messages?as=transcript");
    let losses = json!([
        {"pointer": "/0", "kind": "dropped", "reason": "a transcript has no images"},
        {"pointer": "/1", "kind": "dropped", "reason": "a transcript has no reasoning"},
    ]);
    assert_eq!(read["losses"], losses, "{read}");
    assert_eq!(read["transcript"][1]["content"], "a CAT");
    let refused = |body: Value, message: &str| {
        assert_refused(&house.gateway.post(PATH, &body.to_string()), 400, message);
    };
    refused(
        json!({"messages": body, "as": "cobol"}),
        "Invalid 'as': expected one of openai-chat, openai-responses, anthropic-messages, gemini.",
    );
    refused(
        json!({"messages": body, "transcript": []}),
        "Mutually exclusive parameters: 'transcript' and 'messages'.",
    );
    refused(
        json!({"messages": body, "as": "messages", "times": 7}),
        "Invalid type for 'times': expected an array of milliseconds, but got a number instead.",
    );
}

#[test]
fn a_transcript_goes_on_with_any_provider() {
    for upstream in Protocol::ALL {
        let house = House::of(&["GREEN"]);
        house.begun(&json!({"id": "old", "transcript": transcript()}));
        let reply = house.send_text(Protocol::AnthropicMessages, upstream, "old", "FACT2");
        assert_eq!(reply.status, 200, "{}", reply.body);
        let sent = house.sent(upstream);
        for fact in ["KIND", "FACT1", "bash", "FOUND", "BLUE", "FACT2"] {
            assert_eq!(
                sent.matches(fact).count(),
                if fact == "bash" { sent.matches("bash").count() } else { 1 },
                "{upstream:?} {fact}: {sent}"
            );
        }
        let read = house.kept("/old/messages");
        let contents: Vec<&str> =
            read.as_array().unwrap().iter().map(|it| it["content"].as_str().unwrap()).collect();
        assert_eq!(
            contents,
            ["be KIND", "what is in FACT1?", "", "FOUND", "BLUE", "FACT2", "GREEN"]
        );
        assert!(read[6]["timestamp"].as_i64().unwrap() > 1_700_000_000_004);
    }
}

#[test]
fn a_history_is_shown_as_a_protocol_would_be_sent_it() {
    let house = House::of(&[]);
    house.begun(&json!({"id": "old", "transcript": transcript()}));
    for (protocol, members) in [
        ("openai-chat", ["messages", "losses"].as_slice()),
        ("openai-responses", &["input", "losses"]),
        ("anthropic-messages", &["system", "messages", "losses"]),
        ("gemini", &["systemInstruction", "contents", "losses"]),
    ] {
        let shown = house.kept(&format!("/old/messages?as={protocol}"));
        let names: Vec<&String> = shown.as_object().unwrap().keys().collect();
        assert_eq!(names, members, "{shown}");
        for fact in ["KIND", "FACT1", "bash", "FOUND", "BLUE"] {
            assert!(shown.to_string().contains(fact), "{protocol} {fact}: {shown}");
        }
    }
    let chat = house.kept("/old/messages?as=openai-chat");
    assert_eq!(chat["losses"], json!([]));
    assert_eq!(chat["messages"][2]["tool_calls"][0]["function"]["name"], "bash");
    let wrong = house.gateway.get(&format!("{PATH}/old/messages?as=morse"));
    let message =
        "Invalid 'as': expected one of openai-chat, openai-responses, anthropic-messages, gemini.";
    assert_refused(&wrong, 400, message);
}

#[test]
fn losses_of_a_history_name_the_turns_that_they_are_in() {
    let house = House::of(&["BLUE"]);
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "FACT1"},
        {"fileData": {"mimeType": "video/mp4", "fileUri": "https://example.com/v.mp4"}}]}]});
    let head = "POST /v1beta/models/gemini/m:generateContent\r\nsabir-conversation: film\r\n";
    let reply = house.gateway.request(head, &body.to_string());
    assert_eq!(reply.status, 200, "{}", reply.body);
    let shown = house.kept("/film/messages?as=anthropic-messages");
    let losses = shown["losses"].as_array().unwrap();
    let begin = format!("/turns/{}/", reply.header("sabir-turn").unwrap());
    let lost = losses.iter().any(|loss| loss["pointer"].as_str().unwrap().starts_with(&begin));
    assert!(lost, "{shown}");
}

#[test]
fn calls_and_results_are_paired_in_a_transcript() {
    let call = json!({"candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model",
        "parts": [{"functionCall": {"name": "look", "args": {"at": 1}}}]}}], "modelVersion": "m"});
    let scripts = [call.to_string(), answer(Protocol::Gemini, "BLUE", 2)]
        .map(|body| Script::Reply(json(200, "", &body)))
        .to_vec();
    let provider = Provider::start(scripts);
    let gateway = Running::start(&(provider.toml("p", "gemini") + STORE));
    let house = House { gateway, providers: Vec::new() };
    for part in [
        json!({"text": "FACT1"}),
        json!({"functionResponse": {"name": "look", "response": {"output": "FOUND"}}}),
    ] {
        let body = json!({"contents": [{"role": "user", "parts": [part]}]}).to_string();
        let head = "POST /v1beta/models/p/m:generateContent\r\nsabir-conversation: tools\r\n";
        assert_eq!(house.gateway.request(head, &body).status, 200);
    }
    let read = house.kept("/tools/messages");
    assert_eq!(
        read[1]["tool_calls"][0]["function"],
        json!({"name": "look", "arguments": "{\"at\":1}"})
    );
    assert_eq!(read[1]["tool_calls"][0]["id"], read[2]["tool_call_id"]);
    assert_eq!((&read[2]["role"], &read[2]["content"]), (&json!("tool"), &json!("FOUND")));
}

#[test]
fn a_fork_goes_its_own_way() {
    let house = House::of(&["BLUE", "GREEN", "RED", "GRAY"]);
    let chat = Protocol::OpenaiChat;
    let first = house.send_text(chat, chat, "mine", "FACT1");
    house.send_text(chat, chat, "mine", "FACT2");
    let turn = first.header("sabir-turn").unwrap();
    let fork = |body: &Value| house.gateway.post(&format!("{PATH}/mine/fork"), &body.to_string());
    let early = fork(&json!({ "after": turn })).json();
    let whole = fork(&json!({})).json();
    assert_eq!((&early["turns"], &whole["turns"]), (&json!(1), &json!(2)));
    let id = early["id"].as_str().unwrap();
    assert!(id.starts_with("conv_") && early["id"] != whole["id"], "{id}");
    house.send_text(chat, chat, id, "FACT3");
    let sent = house.sent(chat);
    assert!(sent.contains("FACT1") && !sent.contains("FACT2") && sent.contains("FACT3"), "{sent}");
    assert_eq!(house.kept("/mine")["turns"].as_array().unwrap().len(), 2);
    assert_eq!(house.kept(&format!("/{id}"))["turns"][0]["id"], *turn);
    let wrong = fork(&json!({"after": "turn_no"}));
    assert_refused(&wrong, 404, "Turn with id 'turn_no' not found.");
    let wrong = house.gateway.post(&format!("{PATH}/no/fork"), "{}");
    assert_refused(&wrong, 404, "Conversation with id 'no' not found.");
    assert_eq!(wrong.json()["error"]["code"], "not_found");
}

#[test]
fn a_fork_by_header_says_what_it_lacks() {
    let house = House::of(&["BLUE"]);
    let chat = Protocol::OpenaiChat;
    house.send_text(chat, chat, "mine", "FACT1");
    for (name, lacks) in [
        ("mine@turn_no", "Turn with id 'turn_no' not found."),
        ("no@turn_no", "Conversation with id 'no' not found."),
    ] {
        let refused = house.send_text(chat, chat, name, "FACT2");
        assert_refused(&refused, 404, lacks);
        assert_eq!(refused.json()["error"]["code"], "not_found");
    }
}

#[test]
fn a_conversation_is_begun_once_and_deleted_for_good() {
    let house = House::of(&["BLUE"]);
    let begun = house.begun(&json!({"id": "mine", "metadata": {"a": "b"}}));
    assert_eq!((&begun["turns"], &begun["title"]), (&json!(0), &json!("")));
    let vendor = house.gateway.get("/v1/conversations/mine").json();
    assert_eq!(vendor["metadata"], json!({"a": "b"}));
    let again = house.gateway.post(PATH, r#"{"id":"mine"}"#);
    assert_refused(&again, 409, "A conversation with id 'mine' exists already.");
    assert_eq!(again.json()["error"]["code"], "conversation_exists");
    for wrong in ["conv_mine", "new", "a b", "", &"x".repeat(65)] {
        let reply = house.gateway.post(PATH, &json!({ "id": wrong }).to_string());
        let message = "Invalid 'id': expected up to 64 letters, digits, `_` or `-`, neither `new` nor beginning with `conv_`.";
        assert_refused(&reply, 400, message);
    }
    let unnamed = house.begun(&json!({}));
    assert!(unnamed["id"].as_str().unwrap().starts_with("conv_"));
    house.send_text(Protocol::Gemini, Protocol::Gemini, "mine", "FACT1");
    let deleted = house.gateway.request(&format!("DELETE {PATH}/mine"), "");
    assert_eq!((deleted.status, deleted.json()), (200, json!({"id": "mine", "deleted": true})));
    for gone in [
        format!("GET {PATH}/mine"),
        format!("DELETE {PATH}/mine"),
        format!("GET {PATH}/mine/messages"),
    ] {
        let reply = house.gateway.request(&gone, "");
        assert_refused(&reply, 404, "Conversation with id 'mine' not found.");
    }
}

#[test]
fn a_transcript_that_cannot_be_read_is_refused_with_its_place() {
    let house = House::of(&[]);
    let begin = |transcript: Value| {
        house.gateway.post(PATH, &json!({"id": "x", "transcript": transcript}).to_string())
    };
    let reply = begin(json!({}));
    let message =
        "Invalid type for 'transcript': expected an array of messages, but got an object instead.";
    assert_refused(&reply, 400, message);
    let reply = begin(json!([{"role": "user", "content": "a"}, {"role": "robot", "content": "b"}]));
    let message = "expected one of system, user, assistant and tool at transcript[1].role";
    assert_refused(&reply, 400, message);
    assert_eq!(reply.json()["error"]["param"], "transcript[1].role");
    let reply = begin(json!([{"content": "a"}]));
    assert_refused(&reply, 400, "expected a message with a `role` at transcript[0]");
    for time in [json!("yesterday"), json!(-1), json!(1e300)] {
        let reply = begin(json!([{"role": "user", "content": "a", "timestamp": time}]));
        assert_eq!(reply.status, 400, "{}", reply.body);
        assert_eq!(reply.json()["error"]["param"], "transcript[0].timestamp");
    }
    // Nothing was begun.
    assert_eq!(house.kept("")["data"], json!([]));
}

#[test]
fn without_keys_only_this_machine_sees_conversations() {
    let gateway = Running::start(&format!("allowed_hosts = [\"gateway.example\"]\n{STORE}"));
    let by = |host: &str| gateway.request(&format!("GET {PATH}\r\nhost: {host}\r\n"), "");
    assert_eq!(by("localhost").status, 200);
    let message = "what is kept is shown to clients on this machine only, by its loopback address, unless keys are required";
    assert_refused(&by("gateway.example"), 403, message);
    let keys = "[auth]\nrequired = true\n[[auth.key]]\nname = \"a\"\nvalue = { value = \"key-a-123456\" }\n";
    let gateway = Running::start(&format!("allowed_hosts = [\"gateway.example\"]\n{STORE}{keys}"));
    let head = format!("GET {PATH}\r\nhost: gateway.example\r\nx-api-key: key-a-123456\r\n");
    assert_eq!(gateway.request(&head, "").status, 200);
    assert_eq!(gateway.request(&format!("GET {PATH}"), "").status, 401);
}

#[test]
fn where_nothing_is_kept_there_are_no_conversations() {
    let gateway = Running::start("[store]\nrecord = \"off\"\n");
    let message = "This gateway keeps no conversations: set `record = \"stateful\"` in the section `[store]` of its \
                   configuration.";
    assert_refused(&gateway.get(PATH), 400, message);
}
