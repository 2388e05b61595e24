//! Histories that no provider would take: mended on the way to another protocol, left alone on the same one.

use sabir_backend::sim::{Incoming, Simulator};
use sabir_wire::Protocol;
use sabir_wire::protocol::AnswerContext;
use serde_json::{Value, json};

use crate::harness::*;

const TOOLS: &str = r#"[{"type":"function","function":{"name":"look","parameters":{"type":"object","properties":{}}}}]"#;

fn chat_of(messages: &Value) -> String {
    let tools: Value = serde_json::from_str(TOOLS).unwrap();
    json!({"model": "p/m", "messages": messages, "tools": tools}).to_string()
}

fn call(id: &str) -> Value {
    let function = json!({"name": "look", "arguments": "{}"});
    json!({"role": "assistant", "content": null,
        "tool_calls": [{"id": id, "type": "function", "function": function}]})
}

fn result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "seen"})
}

fn user(words: &str) -> Value {
    json!({"role": "user", "content": words})
}

/// An answer in the words of each protocol.
fn answer(protocol: Protocol) -> String {
    let chat = chat_answer("hi");
    let translated = protocol.translate_response(
        chat.as_bytes(),
        Protocol::OpenaiChat,
        &AnswerContext::default(),
    );
    translated.expect("a plain answer can be translated").body
}

/// What the provider of a protocol is sent for a Chat request, once its strict simulator has taken it.
#[track_caller]
fn sent(protocol: Protocol, messages: &Value, loss: &str) -> Value {
    let provider = Provider::whole(&answer(protocol));
    let gateway = Running::start(&provider.toml("p", protocol.as_str()));
    let head = "POST /v1/chat/completions\r\nsabir-strict: true\r\n";
    let reply = gateway.request(head, &chat_of(messages));
    assert_eq!(reply.status, 200, "{protocol:?}: {}", reply.body);
    assert_eq!(reply.header("sabir-loss"), Some(loss), "{protocol:?}");
    let [received] = provider.received().try_into().unwrap();
    assert_taken(protocol, &received.body);
    serde_json::from_str(&received.body).unwrap()
}

#[track_caller]
fn assert_taken(protocol: Protocol, body: &str) {
    let path = match protocol {
        Protocol::OpenaiChat => "/v1/chat/completions",
        Protocol::OpenaiResponses => "/v1/responses",
        Protocol::AnthropicMessages => "/v1/messages",
        Protocol::Gemini => "/v1beta/models/m:generateContent",
    };
    let mut headers = http::HeaderMap::new();
    for (name, value) in [
        ("authorization", "Bearer key"),
        ("x-api-key", "key"),
        ("x-goog-api-key", "key"),
        ("anthropic-version", "2023-06-01"),
    ] {
        headers.insert(name, value.parse().unwrap());
    }
    let method = http::Method::POST;
    let request = Incoming { method: &method, path, headers: &headers, body: body.as_bytes() };
    let reply = Simulator::new(protocol).answer(request);
    assert_eq!(reply.status, 200, "{protocol:?} refuses {body}: {:?}", reply.steps);
}

const OTHERS: [Protocol; 3] =
    [Protocol::OpenaiResponses, Protocol::AnthropicMessages, Protocol::Gemini];

#[test]
fn an_orphan_result_is_left_out() {
    let messages = json!([user("u"), result("call_1"), user("v")]);
    for protocol in OTHERS {
        let body = sent(protocol, &messages, "repaired=1").to_string();
        assert!(!body.contains("seen"), "{body}");
    }
}

#[test]
fn an_unanswered_call_gets_an_error_result() {
    let messages = json!([user("u"), call("call_1"), user("v")]);
    for protocol in OTHERS {
        let body = sent(protocol, &messages, "repaired=1").to_string();
        assert!(body.contains("this tool call has no result"), "{body}");
    }
    let body = sent(Protocol::AnthropicMessages, &messages, "repaired=1");
    assert_eq!(body["messages"][2]["content"][0]["is_error"], true);
}

#[test]
fn a_result_out_of_place_moves_to_its_call() {
    let messages = json!([user("u"), call("call_1"), user("wait"), result("call_1")]);
    for protocol in OTHERS {
        let body = sent(protocol, &messages, "repaired=1").to_string();
        assert!(body.contains("seen") && body.find("seen") < body.find("wait"), "{body}");
    }
}

#[test]
fn an_assistant_who_speaks_first_gets_a_user_before() {
    let messages = json!([{"role": "assistant", "content": "Welcome!"}, user("u")]);
    for protocol in OTHERS {
        let body = sent(protocol, &messages, "repaired=1").to_string();
        let before = body.find("(The conversation begins with the assistant.)");
        assert!(before.is_some() && before < body.find("Welcome!"), "{body}");
    }
}

#[test]
fn an_empty_message_is_left_out() {
    for empty in [json!({"role": "assistant", "content": ""}), user(" \n")] {
        let messages = json!([user("u"), {"role": "assistant", "content": "a"}, empty, user("v")]);
        for protocol in OTHERS {
            sent(protocol, &messages, "repaired=1");
        }
    }
}

#[test]
fn a_blank_turn_keeps_calls_of_two_turns_apart() {
    let messages = json!([user("u"), call("call_1"), user(""), call("call_1"), result("call_1")]);
    for protocol in OTHERS {
        // Anthropic wants the second call under an id of its own, and its result.
        let loss = match protocol {
            Protocol::AnthropicMessages => "repaired=4",
            _ => "repaired=2",
        };
        let body = sent(protocol, &messages, loss).to_string();
        let first = body.find("this tool call has no result");
        assert!(first.is_some() && first < body.find("(The user said nothing.)"), "{body}");
        assert!(body.find("(The user said nothing.)") < body.find("seen"), "{body}");
    }
}

#[test]
fn a_last_turn_that_goes_leaves_the_assistant_its_words() {
    for (last, loss) in [(user(" "), "repaired=1"), (result("call_1"), "repaired=2")] {
        let messages = json!([user("u"), {"role": "assistant", "content": "Welcome!"}, last]);
        for protocol in OTHERS {
            let body = sent(protocol, &messages, loss).to_string();
            let before = body.find("Welcome!");
            assert!(before.is_some() && before < body.find("(The user said nothing.)"), "{body}");
        }
    }
}

fn system(words: &str) -> Value {
    json!({"role": "system", "content": words})
}

#[test]
fn a_conversation_that_goes_but_for_its_instructions_leaves_a_user_who_said_nothing() {
    for gone in [user(" "), result("call_1")] {
        let messages = json!([system("be brief"), gone]);
        for protocol in OTHERS {
            let body = sent(protocol, &messages, "repaired=2").to_string();
            assert!(body.contains("be brief"), "{body}");
            assert!(body.contains("(The user said nothing.)"), "{body}");
        }
    }
}

#[test]
fn instructions_alone_are_refused_where_a_turn_is_needed() {
    let gemini = r#"{"systemInstruction":{"parts":[{"text":"s"}]},"contents":[]}"#;
    let responses = r#"{"model":"p/m","instructions":"s","input":[]}"#;
    let chat = json!({"model": "p/m", "messages": [system("s"), system("t")]}).to_string();
    for protocol in [Protocol::AnthropicMessages, Protocol::Gemini] {
        let provider = Provider::whole(&answer(protocol));
        let gateway = Running::start(&provider.toml("p", protocol.as_str()));
        for (client, path, body) in [
            (Protocol::OpenaiChat, "/v1/chat/completions", &*chat),
            (Protocol::OpenaiResponses, "/v1/responses", responses),
            (Protocol::Gemini, "/v1beta/models/p%2Fm:generateContent", gemini),
        ] {
            if client == protocol {
                continue;
            }
            let reply = gateway.post(path, body);
            assert_eq!(reply.status, 400, "{client:?}: {}", reply.body);
            assert!(reply.body.contains("beside the system prompt"), "{}", reply.body);
            let param = match client {
                Protocol::OpenaiChat => json!("messages"),
                Protocol::OpenaiResponses => json!("input"),
                _ => Value::Null,
            };
            assert_eq!(reply.json()["error"]["param"], param, "{client:?}");
        }
        assert!(provider.received().is_empty(), "{protocol:?}");
    }
}

#[test]
fn instructions_alone_pass_where_they_are_enough() {
    let body = sent(Protocol::OpenaiResponses, &json!([system("s")]), "none");
    assert_eq!(body["input"][0]["content"][0]["text"], "s");
    assert!(body.get("instructions").is_none(), "{body}");
}

#[test]
fn a_sound_history_is_not_repaired() {
    let messages = json!([user("u"), call("call_1"), result("call_1"), user("v")]);
    for protocol in OTHERS {
        sent(protocol, &messages, "none");
    }
}

#[test]
fn every_repair_is_on_record_with_its_place() {
    let provider = Provider::whole(&answer(Protocol::Gemini));
    let gateway = Running::start(&provider.toml("p", "gemini"));
    let messages = json!([user("u"), call("call_1"), user("v"), result("call_2")]);
    let reply = gateway.post("/v1/chat/completions", &chat_of(&messages));
    let exchange = reply.header("sabir-exchange").unwrap();
    let seen = gateway.get(&format!("/sabir/v1/exchanges/{exchange}")).json();
    let repaired: Vec<&str> = seen["losses"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|loss| loss["kind"] == "repaired")
        .map(|loss| loss["pointer"].as_str().unwrap())
        .collect();
    assert_eq!(repaired, ["/messages/1/tool_calls/0", "/messages/3"]);
}

#[test]
fn what_cannot_be_repaired_is_the_clients_fault() {
    let provider = Provider::whole(&answer(Protocol::Gemini));
    let gateway = Running::start(&provider.toml("p", "gemini"));
    for messages in [json!([]), json!([result("call_1")])] {
        let reply = gateway.post("/v1/chat/completions", &chat_of(&messages));
        assert_eq!(reply.status, 400);
        let words = "[MessageBuilder] Messages cannot be empty";
        assert_eq!(reply.json()["error"]["message"], words);
        assert_eq!(reply.json()["error"]["param"], "messages");
    }
    assert!(provider.received().is_empty());
}

#[test]
fn the_same_protocol_is_left_alone_unless_repair_is_always() {
    let provider = Provider::whole(&chat_answer("hi"));
    let broken = chat_of(&json!([user("u"), call("call_1"), user("v"), result("call_2")]));
    let sound = chat_of(&json!([user("u"), call("call_1"), result("call_1")]));
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let reply = gateway.post("/v1/chat/completions", &broken);
    assert_eq!(reply.header("sabir-loss"), Some("none"));
    assert_eq!(provider.received()[0].body, broken.replace("p/m", "m"));
    let always = format!("repair = \"always\"\n{}", provider.toml("p", "openai-chat"));
    let gateway = Running::start(&always);
    let reply = gateway.post("/v1/chat/completions", &broken);
    assert_eq!(reply.header("sabir-loss"), Some("repaired=2"));
    assert_taken(Protocol::OpenaiChat, &provider.received()[1].body);
    let reply = gateway.post("/v1/chat/completions", &sound);
    assert_eq!(reply.header("sabir-loss"), Some("none"));
    assert_eq!(provider.received()[2].body, sound.replace("p/m", "m"));
}

#[test]
fn without_repair_a_translation_sends_what_there_is() {
    let provider = Provider::whole(&answer(Protocol::AnthropicMessages));
    let off = format!("repair = \"off\"\n{}", provider.toml("p", "anthropic-messages"));
    let gateway = Running::start(&off);
    let messages = json!([user("u"), result("call_1"), user("v")]);
    let reply = gateway.post("/v1/chat/completions", &chat_of(&messages));
    assert_eq!(reply.header("sabir-loss"), Some("none"));
    assert!(provider.received()[0].body.contains("seen"));
}

const ANTHROPIC: &str = r#"{"model":"m","max_tokens":50,"tools":[{"name":"look","input_schema":{"type":"object"}}],"messages":[
        {"role":"user","content":"u"},
        {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"look","input":{}},{"type":"tool_use","id":"toolu_2","name":"look","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"seen"},{"type":"text","text":"go on"}]}]}"#;
const GEMINI: &str = r#"{"tools":[{"functionDeclarations":[{"name":"look"},{"name":"hear"}]}],"contents":[
        {"role":"user","parts":[{"text":"u"}]},
        {"role":"model","parts":[{"functionCall":{"name":"look","args":{}}},{"functionCall":{"name":"hear","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"seen"}}}]},
        {"role":"user","parts":[{"text":"go on"}]}]}"#;
const RESPONSES: &str = r#"{"model":"m","tools":[{"type":"function","name":"look","parameters":{"type":"object","properties":{}}}],"input":[
        {"role":"user","content":"u"},
        {"type":"function_call","call_id":"call_1","name":"look","arguments":"{}"},
        {"role":"user","content":"go on"}]}"#;

/// Requests that lack one result, each in a protocol's own words.
const BROKEN: [(Protocol, &str, &str); 3] = [
    (Protocol::AnthropicMessages, "/v1/messages", ANTHROPIC),
    (Protocol::Gemini, "/v1beta/models/m:generateContent", GEMINI),
    (Protocol::OpenaiResponses, "/v1/responses", RESPONSES),
];

#[test]
fn results_that_a_gemini_client_numbers_answer_calls_without_numbers() {
    let body = r#"{"tools":[{"functionDeclarations":[{"name":"look"}]}],"contents":[
        {"role":"user","parts":[{"text":"u"}]},
        {"role":"model","parts":[{"functionCall":{"name":"look","args":{"at":1}}},{"functionCall":{"name":"look","args":{"at":2}}}]},
        {"role":"user","parts":[{"functionResponse":{"id":"look-1","name":"look","response":{"output":"one"}}},
            {"functionResponse":{"id":"look-2","name":"look","response":{"output":"two"}}}]}]}"#;
    for upstream in Protocol::ALL.into_iter().filter(|it| *it != Protocol::Gemini) {
        let provider = Provider::whole(&answer(upstream));
        let toml = provider.toml("p", upstream.as_str());
        let gateway = Running::start(&format!("{toml}models = [\"m\"]\n"));
        let reply = gateway.post("/v1beta/models/m:generateContent", body);
        assert_eq!((reply.status, reply.header("sabir-loss")), (200, Some("none")), "{upstream:?}");
        let [received] = provider.received().try_into().unwrap();
        assert_taken(upstream, &received.body);
        assert!(received.body.find("one") < received.body.find("two"), "{}", received.body);
    }
}

/// Sends a broken request to a provider, whose simulator must take what arrives.
#[track_caller]
fn check_broken((client, path, body): (Protocol, &str, &str), upstream: Protocol) {
    let provider = Provider::whole(&answer(upstream));
    let toml = provider.toml("p", upstream.as_str());
    let gateway = Running::start(&format!("repair = \"always\"\n{toml}models = [\"m\"]\n"));
    let reply = gateway.post(path, body);
    assert_eq!(reply.status, 200, "{client:?} to {upstream:?}: {}", reply.body);
    assert_eq!(reply.header("sabir-loss"), Some("repaired=1"), "{client:?} to {upstream:?}");
    assert_taken(upstream, &provider.received()[0].body);
}

#[test]
fn each_protocol_is_repaired_in_its_own_words() {
    for broken in BROKEN {
        check_broken(broken, broken.0);
    }
}

#[test]
fn each_protocol_is_repaired_on_its_way_to_every_other() {
    for broken in BROKEN {
        for upstream in Protocol::ALL.into_iter().filter(|upstream| *upstream != broken.0) {
            check_broken(broken, upstream);
        }
    }
}

#[test]
fn results_whose_calls_the_provider_holds_are_no_orphans() {
    let provider = Provider::whole(&answer(Protocol::OpenaiResponses));
    let always = format!("repair = \"always\"\n{}", provider.toml("p", "openai-responses"));
    let gateway = Running::start(&always);
    let output = json!({"type": "function_call_output", "call_id": "call_1", "output": "seen"});
    let reference = json!({"type": "item_reference", "id": "fc_1"});
    let continued = json!({"model": "p/m", "previous_response_id": "r", "input": [output]});
    let referring = json!({"model": "p/m", "input": [reference, output]});
    for (number, body) in [continued, referring].iter().enumerate() {
        let reply = gateway.post("/v1/responses", &body.to_string());
        assert_eq!(reply.header("sabir-loss"), Some("none"));
        assert!(provider.received()[number].body.contains("seen"));
    }
}

#[test]
fn a_turn_of_sound_alone_stays_a_turn_where_there_is_no_sound() {
    let gateway = Running::start("");
    let body = r#"{"model":"sim-anthropic/m","messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"aGk=","format":"wav"}}]},{"role":"assistant","content":"I hear you."},{"role":"user","content":"go on"}]}"#;
    let reply = gateway.post("/v1/chat/completions", body);
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert!(reply.header("sabir-loss").unwrap().contains("dropped="));
}

/// A history as Gemini CLI sends it when it resumes a session with calls: each result is there twice.
const RESUMED: &str = r#"{"contents":[{"role":"user","parts":[{"text":"Wind?"}]},{"role":"model","parts":[{"functionCall":{"id":"w1","name":"wind","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"w1","name":"wind","response":{"output":"north"}}}]},{"role":"user","parts":[{"functionResponse":{"id":"w1","name":"wind","response":{"output":"north"}}}]},{"role":"model","parts":[{"text":"North."}]},{"role":"user","parts":[{"text":"Thanks."}]}],"tools":[{"functionDeclarations":[{"name":"wind"}]}]}"#;

#[test]
fn a_session_that_gemini_cli_resumes_is_mended_for_whoever_is_not_asked_in_its_own_words() {
    let [plain, always] = ["", "repair = \"always\"\n"].map(Running::start);
    for (gateway, model, status) in [
        (&plain, "sim-gemini%2Fgemini-2.5-pro", 400),
        (&always, "sim-gemini%2Fgemini-2.5-pro", 200),
        (&plain, "sim-chat%2Fm", 200),
        (&plain, "sim-responses%2Fm", 200),
        (&plain, "sim-anthropic%2Fm", 200),
    ] {
        let reply = gateway.post(&format!("/v1beta/models/{model}:generateContent"), RESUMED);
        assert_eq!(reply.status, status, "{model}: {}", reply.body);
        let loss = reply.header("sabir-loss").unwrap_or_default();
        assert_eq!(loss.contains("repaired=1"), status == 200, "{model}: {loss}");
    }
}
