//! Bodies so large that other threads read and write them: nothing else is different about them.

use std::io::{Read, Write};
use std::net::TcpListener;

use sabir_wire::Protocol;
use serde_json::json;

use crate::harness::*;
use crate::memory::{House, answer};

/// More than what is translated on the threads that serve connections.
const LARGE: usize = 400_000;

/// A request or an answer with a long text in the place of a short one.
fn lengthened(body: &str, word: &str) -> String {
    body.replacen(word, &word.repeat(LARGE / word.len()), 1)
}

/// How often other threads were asked for help.
fn jobs(gateway: &Running) -> u64 {
    let metrics = gateway.get("/metrics").body;
    let line = metrics.lines().find_map(|line| line.strip_prefix("sabir_large_jobs_total "));
    line.unwrap().parse().unwrap()
}

const RESPONSES: &str =
    r#"{"model":"p/m","input":[{"role":"user","content":"hello"}],"truncation":"auto"}"#;
const GEMINI: &str =
    r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}],"labels":{"a":"b"}}"#;

#[test]
fn a_large_request_is_translated_like_a_small_one() {
    for (path, body, upstream) in [
        ("/v1/messages", messages("p/m", false), "openai-chat"),
        ("/v1/responses", RESPONSES.to_owned(), "openai-chat"),
        ("/v1beta/models/p%2Fm:generateContent", GEMINI.to_owned(), "openai-chat"),
        ("/v1/chat/completions", chat("p/m", false), "openai-chat"),
    ] {
        let provider = Provider::whole(&chat_answer("hi"));
        let gateway = Running::start(&provider.toml("p", upstream));
        let small = gateway.post(path, &body);
        assert_eq!((small.status, jobs(&gateway)), (200, 0), "{path}: {}", small.body);
        let large = gateway.post(path, &lengthened(&body, "hello"));
        assert_eq!(large.status, 200, "{path}: {}", large.body);
        assert!(jobs(&gateway) >= 2, "{path}");
        assert_eq!(large.header("sabir-loss"), small.header("sabir-loss"), "{path}");
        assert_eq!(large.header("sabir-route"), small.header("sabir-route"), "{path}");
        let [first, second] = &provider.received()[..] else { panic!("two requests") };
        assert_eq!(second.body, lengthened(&first.body, "hello"), "{path}");
        assert_eq!(second.line, first.line, "{path}");
    }
}

#[test]
fn a_large_answer_is_translated_like_a_small_one() {
    let answers = [chat_answer("hi"), lengthened(&chat_answer("hi"), "hi")];
    let provider = Provider::start(answers.map(|it| Script::Reply(json(200, "", &it))).into());
    for stream in [false, true] {
        let toml = provider.toml("p", "openai-chat");
        let gateway = Running::start(&toml);
        let reply = gateway.post("/v1/messages", &messages("p/m", stream));
        let long = "hi".repeat(LARGE / 2);
        assert_eq!(reply.status, 200);
        assert_eq!((jobs(&gateway) > 0, reply.body.contains(&long)), (stream, stream));
        gateway.wait_for_metric("sabir_requests_in_flight 0");
        let exchange = gateway.get("/sabir/v1/exchanges").body;
        assert!(exchange.contains("\"output_tokens\":2"), "{exchange}");
    }
}

#[test]
fn a_large_stream_is_folded_like_a_small_one() {
    let long = "hi".repeat(LARGE / 2);
    let provider = Provider::start(vec![Script::Reply(sse(&(chat_chunk(&long) + CHAT_END)))]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let reply = gateway.post("/v1/messages", &messages("p/m", false));
    assert_eq!(reply.json()["content"][0]["text"], long);
    assert_eq!(jobs(&gateway), 1);
}

#[test]
fn a_large_request_is_refused_like_a_small_one() {
    let provider = Provider::whole(&chat_answer("hi"));
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let body = lengthened(&messages("p/m", false), "hello");
    for (body, status, kind) in [
        (body.replace("\"messages\"", "messages"), 400, "invalid_request_error"),
        (body.replace("p/m", "nobody"), 404, "not_found_error"),
        (body.replace("\"user\"", "7"), 400, "invalid_request_error"),
    ] {
        let before = jobs(&gateway);
        let reply = gateway.post("/v1/messages", &body);
        assert_eq!((reply.status, reply.json()["error"]["type"].as_str()), (status, Some(kind)));
        assert!(jobs(&gateway) > before, "read on the thread of its connection");
    }
    let before = jobs(&gateway);
    let strict = body.replacen('{', "{\"container\":\"c\",\"top_k\":4,", 1);
    let reply = gateway.request("POST /v1/messages\r\nsabir-strict: true\r\n", &strict);
    assert_eq!(reply.status, 400, "{}", reply.body);
    assert!(reply.body.contains("sabir-strict"), "{}", reply.body);
    assert!(jobs(&gateway) >= before + 2, "read and translated elsewhere");
    assert!(provider.received().is_empty());
}

#[test]
fn a_large_request_goes_to_the_next_target_like_a_small_one() {
    let broken = Provider::start(vec![Script::Reply(json(500, "", "{}"))]);
    let other = Provider::whole(&chat_answer("hi"));
    let toml = broken.toml("first", "gemini")
        + &other.toml("second", "openai-chat")
        + "[[model]]\nname = \"m\"\ntargets = [{ provider = \"first\", model = \"up\" }, { provider = \"second\", model = \"up\" }]\n";
    let gateway = Running::start(&toml);
    let reply = gateway.post("/v1/messages", &lengthened(&messages("m", false), "hello"));
    assert_eq!((reply.status, reply.header("sabir-route")), (200, Some("fallback:2")));
    assert!(broken.received()[0].body.starts_with("{\"contents\""));
    assert!(other.received()[0].body.len() > LARGE);
    // It is read once, and translated for each target.
    assert!(jobs(&gateway) >= 3, "{}", jobs(&gateway));
}

#[test]
fn tokens_of_a_large_request_are_counted_like_those_of_a_small_one() {
    let missing = Provider::start(vec![Script::Reply(json(404, "", "{}"))]);
    for (upstream, protocol) in [(&missing, "anthropic-messages"), (&missing, "openai-chat")] {
        let gateway = Running::start(&upstream.toml("p", protocol));
        let body = lengthened(&messages("p/m", false), "hello");
        let reply = gateway.post("/v1/messages/count_tokens", &body);
        assert_eq!((reply.status, reply.header("sabir-estimate")), (200, Some("true")));
        let tokens = reply.json()["input_tokens"].as_u64().unwrap();
        assert!((1_000..LARGE as u64).contains(&tokens), "{tokens}");
        assert!(jobs(&gateway) >= 2);
    }
}

#[test]
fn a_large_translation_without_a_provider_is_done_elsewhere_too() {
    let gateway = Running::start("");
    let body = lengthened(&messages("m", false), "hello");
    let order = format!(r#"{{"from":"anthropic-messages","to":"openai-chat","body":{body}}}"#);
    let reply = gateway.post("/sabir/v1/translate", &order);
    assert_eq!(reply.status, 200);
    assert!(reply.body.len() > LARGE);
    assert_eq!(jobs(&gateway), 1);
    let reply = gateway.post("/v1/messages", &body.replace("\"m\"", "\"sim-chat/m\""));
    assert_eq!(reply.status, 200, "{}", reply.body);
}

#[test]
fn large_frames_of_a_stream_are_translated_like_small_ones() {
    let gemini = "/v1beta/models/p%2Fm:streamGenerateContent";
    for (path, body) in [
        ("/v1/messages", messages("p/m", true)),
        ("/v1/responses", RESPONSES.replacen('{', "{\"stream\":true,", 1)),
        (gemini, GEMINI.to_owned()),
        (&format!("{gemini}?alt=sse"), GEMINI.to_owned()),
    ] {
        let long = "hi".repeat(LARGE / 2);
        let frames = |text: &str| chunk_by_chunk(&["a", text, "b", text, "c"]);
        let scripts = ["hi", &long].map(|text| Script::Reply(sse(&frames(text))));
        let provider = Provider::start(scripts.into());
        let gateway = Running::start(&provider.toml("p", "openai-chat"));
        let [small, large] = [0, 1].map(|_| gateway.post(path, &body).body);
        assert_eq!(without_ids(&large.replace(&long, "hi")), without_ids(&small), "{path}");
        // Two for its frames, and one for what is kept of it.
        assert!((1..=3).contains(&jobs(&gateway)), "{path}");
    }
}

fn chunk_by_chunk(texts: &[&str]) -> String {
    texts.iter().map(|text| chat_chunk(text)).collect::<String>() + CHAT_END
}

/// A stream without what each answer has of its own.
fn without_ids(stream: &str) -> String {
    let is_id = |word: &&str| !word.contains("resp_") && !word.contains("msg_");
    stream.split(['"', ',']).filter(is_id).collect::<Vec<_>>().join("\"")
}

#[test]
fn large_frames_that_pass_are_the_providers_own_bytes() {
    let long = "hi".repeat(LARGE / 2);
    let element = |text: &str, end: &str| {
        format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{text}"}}],"role":"model"}}{end}}}]}}"#
        )
    };
    let stop = ",\"finishReason\":\"STOP\"";
    let list = [element("a", ""), element(&long, ""), element("b", ""), element(&long, stop)];
    let list = format!("[{}]", list.join("\n,\r\n"));
    let events = chunk_by_chunk(&["a", &long, "b", &long, "c"]);
    let gemini = "/v1beta/models/p%2Fm:streamGenerateContent";
    for (protocol, path, body, answer, sent) in [
        ("openai-chat", "/v1/chat/completions", chat("p/m", true), sse(&events), events.clone()),
        (
            "openai-chat",
            "/v1/chat/completions",
            chat("p/m", true),
            sse(&events.replace('\n', "\r\n")),
            events.replace('\n', "\r\n"),
        ),
        (
            "openai-chat",
            "/v1/chat/completions",
            chat("p/m", true),
            sse(&events.replace('\n', "\r")),
            events.replace('\n', "\r"),
        ),
        ("gemini", gemini, GEMINI.to_owned(), json(200, "", &list), list),
    ] {
        let provider = Provider::start(vec![Script::Reply(answer)]);
        let gateway = Running::start(&provider.toml("p", protocol));
        let reply = gateway.post(path, &body);
        assert_eq!(reply.status, 200, "{protocol}");
        assert!(reply.body == sent, "{protocol}: {} of {} bytes", reply.body.len(), sent.len());
        assert!(jobs(&gateway) >= 1, "{protocol}");
    }
}

#[test]
fn a_refusal_without_end_keeps_its_status_alone() {
    let error = format!(r#"{{"error":{{"message":"{}","type":"x"}}}}"#, "hi".repeat(1 << 20));
    let provider = Provider::start(vec![Script::Reply(json(400, "", &error))]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    for (path, body) in
        [("/v1/chat/completions", chat("p/m", false)), ("/v1/messages", messages("p/m", true))]
    {
        let reply = gateway.post(path, &body);
        assert_eq!(reply.status, 400, "{path}");
        assert!(reply.body.len() < 1_000, "{path}: {} bytes", reply.body.len());
        assert!(reply.json()["error"]["message"].is_string(), "{path}: {}", reply.body);
    }
    let before = jobs(&gateway);
    let reply = gateway.post("/passthrough/p/v1/x", "{}");
    assert_eq!((reply.status, reply.body.len()), (400, error.len()));
    assert_eq!(jobs(&gateway), before + 1, "who looks into it is another thread");
}

#[test]
fn a_large_answer_that_was_packed_is_redacted_elsewhere() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all("&#115;k-".repeat(LARGE / 8).as_bytes()).unwrap();
    let packed = packer.finish().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let gateway = Running::start(&format!(
        "[[provider]]\nname = \"p\"\nprotocol = \"openai-chat\"\nbase_url = \"http://{}/v1\"\n\
         api_key = {{ value = \"sk-secret-key\" }}\n",
        listener.local_addr().unwrap()
    ));
    std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let _ = stream.read(&mut [0; 65_536]).unwrap();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
            packed.len()
        );
        stream.write_all(&[head.as_bytes(), &packed].concat()).unwrap();
    });
    let reply = gateway.post("/passthrough/p/v1/x", "{}");
    assert_eq!((reply.status, reply.body.len()), (200, LARGE));
    assert_eq!(jobs(&gateway), 2, "one unpacks it, one redacts it");
}

#[test]
fn a_list_of_models_has_an_end() {
    let ids: Vec<String> = (0..30_000).map(|number| format!(r#"{{"id":"m{number}"}}"#)).collect();
    let provider = Provider::whole(&format!(r#"{{"data":[{}]}}"#, ids.join(",")));
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let listed = gateway.get("/v1/models").json();
    let is_own = |it: &&serde_json::Value| it["id"].as_str().is_some_and(|id| id.starts_with("p/"));
    assert_eq!(listed["data"].as_array().unwrap().iter().filter(is_own).count(), 10_000);
    assert_eq!(jobs(&gateway), 1);
}

/// Says a word, and the same word many times over.
fn short_and_long(word: &str) -> [String; 2] {
    [word.to_owned(), format!("{word} ").repeat(LARGE / word.len())]
}

/// What was sent last, with a long text made short again.
fn sent_shortened(house: &House, upstream: Protocol, [short, long]: &[String; 2]) -> String {
    house.sent(upstream).replace(long, short)
}

#[test]
fn a_large_body_goes_on_with_a_chain_like_a_small_one() {
    let texts = short_and_long("FACT2");
    for upstream in Protocol::ALL {
        let sent = texts.each_ref().map(|text| {
            let house = House::of(&["BLUE", "GREEN"]);
            let model = format!("{}/m", upstream.as_str());
            let first = house.responses(&json!({"model": "gemini/m", "input": "FACT1"})).json();
            let second = house.responses(&json!({"model": model, "input": text,
                "previous_response_id": first["id"]}));
            assert_eq!(second.status, 200, "{upstream:?}: {}", second.body);
            let id = second.json()["id"].as_str().unwrap().to_owned();
            let items = house.gateway.get(&format!("/v1/responses/{id}/input_items")).body;
            assert!(items.contains(text), "{upstream:?}");
            assert_eq!(jobs(&house.gateway) >= 3, text.len() >= LARGE, "{upstream:?}");
            sent_shortened(&house, upstream, &texts)
        });
        assert_eq!(sent[0], sent[1], "{upstream:?}");
        assert!(sent[0].contains("FACT1") && sent[0].contains("FACT2"), "{}", sent[0]);
    }
}

#[test]
fn a_large_body_goes_on_with_a_conversation_like_a_small_one() {
    let texts = short_and_long("FACT2");
    for client in Protocol::ALL {
        let sent = texts.each_ref().map(|text| {
            let house = House::of(&["BLUE", "GREEN", "RED"]);
            let (chat, gemini) = (Protocol::OpenaiChat, Protocol::Gemini);
            // The large one is the first, then the one in the middle of the history.
            for (conversation, texts) in [("a", [text, "FACT1"]), ("b", ["FACT1", text])] {
                for text_sent in texts {
                    let reply = house.send_text(client, chat, conversation, text_sent);
                    assert_eq!(reply.status, 200, "{client:?}: {}", reply.body);
                }
            }
            let last = house.send_text(Protocol::AnthropicMessages, gemini, "b", "FACT3");
            assert_eq!(last.status, 200, "{client:?}: {}", last.body);
            sent_shortened(&house, gemini, &texts)
        });
        assert_eq!(sent[0], sent[1], "{client:?}");
        assert!(
            ["FACT1", "FACT2", "FACT3"].iter().all(|fact| sent[0].contains(fact)),
            "{}",
            sent[0]
        );
    }
}

#[test]
fn a_large_body_goes_on_with_a_thread_like_a_small_one() {
    let texts = short_and_long("FACT2");
    let sent = texts.each_ref().map(|text| {
        let house = House::of(&["BLUE", "GREEN"]);
        let call = |text: &str, thread: serde_json::Value| {
            let body = json!({"model": "openai-chat/m", "max_tokens": 9, "thread": thread,
                "messages": [{"role": "user", "content": text}]});
            let reply = house.gateway.post("/v1/messages", &body.to_string());
            assert_eq!(reply.status, 200, "{}", reply.body);
            reply.json()["id"].clone()
        };
        let id = call("FACT1", json!({"type": "create"}));
        call(text, json!({"type": "continue", "previous_message_id": id}));
        sent_shortened(&house, Protocol::OpenaiChat, &texts)
    });
    assert_eq!(sent[0], sent[1]);
    assert!(sent[0].contains("FACT1") && sent[0].contains("FACT2"), "{}", sent[0]);
}

#[test]
fn a_large_body_may_name_items_and_results_of_tools() {
    let [_, long] = short_and_long("FACT2");
    let house = House::of(&["BLUE", "GREEN"]);
    let first = house.responses(&json!({"model": "gemini/m", "input": "FACT1"})).json();
    let second = json!({"model": "openai-chat/m", "input": [
        {"type": "item_reference", "id": first["output"][0]["id"]}, {"role": "user", "content": long}]});
    assert_eq!(house.responses(&second).status, 200);
    let sent = house.sent(Protocol::OpenaiChat);
    assert!(sent.contains("BLUE") && sent.contains(&long));
    let outputs = json!({"tool_outputs": [{"tool_call_id": "c", "output": long}]}).to_string();
    let id = first["id"].as_str().unwrap();
    let path = format!("/v1/responses/{id}/submit_tool_outputs");
    assert_eq!(house.gateway.post(&path, &outputs).status, 400, "nobody called");
}

#[test]
fn large_frames_that_pass_are_recorded_like_small_ones() {
    for text in short_and_long("BLUE") {
        let mut body = answer(Protocol::OpenaiResponses, &text, 1);
        body.insert_str(1, "\"store\":true,");
        let item: serde_json::Value = serde_json::from_str(&body).unwrap();
        let item = &item["output"][0];
        let frames: String = [
            json!({"type": "response.created", "response": {"id": "resp_own1", "object": "response", "output": []}}),
            json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message",
                "id": "msg_own1", "role": "assistant", "status": "in_progress", "content": []}}),
            json!({"type": "response.output_text.delta", "item_id": "msg_own1", "output_index": 0,
                "content_index": 0, "delta": text}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        ]
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect();
        let end = format!(
            "event: response.completed\ndata: {{\"type\":\"response.completed\",\"response\":{body}}}\n\n"
        );
        let provider = Provider::start(vec![Script::Reply(sse(&(frames.clone() + &end)))]);
        let gateway =
            Running::start(&(provider.toml("p", "openai-responses") + crate::memory::STORE));
        let asked = json!({"model": "p/m", "input": "FACT1", "stream": true}).to_string();
        let stream = gateway.post("/v1/responses", &asked);
        assert!(stream.body == frames + &end, "its bytes pass as they are");
        let kept = gateway.get("/v1/responses/resp_own1");
        assert_eq!(kept.status, 200, "{}", kept.body);
        assert_eq!(kept.json()["output"][0]["content"][0]["text"], text);
    }
}

#[test]
fn a_large_stream_that_breaks_off_is_kept_as_far_as_it_came() {
    let [_, long] = short_and_long("BLUE");
    let answers = vec![
        Script::Reply(sse(&(chat_chunk("RED") + &chat_chunk(&long)))),
        Script::Reply(json(200, "", &answer(Protocol::OpenaiChat, "GREEN", 2))),
    ];
    for path in ["/v1/messages", "/v1/chat/completions"] {
        let provider = Provider::start(answers.clone());
        let gateway = Running::start(&(provider.toml("p", "openai-chat") + crate::memory::STORE));
        let head = format!("POST {path}\r\nsabir-conversation: cut\r\n");
        let body = match path {
            "/v1/messages" => messages("p/m", true),
            _ => chat("p/m", true),
        };
        assert!(gateway.request(&head, &body).body.contains("error"));
        let reply = gateway.request(&head, &body.replace("true", "false"));
        assert_eq!(reply.status, 200, "{}", reply.body);
        let sent = &provider.received()[1].body;
        assert!(sent.contains("RED") && sent.contains(&long), "{path}");
    }
}
