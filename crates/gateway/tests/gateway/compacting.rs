//! Compaction where something is in its way: nobody waits for it, it does not fit, or its provider or another one is no help; what it
//! costs, and that it is not done twice.

use std::sync::{Arc, Mutex, mpsc};

use sabir_wire::Protocol;
use serde_json::{Value, json};

use crate::compaction::{UPSTREAMS, input, message_request, triggered};
use crate::harness::*;
use crate::memory::{House, STORE, answer};
use crate::overflow::REFUSALS;
use crate::waiting::wait_for;

#[test]
fn a_summary_may_be_left_to_the_background() {
    for stream in [false, true] {
        let (pieces, script) = mpsc::channel();
        let provider = Provider::start(vec![Script::Pieces(Arc::new(Mutex::new(script)))]);
        let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE));
        let mut request = triggered("p/m");
        request["store"] = json!(true);
        request["background"] = json!(true);
        request["stream"] = json!(stream);
        let mut client = gateway.send("POST /v1/responses", &request.to_string());
        // The client is answered although nobody has summarised anything yet.
        let (status, headers) = read_head(&mut client);
        let exchange = headers.iter().find(|(name, _)| name == "sabir-exchange").unwrap();
        let id = format!("resp_{}", exchange.1);
        assert_eq!(status, 200);
        let path = format!("/v1/responses/{id}");
        let queued = gateway.get(&path).json();
        assert!(
            ["queued", "in_progress"].contains(&queued["status"].as_str().unwrap()),
            "{queued}"
        );
        pieces.send(json(200, "", &answer(Protocol::OpenaiChat, "SUMMARY", 1))).unwrap();
        let done = wait_for(|| {
            let now = gateway.get(&path).json();
            match now["status"].as_str() {
                Some("completed") => Ok(now),
                _ => Err(format!("never completed: {now}")),
            }
        });
        assert_eq!((&done["id"], &done["background"]), (&json!(id), &json!(true)));
        let [item] = &done["output"].as_array().unwrap()[..] else { panic!("one item: {done}") };
        assert_eq!(item["type"], "compaction");
        if stream {
            let body = gateway.get(&format!("{path}?stream=true")).body;
            let kinds: Vec<&str> =
                body.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
            assert_eq!(kinds[..3], ["response.created", "response.queued", "response.in_progress"]);
            assert_eq!(kinds.last(), Some(&"response.completed"));
        }
    }
}

#[test]
fn what_does_not_fit_while_it_is_summarised_fails_in_the_stream() {
    let (_, refusal) = REFUSALS[0];
    let provider = Provider::start(vec![Script::Reply(json(400, "", refusal))]);
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE));
    let mut request = triggered("p/m");
    let whole = gateway.post("/v1/responses", &request.to_string());
    assert_eq!(whole.status, 400);
    assert_eq!(whole.json()["error"]["code"], "context_length_exceeded");
    request["stream"] = json!(true);
    let reply = gateway.post("/v1/responses", &request.to_string());
    assert_eq!(reply.status, 200, "{}", reply.body);
    let last = reply.body.lines().rev().find_map(|line| line.strip_prefix("data: {")).unwrap();
    let last: Value = serde_json::from_str(&format!("{{{last}")).unwrap();
    assert_eq!(last["type"], "response.failed");
    assert_eq!(last["response"]["error"]["code"], "context_length_exceeded");
}

#[test]
fn a_provider_that_turns_out_not_to_compact_is_helped() {
    let refusals = [
        json(404, "", r#"{"error":{"message":"Not Found"}}"#),
        json(
            400,
            "",
            r#"{"error":{"message":"Unknown item type: compaction_trigger","type":"invalid_request_error"}}"#,
        ),
    ];
    let compact = json!({"model": "p/m", "input": input()});
    for (refusal, (path, body)) in refusals
        .into_iter()
        .zip([("/v1/responses/compact", compact), ("/v1/responses", triggered("p/m"))])
    {
        let provider = Provider::start(vec![
            Script::Reply(refusal),
            Script::Reply(json(200, "", &answer(Protocol::OpenaiResponses, "SUMMARY", 1))),
        ]);
        let gateway = Running::start(&(provider.toml("p", "openai-responses") + STORE));
        let reply = gateway.post(path, &body.to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        let body = reply.json();
        let item = body["output"].as_array().unwrap().last().unwrap();
        assert_eq!(item["type"], "compaction", "{body}");
        assert!(reply.header("sabir-compacted").is_some());
        assert_eq!(provider.received().len(), 2);
    }
    // A model that is not there is not helped by anybody.
    let missing = json(404, "", r#"{"error":{"message":"The model m does not exist"}}"#);
    let provider = Provider::start(vec![Script::Reply(missing)]);
    let gateway = Running::start(&(provider.toml("p", "openai-responses") + STORE));
    let reply = gateway.post("/v1/responses/compact", r#"{"model":"p/m","input":"a"}"#);
    assert_eq!((reply.status, provider.received().len()), (404, 1));
}

#[test]
fn counts_know_what_a_summary_says() {
    let long = "SUMMARY ".repeat(500);
    let house = House::of(&[&long]);
    let item = house.responses(&triggered("openai-chat/m")).json()["output"][0].clone();
    let count = |input: Value| {
        let body = json!({"model": "openai-chat/m", "input": input}).to_string();
        let reply = house.gateway.post("/v1/responses/input_tokens", &body);
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.json()["input_tokens"].as_u64().unwrap()
    };
    let user = json!({"role": "user", "content": "go on"});
    let (without, with) = (count(json!([user])), count(json!([item, user])));
    assert!(with > without + 400, "{without} {with}");
    // Nobody has one written for a count.
    let asked = house.providers[0].1.received().len();
    let counted = count(json!([user, {"type": "compaction_trigger"}]));
    assert!(counted <= without + 5, "{counted}");
    assert_eq!(house.providers[0].1.received().len(), asked);
}

#[test]
fn what_another_provider_sealed_is_replaced_by_what_is_kept() {
    let native = |number: usize, output: Value| {
        let body = json!({"id": format!("resp_own{number}"), "object": "response", "created_at": 1,
            "status": "completed", "model": "m", "output": output, "store": true});
        Script::Reply(json(200, "", &body.to_string()))
    };
    let sealed = json!({"type": "compaction", "id": "cmp_own", "encrypted_content": "gAAAA"});
    let one = Provider::start(vec![native(1, json!([sealed]))]);
    let other = Provider::start(vec![
        Script::Reply(json(200, "", &answer(Protocol::OpenaiChat, "BLUE", 1))),
        Script::Reply(json(200, "", &answer(Protocol::OpenaiChat, "RED", 2))),
    ]);
    let toml = one.toml("one", "openai-responses") + &other.toml("other", "openai-chat") + STORE;
    let gateway = Running::start(&toml);
    let mut request = triggered("one/m");
    request["store"] = json!(true);
    let first = gateway.post("/v1/responses", &request.to_string()).json();
    assert_eq!(first["output"], json!([sealed]), "it passed");
    // The client carries it to another provider.
    let next = json!({"model": "other/m", "store": false, "input": [
        {"role": "user", "content": "FACT1"}, sealed, {"role": "user", "content": "FACT4"}]});
    let reply = gateway.post("/v1/responses", &next.to_string());
    assert_eq!(reply.status, 200, "{}", reply.body);
    let sent = other.received()[0].body.clone();
    for fact in ["FACT1", "FACT2", "FACT3", "FACT4"] {
        assert_eq!(sent.matches(fact).count(), 1, "{fact}: {sent}");
    }
    assert!(!sent.contains("gAAAA") && !sent.contains("trigger"), "{sent}");
    // So it is in a chain.
    let chained =
        json!({"model": "other/m", "previous_response_id": first["id"], "input": "FACT5"});
    let reply = gateway.post("/v1/responses", &chained.to_string());
    assert_eq!(reply.status, 200, "{}", reply.body);
    let sent = other.received()[1].body.clone();
    for fact in ["FACT1", "FACT2", "FACT3", "FACT5"] {
        assert_eq!(sent.matches(fact).count(), 1, "{fact}: {sent}");
    }
    // One that nobody keeps is refused, with the name of who cannot read it.
    let unknown = json!({"type": "compaction", "id": "cmp_nobody", "encrypted_content": "gAAAA"});
    let asked = json!({"model": "other/m", "input": [unknown, {"role": "user", "content": "x"}]});
    let reply = gateway.post("/v1/responses", &asked.to_string());
    assert_eq!(
        (reply.status, &reply.json()["error"]["code"]),
        (400, &json!("compaction_unreadable"))
    );
    assert!(reply.body.contains("other"), "{}", reply.body);
}

/// The messages that a provider was sent last.
fn sent_messages(house: &House, upstream: Protocol) -> Vec<Value> {
    let sent: Value = serde_json::from_str(&house.sent(upstream)).unwrap();
    let list = [&sent["messages"], &sent["contents"]].into_iter().find_map(Value::as_array);
    list.unwrap().clone()
}

#[test]
fn what_a_threshold_compacted_is_not_compacted_again_and_goes_on_as_it_was_sent() {
    let (long, threshold) = ("FACT5 ".repeat(2000), 1000);
    for upstream in UPSTREAMS {
        let model = format!("{}/m", upstream.as_str());
        let check = |house: &House, client: &str, ask: &dyn Fn(Option<&Value>) -> Reply| {
            let first = ask(None);
            assert!(first.header("sabir-compacted").is_some(), "{client}: {}", first.body);
            let sent = sent_messages(house, upstream);
            let next = ask(Some(&first.json()));
            assert_eq!(next.status, 200, "{client}: {}", next.body);
            assert_eq!(next.header("sabir-compacted"), None, "{client} {upstream:?}");
            let again = sent_messages(house, upstream);
            assert!(again.starts_with(&sent), "{client} {upstream:?}: {sent:?}, then {again:?}");
        };
        let house = House::of(&["SUMMARY", "BLUE", "RED"]);
        let history = json!([{"role": "user", "content": long}, {"role": "assistant", "content": "FACT3"},
            {"role": "user", "content": "FACT4"}]);
        let request = |more: Value| {
            let mut body = json!({"model": model, "context_management": [{"type": "compaction", "compact_threshold": threshold}]});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            house.responses(&body)
        };
        check(&house, "a chain", &|first| match first {
            None => request(json!({"input": history})),
            Some(first) => request(json!({"input": "FACT6", "previous_response_id": first["id"]})),
        });
        // Its own vendor compacts by itself.
        if upstream == Protocol::AnthropicMessages {
            continue;
        }
        let house = House::of(&["SUMMARY", "BLUE", "RED"]);
        check(&house, "messages", &|first| {
            let mut messages = history.as_array().unwrap().clone();
            if let Some(first) = first {
                messages.push(json!({"role": "assistant", "content": first["content"]}));
                messages.push(json!({"role": "user", "content": "FACT6"}));
            }
            let edit = json!({"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": threshold}});
            let body = json!({"model": model, "max_tokens": 99, "messages": messages, "context_management": {"edits": [edit]}});
            house.gateway.post("/v1/messages", &body.to_string())
        });
    }
}

/// What a provider of Chat answers, with or without a word of what it cost.
fn summarising(usage: Option<Value>) -> Provider {
    let summary = answer(Protocol::OpenaiChat, "SUMMARY", 1);
    let mut summary: Value = serde_json::from_str(&summary).unwrap();
    match usage {
        Some(usage) => summary["usage"] = usage,
        None => drop(summary.as_object_mut().unwrap().remove("usage")),
    }
    Provider::start(vec![Script::Reply(json(200, "", &summary.to_string()))])
}

#[test]
fn the_client_learns_all_that_a_summary_cost() {
    let usage = json!({"prompt_tokens": 900, "completion_tokens": 70, "total_tokens": 970,
        "prompt_tokens_details": {"cached_tokens": 300}, "completion_tokens_details": {"reasoning_tokens": 20}});
    let start = || {
        let provider = summarising(Some(usage.clone()));
        (Running::start(&(provider.toml("p", "openai-chat") + STORE)), provider)
    };
    let expected = json!({"input_tokens": 900, "input_tokens_details": {"cached_tokens": 300},
        "output_tokens": 70, "output_tokens_details": {"reasoning_tokens": 20}, "total_tokens": 970});
    for (path, body) in [
        ("/v1/responses", triggered("p/m")),
        ("/v1/responses/compact", json!({"model": "p/m", "input": input()})),
    ] {
        let (gateway, _provider) = start();
        let reply = gateway.post(path, &body.to_string());
        assert_eq!(reply.json()["usage"], expected, "{path}: {}", reply.body);
        assert_eq!(reply.header("sabir-estimate"), None);
    }
    let (gateway, _provider) = start();
    let asked = message_request("p/m", json!({"compaction": {"type": "summarize"}}));
    let usage = &gateway.post("/v1/messages", &asked).json()["usage"];
    for counts in [usage, &usage["iterations"][0]] {
        assert_eq!(counts["input_tokens"], 600, "{usage}");
        assert_eq!(counts["cache_read_input_tokens"], 300, "{usage}");
        assert_eq!(counts["output_tokens"], 70, "{usage}");
    }
    assert_eq!(usage["iterations"][0]["type"], "compaction");
}

#[test]
fn what_nobody_counts_of_a_summary_is_estimated() {
    for (path, body) in [
        ("/v1/responses", triggered("p/m")),
        ("/v1/responses/compact", json!({"model": "p/m", "input": input()})),
    ] {
        let provider = summarising(None);
        let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE));
        let reply = gateway.post(path, &body.to_string());
        let usage = &reply.json()["usage"];
        assert!(usage["input_tokens"].as_u64().unwrap() > 100, "{usage}");
        assert_eq!(usage["output_tokens"], 2, "{usage}");
        assert_eq!(reply.header("sabir-estimate"), Some("true"), "{path}");
    }
}
