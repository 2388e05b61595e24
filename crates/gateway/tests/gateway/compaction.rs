//! Compaction on providers that have none: triggers, thresholds, requests that only summarise, and summaries that come back.

use sabir_wire::Protocol;
use serde_json::{Value, json};

use crate::harness::*;
use crate::memory::{House, STORE, answer};

pub(crate) const UPSTREAMS: [Protocol; 3] =
    [Protocol::OpenaiChat, Protocol::AnthropicMessages, Protocol::Gemini];

pub(crate) fn input() -> Vec<Value> {
    vec![
        json!({"role": "user", "content": "FACT1"}),
        json!({"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{\"at\":1}"}),
        json!({"type": "function_call_output", "call_id": "c1", "output": "FACT2"}),
        json!({"role": "assistant", "content": "FACT3"}),
    ]
}

pub(crate) fn triggered(model: &str) -> Value {
    let mut input = input();
    input.push(json!({"type": "compaction_trigger"}));
    json!({"model": model, "input": input, "store": false})
}

#[test]
fn a_trigger_is_answered_with_one_item_that_later_requests_go_on_from() {
    for upstream in UPSTREAMS {
        let house = House::of(&["SUMMARY", "BLUE"]);
        let model = format!("{}/m", upstream.as_str());
        let reply = house.responses(&triggered(&model));
        assert_eq!(reply.status, 200, "{upstream:?}: {}", reply.body);
        let asked = house.sent(upstream);
        for fact in ["FACT1", "FACT2", "FACT3", "(calls look with"] {
            assert!(asked.contains(fact), "{upstream:?} lacks {fact}: {asked}");
        }
        let body = reply.json();
        assert_eq!(
            (body["object"].as_str(), body["status"].as_str()),
            (Some("response"), Some("completed"))
        );
        let [item] = &body["output"].as_array().unwrap()[..] else { panic!("one item: {body}") };
        assert_eq!(item["type"], "compaction");
        assert!(item["id"].as_str().unwrap().starts_with("cmp_"));
        let sealed = item["encrypted_content"].as_str().unwrap();
        assert!(!sealed.contains("SUMMARY"));
        assert!(reply.header("sabir-compacted").is_some_and(|id| id.starts_with("ex_")));
        // What only the user said stays beside the summary; all else is gone.
        let next = json!({"model": model, "store": false, "input": [input()[0], input()[3], item, {"role": "user", "content": "FACT4"}]});
        let reply = house.responses(&next);
        assert_eq!(reply.status, 200, "{}", reply.body);
        let sent = house.sent(upstream);
        for (fact, is_there) in
            [("SUMMARY", true), ("FACT1", true), ("FACT3", false), ("FACT4", true), (sealed, false)]
        {
            assert_eq!(sent.contains(fact), is_there, "{upstream:?} {fact}: {sent}");
        }
    }
}

#[test]
fn a_trigger_may_be_streamed() {
    let house = House::of(&["SUMMARY"]);
    let mut request = triggered("anthropic-messages/m");
    request["stream"] = json!(true);
    let reply = house.responses(&request);
    assert_eq!(reply.status, 200);
    let kinds: Vec<&str> =
        reply.body.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(kinds.first(), Some(&"response.created"));
    assert_eq!(kinds.last(), Some(&"response.completed"));
    let done = kinds.iter().filter(|kind| **kind == "response.output_item.done").count();
    assert_eq!(done, 1, "{kinds:?}");
    assert!(reply.body.contains("\"type\":\"compaction\""));
}

#[test]
fn a_trigger_that_is_stored_can_be_chained() {
    let house = House::of(&["SUMMARY", "BLUE"]);
    let mut request = triggered("openai-chat/m");
    request["store"] = json!(true);
    let first = house.responses(&request).json();
    let id = first["id"].as_str().unwrap();
    let next = json!({"model": "openai-chat/m", "previous_response_id": id, "input": "FACT4"});
    let reply = house.responses(&next);
    assert_eq!(reply.status, 200, "{}", reply.body);
    let sent = house.sent(Protocol::OpenaiChat);
    for (fact, is_there) in [("SUMMARY", true), ("FACT2", false), ("FACT3", false), ("FACT4", true)]
    {
        assert_eq!(sent.contains(fact), is_there, "{fact}: {sent}");
    }
}

#[test]
fn a_threshold_compacts_before_the_answer() {
    let long = "FACT5 ".repeat(2000);
    for upstream in UPSTREAMS {
        let house = House::of(&["SUMMARY", "BLUE", "RED"]);
        let model = format!("{}/m", upstream.as_str());
        let request = |threshold: u64| {
            json!({"model": model, "context_management": [{"type": "compaction", "compact_threshold": threshold}],
                "input": [{"role": "user", "content": long}, {"role": "assistant", "content": "FACT3"},
                    {"role": "user", "content": "FACT4"}]})
        };
        let reply = house.responses(&request(1000));
        assert_eq!(reply.status, 200, "{}", reply.body);
        let body = reply.json();
        let output = body["output"].as_array().unwrap();
        let kinds: Vec<&str> = output.iter().map(|item| item["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["compaction", "message"], "{body}");
        assert_eq!(output[1]["content"][0]["text"], "BLUE");
        let sent = house.sent(upstream);
        for (fact, is_there) in
            [("SUMMARY", true), ("FACT5", false), ("FACT3", false), ("FACT4", true)]
        {
            assert_eq!(sent.contains(fact), is_there, "{upstream:?} {fact}: {sent}");
        }
        // The chain goes on from the summary.
        let next = json!({"model": model, "previous_response_id": body["id"], "input": "FACT6"});
        assert_eq!(house.responses(&next).status, 200);
        let sent = house.sent(upstream);
        for (fact, is_there) in
            [("SUMMARY", true), ("FACT3", false), ("BLUE", true), ("FACT6", true)]
        {
            assert_eq!(sent.contains(fact), is_there, "{upstream:?} {fact}: {sent}");
        }
    }
    let house = House::of(&["BLUE"]);
    let below = json!({"model": "gemini/m", "input": "FACT1",
        "context_management": [{"type": "compaction", "compact_threshold": 1000}]});
    let reply = house.responses(&below);
    assert_eq!((reply.status, reply.header("sabir-compacted")), (200, None));
    assert_eq!(reply.json()["output"].as_array().unwrap().len(), 1);
    assert_eq!(reply.header("sabir-loss"), Some("none"));
}

pub(crate) fn message_request(model: &str, more: Value) -> String {
    let mut body = json!({"model": model, "max_tokens": 99, "messages": [
        {"role": "user", "content": "FACT1"}, {"role": "assistant", "content": "FACT2"},
        {"role": "user", "content": "FACT3"}]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body.to_string()
}

#[test]
fn a_threshold_whose_summary_fails_is_passed_over() {
    let refused = json(400, "", r#"{"error":{"message":"no","type":"invalid_request_error"}}"#);
    let blank = json(200, "", &answer(Protocol::OpenaiChat, " ", 1));
    for unsummarised in [refused, blank] {
        let provider = Provider::start(vec![
            Script::Reply(unsummarised),
            Script::Reply(json(200, "", &answer(Protocol::OpenaiChat, "BLUE", 2))),
        ]);
        let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE));
        let body = json!({"model": "p/m", "input": [{"role": "user", "content": "FACT5 ".repeat(2000)},
                {"role": "assistant", "content": "FACT3"}, {"role": "user", "content": "FACT4"}],
            "context_management": [{"type": "compaction", "compact_threshold": 1000}]});
        let reply = gateway.post("/v1/responses", &body.to_string());
        assert_eq!((reply.status, reply.header("sabir-compacted")), (200, None), "{}", reply.body);
        assert_eq!(reply.json()["output"].as_array().unwrap().len(), 1);
        let sent = &provider.received()[1].body;
        assert!(sent.contains("FACT5") && sent.contains("FACT3"), "{sent}");
    }
}

#[test]
fn a_client_of_messages_learns_that_there_is_no_summary_and_may_send_that_back() {
    for stream in [false, true] {
        let chat = match stream {
            false => json(200, "", &answer(Protocol::OpenaiChat, "BLUE", 2)),
            true => sse(&format!("{}data: [DONE]\n\n", chat_chunk("BLUE"))),
        };
        let provider = Provider::start(vec![
            Script::Reply(json(500, "", r#"{"error":{"message":"no"}}"#)),
            Script::Reply(chat),
            Script::Reply(json(200, "", &answer(Protocol::OpenaiChat, "GREEN", 3))),
        ]);
        let toml = provider.toml("p", "openai-chat") + "retries = 0\n" + STORE;
        let gateway = Running::start(&toml);
        let edits = json!({"stream": stream, "context_management": {"edits": [
            {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 1}}]}});
        let reply = gateway.post("/v1/messages", &message_request("p/m", edits));
        assert_eq!(reply.status, 200, "{}", reply.body);
        let void = json!({"type": "compaction", "content": null});
        match stream {
            false => assert_eq!(reply.json()["content"][0], void, "{}", reply.body),
            true => {
                let delta = r#"{"type":"compaction_delta","content":null}"#;
                assert!(reply.body.find(delta) < reply.body.find("BLUE"), "{}", reply.body);
                assert!(reply.body.contains(delta), "{}", reply.body);
            }
        }
        let next = json!({"model": "p/m", "max_tokens": 99, "messages": [
            {"role": "user", "content": "FACT1"},
            {"role": "assistant", "content": [void, {"type": "text", "text": "BLUE"}]},
            {"role": "user", "content": "FACT4"}]});
        let reply = gateway.post("/v1/messages", &next.to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        let sent = &provider.received()[2].body;
        assert!(["FACT1", "BLUE", "FACT4"].iter().all(|it| sent.contains(it)), "{sent}");
    }
}

#[test]
fn messages_may_ask_for_a_summary_alone_and_send_it_back() {
    for upstream in [Protocol::OpenaiChat, Protocol::OpenaiResponses, Protocol::Gemini] {
        let house = House::of(&["SUMMARY", "BLUE"]);
        let model = format!("{}/m", upstream.as_str());
        let asks = json!({"compaction": {"type": "summarize"}});
        let reply = house.gateway.post("/v1/messages", &message_request(&model, asks));
        assert_eq!(reply.status, 200, "{}", reply.body);
        let body = reply.json();
        assert_eq!(body["stop_reason"], "compaction");
        let [block] = &body["content"].as_array().unwrap()[..] else { panic!("one block: {body}") };
        assert_eq!((&block["type"], &block["content"]), (&json!("compaction"), &json!("SUMMARY")));
        let next = json!({"model": model, "max_tokens": 99, "messages": [
            {"role": "assistant", "content": [block]}, {"role": "user", "content": "FACT4"}]});
        let reply = house.gateway.post("/v1/messages", &next.to_string());
        assert_eq!(reply.status, 200, "{}", reply.body);
        let sent = house.sent(upstream);
        assert!(sent.contains("SUMMARY") && sent.contains("FACT4"), "{sent}");
        let mut changed = next.clone();
        changed["messages"][0]["content"][0]["content"] = json!("OTHER");
        let reply = house.gateway.post("/v1/messages", &changed.to_string());
        assert_eq!(reply.status, 400);
        assert_eq!(reply.json()["error"]["details"]["error_code"], "compaction_content_mismatch");
    }
}

#[test]
fn an_edit_of_messages_compacts_or_pauses() {
    let edit = |pause: bool| {
        json!({"stream": true, "context_management": {"edits": [{"type": "compact_20260112",
            "trigger": {"type": "input_tokens", "value": 1}, "pause_after_compaction": pause}]}})
    };
    let house = House::of(&["SUMMARY", "BLUE"]);
    let reply = house.gateway.post("/v1/messages", &message_request("openai-chat/m", edit(true)));
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert!(reply.body.contains(r#""stop_reason":"compaction""#), "{}", reply.body);
    assert!(
        reply.body.contains(r#"{"type":"compaction_delta","content":"SUMMARY""#),
        "{}",
        reply.body
    );
    assert_eq!(house.providers[0].1.received().len(), 1);
    let house = House::of(&["SUMMARY", "BLUE"]);
    let reply = house.gateway.post("/v1/messages", &message_request("openai-chat/m", edit(false)));
    assert_eq!(reply.status, 200, "{}", reply.body);
    let (summary, text) = (reply.body.find("compaction_delta"), reply.body.find("BLUE"));
    assert!(summary.is_some() && summary < text, "{}", reply.body);
    assert!(reply.body.contains(r#""stop_reason":"end_turn""#), "{}", reply.body);
}

#[test]
fn what_was_not_sealed_here_is_refused_in_the_clients_words() {
    let house = House::of(&["BLUE"]);
    let foreign = json!({"model": "gemini/m", "store": false, "input": [
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA"}, {"role": "user", "content": "a"}]});
    let reply = house.responses(&foreign);
    assert_eq!(reply.status, 400);
    assert!(
        reply.json()["error"]["message"].as_str().unwrap().contains("gemini"),
        "{}",
        reply.body
    );
    let forged = json!({"model": "gemini/m", "store": false, "input": [
        {"type": "compaction", "encrypted_content": "sabir-compaction-1.AAAA"}, {"role": "user", "content": "a"}]});
    let reply = house.responses(&forged);
    assert_eq!(reply.json()["error"]["code"], "compaction_signature_invalid", "{}", reply.body);
    let nothing =
        json!({"model": "gemini/m", "store": false, "input": [{"type": "compaction_trigger"}]});
    assert_eq!(
        house.responses(&nothing).json()["error"]["code"],
        "compaction_nothing_to_summarize"
    );
    assert!(house.providers.iter().all(|(_, provider)| provider.received().is_empty()));
}

#[test]
fn what_the_vendor_refuses_is_refused_in_its_words() {
    let house = House::of(&["BLUE"]);
    let management = json!([{"type": "compaction", "compact_threshold": 999}]);
    let low = json!({"model": "gemini/m", "input": "x", "context_management": management});
    let misplaced = json!({"model": "gemini/m",
        "input": [{"type": "compaction_trigger"}, {"role": "user", "content": "x"}]});
    for (body, code, param) in [
        (low, "integer_below_min_value", "context_management[0].compact_threshold"),
        (misplaced, "invalid_value", "input[0]"),
    ] {
        let reply = house.responses(&body);
        let error = &reply.json()["error"];
        assert_eq!(reply.status, 400, "{}", reply.body);
        assert_eq!((&error["code"], &error["param"]), (&json!(code), &json!(param)), "{error}");
        assert!(error["message"].as_str().unwrap().contains(param), "{error}");
    }
    assert!(house.providers.iter().all(|(_, provider)| provider.received().is_empty()));
}

#[test]
fn a_provider_of_the_same_protocol_compacts_by_itself() {
    let house = House::of(&["BLUE"]);
    let request = triggered("openai-responses/m");
    let reply = house.responses(&request);
    assert_eq!(reply.status, 200);
    assert!(house.sent(Protocol::OpenaiResponses).contains("compaction_trigger"));
    assert_eq!(reply.header("sabir-compacted"), None);
}

#[test]
fn a_summary_is_for_its_owner_alone() {
    let provider = Provider::start(vec![
        Script::Reply(json(200, "", &answer(Protocol::OpenaiChat, "SUMMARY", 1))),
        Script::Reply(json(200, "", &answer(Protocol::OpenaiChat, "BLUE", 2))),
    ]);
    let keys = "[auth]\nrequired = true\n[[auth.key]]\nname = \"one\"\nvalue = { value = \"key-number-one\" }\n\
        [[auth.key]]\nname = \"two\"\nvalue = { value = \"key-number-two\" }\n";
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE + keys));
    let send = |key: &str, body: &Value| {
        let head = format!("POST /v1/responses\r\nauthorization: Bearer {key}\r\n");
        gateway.request(&head, &body.to_string())
    };
    let reply = send("key-number-one", &triggered("p/m"));
    let item = reply.json()["output"][0].clone();
    let next =
        json!({"model": "p/m", "store": false, "input": [item, {"role": "user", "content": "a"}]});
    assert_eq!(
        send("key-number-two", &next).json()["error"]["code"],
        "compaction_signature_invalid"
    );
    assert_eq!(send("key-number-one", &next).status, 200);
}

#[test]
fn another_model_may_write_the_summary_and_the_prompt_is_the_operators() {
    let prompt = std::env::temp_dir().join(format!("sabir-prompt-{}", std::process::id()));
    std::fs::write(&prompt, "SUM IT UP").unwrap();
    let more = format!("[compaction]\nmodel = \"gemini/small\"\nprompt_file = {prompt:?}\n");
    let house = House::with(&["SUMMARY", "BLUE"], &more);
    std::fs::remove_file(&prompt).unwrap();
    let reply = house.responses(&triggered("openai-chat/m"));
    assert_eq!(reply.status, 200, "{}", reply.body);
    let sent = house.sent(Protocol::Gemini);
    assert!(sent.contains("FACT1") && sent.contains("SUM IT UP"), "{sent}");
    assert!(house.providers[0].1.received().is_empty());
    let exchanges = house.gateway.get("/sabir/v1/exchanges").json();
    let compacted = reply.header("sabir-compacted").unwrap().to_owned();
    let rows = exchanges["exchanges"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["id"] == compacted.as_str()), "{exchanges}");
}

#[test]
fn a_conversation_may_be_compacted_apart_and_go_on_from_what_is_left() {
    for upstream in UPSTREAMS {
        let house = House::of(&["ANSWER", "SUMMARY", "BLUE"]);
        let model = format!("{}/m", upstream.as_str());
        let first = json!({"model": model, "input": input()});
        let id = house.responses(&first).json()["id"].as_str().unwrap().to_owned();
        // By the id of what is stored, as the Agents SDK does.
        let asked = json!({"model": model, "previous_response_id": id}).to_string();
        let reply = house.gateway.post("/v1/responses/compact", &asked);
        assert_eq!(reply.status, 200, "{upstream:?}: {}", reply.body);
        let body = reply.json();
        assert_eq!(body["object"], "response.compaction");
        assert!(body["id"].as_str().unwrap().starts_with("resp_"), "{body}");
        let asked = house.sent(upstream);
        assert!(
            ["FACT1", "FACT2", "FACT3", "ANSWER"].iter().all(|it| asked.contains(it)),
            "{asked}"
        );
        let output = body["output"].as_array().unwrap();
        let [user, item] = &output[..] else { panic!("two items: {body}") };
        assert_eq!(
            (user["role"].as_str(), item["type"].as_str()),
            (Some("user"), Some("compaction"))
        );
        let mut input = output.clone();
        input.push(json!({"role": "user", "content": "FACT4"}));
        let next = json!({"model": model, "input": input});
        assert_eq!(house.responses(&next).status, 200);
        let sent = house.sent(upstream);
        for (fact, is_there) in
            [("FACT1", true), ("SUMMARY", true), ("FACT3", false), ("FACT4", true)]
        {
            assert_eq!(sent.contains(fact), is_there, "{upstream:?} {fact}: {sent}");
        }
    }
    let house = House::of(&["BLUE"]);
    let reply = house.gateway.post("/v1/responses/compact", r#"{"input":"a"}"#);
    assert_eq!(reply.status, 400, "{}", reply.body);
    let asked = r#"{"model":"openai-responses/m","input":"a"}"#;
    assert_eq!(house.gateway.post("/v1/responses/compact", asked).status, 200);
    let (_, provider) = &house.providers[1];
    assert!(provider.received()[0].line.contains("/responses/compact "), "passed on as it is");
}

#[test]
fn a_conversation_that_nobody_knows_is_not_compacted() {
    let house = House::of(&["SUMMARY"]);
    for named in
        [json!({"previous_response_id": "resp_nope"}), json!({"conversation": "conv_nope"})]
    {
        let mut request = triggered("openai-chat/m");
        request.as_object_mut().unwrap().extend(named.as_object().unwrap().clone());
        let reply = house.responses(&request);
        assert!([400, 404].contains(&reply.status), "{}", reply.body);
        assert!(reply.body.contains("not found"), "{}", reply.body);
    }
    let reference = json!({"model": "openai-chat/m", "input": [{"type": "item_reference", "id": "msg_nope"},
        {"role": "user", "content": "please compact it"}]});
    assert_eq!(house.responses(&reference).status, 404);
    assert!(house.providers[0].1.received().is_empty(), "nobody is asked");
}

#[test]
fn an_item_may_be_named_by_its_id_and_its_trigger_is_gone() {
    let house = House::of(&["SUMMARY", "BLUE", "RED"]);
    let mut request = triggered("openai-chat/m");
    request["store"] = json!(true);
    let first = house.responses(&request).json();
    let item = &first["output"][0]["id"];
    let next = json!({"model": "openai-chat/m", "input": [{"type": "item_reference", "id": item},
        {"role": "user", "content": "FACT4"}]});
    assert_eq!(house.responses(&next).status, 200);
    let sent = house.sent(Protocol::OpenaiChat);
    assert!(sent.contains("SUMMARY") && sent.contains("FACT4"), "{sent}");
    let chained =
        json!({"model": "openai-chat/m", "previous_response_id": first["id"], "input": "FACT5"});
    assert_eq!(house.responses(&chained).status, 200);
    let sent = house.sent(Protocol::OpenaiChat);
    assert!(!sent.contains("omitted") && !sent.contains("trigger"), "{sent}");
}

#[test]
fn summaries_do_not_pile_up() {
    let house = House::of(&["SUMMARY1", "SUMMARY2"]);
    let compact = |input: &Value| {
        let body = json!({"model": "openai-chat/m", "input": input}).to_string();
        house.gateway.post("/v1/responses/compact", &body).json()
    };
    let mut input = compact(&json!(input()))["output"].clone();
    input.as_array_mut().unwrap().push(json!({"role": "user", "content": "FACT4"}));
    let output = compact(&input)["output"].clone();
    assert!(house.sent(Protocol::OpenaiChat).contains("SUMMARY1"));
    let kinds: Vec<bool> =
        output.as_array().unwrap().iter().map(|item| item["type"] == "compaction").collect();
    assert_eq!(kinds, [false, false, true], "{output}");
    assert!(!output.to_string().contains("SUMMARY1"), "{output}");
}

#[test]
fn a_summary_that_does_not_come_to_its_end_is_none() {
    let cut = answer(Protocol::OpenaiChat, "half", 1).replace("\"stop\"", "\"length\"");
    let provider = Provider::whole(&cut);
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + STORE));
    let reply = gateway.post("/v1/responses", &triggered("p/m").to_string());
    assert_eq!(reply.status, 502, "{}", reply.body);
    assert!(provider.received()[0].body.contains("8192"));
}

#[test]
fn the_word_alone_asks_for_nothing() {
    let toml = "[store]\nrecord = \"off\"\n";
    let provider = Provider::whole(&answer(Protocol::OpenaiChat, "BLUE", 1));
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + toml));
    let body = json!({"model": "p/m", "max_tokens": 9, "messages": [
        {"role": "user", "content": "Which compact car has \"compaction\"?"}]});
    assert_eq!(gateway.post("/v1/messages", &body.to_string()).status, 200);
}

#[test]
fn a_small_window_is_compacted_piece_by_piece() {
    let provider = Provider::start(
        (1..9)
            .map(|it| Script::Reply(json(200, "", &answer(Protocol::OpenaiChat, "SUMMARY", it))))
            .collect(),
    );
    let toml = provider.toml("p", "openai-chat").replacen(
        "[[provider]]",
        "[[provider]]\ncontext_window = 8000",
        1,
    );
    let gateway = Running::start(&(toml + STORE));
    let long: Vec<Value> = (0..9)
        .map(|it| json!({"role": "user", "content": format!("FACT{it} {}", "word ".repeat(1000))}))
        .collect();
    let body = json!({"model": "p/m", "input": long}).to_string();
    let reply = gateway.post("/v1/responses/compact", &body);
    assert_eq!(reply.status, 200, "{}", reply.body);
    let asked = provider.received();
    assert_eq!(asked.len(), 3);
    // The answer takes room as well: some servers refuse what does not fit with all that it may have.
    for asked in asked {
        let body: Value = serde_json::from_str(&asked.body).unwrap();
        assert_eq!(body["max_tokens"], 2000, "{body}");
    }
}

#[test]
fn what_is_stored_is_what_was_answered() {
    let house = House::of(&["SUMMARY", "BLUE"]);
    let long = "FACT5 ".repeat(2000);
    let request = json!({"model": "gemini/m", "context_management": [{"type": "compaction", "compact_threshold": 1000}],
        "input": [{"role": "user", "content": long}, {"role": "assistant", "content": "FACT3"},
            {"role": "user", "content": "FACT4"}]});
    let body = house.responses(&request).json();
    let id = body["id"].as_str().unwrap();
    let stored = house.gateway.get(&format!("/v1/responses/{id}")).json();
    assert_eq!(stored["output"], body["output"]);
}

#[test]
fn a_providers_own_compaction_is_its_own_beside_our_words() {
    let house = House::of(&["BLUE"]);
    let native = json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA"});
    let request = json!({"model": "openai-responses/m", "store": false, "input": [
        {"role": "user", "content": "what is sabir-compaction-1. ?"}, native, {"role": "user", "content": "go"}]});
    let reply = house.responses(&request);
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert!(house.sent(Protocol::OpenaiResponses).contains("gAAAA"));
}

#[test]
fn a_summary_is_counted_with_the_call_that_wrote_it() {
    let house = House::of(&["SUMMARY"]);
    let reply = house.responses(&triggered("anthropic-messages/m"));
    assert_eq!(reply.json()["usage"]["input_tokens"], 1, "the client learns what it cost");
    let find = |name: &str| {
        let id = reply.header(name).unwrap();
        house.gateway.get(&format!("/sabir/v1/exchanges/{id}")).json()["usage"].clone()
    };
    assert_eq!(find("sabir-compacted")["input_tokens"], 1);
    assert!(find("sabir-exchange")["input_tokens"].is_null());
}
