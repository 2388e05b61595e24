//! Answers that break off, and answers that are none: nobody takes them for whole ones.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;

use crate::harness::*;

/// Everything that comes until the gateway closes the connection.
fn until_closed(reader: &mut BufReader<TcpStream>) -> String {
    let mut all = String::new();
    reader.read_to_string(&mut all).unwrap();
    all
}

const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n";
const SHORT: &str = "HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nhello";

#[test]
fn bytes_that_break_off_break_off_for_the_client_too() {
    for answer in [CHUNKED, SHORT] {
        let provider = Provider::start(vec![Script::Reply(answer.to_owned())]);
        let gateway = Running::start(&provider.toml("p", "openai-chat"));
        let mut client = gateway.send("GET /passthrough/p/v1/files/f/content", "");
        let all = until_closed(&mut client);
        assert!(all.starts_with("HTTP/1.1 200") && all.contains("hello"), "{all}");
        assert!(!all.ends_with("0\r\n\r\n"), "{all}");
        gateway.wait_for_metric(
            "sabir_requests_total{provider=\"p\",client=\"openai-chat\",upstream=\"openai-chat\",outcome=\"upstream_error\"} 1",
        );
    }
}

#[test]
fn embeddings_that_break_off_are_a_bad_gateway() {
    for answer in [CHUNKED, SHORT] {
        let provider = Provider::start(vec![Script::Reply(answer.to_owned())]);
        let gateway = Running::start(&provider.toml("p", "openai-chat"));
        let reply = gateway.post("/v1/embeddings", r#"{"model":"p/e","input":"x"}"#);
        assert_eq!(reply.status, 502, "{}", reply.body);
    }
}

#[test]
fn a_whole_answer_that_breaks_off_is_a_bad_gateway() {
    for path in ["/v1/chat/completions", "/v1/messages"] {
        let provider = Provider::start(vec![Script::Reply(SHORT.to_owned())]);
        let gateway = Running::start(&provider.toml("p", "openai-chat"));
        let reply = gateway.post(path, &messages("p/m", false));
        assert_eq!(reply.status, 502, "{}", reply.body);
    }
}

#[test]
fn a_whole_answer_that_ends_with_its_connection_must_be_whole() {
    let body = chat_answer("cut");
    for (body, status) in [(body.as_str(), 200), (&body[..body.len() - 1], 502)] {
        assert!(body.ends_with('}'));
        let answer = format!("HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n{body}");
        let provider = Provider::start(vec![Script::Reply(answer)]);
        let gateway = Running::start(&provider.toml("p", "openai-chat"));
        let reply = gateway.post("/v1/chat/completions", &chat("p/m", false));
        assert_eq!(reply.status, status, "{}", reply.body);
    }
}

/// A provider that answers once, with a body that it compressed unasked.
fn compressing(status: u16, kind: &str, body: &str) -> String {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(body.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-encoding: gzip\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n",
        packed.len()
    );
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]).unwrap();
        stream.write_all(&[head.as_bytes(), &packed].concat()).unwrap();
        let _ = stream.read(&mut [0]);
    });
    format!(
        "[[provider]]\nname = \"p\"\nprotocol = \"openai-chat\"\nbase_url = \"http://{address}/v1\"\n\
         retries = 0\n"
    )
}

#[test]
fn answers_that_are_compressed_unasked_are_read() {
    let refused = r#"{"error":{"message":"too warm","type":"invalid_request_error","param":null,"code":null}}"#;
    for (status, body, words) in
        [(200, chat_answer("unpacked"), "unpacked"), (400, refused.to_owned(), "too warm")]
    {
        for path in ["/v1/chat/completions", "/v1/messages"] {
            let gateway = Running::start(&compressing(status, "application/json", &body));
            let reply = gateway.post(path, &messages("p/m", false));
            assert_eq!(reply.status, status, "{}", reply.body);
            assert!(reply.body.contains(words), "{}", reply.body);
            assert_eq!(reply.header("content-encoding"), None);
        }
    }
    let stream = chat_chunk("packed") + CHAT_END;
    let gateway = Running::start(&compressing(200, "text/event-stream", &stream));
    let reply = gateway.post("/v1/chat/completions", &chat("p/m", true));
    assert_eq!(reply.status, 502);
    assert!(reply.body.contains("compressed"), "{}", reply.body);
}

#[test]
fn a_list_that_breaks_off_has_no_end() {
    check_list_without_end("");
    check_list_without_end(r#","finishReason":"STOP""#);
}

#[track_caller]
fn check_list_without_end(finish: &str) {
    let first =
        format!(r#"[{{"candidates":[{{"content":{{"parts":[{{"text":"begun"}}]}}{finish}}}]}}"#);
    let provider = Provider::start(vec![Script::Reply(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{first}"
    ))]);
    let gateway = Running::start(&provider.toml("p", "gemini"));
    let body = r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#;
    let mut client = gateway.send("POST /v1beta/models/p%2Fm:streamGenerateContent", body);
    let all = until_closed(&mut client);
    assert!(all.contains("begun") && !all.ends_with("0\r\n\r\n"), "{all}");
}

/// A gateway with a Chat provider that answers so, and one behind it that answers well.
fn before_a_good_one(answer: &str) -> (Provider, Provider, Running) {
    let first = Provider::start(vec![Script::Reply(answer.to_owned())]);
    let good = sse(&(chat_chunk("second") + CHAT_END));
    let second = Provider::start(vec![Script::Reply(good)]);
    let toml = first.toml("first", "openai-chat")
        + "retries = 0\n"
        + &second.toml("second", "openai-chat")
        + "[limits]\nmax_frame_size = \"10KB\"\n[[model]]\nname = \"m\"\ntargets = [{ provider = \"first\", model = \"up\" }, { provider = \"second\", model = \"up\" }]\n";
    let gateway = Running::start(&toml);
    (first, second, gateway)
}

#[test]
fn what_does_not_begin_as_a_stream_is_left_for_the_next_target() {
    let comments = ": still thinking\n\n".repeat(1_000);
    for frames in [
        "",
        "<html><p>Not found</p></html>\n\n",
        "data: nonsense\n\n",
        "data: {\"half\n\n",
        "event: ping\n\n: nothing else\n\n",
        &comments,
    ] {
        let (_first, _second, gateway) = before_a_good_one(&sse(frames));
        for (path, body) in
            [("/v1/chat/completions", chat("m", true)), ("/v1/messages", messages("m", true))]
        {
            let reply = gateway.post(path, &body);
            assert!(reply.body.contains("second"), "{path} {frames:.40}: {}", reply.body);
            assert_eq!(reply.header("sabir-route"), Some("fallback:2"));
        }
    }
}

#[test]
fn endless_comments_before_the_first_event_are_not_kept() {
    let (left, gone) = std::sync::mpsc::channel();
    let comments = sse(&": still thinking\n\n".repeat(1_000));
    let provider = Provider::start(vec![Script::Hold(comments, left)]);
    let limits = "retries = 0\n[limits]\nmax_frame_size = \"10KB\"\n";
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + limits));
    let reply = gateway.post("/v1/chat/completions", &chat("p/m", true));
    assert_eq!(reply.status, 502, "{}", reply.body);
    gone.recv_timeout(PATIENCE).unwrap();
}

#[test]
fn a_broken_frame_behind_the_first_event_ends_the_stream_in_the_clients_own_way() {
    let long = chat_chunk(&"x".repeat(20_000));
    for broken in ["data: nonsense\n\n", "data: {\"half\r\n\r\n", &long] {
        let frames = chat_chunk("begun") + broken + CHAT_END;
        let (_first, second, gateway) = before_a_good_one(&sse(&frames));
        let reply = gateway.post("/v1/chat/completions", &chat("m", true));
        let added = reply.body.strip_prefix(&chat_chunk("begun"));
        let added = added.unwrap_or_else(|| panic!("{broken:.40}: {}", reply.body));
        assert!(added.trim_start().starts_with("data: {\"error\""), "{broken:.40}: {added}");
        assert_eq!(added.matches("data: ").count(), 1, "{broken:.40}: {added}");
        assert!(second.received().is_empty(), "the first event was there");
    }
}

#[test]
fn a_last_frame_without_its_blank_line_is_an_end() {
    let frames = (chat_chunk("whole") + CHAT_END).trim_end().replace("data: [DONE]", "");
    let provider = Provider::start(vec![Script::Reply(sse(frames.trim_end()))]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let reply = gateway.post("/v1/chat/completions", &chat("p/m", true));
    assert_eq!(reply.body, frames.trim_end());
}

#[test]
fn answers_of_doubtful_length_are_bad_gateways() {
    let body = chat_answer("stolen");
    for headers in [
        format!("content-length: {}\r\ncontent-length: 5\r\n", body.len()),
        format!("content-length: +{}\r\n", body.len()),
        format!("content-length: {}, 5\r\n", body.len()),
        format!("content-length: {}\r\ntransfer-encoding: chunked\r\n", body.len()),
    ] {
        let answer = format!("HTTP/1.1 200 OK\r\n{headers}\r\n{body}");
        check_bad_gateway(&answer);
    }
    let switched = format!("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n{body}");
    check_bad_gateway(&switched);
}

/// The answer is refused in the client's shape on every way through the gateway.
#[track_caller]
fn check_bad_gateway(answer: &str) {
    let provider = Provider::start(vec![Script::Reply(answer.to_owned())]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    for (path, body) in [
        ("/v1/chat/completions", chat("p/m", false)),
        ("/v1/messages", messages("p/m", false)),
        ("/passthrough/p/v1/x", "{}".to_owned()),
    ] {
        let reply = gateway.post(path, &body);
        assert_eq!(reply.status, 502, "{answer}: {}", reply.body);
        assert!(reply.json()["error"]["message"].is_string());
        assert!(!reply.body.contains("stolen"));
    }
}

#[test]
fn geminis_errors_state_the_status_that_they_have() {
    let provider = Provider::whole("nonsense");
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let body = r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#;
    let reply = gateway.post("/v1beta/models/p%2Fm:generateContent", body);
    assert_eq!(reply.status, 502);
    assert_eq!(reply.json()["error"]["code"], 502);
    assert_eq!(reply.json()["error"]["status"], "UNAVAILABLE");
}

#[test]
fn an_answer_without_a_body_is_whole_without_one() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 500\r\ncontent-type: text/plain\r\n\r\n";
    for (request, answer, status) in [
        ("HEAD /passthrough/p/v1/files/f", head, 200),
        ("DELETE /passthrough/p/v1/files/f", "HTTP/1.1 204 No Content\r\n\r\n", 204),
        ("GET /passthrough/p/v1/files/f", "HTTP/1.1 304 Not Modified\r\netag: x\r\n\r\n", 304),
    ] {
        let provider = Provider::start(vec![Script::Reply(answer.to_owned())]);
        let gateway = Running::start(&provider.toml("p", "openai-chat"));
        let headers = format!("{request}\r\nconnection: close\r\n");
        let mut client = gateway.send(&headers, "");
        let (seen, headers) = read_head(&mut client);
        assert_eq!(seen, status, "{request}");
        assert_eq!(until_closed(&mut client), "", "{request}");
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length.map(|(_, length)| length.as_str());
        assert_eq!(length, (status == 200).then_some("500"), "{request}");
        gateway.wait_for_metric(
            "sabir_requests_total{provider=\"p\",client=\"openai-chat\",upstream=\"openai-chat\",outcome=\"answered\"} 1",
        );
    }
}

/// A Messages stream to its end, in chunks, but for the last chunk that says so.
fn whole_without_last_chunk() -> String {
    let start = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}"#;
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}}"#;
    let frames = format!(
        "event: message_start\ndata: {start}\n\nevent: message_delta\ndata: {end}\n\n\
         event: message_stop\ndata: {{\"type\":\"message_stop\"}}\n\n"
    );
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n\
         {:x}\r\n{frames}\r\n",
        frames.len()
    )
}

#[track_caller]
fn check_whole_stream(script: Script) {
    let provider = Provider::start(vec![script]);
    let toml = provider.toml("p", "anthropic-messages") + "idle_timeout = \"10s\"\n";
    let gateway = Running::start(&toml);
    let began = std::time::Instant::now();
    let reply = gateway.post("/v1/messages", &messages("p/m", true));
    assert!(reply.body.ends_with("data: {\"type\":\"message_stop\"}\n\n"), "{}", reply.body);
    assert!(began.elapsed() < std::time::Duration::from_secs(5), "{:?}", began.elapsed());
    gateway.wait_for_metric(
        "sabir_requests_total{provider=\"p\",client=\"anthropic-messages\",upstream=\"anthropic-messages\",outcome=\"answered\"} 1",
    );
}

#[test]
fn a_stream_that_came_to_its_end_does_not_fail_afterwards() {
    check_whole_stream(Script::Reply(whole_without_last_chunk()));
}

#[test]
fn a_provider_that_stays_behind_the_end_of_its_stream_is_not_waited_for() {
    let (left, gone) = std::sync::mpsc::channel();
    check_whole_stream(Script::Hold(whole_without_last_chunk(), left));
    gone.recv_timeout(PATIENCE).unwrap();
}

/// Lines before and behind chunks that are not by the grammar, each with a chunk that would be read by whoever is less strict.
const MISFRAMED: [&str; 6] = [
    "3\nabc\r\n",
    "+3\r\nabc\r\n",
    "3 \r\nabc\r\n",
    "3\r\nabc\n",
    "0x3\r\nabc\r\n",
    "3\r\rabc\r\n",
];

/// An answer in chunks of which one is misframed, with the end that would make it whole.
fn misframed(kind: &str, (before, bad, behind): (&str, &str, &str)) -> String {
    let chunk = |text: &str| match text.len() {
        0 => String::new(),
        length => format!("{length:x}\r\n{text}\r\n"),
    };
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n{}{bad}{}0\r\n\r\n",
        chunk(before),
        chunk(behind)
    )
}

#[test]
fn a_whole_answer_with_a_misframed_chunk_is_a_bad_gateway() {
    let body = chat_answer("stolen");
    let (before, behind) = body.split_at(20);
    for bad in MISFRAMED {
        check_bad_gateway(&misframed("application/json", ("", bad, &body)));
        let answer = misframed("application/json", (before, bad, behind));
        let provider = Provider::start(vec![Script::Reply(answer)]);
        let gateway = Running::start(&provider.toml("p", "openai-chat"));
        for (path, body) in [
            ("/v1/chat/completions", chat("p/m", false)),
            ("/v1/messages", messages("p/m", false)),
            ("/v1/embeddings", r#"{"model":"p/e","input":"x"}"#.to_owned()),
        ] {
            assert_eq!(gateway.post(path, &body).status, 502, "{path} {bad:?}");
        }
    }
}

#[test]
fn a_stream_with_a_misframed_chunk_ends_in_an_error_of_its_protocol_and_has_failed() {
    let responses = r#"{"model":"p/m","input":"hello","stream":true}"#;
    let gemini = r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#;
    let sse = "/v1beta/models/p%2Fm:streamGenerateContent?alt=sse";
    for bad in MISFRAMED {
        for (client, path, body, sign) in [
            ("openai-chat", "/v1/chat/completions", &*chat("p/m", true), "data: {\"error\""),
            ("anthropic-messages", "/v1/messages", &messages("p/m", true), "event: error\n"),
            ("openai-responses", "/v1/responses", responses, "event: response.failed\n"),
            ("gemini", sse, gemini, "data: {\"error\""),
        ] {
            check_failing_stream((client, path, body), bad, sign);
        }
    }
}

/// The stream fails with a status where nothing of it has gone, and with the protocol's own sign behind what has.
#[track_caller]
fn check_failing_stream((client, path, body): (&str, &str, &str), bad: &str, sign: &str) {
    let (pieces, script) = std::sync::mpsc::channel();
    let pieces_script = Script::Pieces(std::sync::Arc::new(std::sync::Mutex::new(script)));
    let at_once = misframed("text/event-stream", ("", bad, &(chat_chunk("more") + CHAT_END)));
    let provider = Provider::start(vec![Script::Reply(at_once), pieces_script]);
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + "retries = 0\n"));
    let reply = gateway.post(path, body);
    assert_eq!(reply.status, 502, "{client} {bad:?}: {}", reply.body);
    let whole = misframed("text/event-stream", (&chat_chunk("begun"), bad, &chat_chunk("more")));
    let (begun, rest) = whole.split_at(whole.find(bad).unwrap());
    pieces.send(begun.to_owned()).unwrap();
    let mut reader = gateway.send(&format!("POST {path}"), body);
    assert_eq!(read_head(&mut reader).0, 200, "{client} {bad:?}");
    let mut seen = String::new();
    while !seen.contains("begun") {
        seen += &String::from_utf8(read_chunk(&mut reader).unwrap()).unwrap();
    }
    pieces.send(rest.to_owned()).unwrap();
    while let Some(chunk) = read_chunk(&mut reader) {
        seen += &String::from_utf8(chunk).unwrap();
    }
    assert!(seen.contains(sign) && !seen.contains("more"), "{client} {bad:?}: {seen}");
    gateway.wait_for_metric(&format!(
        "sabir_requests_total{{provider=\"p\",client=\"{client}\",upstream=\"openai-chat\",outcome=\"upstream_error\"}} 2"
    ));
}
