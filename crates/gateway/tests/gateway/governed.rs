//! Rules on tools through the whole of an exchange: whatever the rules and whatever is called, what clients see is theirs or the
//! provider's, and what the rules do not speak of arrives as it was sent.

use std::sync::Arc;

use proptest::prelude::*;
use sabir_testkit::translate::decode_stream;
use sabir_wire::Protocol;
use sabir_wire::conversation::Content;
use sabir_wire::protocol::Fold;
use serde_json::{Value, json};

use crate::governing::{PROTOCOLS, offering, path, streamed};
use crate::harness::*;

/// What a model does in one answer: words, then calls.
#[derive(Clone, Debug)]
struct Turn {
    text: String,
    /// Names and arguments.
    calls: Vec<(String, String)>,
}

/// The answer of a provider, whose calls have the ids `minted_0` and so on.
fn answer(upstream: Protocol, turn: &Turn) -> String {
    let calls = || turn.calls.iter().enumerate();
    let id = |number: usize| format!("minted_{number}");
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or(json!({}));
    let body = match upstream {
        Protocol::OpenaiChat => {
            let calls: Vec<Value> = calls()
                .map(|(number, (name, arguments))| {
                    json!({"id": id(number), "type": "function",
                    "function": {"name": name, "arguments": arguments}})
                })
                .collect();
            json!({"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [{
                "index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant",
                    "content": turn.text, "tool_calls": calls}}]})
        }
        Protocol::OpenaiResponses => {
            let text = json!({"type": "message", "id": "msg_minted", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": turn.text, "annotations": []}]});
            let calls = calls().map(|(number, (name, arguments))| {
                json!({"type": "function_call", "id": format!("fc_minted_{number}"), "call_id": id(number),
                    "name": name, "status": "completed", "arguments": arguments})
            });
            let output: Vec<Value> = [text].into_iter().chain(calls).collect();
            json!({"id": "resp_minted", "object": "response", "created_at": 1, "status": "completed",
                "model": "m", "output": output})
        }
        Protocol::AnthropicMessages => {
            let text = json!({"type": "text", "text": turn.text});
            let calls = calls().map(|(number, (name, arguments))| {
                json!({"type": "tool_use", "id": id(number), "name": name, "input": parsed(arguments)})
            });
            let content: Vec<Value> = [text].into_iter().chain(calls).collect();
            json!({"id": "msg_minted", "type": "message", "role": "assistant", "model": "m",
                "stop_reason": "tool_use", "stop_sequence": null, "content": content,
                "usage": {"input_tokens": 1, "output_tokens": 1}})
        }
        _ => {
            let calls = calls().map(|(number, (name, arguments))| {
                json!({"functionCall": {"id": id(number), "name": name, "args": parsed(arguments)},
                    "thoughtSignature": "c2VhbGVk"})
            });
            let parts: Vec<Value> = [json!({"text": turn.text})].into_iter().chain(calls).collect();
            json!({"candidates": [{"index": 0, "finishReason": "STOP",
                "content": {"role": "model", "parts": parts}}], "modelVersion": "m"})
        }
    };
    body.to_string()
}

/// What a client sees of an answer: words, and calls as id, name and arguments.
#[derive(Debug, Default)]
struct Seen {
    text: String,
    calls: Vec<(Option<String>, String)>,
}

/// Reads an answer as its client would, whole or streamed.
fn seen(client: Protocol, body: &str, streams: bool) -> Seen {
    let response = match streams {
        false => client.decode_response(body.as_bytes()).unwrap(),
        true => {
            let mut fold = Fold::default();
            decode_stream(client, [body.as_bytes()], &mut |event| fold.step(event));
            fold.so_far().clone()
        }
    };
    let mut seen = Seen::default();
    for part in response.candidates.iter().flat_map(|it| &it.message.parts) {
        match part.content() {
            Content::Text(text) => seen.text.push_str(&text.to_str()),
            Content::ToolCall(call) => {
                let id = call.id.as_ref().map(|id| id.to_str().into_owned());
                seen.calls.push((id, call.name.to_str().into_owned()));
            }
            _ => {}
        }
    }
    seen
}

/// The names of the tools that a provider is offered.
fn offered(request: &str) -> Vec<String> {
    let request: Value = serde_json::from_str(request).unwrap();
    let tools = request["tools"].as_array().cloned().unwrap_or_default();
    let inner = |tool: Value| match tool["functionDeclarations"].as_array() {
        Some(list) => list.clone(),
        None => vec![tool],
    };
    let name = |tool: Value| {
        let name = tool["name"].as_str().or_else(|| tool["function"]["name"].as_str());
        name.unwrap().to_owned()
    };
    tools.into_iter().flat_map(inner).map(name).collect()
}

/// A call of the model: of one of the tools that it is offered, or by a name of its own.
#[derive(Clone, Debug)]
enum Called {
    Offered(usize),
    Named(&'static str),
}

/// A provider whose model says a text and then calls.
fn model(upstream: Protocol, text: &str, calls: &[(Called, &'static str)]) -> Provider {
    let (text, calls) = (text.to_owned(), calls.to_vec());
    Provider::start(vec![Script::Answer(Arc::new(move |received: &Received| {
        let offered = offered(&received.body);
        let name = |called: &Called| match called {
            Called::Offered(number) if offered.is_empty() => format!("none_{number}"),
            Called::Offered(number) => offered[number % offered.len()].clone(),
            Called::Named(name) => (*name).to_owned(),
        };
        let calls = calls.iter().map(|(called, arguments)| (name(called), (*arguments).to_owned()));
        let whole = answer(upstream, &Turn { text: text.clone(), calls: calls.collect() });
        match received.line.contains("stream") || received.body.contains("\"stream\":true") {
            true => sse(&streamed(upstream, &whole)),
            false => crate::harness::json(200, "", &whole),
        }
    }))])
}

/// What clients offer: plain names, one that not every target takes, and one that is too long for most.
const OFFERED: [&str; 4] = [
    "read",
    "write",
    "fs.look/at",
    "a_name_of_more_than_sixty_four_characters_which_most_providers_do_not_take",
];

/// Names that rules give: plain, of other tools, of tools that nobody has, and such as targets do not take.
const SEEN: [&str; 7] = [
    "peek",
    "gaze",
    "read",
    "write",
    "ghost",
    "an odd name!",
    "another_name_of_more_than_sixty_four_characters_which_needs_an_alias",
];

/// Rules as a table, with what of them the check needs.
#[derive(Clone, Debug)]
struct Rules {
    toml: String,
    denied: Vec<&'static str>,
    renamed: Vec<(&'static str, &'static str)>,
    undeclared: &'static str,
    arguments: &'static str,
}

impl Rules {
    /// The tools that may be offered, in the order of the client.
    fn allowed(&self) -> Vec<&'static str> {
        OFFERED.into_iter().filter(|name| !self.denied.contains(name)).collect()
    }

    /// Whether two of them would have one name.
    fn collide(&self) -> bool {
        let seen = |own: &str| {
            let pair = self.renamed.iter().find(|(name, _)| *name == own);
            pair.map_or(own.to_owned(), |(_, seen)| (*seen).to_owned())
        };
        let mut names: Vec<String> = self.allowed().into_iter().map(seen).collect();
        names.sort();
        names.windows(2).any(|pair| pair[0] == pair[1])
    }
}

fn rules() -> impl Strategy<Value = Rules> {
    let denied = prop::sample::subsequence(vec!["read", "write", "ghost"], 0..=2);
    let own = prop::sample::subsequence(vec!["read", "write", "fs.look/at"], 0..=3);
    let seen = prop::collection::vec(prop::sample::select(SEEN.to_vec()), 3);
    let undeclared = prop::sample::select(vec!["pass", "text", "refuse"]);
    let arguments = prop::sample::select(vec!["pass", "repair", "refuse"]);
    (denied, own, seen, undeclared, arguments).prop_map(
        |(denied, own, seen, undeclared, arguments)| {
            let renamed: Vec<(&str, &str)> = own.into_iter().zip(seen).collect();
            let renames: Vec<String> =
                renamed.iter().map(|(own, seen)| format!("\"{own}\" = \"{seen}\"")).collect();
            let toml = format!(
                "[tools]\ndeny = {denied:?}\nrename = {{ {} }}\nundeclared = \"{undeclared}\"\narguments = \"{arguments}\"\n",
                renames.join(", ")
            );
            Rules { toml, denied, renamed, undeclared, arguments }
        },
    )
}

fn calls() -> impl Strategy<Value = Vec<(Called, &'static str)>> {
    let named = prop::sample::select(vec!["ghost", "read", "write", "peek"]);
    let called = prop_oneof![(0..4usize).prop_map(Called::Offered), named.prop_map(Called::Named)];
    let arguments = prop::sample::select(vec![r#"{"at":"door"}"#, r#"{"at":7}"#, "{}"]);
    prop::collection::vec((called, arguments), 0..4)
}

/// The client's name for what was called, by what the provider was offered; none if it may not see the call. `refuse` counts as
/// such, and whoever is asked knows that what follows is none either.
fn visible(called: &Called, offered: &[String], rules: &Rules) -> Option<String> {
    let allowed = rules.allowed();
    let name = match called {
        Called::Offered(number) if offered.is_empty() => format!("none_{number}"),
        Called::Offered(number) => return Some(allowed[number % offered.len()].to_owned()),
        Called::Named(name) => (*name).to_owned(),
    };
    if let Some(place) = offered.iter().position(|it| *it == name) {
        return Some(allowed[place].to_owned());
    }
    let passes = rules.undeclared == "pass" && !rules.denied.contains(&name.as_str());
    passes.then_some(name)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_rules_clients_see_their_own_names_and_the_providers_ids(
        (client, upstream, streams) in (0..4usize, 0..4usize, any::<bool>()),
        rules in rules(),
        text in "[a-z]{1,12}( [a-z]{1,12}){0,4}",
        calls in calls(),
    ) {
        let (client, upstream) = (PROTOCOLS[client], PROTOCOLS[upstream]);
        let provider = model(upstream, &text, &calls);
        let gateway = Running::start(&format!("{}\n{}", provider.toml("p", upstream.as_str()), rules.toml));
        let body = offering(client, &OFFERED, streams).to_string();
        let reply = gateway.post(path(client, streams), &body);
        prop_assert_eq!(reply.status == 400, rules.collide(), "{}", &reply.body);
        if reply.status == 400 {
            prop_assert!(provider.received().is_empty() && reply.body.contains("two tools"), "{}", reply.body);
            return Ok(());
        }
        let sent = provider.received().pop().unwrap().body;
        let offered = offered(&sent);
        prop_assert_eq!(offered.len(), rules.allowed().len(), "{}", &sent);
        let mut expected = Vec::new();
        for (number, (called, _)) in calls.iter().enumerate() {
            let name = visible(called, &offered, &rules);
            expected.extend(name.map(|name| (Some(format!("minted_{number}")), name)));
        }
        let may_refuse = rules.undeclared == "refuse" || rules.arguments == "refuse";
        if reply.status != 200 {
            prop_assert!(may_refuse && reply.status == 502, "{} {}", reply.status, reply.body);
            return Ok(());
        }
        let seen = seen(client, &reply.body, streams);
        prop_assert!(seen.text.starts_with(&text), "{text:?} is not at the start of {seen:?}");
        match may_refuse {
            true => prop_assert!(seen.calls.iter().all(|call| expected.contains(call)), "{seen:?} {expected:?}"),
            false => prop_assert_eq!(&seen.calls, &expected, "{}", &reply.body),
        }
    }
}

#[test]
fn a_tool_with_an_odd_name_is_known_by_it_in_its_own_protocol() {
    for protocol in PROTOCOLS {
        for rules in
            ["undeclared = \"refuse\"", "undeclared = \"refuse\"\nrename = { read = \"peek\" }"]
        {
            let provider =
                model(protocol, "hm", &[(Called::Named("fs.look/at"), r#"{"at":"door"}"#)]);
            let toml = provider.toml("p", protocol.as_str());
            let gateway = Running::start(&format!("{toml}\n[tools]\n{rules}\n"));
            let body = offering(protocol, &["read", "fs.look/at"], false).to_string();
            let reply = gateway.post(path(protocol, false), &body);
            assert_eq!(reply.status, 200, "{protocol:?} {rules}: {}", reply.body);
            let calls = seen(protocol, &reply.body, false).calls;
            assert_eq!(calls, [(Some("minted_0".to_owned()), "fs.look/at".to_owned())]);
        }
    }
}

#[test]
fn a_call_whose_arguments_were_mended_keeps_its_ids_and_what_was_sealed_with_it() {
    for upstream in [Protocol::OpenaiResponses, Protocol::Gemini] {
        for streams in [false, true] {
            let provider = model(upstream, "hm", &[(Called::Named("look"), r#"{"at":7}"#)]);
            let toml = provider.toml("p", upstream.as_str());
            let gateway = Running::start(&format!("{toml}\n[tools]\narguments = \"repair\"\n"));
            let body = offering(upstream, &["look"], streams).to_string();
            let reply = gateway.post(path(upstream, streams), &body);
            let cell = format!("{upstream:?} {streams}: {}", reply.body);
            let mended = match upstream {
                Protocol::Gemini => r#"{"at":"7"}"#,
                _ => r#"{\"at\":\"7\"}"#,
            };
            assert!(reply.body.contains(mended), "{cell}");
            let kept: &[&str] = match upstream {
                Protocol::Gemini => &["\"minted_0\"", "c2VhbGVk"],
                _ => &["\"minted_0\"", "\"fc_minted_0\""],
            };
            assert!(kept.iter().all(|it| reply.body.contains(it)), "{cell}");
            assert!(reply.header("sabir-loss").is_some(), "{cell}");
        }
    }
}

#[test]
fn what_a_provider_keeps_itself_is_not_gone_on_from_where_rules_have_changed_it() {
    let provider = model(Protocol::OpenaiResponses, "hm", &[(Called::Named("rm"), "{}")]);
    let toml = [
        provider.toml("p", "openai-responses"),
        crate::memory::STORE.to_owned(),
        "[tools]\ndeny = [\"rm\"]\n".to_owned(),
    ];
    let gateway = Running::start(&toml.concat());
    let mut body = offering(Protocol::OpenaiResponses, &["look"], false);
    body["store"] = true.into();
    let first = gateway.post("/v1/responses", &body.to_string()).json();
    assert!(first.to_string().contains("which is not offered here"), "{first}");
    body["input"] = "and now?".into();
    body["previous_response_id"] = first["id"].clone();
    let second = gateway.post("/v1/responses", &body.to_string());
    assert_eq!(second.status, 200, "{}", second.body);
    let sent = provider.received().pop().unwrap().body;
    // There the call has no result, and the provider would refuse to go on behind it.
    assert!(!sent.contains("previous_response_id"), "{sent}");
    assert!(sent.contains("which is not offered here") && sent.contains("and now?"), "{sent}");
    assert!(!sent.contains("function_call"), "{sent}");
}

#[test]
fn tokens_are_counted_of_what_would_be_sent() {
    let rules = "[tools]\ndeny = [\"write\"]\nrename = { \"fs.look\" = \"look\" }\ncount_max = 2\n";
    let asked = |client: Protocol, names: &[&str]| {
        let mut body = offering(client, names, false);
        body.as_object_mut().unwrap().remove("stream");
        body.as_object_mut().unwrap().remove("store");
        body.as_object_mut().unwrap().remove("max_tokens");
        match client {
            Protocol::OpenaiResponses => ("/v1/responses/input_tokens", body),
            Protocol::AnthropicMessages => ("/v1/messages/count_tokens", body),
            _ => {
                body["model"] = "models/p/m".into();
                let wrapped = json!({"generateContentRequest": body});
                ("/v1beta/models/p%2Fm:countTokens", wrapped)
            }
        }
    };
    for upstream in &PROTOCOLS[1..] {
        let counted = r#"{"input_tokens":42,"totalTokens":42,"object":"response.input_tokens"}"#;
        let provider = Provider::whole(counted);
        let gateway =
            Running::start(&format!("{}\n{rules}", provider.toml("p", upstream.as_str())));
        for client in &PROTOCOLS[1..] {
            let (path, body) = asked(*client, &["fs.look", "write"]);
            let reply = gateway.post(path, &body.to_string());
            let cell = format!("{client:?} {upstream:?}: {}", reply.body);
            assert!(reply.status == 200 && reply.body.contains("42"), "{cell}");
            let sent = provider.received().pop().unwrap().body;
            assert!(sent.contains("\"look\"") && !sent.contains("write"), "{cell}\n{sent}");
            assert!(!sent.contains("fs.look"), "{cell}\n{sent}");
            let asked_before = provider.received().len();
            let (path, body) = asked(*client, &["a", "b", "c"]);
            assert_eq!(gateway.post(path, &body.to_string()).status, 400, "{cell}");
            assert_eq!(provider.received().len(), asked_before, "{cell}");
        }
    }
}

/// A request that says what only its protocol can say, beside a tool of the name `{NAME}`, with the path that it is sent to.
fn with_extras(client: Protocol) -> (&'static str, Value) {
    match client {
        Protocol::OpenaiChat => (
            "/v1/chat/completions",
            json!({"model": "auto",
            "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "hi"}],
            "tools": [{"type": "function", "function": {"name": "{NAME}"}}],
            "custom_field": {"b": 1, "a": 2.5}, "logit_bias": {"50256": -100}}),
        ),
        Protocol::OpenaiResponses => (
            "/v1/responses",
            json!({"model": "auto",
            "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
            "previous_response_id": "resp_1",
            "include": ["reasoning.encrypted_content"], "store": false, "truncation": "auto",
            "tools": [{"type": "function", "name": "{NAME}", "parameters": {"type": "object"}, "strict": false}],
            "text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": true}}}),
        ),
        Protocol::AnthropicMessages => (
            "/v1/messages",
            json!({"model": "auto", "max_tokens": 64,
            "system": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "c2ln"}, {"type": "text", "text": "yes"}]},
                {"role": "user", "content": [{"type": "text", "text": "go on"}]}],
            "tools": [{"name": "CallHTTP", "input_schema": {"type": "object"}},
                {"name": "{NAME}", "input_schema": {"type": "object"}}], "container": "c_1"}),
        ),
        _ => (
            "/v1beta/models/auto:generateContent",
            json!({
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
            "systemInstruction": {"parts": [{"text": "S"}]},
            "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
            "generationConfig": {"temperature": 0.3, "maxOutputTokens": 1024},
            "tools": [{"functionDeclarations": [{"name": "{NAME}", "description": "d"}]}],
            "toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}),
        ),
    }
}

/// Sends such a request by a model whose class and rules both decide, and compares what arrives: only the tool has another name.
fn arrives_as_it_was_sent(client: Protocol) {
    let whole = answer(client, &Turn { text: "hi".to_owned(), calls: Vec::new() });
    let provider = Provider::whole(&whole);
    let toml = [
        provider.toml("p", client.as_str()),
        "\n[[model]]\nname = \"auto\"\nstrategy = \"class\"\n\
         tools = { rename = { \"fs.look\" = \"look\" }, arguments = \"repair\" }\n\
         [model.classes]\ndefault = [{ provider = \"p\", model = \"m\" }]\n\
         thinking = [{ provider = \"p\", model = \"m\" }]\n"
            .to_owned(),
    ];
    let gateway = Running::start(&toml.concat());
    let (path, body) = with_extras(client);
    let named = |name: &str| body.to_string().replace("{NAME}", name);
    let reply = gateway.post(path, &named("fs.look"));
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert!(reply.header("sabir-route").unwrap().starts_with("class:thinking"));
    let sent: Value = serde_json::from_str(&provider.received().pop().unwrap().body).unwrap();
    let mut expected: Value = serde_json::from_str(&named("look")).unwrap();
    if expected.get("model").is_some() {
        expected["model"] = "m".into();
    }
    assert_eq!(sent, expected);
}

#[test]
fn chat_arrives_as_it_was_sent() {
    arrives_as_it_was_sent(Protocol::OpenaiChat);
}

#[test]
fn responses_arrive_as_they_were_sent() {
    arrives_as_it_was_sent(Protocol::OpenaiResponses);
}

#[test]
fn messages_arrive_as_they_were_sent() {
    arrives_as_it_was_sent(Protocol::AnthropicMessages);
}

#[test]
fn gemini_arrives_as_it_was_sent() {
    arrives_as_it_was_sent(Protocol::Gemini);
}
