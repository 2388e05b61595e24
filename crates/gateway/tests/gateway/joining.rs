//! Histories that may be kept already: of a session that was recorded, or imported before, only what is new is added.

use sabir_wire::Protocol;
use serde_json::{Value, json};

use crate::archive::assert_refused;
use crate::memory::*;

const PATH: &str = "/sabir/v1/conversations";

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn model(text: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "text", "text": text}]})
}

/// A call and its result.
fn round() -> [Value; 2] {
    [
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"cmd": "ls"}}]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "FOUND"}]}),
    ]
}

fn order(id: &str, messages: &[Value]) -> Value {
    json!({"id": id, "as": "anthropic-messages", "messages": {"messages": messages}, "join": true})
}

impl House {
    /// Takes a history in, and says how much of it was new.
    fn join(&self, id: &str, messages: &[Value]) -> (String, u64) {
        let joined = self.begun(&order(id, messages));
        (joined["id"].as_str().unwrap().to_owned(), joined["added"].as_u64().unwrap())
    }

    fn texts(&self, id: &str) -> Vec<String> {
        let transcript = self.kept(&format!("/{id}/messages"));
        let messages = transcript.as_array().unwrap().iter();
        messages.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn what_is_there_already_is_not_added_twice() {
    let house = House::of(&[]);
    let [call, result] = round();
    let mut messages = vec![user("FACT1"), call, result, model("BLUE")];
    assert_eq!(house.join("s-1", &messages), ("s-1".to_owned(), 4));
    assert_eq!(house.join("s-1", &messages), ("s-1".to_owned(), 0));
    assert_eq!(house.join("s-1", &messages[..2]), ("s-1".to_owned(), 0));
    messages.extend([user("FACT2"), model("GREEN")]);
    assert_eq!(house.join("s-1", &messages), ("s-1".to_owned(), 2));
    assert_eq!(house.texts("s-1"), ["FACT1", "", "FOUND", "BLUE", "FACT2", "GREEN"]);
}

#[test]
fn context_may_stand_in_one_of_both() {
    let reminded = json!({"role": "user", "content": [{"type": "text", "text": "<reminder>"}, {"type": "text", "text": "FACT1"}]});
    let system = json!({"role": "system", "content": "in a folder"});
    let with = [reminded, system, model("BLUE")];
    let without = [user("FACT1"), model("BLUE"), user("FACT2")];
    let house = House::of(&[]);
    assert_eq!(house.join("s-1", &with).1, 3);
    assert_eq!(house.join("s-1", &without[..2]).1, 0);
    assert_eq!(house.join("s-1", &without).1, 1);
    assert_eq!(house.texts("s-1").last().unwrap(), "FACT2");
}

#[test]
fn a_history_that_went_another_way_is_what_its_id_means_from_then_on() {
    let house = House::of(&[]);
    let left = [user("FACT1"), model("BLUE"), user("wrong"), model("RED")];
    house.join("s-1", &left);
    let now = [user("FACT1"), model("BLUE"), user("right"), model("GREEN")];
    let joined = house.begun(&order("s-1", &now));
    assert_eq!((&joined["id"], &joined["added"]), (&json!("s-1"), &json!(2)));
    assert_eq!(house.texts("s-1"), ["FACT1", "BLUE", "right", "GREEN"]);
    let kept_as = joined["kept_as"].as_str().unwrap();
    assert_eq!(house.texts(kept_as), ["FACT1", "BLUE", "wrong", "RED"]);
    assert_eq!(house.join("s-1", &now).1, 0);
}

#[test]
fn a_history_that_went_another_way_has_the_turns_of_that_way() {
    let house = House::of(&[]);
    let mut messages =
        vec![user("FACT1"), model("BLUE"), user("wrong"), model("RED"), user("more")];
    assert_eq!(house.begun(&order("s-1", &messages))["turns"], 3);
    messages.truncate(2);
    messages.extend([user("right"), model("GREEN")]);
    let joined = house.begun(&order("s-1", &messages));
    assert_eq!((&joined["turns"], &joined["added"]), (&json!(2), &json!(2)));
    let kept = house.kept("");
    let turns: Vec<_> = kept["data"].as_array().unwrap().iter().map(|it| &it["turns"]).collect();
    assert_eq!(turns, [2, 3]);
}

#[test]
fn a_session_that_was_recorded_and_went_another_way_shares_its_beginning() {
    let house = House::with(&["BLUE", "RED"], "record = \"full\"\n");
    let reminded = json!({"role": "user", "content": [{"type": "text", "text": "<reminder>"}, {"type": "text", "text": "FACT1"}]});
    let mut messages = vec![reminded];
    for (turns, answer) in [(1, "BLUE"), (2, "RED")] {
        let body = json!({"model": "anthropic-messages/m", "max_tokens": 9, "messages": messages});
        let head = "POST /v1/messages\r\nx-claude-code-session-id: s-1\r\n";
        assert_eq!(house.gateway.request(head, &body.to_string()).status, 200);
        crate::waiting::wait_for(|| {
            let kept = house.kept("");
            (kept["data"][0]["turns"] == turns).then_some(()).ok_or(kept.to_string())
        });
        messages.extend([model(answer), user("wrong")]);
    }
    // What the file says of the beginning is what was recorded: with the context that the agent added.
    let now = [user("FACT1"), model("BLUE"), user("right"), model("GREEN")];
    let joined = house.begun(&order("s-1", &now));
    assert_eq!((&joined["added"], &joined["turns"]), (&json!(2), &json!(2)));
    let texts = house.texts("s-1");
    assert!(texts[0].starts_with("<reminder>") && texts[0].ends_with("FACT1"), "{texts:?}");
    assert_eq!(texts[1..], ["BLUE", "right", "GREEN"]);
    // Of its turns those are left that it still has.
    let turns = |id: &str| house.kept(&format!("/{id}"))["turns"].as_array().unwrap().len();
    assert_eq!((turns("s-1"), turns(joined["kept_as"].as_str().unwrap())), (1, 2));
    assert_eq!(house.join("s-1", &now).1, 0);
}

#[test]
fn a_history_is_found_by_its_meaning_where_nobody_named_it() {
    let house = House::with(&["BLUE"], "record = \"full\"\n");
    let body =
        json!({"model": "anthropic-messages/m", "max_tokens": 9, "messages": [user("FACT1")]});
    assert_eq!(house.gateway.post("/v1/messages", &body.to_string()).status, 200);
    let recorded = crate::waiting::wait_for(|| {
        let kept = house.kept("");
        let id = kept["data"][0]["id"].as_str().filter(|_| kept["data"][0]["turns"] == 1);
        id.map(str::to_owned).ok_or(kept.to_string())
    });
    let longer = [user("FACT1"), model("BLUE"), user("FACT2")];
    assert_eq!(house.join("s-1", &longer), (recorded, 1));
    assert_eq!(house.join("s-2", &[user("FACT3")]), ("s-2".to_owned(), 1));
}

#[test]
fn a_conversation_that_somebody_named_is_not_taken_for_another() {
    let house = House::of(&[]);
    let monday = [user("FACT1"), model("BLUE")];
    house.join("monday", &monday);
    let tuesday = [user("FACT1"), model("BLUE"), user("FACT2")];
    assert_eq!(house.join("tuesday", &tuesday), ("tuesday".to_owned(), 3));
    assert_eq!(house.texts("monday"), ["FACT1", "BLUE"]);
}

#[test]
fn a_session_that_was_recorded_adds_nothing_when_it_is_imported() {
    let house = House::with(&["BLUE"], "record = \"full\"\n");
    let reminded = json!([{"role": "user", "content": [{"type": "text", "text": "<reminder>"}, {"type": "text", "text": "FACT1"}]}]);
    let body = json!({"model": "anthropic-messages/m", "max_tokens": 9, "messages": reminded});
    let head = "POST /v1/messages\r\nx-claude-code-session-id: s-1\r\n";
    assert_eq!(house.gateway.request(head, &body.to_string()).status, 200);
    // Nobody waits for what nobody asked for.
    crate::waiting::wait_for(|| {
        let kept = house.gateway.get(&format!("{PATH}/s-1/messages"));
        kept.body.contains("BLUE").then_some(()).ok_or(kept.body)
    });
    assert_eq!(house.join("s-1", &[user("FACT1"), model("BLUE")]), ("s-1".to_owned(), 0));
    assert_eq!(house.join("s-1", &[user("FACT1"), model("BLUE"), user("FACT2")]).1, 1);
    assert_eq!(house.kept("/s-1")["turns"].as_array().unwrap().len(), 1);
}

#[test]
fn a_session_goes_on_with_any_provider_and_repeats_nothing() {
    let house = House::of(&["GREEN"]);
    let [call, result] = round();
    let mut messages = vec![user("FACT1"), call, result, model("BLUE")];
    house.join("s-1", &messages);
    messages.push(user("FACT2"));
    let body = json!({"model": "gemini/m", "max_tokens": 9, "messages": messages});
    let head = "POST /v1/messages\r\nsabir-conversation: s-1\r\n";
    assert_eq!(house.gateway.request(head, &body.to_string()).status, 200);
    let sent = house.sent(Protocol::Gemini);
    assert_eq!(sent.matches("FACT1").count(), 1, "{sent}");
    assert_eq!(house.texts("s-1"), ["FACT1", "", "FOUND", "BLUE", "FACT2", "GREEN"]);
}

#[test]
fn a_session_that_goes_on_after_its_import_stays_one_conversation() {
    let house = House::with(&["GREEN", "RED"], "record = \"full\"\n");
    assert_eq!(house.join("s-1", &[user("FACT1"), model("BLUE")]).1, 2);
    let reminded = json!({"role": "user", "content": [{"type": "text", "text": "<reminder>"}, {"type": "text", "text": "FACT1"}]});
    let context = user("<context>");
    let mut messages = vec![context, reminded, model("BLUE"), user("FACT2")];
    for (turns, answer) in [(2, "GREEN"), (3, "RED")] {
        let body = json!({"model": "anthropic-messages/m", "max_tokens": 9, "messages": messages});
        let head = "POST /v1/messages\r\nx-claude-code-session-id: s-1\r\n";
        assert_eq!(house.gateway.request(head, &body.to_string()).status, 200);
        crate::waiting::wait_for(|| {
            let kept = house.kept("");
            let is_there = kept["data"].as_array().unwrap().len() == 1
                && kept["data"][0]["turns"] == turns
                && house.texts("s-1").last().is_some_and(|text| text == answer);
            is_there.then_some(()).ok_or(kept.to_string())
        });
        messages.extend([model(answer), user("FACT3")]);
    }
    let texts = house.texts("s-1");
    assert_eq!(texts.iter().filter(|text| text.contains("FACT1")).count(), 1, "{texts:?}");
}

#[test]
fn a_session_without_a_name_in_its_calls_goes_on_after_its_import() {
    let house = House::with(&["GREEN"], "record = \"full\"\n");
    let contents = |texts: &[(&str, &str)]| -> Value {
        let content =
            |(role, text): &(&str, &str)| json!({"role": role, "parts": [{"text": text}]});
        texts.iter().map(content).collect()
    };
    let before = contents(&[("user", "FACT1"), ("model", "BLUE")]);
    let order =
        json!({"id": "g-1", "as": "gemini", "messages": {"contents": before}, "join": true});
    house.begun(&order);
    let body =
        json!({"contents": contents(&[("user", "FACT1"), ("model", "BLUE"), ("user", "FACT2")])});
    let path = "/v1beta/models/gemini/m:generateContent";
    assert_eq!(house.gateway.post(path, &body.to_string()).status, 200);
    crate::waiting::wait_for(|| {
        let texts = house.texts("g-1");
        (texts == ["FACT1", "BLUE", "FACT2", "GREEN"]).then_some(()).ok_or(format!("{texts:?}"))
    });
    // A session that goes its own way from there has its own conversation.
    let fork = contents(&[("user", "FACT1"), ("model", "BLUE"), ("user", "FACT3")]);
    let order = json!({"id": "g-2", "as": "gemini", "messages": {"contents": fork}, "join": true});
    assert_eq!(house.begun(&order)["id"], "g-2");
}

#[test]
fn an_order_that_cannot_be_followed_is_refused() {
    let house = House::of(&[]);
    let refused = |body: &Value| {
        let reply = house.gateway.post(PATH, &body.to_string());
        (reply.status, reply.json()["error"]["message"].as_str().unwrap().to_owned())
    };
    let mut order = order("s-1", &[user("FACT1")]);
    order["join"] = json!("yes");
    let (status, message) = refused(&order);
    assert_eq!(status, 400);
    assert!(message.contains("'join'"), "{message}");
    let strangers = [user("FACT1"), json!({"role": "robot", "content": "FACT2"})];
    for join in [false, true] {
        let messages = json!({"messages": strangers});
        let (status, message) =
            refused(&json!({"as": "anthropic-messages", "messages": messages, "join": join}));
        assert_eq!(status, 400, "{message}");
        assert!(message.contains("expected one of system, "), "{message}");
        assert!(message.ends_with("found `robot` at messages.messages[1].role"), "{message}");
    }
    let many = vec![user("x"); 100_001];
    let (status, message) =
        refused(&json!({"as": "anthropic-messages", "messages": {"messages": many}}));
    assert_eq!(status, 413, "{message}");
    assert!(message.contains("100000"), "{message}");
}

#[test]
fn what_the_user_says_behind_an_agents_context_is_a_turn() {
    let house = House::of(&[]);
    let user_of = |texts: &[&str]| {
        let parts = texts.iter().map(|text| json!({"type": "text", "text": text}));
        json!({"role": "user", "content": parts.collect::<Vec<_>>()})
    };
    let context = "<system-reminder>\nToday is Monday.\n</system-reminder>\n";
    let messages =
        [user_of(&[context, "hello"]), model("BLUE"), user_of(&[context]), model("GREEN")];
    assert_eq!(house.begun(&order("s-1", &messages))["turns"], 1);
}

#[test]
fn a_transcript_goes_behind_what_is_there_as_if_all_had_come_at_once() {
    let house = House::of(&["GREEN"]);
    let message = |index: usize| {
        let role = if index.is_multiple_of(2) { "user" } else { "assistant" };
        json!({"role": role, "content": format!("M{index}"), "timestamp": index})
    };
    let all: Vec<Value> = (0..5).map(message).collect();
    let first = house.begun(&json!({"transcript": all[..1], "join": true}));
    let id = first["id"].as_str().unwrap();
    for (more, turns) in [(1..2, 1), (2..4, 2), (4..5, 3)] {
        let count = more.len();
        let added = house.begun(&json!({"id": id, "transcript": all[more], "append": true}));
        assert_eq!((&added["added"], &added["turns"]), (&json!(count), &json!(turns)));
    }
    assert_eq!(house.kept(&format!("/{id}/messages")), json!(all));
    let again = house.begun(&json!({"id": id, "transcript": all, "join": true}));
    assert_eq!((&again["added"], &again["kept_as"]), (&json!(0), &Value::Null));
    let reply = house.send_text(Protocol::OpenaiChat, Protocol::OpenaiChat, id, "FACT");
    assert_eq!(reply.status, 200, "{}", reply.body);
    house.begun(&json!({"id": id, "transcript": [message(6)], "append": true}));
    assert_eq!(house.texts(id), ["M0", "M1", "M2", "M3", "M4", "FACT", "GREEN", "M6"]);
}

#[test]
fn what_nothing_stands_before_goes_behind_nothing() {
    let house = House::of(&[]);
    let text = json!([{"role": "user", "content": "M", "timestamp": 1}]);
    let refused = |body: Value, status: u16, message: &str| {
        assert_refused(&house.gateway.post(PATH, &body.to_string()), status, message);
    };
    let unknown = "Conversation with id 'no' not found.";
    refused(json!({"id": "no", "transcript": text, "append": true}), 404, unknown);
    let lacking = "'append' needs the 'id' of a conversation and a 'transcript'.";
    refused(json!({"transcript": text, "append": true}), 400, lacking);
    refused(json!({"id": "no", "append": true}), 400, lacking);
    house.begun(&json!({"id": "old", "transcript": text}));
    let instructions = json!([{"role": "system", "content": "S", "timestamp": 1}]);
    refused(
        json!({"id": "old", "transcript": instructions, "append": true}),
        400,
        "Invalid 'transcript': what goes behind others cannot begin with instructions.",
    );
}

#[test]
fn media_of_results_that_stand_behind_them_are_no_turn() {
    let house = House::of(&[]);
    let image =
        json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}});
    let call = json!({"role": "assistant", "tool_calls": [{"id": "c", "type": "function",
        "function": {"name": "look", "arguments": "{}"}}]});
    let result = json!({"role": "tool", "tool_call_id": "c", "content": "[image attached below]"});
    let shown = json!({"role": "user", "content": [image]});
    let turns = |messages: &[Value]| {
        let order = json!({"as": "openai-chat", "messages": {"messages": messages}});
        house.begun(&order)["turns"].as_u64().unwrap()
    };
    let looked = [user("look"), call, result, shown.clone(), shown.clone(), model("a cat")];
    assert_eq!(turns(&looked), 1);
    assert_eq!(turns(&[shown, model("a cat")]), 1, "what the user shows is a turn");
}
