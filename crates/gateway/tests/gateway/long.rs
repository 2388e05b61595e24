//! Long conversations of the gateway's own: a provider that enforces its window, facts that must survive, and requests that grow at
//! their end alone.

use std::sync::Arc;

use sabir_wire::Protocol;
use serde_json::{Value, json as value};

use crate::background::SharedStore;
use crate::harness::*;
use crate::memory::{STORE, answer, request};
use crate::overflow::REFUSALS;

/// Words that a provider of these tests reads at most.
const WINDOW_WORDS: usize = 2000;

/// A provider whose answers are numbered and whose summaries quote the facts that it was sent; longer prompts it refuses in its
/// own words.
pub(crate) fn windowed(protocol: Protocol) -> Provider {
    let answer = move |received: &Received| {
        let body = &received.body;
        let (_, refusal) = REFUSALS.iter().find(|(it, _)| *it == protocol.as_str()).unwrap();
        if words(body) > WINDOW_WORDS {
            return json(400, "", refusal);
        }
        if body.contains("Write the summary now.") {
            return json(200, "", &answer(protocol, &facts(body).join(" "), 0));
        }
        if body.matches("please look").count() > body.matches("LOOKED").count() {
            return json(200, "", &called(protocol, words(body)));
        }
        let text = format!("ANSWER to {}", facts(body).last().unwrap());
        json(200, "", &answer(protocol, &text, words(body)))
    };
    Provider::start(vec![Script::Answer(Arc::new(answer))])
}

/// An answer that calls the tool `look`.
fn called(protocol: Protocol, number: usize) -> String {
    let id = format!("call_{number}");
    let mut body: Value = serde_json::from_str(&answer(protocol, "x", number)).unwrap();
    match protocol {
        Protocol::OpenaiChat => {
            let call = value!({"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}});
            body["choices"][0] = value!({"index": 0, "finish_reason": "tool_calls",
                "message": {"role": "assistant", "content": null, "tool_calls": [call]}});
        }
        Protocol::OpenaiResponses => {
            body["output"] = value!([{"type": "function_call", "id": format!("fc_{number}"), "call_id": id,
                "name": "look", "arguments": "{}", "status": "completed"}]);
        }
        Protocol::AnthropicMessages => {
            body["content"] = value!([{"type": "tool_use", "id": id, "name": "look", "input": {}}]);
            body["stop_reason"] = value!("tool_use");
        }
        _ => {
            body["candidates"][0]["content"]["parts"] =
                value!([{"functionCall": {"name": "look", "args": {}}}]);
        }
    }
    body.to_string()
}

fn words(body: &str) -> usize {
    body.split_whitespace().count()
}

/// The facts of a text in their order, each once.
pub(crate) fn facts(text: &str) -> Vec<&str> {
    let mut facts: Vec<&str> = Vec::new();
    for (at, _) in text.match_indices("FACT") {
        let rest = &text[at + 4..];
        let digits = rest.len() - rest.trim_start_matches(|it: char| it.is_ascii_digit()).len();
        let fact = &text[at..at + 4 + digits];
        if digits > 0 && !facts.contains(&fact) {
            facts.push(fact);
        }
    }
    facts
}

/// The numbers of the facts of a text, in their order.
pub(crate) fn numbers(text: &str) -> Vec<usize> {
    let mut numbers: Vec<usize> = facts(text).iter().map(|it| it[4..].parse().unwrap()).collect();
    numbers.sort_unstable();
    numbers
}

/// What is said in a turn.
pub(crate) fn text_of(turn: usize) -> String {
    format!("FACT{turn} {}", "and so on ".repeat(40))
}

fn is_summary(received: &Received) -> bool {
    received.body.contains("Write the summary now.")
}

/// Says something in the conversation `long`.
fn send(gateway: &Running, client: Protocol, text: &str) -> Reply {
    let (path, body) = request(client, "p", text);
    gateway.request(&format!("POST {path}\r\nsabir-conversation: long\r\n"), &body)
}

fn start(provider: &Provider, protocol: Protocol, more: &str) -> Running {
    // With room for one call at a time: a summary does not wait for the call that needs it.
    let one = "max_in_flight = 1\n";
    Running::start(&(provider.toml("p", protocol.as_str()) + one + STORE + more))
}

/// How many bytes two texts have in common from their beginning on.
fn common(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}

#[test]
fn a_conversation_that_does_not_fit_is_summarised_instead_of_failing() {
    for (number, protocol) in Protocol::ALL.into_iter().enumerate() {
        let provider = windowed(protocol);
        let gateway = start(&provider, protocol, "");
        // Once in the provider's own protocol, once in another.
        let client = Protocol::ALL[(number + number % 2) % 4];
        let mut compacted = 0;
        for turn in 1..=60 {
            let reply = send(&gateway, client, &text_of(turn));
            assert_eq!(reply.status, 200, "{protocol:?} {turn}: {}", reply.body);
            compacted += usize::from(reply.header("sabir-compacted").is_some());
            let sent = provider.received().pop().unwrap().body;
            assert_eq!(numbers(&sent), (1..=turn).collect::<Vec<_>>(), "{protocol:?}: {sent}");
        }
        assert!((2..=8).contains(&compacted), "{protocol:?}: {compacted} compactions");
        let received = provider.received();
        // Each is a refusal, a summary and another attempt, and nothing else is asked.
        assert_eq!(received.len(), 60 + 2 * compacted, "{protocol:?}");
        assert_eq!(received.iter().filter(|it| is_summary(it)).count(), compacted);
        check_prefixes(&received, protocol);
    }
}

#[test]
fn a_conversation_that_the_body_names_is_summarised_as_well() {
    for protocol in [Protocol::OpenaiResponses, Protocol::AnthropicMessages] {
        let provider = windowed(protocol);
        let gateway = start(&provider, protocol, "");
        let id = gateway.post("/v1/conversations", "{}").json()["id"].as_str().unwrap().to_owned();
        let mut compacted = 0;
        for turn in 1..=40 {
            // As agents spell it: what is sent anew has one spelling.
            let text = value!([{"type": "input_text", "text": text_of(turn)}]);
            let input = value!([{"type": "message", "role": "user", "content": text}]);
            let body = value!({"model": "p/m", "input": input, "conversation": id});
            let reply = gateway.post("/v1/responses", &body.to_string());
            assert_eq!(reply.status, 200, "{protocol:?} {turn}: {}", reply.body);
            compacted += usize::from(reply.header("sabir-compacted").is_some());
            let sent = provider.received().pop().unwrap().body;
            assert_eq!(numbers(&sent), (1..=turn).collect::<Vec<_>>(), "{protocol:?}: {sent}");
        }
        assert!((2..=8).contains(&compacted), "{protocol:?}: {compacted} compactions");
        check_prefixes(&provider.received(), protocol);
        // What is kept stays whole, a page at a time.
        let items = gateway.get(&format!("/v1/conversations/{id}/items?limit=100&order=asc")).body;
        assert_eq!(numbers(&items), (1..=40).collect::<Vec<_>>());
    }
}

/// Between two compactions every request begins with all that the last one said, byte for byte.
fn check_prefixes(received: &[Received], protocol: Protocol) {
    let mut before: Option<&str> = None;
    for request in received {
        let body = &request.body;
        if words(body) > WINDOW_WORDS || is_summary(request) {
            before = None;
            continue;
        }
        if let Some(before) = before {
            let rest = &before[common(before, body)..];
            assert!(!rest.contains("so on"), "{protocol:?} changed: {rest}");
        }
        before = Some(body);
    }
}

/// A text may be spelled in several ways, and a provider's cache knows it as it was sent first.
#[test]
fn what_was_said_is_sent_again_as_it_was_spelled() {
    let spellings: [fn(&str) -> Value; 4] = [
        |text| value!(text),
        |text| value!([{"role": "user", "content": text}]),
        |text| value!([{"type": "message", "role": "user", "content": text}]),
        |text| value!([{"role": "user", "content": [{"type": "input_text", "text": text}]}]),
    ];
    for spelled in spellings {
        let provider = windowed(Protocol::OpenaiResponses);
        let gateway = start(&provider, Protocol::OpenaiResponses, "");
        for turn in 1..=6 {
            let mut body = value!({"model": "p/m", "input": spelled(&text_of(turn))});
            if turn < 4 {
                body["instructions"] = value!("Be brief.");
            }
            let head = "POST /v1/responses\r\nsabir-conversation: long\r\n";
            let reply = gateway.request(head, &body.to_string());
            assert_eq!(reply.status, 200, "{turn}: {}", reply.body);
        }
        let received = provider.received();
        let bodies: Vec<&str> = received.iter().map(|it| &*it.body).collect();
        assert!(bodies.iter().all(|body| body.contains("\"instructions\":\"Be brief.\"")));
        let lists: Vec<&str> = bodies.iter().map(|body| list_of(body)).collect();
        for (before, after) in lists.iter().zip(&lists[1..]) {
            let rest = after.strip_prefix(before).unwrap_or_else(|| panic!("{before}\n{after}"));
            assert!(rest.starts_with(','), "{rest}");
        }
    }
}

/// What stands in the list `input` of a body, as it is spelled.
fn list_of(body: &str) -> &str {
    let start = body.find("\"input\":[").unwrap() + 9;
    &body[start..body.rfind(']').unwrap()]
}

#[test]
fn the_summary_stands_behind_the_instructions_and_is_the_only_one() {
    let provider = windowed(Protocol::OpenaiChat);
    let gateway = start(&provider, Protocol::OpenaiChat, "");
    let head = "POST /v1/chat/completions\r\nsabir-conversation: long\r\n";
    for turn in 1..=40 {
        let body = value!({"model": "p/m", "messages": [{"role": "system", "content": "Be brief."},
            {"role": "user", "content": text_of(turn)}]});
        assert_eq!(gateway.request(head, &body.to_string()).status, 200);
    }
    let sent = provider.received().pop().unwrap().body;
    let sent: Value = serde_json::from_str(&sent).unwrap();
    let messages = sent["messages"].as_array().unwrap();
    assert_eq!(messages[0], value!({"role": "system", "content": "Be brief."}));
    assert_eq!(messages[1]["role"], "system");
    let summary = messages[1]["content"].as_str().unwrap();
    let covered = facts(summary).len();
    let title = format!("[Previous conversation summary ({} messages compressed)]", 2 * covered);
    assert!(summary.starts_with(&title), "{summary}");
    assert_eq!(messages[2]["content"], text_of(covered + 1));
    assert_eq!(messages.iter().filter(|it| it["role"] == "system").count(), 2);
    // An earlier summary is part of the next.
    let received = provider.received();
    let summaries: Vec<&Received> = received.iter().filter(|it| is_summary(it)).collect();
    assert!(summaries.len() > 1);
    assert!(!summaries[0].body.contains("<earlier_summary>"));
    assert!(summaries[1].body.contains("<earlier_summary>"));
}

#[test]
fn the_compaction_is_shown_and_counted_as_a_call_of_its_own() {
    let provider = windowed(Protocol::AnthropicMessages);
    let gateway = start(&provider, Protocol::AnthropicMessages, "");
    let replies = (1..=30).map(|turn| send(&gateway, Protocol::OpenaiChat, &text_of(turn)));
    let reply = replies.into_iter().find(|it| it.header("sabir-compacted").is_some()).unwrap();
    let compacted = reply.header("sabir-compacted").unwrap();
    let exchange = gateway.get(&format!("/sabir/v1/exchanges/{compacted}")).json();
    assert_eq!(exchange["usage"]["input_tokens"], 1, "{exchange}");
    let shown = gateway.get("/sabir/v1/conversations/long").json();
    let turns = shown["turns"].as_array().unwrap();
    let with: Vec<&Value> = turns.iter().filter(|it| it["compacted"].is_string()).collect();
    assert_eq!(with[0]["compacted"], compacted);
    assert_eq!(Some(with[0]["id"].as_str().unwrap()), reply.header("sabir-turn"));
    // What was said is kept as it was.
    let next = gateway.get("/sabir/v1/conversations/long/messages?as=openai-chat").body;
    let whole = gateway.get("/sabir/v1/conversations/long/messages?as=openai-chat&whole=true").body;
    assert!(
        next.contains("messages compressed") && !whole.contains("messages compressed"),
        "{next}"
    );
    assert_eq!(numbers(&next), numbers(&whole));
    assert!(next.len() < whole.len(), "{} {}", next.len(), whole.len());
    let transcript = gateway.get("/sabir/v1/conversations/long/messages").body;
    assert!(transcript.contains("FACT1 ") && !transcript.contains("compressed"), "{transcript}");
}

#[test]
fn it_may_be_switched_off_or_come_early() {
    let provider = windowed(Protocol::OpenaiChat);
    let gateway = start(&provider, Protocol::OpenaiChat, "[compaction]\nauto = \"off\"\n");
    let mut replies = (1..=60).map(|turn| send(&gateway, Protocol::OpenaiChat, &text_of(turn)));
    let refused = replies.find(|reply| reply.status != 200).unwrap();
    assert_eq!(refused.json()["error"]["code"], "context_length_exceeded");
    assert!(!provider.received().iter().any(is_summary));

    let provider = windowed(Protocol::OpenaiChat);
    let toml = provider.toml("p", "openai-chat") + "context_window = 2000\n" + STORE;
    let gateway =
        Running::start(&(toml + "[compaction]\nauto = \"early\"\nat = 0.5\nkeep_turns = 2\n"));
    for turn in 1..=40 {
        assert_eq!(send(&gateway, Protocol::OpenaiChat, &text_of(turn)).status, 200);
    }
    let received = provider.received();
    assert!(received.iter().all(|it| words(&it.body) < WINDOW_WORDS), "nobody was refused");
    let summaries = received.iter().filter(|it| is_summary(it)).count();
    assert!((2..=20).contains(&summaries), "{summaries}");
    assert_eq!(received.len(), 40 + summaries);
    assert_eq!(facts(&received.last().unwrap().body).len(), 40);
}

#[test]
fn what_is_known_not_to_fit_is_summarised_before_anything_is_sent() {
    let provider = windowed(Protocol::Gemini);
    let toml = provider.toml("p", "gemini") + "context_window = 2000\n" + STORE;
    let gateway = Running::start(&toml);
    let long = |turn: usize| format!("FACT{turn} {}", "word ".repeat(600));
    for turn in 1..=6 {
        let reply = send(&gateway, Protocol::OpenaiChat, &long(turn));
        assert_eq!(reply.status, 200, "{turn}: {}", reply.body);
    }
    let received = provider.received();
    assert!(received.iter().all(|it| words(&it.body) < WINDOW_WORDS), "nobody was refused");
    assert_eq!(facts(&received.last().unwrap().body).len(), 6);
}

#[test]
fn calls_stay_with_their_results_and_the_newest_word_of_the_user_stays_whole() {
    let provider = windowed(Protocol::AnthropicMessages);
    let gateway = start(&provider, Protocol::AnthropicMessages, "");
    let head = "POST /v1/messages\r\nsabir-conversation: long\r\n";
    let send_round = |messages: Value| {
        let body = value!({"model": "p/m", "max_tokens": 9, "messages": messages,
            "tools": [{"name": "look", "input_schema": {"type": "object"}}]});
        gateway.request(head, &body.to_string())
    };
    assert_eq!(send_round(value!([{"role": "user", "content": "FACT0 is the task"}])).status, 200);
    for round in 1..=40 {
        let call = value!({"type": "tool_use", "id": format!("c{round}"), "name": "look", "input": {"at": round}});
        let result = value!({"type": "tool_result", "tool_use_id": format!("c{round}"), "content": text_of(round)});
        let reply = send_round(
            value!([{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]),
        );
        assert_eq!(reply.status, 200, "{round}: {}", reply.body);
        let sent: Value = serde_json::from_str(&provider.received().pop().unwrap().body).unwrap();
        let text = sent.to_string();
        assert!(text.contains("FACT0 is the task"), "{text}");
        for call in 1..=round {
            let is_called = text.contains(&format!("\"id\":\"c{call}\""));
            assert_eq!(is_called, text.contains(&format!("\"tool_use_id\":\"c{call}\"")), "{text}");
        }
        let found = facts(&text).len();
        assert_eq!(found, round + 1, "{text}");
    }
    assert!(provider.received().iter().any(is_summary));
}

#[test]
fn a_summary_is_in_force_on_every_node_and_in_forks() {
    let store = SharedStore::new("summaries");
    let provider = windowed(Protocol::OpenaiChat);
    let toml = provider.toml("p", "openai-chat") + &store.toml();
    let (first, second) = (Running::start(&toml), Running::start(&toml));
    let mut turn = 0;
    loop {
        turn += 1;
        let reply = send(&first, Protocol::OpenaiChat, &text_of(turn));
        assert_eq!(reply.status, 200, "{}", reply.body);
        if reply.header("sabir-compacted").is_some() {
            break;
        }
    }
    let reply = send(&second, Protocol::Gemini, &text_of(turn + 1));
    assert_eq!((reply.status, reply.header("sabir-compacted")), (200, None));
    let sent = provider.received().pop().unwrap().body;
    assert!(sent.contains("messages compressed"), "{sent}");
    assert_eq!(facts(&sent).len(), turn + 1);
    let fork = second.post("/sabir/v1/conversations/long/fork", "{}").json();
    let (path, body) = request(Protocol::OpenaiChat, "p", "FACT999");
    let head = format!("POST {path}\r\nsabir-conversation: {}\r\n", fork["id"].as_str().unwrap());
    assert_eq!(second.request(&head, &body).status, 200);
    let sent = provider.received().pop().unwrap().body;
    assert!(sent.contains("messages compressed") && facts(&sent).len() == turn + 2, "{sent}");
}

#[test]
fn an_app_that_sends_everything_needs_the_header_and_nothing_else() {
    let provider = windowed(Protocol::OpenaiChat);
    let gateway = start(&provider, Protocol::OpenaiChat, "");
    let mut messages: Vec<Value> = Vec::new();
    for turn in 1..=40 {
        messages.push(value!({"role": "user", "content": text_of(turn)}));
        let body = value!({"model": "p/m", "messages": messages}).to_string();
        let head = "POST /v1/chat/completions\r\nsabir-conversation: long\r\n";
        let reply = gateway.request(head, &body);
        assert_eq!(reply.status, 200, "{turn}: {}", reply.body);
        messages.push(reply.json()["choices"][0]["message"].clone());
        assert_eq!(facts(&provider.received().pop().unwrap().body).len(), turn);
    }
}

#[test]
fn where_no_summary_comes_the_client_gets_the_refusal() {
    let (_, refusal) = REFUSALS[0];
    let answer =
        move |received: &Received| match (received.body.contains("FACT2"), is_summary(received)) {
            (false, false) => json(200, "", &answer(Protocol::OpenaiChat, "ANSWER", 1)),
            (true, false) => json(400, "", refusal),
            (_, true) => json(500, "", r#"{"error":{"message":"broken"}}"#),
        };
    let provider = Provider::start(vec![Script::Answer(Arc::new(answer))]);
    let gateway = start(&provider, Protocol::OpenaiChat, "");
    assert_eq!(send(&gateway, Protocol::OpenaiChat, "FACT1").status, 200);
    let reply = send(&gateway, Protocol::OpenaiChat, "FACT2");
    assert_eq!(reply.status, 400, "{}", reply.body);
    assert_eq!(reply.json()["error"]["code"], "context_length_exceeded");
    // The conversation is as it was.
    let shown = gateway.get("/sabir/v1/conversations/long").json();
    assert_eq!(shown["turns"].as_array().unwrap().len(), 1);
}
