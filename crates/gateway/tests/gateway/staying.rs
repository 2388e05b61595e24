//! Choice inside a class: by weight or by pace for conversations that begin, and those that go on stay with the target that has
//! their prompt cache and their signatures.

use serde_json::{Value, json};

use crate::harness::*;

const CHAT: &str = "/v1/chat/completions";

/// Two targets of one class, which share the work.
struct House {
    one: Provider,
    other: Provider,
    gateway: Running,
}

impl House {
    fn new(model: &str) -> Self {
        Self::of(["one", "other"].map(|text| Provider::whole(&chat_answer(text))), model)
    }

    fn of([one, other]: [Provider; 2], model: &str) -> Self {
        let toml = [
            one.toml("one", "openai-chat"),
            other.toml("other", "openai-chat"),
            "\n[[model]]\nname = \"auto\"\nstrategy = \"class\"\n".to_owned(),
            model.to_owned(),
            "[model.classes]\ndefault = [{ provider = \"one\", model = \"plain\" }]\n\
             thinking = [{ provider = \"one\", model = \"m\" }, { provider = \"other\", model = \"m\" }]\n\
             coding = [{ provider = \"other\", model = \"code\" }]\n"
                .to_owned(),
        ];
        Self { gateway: Running::start(&toml.concat()), one, other }
    }

    fn ask(&self, headers: &str, body: &Value) -> Reply {
        let reply = self.gateway.request(&format!("POST {CHAT}\r\n{headers}"), &body.to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply
    }

    /// Who answers the next turn of a conversation that began with this text.
    fn next_turn(&self, opening: &str, turns: usize) -> String {
        provider(&self.ask("", &conversation(opening, turns)))
    }

    fn exchange(&self, reply: &Reply) -> Value {
        let id = reply.header("sabir-exchange").unwrap();
        self.gateway.get(&format!("/sabir/v1/exchanges/{id}")).json()
    }
}

fn provider(reply: &Reply) -> String {
    reply.header("sabir-provider").unwrap().to_owned()
}

/// The user's newest word after so many turns.
fn conversation(opening: &str, turns: usize) -> Value {
    let mut messages = vec![json!({"role": "user", "content": opening})];
    for turn in 0..turns {
        messages.push(json!({"role": "assistant", "content": format!("answer {turn}")}));
        messages.push(json!({"role": "user", "content": format!("question {turn}")}));
    }
    json!({"model": "auto", "messages": messages})
}

fn failing() -> String {
    json(500, "", r#"{"error":{"message":"not now","type":"server_error"}}"#)
}

#[test]
fn conversations_begin_by_weight_and_stay_where_they_began() {
    let house = House::new("class_strategy = \"weighted\"\n");
    let openings: Vec<String> = (0..6).map(|number| format!("conversation {number}")).collect();
    let homes: Vec<String> = openings.iter().map(|it| house.next_turn(it, 0)).collect();
    assert_eq!(homes.iter().filter(|it| *it == "one").count(), 3, "{homes:?}");
    for turns in 1..4 {
        let now: Vec<String> = openings.iter().map(|it| house.next_turn(it, turns)).collect();
        assert_eq!(now, homes, "turn {turns}");
    }
    // Who begins with the same words begins anew.
    let again: Vec<String> = (0..4).map(|_| house.next_turn("conversation 0", 0)).collect();
    assert_eq!(again.iter().filter(|it| *it == "one").count(), 2, "{again:?}");
}

#[test]
fn the_fastest_of_a_class_is_asked_once_all_have_been() {
    let house = House::new("class_strategy = \"fastest\"\n");
    let asked: Vec<String> = (0..8).map(|it| house.next_turn(&format!("new {it}"), 0)).collect();
    assert!(asked.contains(&"one".to_owned()) && asked.contains(&"other".to_owned()), "{asked:?}");
    let home = house.next_turn("long", 0);
    for turns in 1..40 {
        assert_eq!(house.next_turn("long", turns), home, "exploration is for those that begin");
    }
}

#[test]
fn what_names_a_session_tells_conversations_apart() {
    let house = House::new("class_strategy = \"weighted\"\n");
    let with = |name: &str| {
        let mut body = conversation("hello", 0);
        body["prompt_cache_key"] = name.into();
        ["", ""].map(|headers| provider(&house.ask(headers, &body)))
    };
    let keyed = ["a", "b"].map(with);
    assert!(keyed.iter().all(|[first, second]| first == second), "{keyed:?}");
    assert_ne!(keyed[0], keyed[1], "each begins in its turn");
    let by_header = |name: &str| {
        let headers = format!("session-id: {name}\r\n");
        [(); 3].map(|()| provider(&house.ask(&headers, &conversation("hello", 0))))
    };
    for named in ["c", "d"].map(by_header) {
        assert!(named.iter().all(|it| *it == named[0]), "{named:?}");
    }
}

#[test]
fn a_conversation_leaves_a_target_that_fails_and_the_reason_is_told() {
    let [one, other] = ["one", "other"].map(|text| json(200, "", &chat_answer(text)));
    let one = Provider::start(vec![Script::Reply(one), Script::Reply(failing())]);
    let other = Provider::start(vec![Script::Reply(other)]);
    let house = House::of([one, other], "");
    assert_eq!(house.next_turn("hello", 0), "one");
    let moved = house.ask("", &conversation("hello", 1));
    assert_eq!(provider(&moved), "other");
    assert_eq!(moved.header("sabir-route"), Some("fallback:2, left one/m: it failed"));
    let exchange = house.exchange(&moved);
    assert_eq!(exchange["switched_from"], "one/m", "{exchange}");
    assert_eq!(exchange["switch_reason"], "it failed", "{exchange}");
    // It has a new home, which is not left for the first of the list.
    let stays = house.ask("", &conversation("hello", 2));
    assert_eq!(provider(&stays), "other");
    assert_eq!(
        stays.header("sabir-route"),
        Some("class:thinking (the newest message is the user's)")
    );
    assert!(house.exchange(&stays)["switched_from"].is_null());
    assert_eq!(house.one.received().len(), 2);
}

#[test]
fn a_target_that_has_failed_of_late_is_left_before_it_is_asked() {
    let good = json(200, "", &chat_answer("one"));
    let one = Provider::start(vec![Script::Reply(good), Script::Reply(failing())]);
    let house = House::of([one, Provider::whole(&chat_answer("other"))], "");
    assert_eq!(house.next_turn("hello", 0), "one");
    for number in 0..3 {
        house.next_turn(&format!("another {number}"), 0);
    }
    let asked = house.one.received().len();
    let moved = house.ask("", &conversation("hello", 1));
    assert_eq!(provider(&moved), "other");
    assert_eq!(moved.header("sabir-route"), Some("fallback:2, left one/m: it has failed of late"));
    assert_eq!(house.one.received().len(), asked);
}

#[test]
fn a_conversation_that_outgrows_its_target_goes_where_there_is_room() {
    let [one, other] = ["one", "other"].map(|text| Provider::whole(&chat_answer(text)));
    let toml = [
        one.toml("one", "openai-chat"),
        other.toml("other", "openai-chat"),
        "\n[[model]]\nname = \"auto\"\nstrategy = \"class\"\n[model.classes]\n\
         default = [{ provider = \"one\", model = \"m\" }, { provider = \"other\", model = \"wide\" }]\n"
            .to_owned(),
        "[[family]]\nmatch = \"m\"\ncontext_window = 2000\n".to_owned(),
    ];
    let house = House { gateway: Running::start(&toml.concat()), one, other };
    let of_length = |words: usize| {
        let mut body = conversation("hello", 1);
        body["messages"][1]["content"] = "word ".repeat(words).into();
        body
    };
    assert_eq!(house.next_turn("hello", 0), "one");
    let moved = house.ask("", &of_length(1_900));
    assert_eq!(provider(&moved), "other");
    let route = moved.header("sabir-route").unwrap();
    assert!(route.ends_with(", left one/m: the input hardly fits it"), "{route}");
    assert!(!house.other.received().is_empty());
}

#[test]
fn another_class_has_another_target_and_the_first_is_found_again() {
    let house = House::new("class_strategy = \"weighted\"\n");
    let home = house.next_turn("hello", 0);
    let mut body = conversation("hello", 0);
    let function = json!({"name": "apply_patch", "arguments": "{}"});
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": null,
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}));
    messages.push(json!({"role": "tool", "tool_call_id": "call_1", "content": "done"}));
    let written = house.ask("", &body);
    assert_eq!(written.header("sabir-route"), Some("class:coding (last tool wrote a file)"));
    let exchange = house.exchange(&written);
    assert_eq!(exchange["switched_from"], format!("{home}/m"), "{exchange}");
    assert_eq!(exchange["switch_reason"], "last tool wrote a file", "{exchange}");
    let back = house.ask("", &conversation("hello", 1));
    assert_eq!(provider(&back), home);
    assert_eq!(house.exchange(&back)["switched_from"], "other/code");
}

#[test]
fn sticky_holds_the_class_and_the_target_through_a_tool_loop() {
    let house = House::new("sticky = true\nclass_strategy = \"weighted\"\n");
    let home = house.next_turn("hello", 0);
    for rounds in 1..5 {
        let reply = house.ask("", &in_loop("hello", rounds));
        assert_eq!(provider(&reply), home, "round {rounds}");
        assert!(reply.header("sabir-route").unwrap().starts_with("class:thinking"));
    }
}

/// The conversation behind so many rounds of a tool that writes.
fn in_loop(opening: &str, rounds: usize) -> Value {
    let mut body = conversation(opening, 0);
    for round in 0..rounds {
        let id = format!("call_{round}");
        let function = json!({"name": "apply_patch", "arguments": "{}"});
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({"role": "assistant", "content": null,
            "tool_calls": [{"id": id, "type": "function", "function": function}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": "done"}));
    }
    body
}

#[test]
fn a_loop_that_sticks_goes_on_in_its_class_when_its_target_fails() {
    let good = json(200, "", &chat_answer("one"));
    let one = Provider::start(vec![Script::Reply(good), Script::Reply(failing())]);
    let house = House::of([one, Provider::whole(&chat_answer("other"))], "sticky = true\n");
    assert_eq!(house.next_turn("hello", 0), "one");
    let moved = house.ask("", &in_loop("hello", 1));
    assert_eq!(moved.header("sabir-route"), Some("fallback:2, left one/m: it failed"));
    let exchange = house.exchange(&moved);
    assert_eq!(
        (&exchange["class"], &exchange["switched_from"]),
        (&json!("thinking"), &json!("one/m"))
    );
    let asked = house.one.received().len();
    for rounds in 2..5 {
        let reply = house.ask("", &in_loop("hello", rounds));
        assert_eq!(provider(&reply), "other", "round {rounds}");
        let route = "class:thinking (the newest message is the user's)";
        assert_eq!(reply.header("sabir-route"), Some(route), "round {rounds}");
    }
    assert_eq!(house.one.received().len(), asked, "a loop does not go back and forth");
}

#[test]
fn counting_takes_no_turn_and_moves_no_conversation() {
    let house = House::new("class_strategy = \"weighted\"\n");
    let body = json!({"model": "auto", "messages": [{"role": "user", "content": "hello"}]});
    for _ in 0..3 {
        let reply = house.gateway.post("/v1/messages/count_tokens", &body.to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
    }
    let homes: Vec<String> = (0..4).map(|it| house.next_turn(&format!("new {it}"), 0)).collect();
    assert_eq!(homes.iter().filter(|it| *it == "one").count(), 2, "{homes:?}");
}
