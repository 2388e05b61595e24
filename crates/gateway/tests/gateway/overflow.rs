//! Prompts that do not fit: whoever finds out, every client learns it in the words from which it recovers.

use serde_json::{Value, json as value};

use crate::harness::*;

/// The protocols, and how each says that 9 000 tokens do not fit 8 192.
pub(crate) const REFUSALS: [(&str, &str); 4] = [
    (
        "openai-chat",
        r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
    ),
    (
        "openai-responses",
        r#"{"error":{"message":"Input tokens exceed the configured limit of 8192 tokens. Your messages resulted in 9000 tokens.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}"#,
    ),
    (
        "anthropic-messages",
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9000 tokens > 8192 maximum"}}"#,
    ),
    (
        "gemini",
        r#"{"error":{"code":400,"message":"The input token count (9000) exceeds the maximum number of tokens allowed (8192).","status":"INVALID_ARGUMENT"}}"#,
    ),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    Whole,
    Streamed,
}

/// A request of a protocol's client for the model `m`: its path and its body.
pub(crate) fn asked(client: &str, text: &str, delivery: Delivery) -> (&'static str, String) {
    let stream = delivery == Delivery::Streamed;
    let (path, body) = match client {
        "openai-chat" => (
            "/v1/chat/completions",
            value!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": text}]}),
        ),
        "openai-responses" => {
            ("/v1/responses", value!({"model": "m", "stream": stream, "input": text}))
        }
        "anthropic-messages" => (
            "/v1/messages",
            value!({"model": "m", "stream": stream, "max_tokens": 9, "messages": [{"role": "user", "content": text}]}),
        ),
        _ => (
            match stream {
                true => "/v1beta/models/m:streamGenerateContent?alt=sse",
                false => "/v1beta/models/m:generateContent",
            },
            value!({"contents": [{"role": "user", "parts": [{"text": text}]}]}),
        ),
    };
    (path, body.to_string())
}

/// Checks that a reply is what the client recovers from.
#[track_caller]
fn check(client: &str, delivery: Delivery, reply: &Reply) {
    let body = &reply.body;
    if (client, delivery) == ("openai-responses", Delivery::Streamed) {
        assert_eq!(reply.status, 200, "{body}");
        assert!(reply.header("content-type").unwrap().starts_with("text/event-stream"));
        let (first, last) = (events(body).remove(0), events(body).pop().unwrap());
        assert_eq!(first["type"], "response.created", "{body}");
        assert_eq!(
            (&last["type"], &last["response"]["status"]),
            (&value!("response.failed"), &value!("failed"))
        );
        assert_eq!(last["response"]["error"]["code"], "context_length_exceeded", "{body}");
        assert!(
            last["response"]["error"]["message"].as_str().unwrap().contains("9000 tokens"),
            "{body}"
        );
        return;
    }
    assert_eq!(reply.status, 400, "{body}");
    let error = &reply.json()["error"];
    let message = error["message"].as_str().unwrap();
    match client {
        "anthropic-messages" => {
            assert_eq!(error["type"], "invalid_request_error");
            assert!(
                message.starts_with("prompt is too long: 9000 tokens > 8192 maximum"),
                "{message}"
            );
        }
        "gemini" => {
            assert_eq!(
                (&error["code"], &error["status"]),
                (&value!(400), &value!("INVALID_ARGUMENT"))
            );
            assert!(message.contains("input token count (9000)"), "{message}");
        }
        _ => {
            assert_eq!(error["code"], "context_length_exceeded", "{body}");
            assert!(message.contains("9000"), "{message}");
        }
    }
}

pub(crate) fn events(body: &str) -> Vec<Value> {
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str(data).ok()).collect()
}

pub(crate) fn model(provider: &Provider, protocol: &str) -> Running {
    let toml = provider.toml("up", protocol);
    Running::start(&format!(
        "{toml}\n[[model]]\nname = \"m\"\ntargets = [{{ provider = \"up\", model = \"local\" }}]\n"
    ))
}

#[test]
fn every_providers_refusal_reaches_every_client_in_its_own_words() {
    for (upstream, refusal) in REFUSALS {
        let provider = Provider::start(vec![Script::Reply(json(400, "", refusal))]);
        let gateway = model(&provider, upstream);
        for (client, _) in REFUSALS {
            for delivery in [Delivery::Whole, Delivery::Streamed] {
                let (path, body) = asked(client, "hello", delivery);
                let reply = gateway.post(path, &body);
                check(client, delivery, &reply);
                // In its own protocol a provider's error is not touched.
                if upstream == client && reply.status == 400 {
                    assert_eq!(reply.body, refusal);
                }
            }
        }
        // Nobody asks again.
        assert_eq!(provider.received().len(), 8);
    }
}

#[test]
fn a_prompt_that_is_too_long_does_not_hold_its_provider_back() {
    let refusal = r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#;
    let mut scripts = vec![Script::Reply(json(400, "", refusal)); 6];
    scripts.push(Script::Reply(json(200, "", &chat_answer("BLUE"))));
    let (first, second) = (Provider::start(scripts), Provider::whole(&chat_answer("RED")));
    let model = "[[model]]\nname = \"both\"\ntargets = [{ provider = \"a\", model = \"m\" }, \
        { provider = \"b\", model = \"m\" }]\n";
    let toml = first.toml("a", "openai-chat") + &second.toml("b", "openai-chat") + model;
    let gateway = Running::start(&toml);
    for _ in 0..6 {
        assert_eq!(gateway.post("/v1/chat/completions", &chat("a/m", false)).status, 400);
    }
    let reply = gateway.post("/v1/chat/completions", &chat("both", false));
    assert_eq!((reply.status, reply.header("sabir-provider")), (200, Some("a")), "{}", reply.body);
}

/// The vendor's own manner: the stream begins, and then says so.
const FAILED: &str = "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"in_progress\",\"model\":\"m\",\"output\":[]}}\n\nevent: response.in_progress\ndata: {\"type\":\"response.in_progress\",\"sequence_number\":1,\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"in_progress\",\"model\":\"m\",\"output\":[]}}\n\nevent: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":2,\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"failed\",\"model\":\"m\",\"output\":[],\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Input tokens exceed the configured limit of 8192 tokens. Your messages resulted in 9000 tokens.\"}}}\n\n";

#[test]
fn a_stream_that_begins_and_fails_is_a_refusal_for_clients_that_look_at_the_status() {
    let provider = Provider::start(vec![Script::Reply(sse(FAILED))]);
    let gateway = model(&provider, "openai-responses");
    for (client, _) in REFUSALS {
        let (path, body) = asked(client, "hello", Delivery::Streamed);
        check(client, Delivery::Streamed, &gateway.post(path, &body));
    }
}

#[test]
fn the_start_of_a_stream_does_not_wait_for_a_model_that_thinks() {
    let (pieces, script) = std::sync::mpsc::channel();
    let script = Script::Pieces(std::sync::Arc::new(std::sync::Mutex::new(script)));
    let provider = Provider::start(vec![script]);
    let gateway = model(&provider, "openai-responses");
    let created = FAILED.split_inclusive("\n\n").next().unwrap();
    pieces.send(sse(created)).unwrap();
    let (path, body) = asked("anthropic-messages", "hello", Delivery::Streamed);
    let mut reply = gateway.send(&format!("POST {path}"), &body);
    // The head comes although nothing follows the start.
    assert_eq!(read_head(&mut reply).0, 200);
    assert!(String::from_utf8(read_chunk(&mut reply).unwrap()).unwrap().contains("message_start"));
}

/// A gateway whose model `m` has a provider that nobody may ask, behind a window of so many tokens.
fn with_window(provider: &Provider, protocol: &str, window: u64) -> Running {
    let toml = provider.toml("up", protocol);
    Running::start(&format!(
        "{toml}context_window = {window}\n\n[[model]]\nname = \"m\"\ntargets = [{{ provider = \"up\", model = \"local\" }}]\n"
    ))
}

#[test]
fn what_cannot_fit_is_not_sent() {
    let text = "word ".repeat(1_000);
    for (upstream, refusal) in REFUSALS {
        let provider = Provider::start(vec![Script::Reply(json(400, "", refusal))]);
        let gateway = with_window(&provider, upstream, 500);
        for (client, _) in REFUSALS {
            for delivery in [Delivery::Whole, Delivery::Streamed] {
                let (path, body) = asked(client, &text, delivery);
                let reply = gateway.post(path, &body);
                let is_stream = (client, delivery) == ("openai-responses", Delivery::Streamed);
                assert_eq!(reply.status, if is_stream { 200 } else { 400 }, "{}", reply.body);
                let knows = match client {
                    "anthropic-messages" => "prompt is too long: 100",
                    "gemini" => "The input token count (100",
                    _ => "context_length_exceeded",
                };
                assert!(reply.body.contains(knows), "{client}: {}", reply.body);
                assert!(reply.body.contains("500"), "{client}: {}", reply.body);
                assert!(
                    reply.body.contains("estimated before anything was sent"),
                    "{}",
                    reply.body
                );
            }
        }
        assert!(provider.received().is_empty());
    }
}

#[test]
fn what_may_fit_is_sent_however_long_its_body_is() {
    let provider = Provider::whole(&chat_answer("fits"));
    let gateway = with_window(&provider, "openai-chat", 500);
    let picture = "A1/".repeat(20_000);
    let bodies = [
        // As many words as the window has tokens.
        asked("openai-chat", &"word ".repeat(500), Delivery::Whole).1,
        // Signs and blanks, of which vocabularies make long tokens.
        asked("openai-chat", &"-".repeat(50_000), Delivery::Whole).1,
        asked("openai-chat", &" \n".repeat(50_000), Delivery::Whole).1,
        // Images are not read as text.
        value!({"model": "m", "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{picture}")}}]}]}).to_string(),
        // Blanks around the members are not of the prompt.
        format!("{}{}", asked("openai-chat", "hello", Delivery::Whole).1.replace("\"hello\"", &format!("{}\"hello\"", " \"\n ".replace('"', "").repeat(9_000))), ""),
    ];
    for body in bodies {
        let reply = gateway.post("/v1/chat/completions", &body);
        assert_eq!(reply.status, 200, "{}", reply.body);
    }
    assert_eq!(provider.received().len(), 5);
}

#[test]
fn a_request_that_its_provider_may_shorten_is_sent() {
    let text = "word ".repeat(1_000);
    let provider = Provider::start(vec![Script::Reply(json(400, "", REFUSALS[2].1))]);
    let gateway = with_window(&provider, "anthropic-messages", 500);
    let body = value!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": text}],
        "context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}});
    gateway.post("/v1/messages", &body.to_string());
    assert_eq!(provider.received().len(), 1);
}

#[test]
fn a_large_prompt_is_judged_like_a_small_one() {
    let provider = Provider::whole(&chat_answer("fits"));
    let gateway = with_window(&provider, "openai-chat", 200_000);
    let (path, body) = asked("anthropic-messages", &"word ".repeat(300_000), Delivery::Whole);
    let reply = gateway.post(path, &body);
    assert_eq!(reply.status, 400);
    assert!(reply.body.contains("tokens > 200000 maximum"), "{}", reply.body);
    let (path, body) = asked("openai-responses", &"word ".repeat(300_000), Delivery::Streamed);
    let reply = gateway.post(path, &body);
    assert_eq!(
        events(&reply.body).pop().unwrap()["response"]["error"]["code"],
        "context_length_exceeded"
    );
    assert!(provider.received().is_empty());
}

#[test]
fn a_model_of_a_known_family_needs_no_configuration() {
    let provider = Provider::whole(&chat_answer("fits"));
    let gateway = Running::start(&provider.toml("up", "openai-chat"));
    let body = chat("up/gpt-4", false).replace("hello", &"word ".repeat(9_000));
    let reply = gateway.post("/v1/chat/completions", &body);
    assert_eq!(reply.status, 400, "{}", reply.body);
    assert!(reply.body.contains("maximum context length is 8192 tokens"), "{}", reply.body);
    assert!(provider.received().is_empty());
}

/// A model of three targets: one that is too narrow, one as narrow, and one that is wide.
fn three(providers: [&Provider; 3], windows: [u64; 3]) -> Running {
    let mut toml = String::new();
    let mut targets = Vec::new();
    for (number, (provider, window)) in providers.iter().zip(windows).enumerate() {
        toml += &format!(
            "{}context_window = {window}\n",
            provider.toml(&format!("p{number}"), "openai-chat")
        );
        targets.push(format!("{{ provider = \"p{number}\", model = \"local\" }}"));
    }
    Running::start(&format!(
        "{toml}\n[[model]]\nname = \"m\"\ntargets = [{}]\n",
        targets.join(", ")
    ))
}

#[test]
fn the_next_target_that_is_wider_answers() {
    let text = "word ".repeat(1_000);
    for windows in [[500, 400, 9_000], [9_000, 9_000, 10_000]] {
        let refusal = || Provider::start(vec![Script::Reply(json(400, "", REFUSALS[0].1))]);
        let (first, second) = (refusal(), refusal());
        let wide = Provider::whole(&chat_answer("wide"));
        let gateway = three([&first, &second, &wide], windows);
        let (path, body) = asked("anthropic-messages", &text, Delivery::Whole);
        let reply = gateway.post(path, &body);
        assert_eq!(
            (reply.status, reply.header("sabir-provider")),
            (200, Some("p2")),
            "{}",
            reply.body
        );
        assert!(second.received().is_empty() || windows[1] > 8_192);
    }
}

#[test]
fn no_target_that_is_as_narrow_is_asked() {
    let refusal = || Provider::start(vec![Script::Reply(json(400, "", REFUSALS[0].1))]);
    let (first, second, third) = (refusal(), refusal(), refusal());
    let gateway = three([&first, &second, &third], [8_192, 8_192, 4_096]);
    let (path, body) = asked("anthropic-messages", "hello", Delivery::Whole);
    assert_eq!(gateway.post(path, &body).status, 400);
    assert_eq!([&first, &second, &third].map(|it| it.received().len()), [1, 0, 0]);
}

#[test]
fn a_model_may_state_the_window_of_its_targets() {
    let provider = Provider::whole(&chat_answer("fits"));
    let toml = provider.toml("up", "openai-chat");
    let gateway = Running::start(&format!(
        "{toml}context_window = 9_000\n\n[[model]]\nname = \"m\"\ncontext_window = 500\ntargets = [{{ provider = \"up\", model = \"local\" }}]\n"
    ));
    let body = chat("m", false).replace("hello", &"word ".repeat(1_000));
    assert_eq!(gateway.post("/v1/chat/completions", &body).status, 400);
    let body = body.replace("\"m\"", "\"up/local\"");
    assert_eq!(gateway.post("/v1/chat/completions", &body).status, 200);
}
