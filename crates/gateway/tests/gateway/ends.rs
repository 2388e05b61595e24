//! Streams that end in the middle of something: what the client can read of them, and what it learns.

use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use crate::harness::*;
use crate::waiting::let_pass;

const GEMINI: &str = r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#;

fn messages_stream() -> String {
    let frame =
        |kind: &str, rest: &str| format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{rest}}}\n\n");
    let message = r#","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}"#;
    let end =
        r#","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}"#;
    [
        frame("message_start", message),
        frame("content_block_start", r#","index":0,"content_block":{"type":"text","text":""}"#),
        frame("content_block_delta", r#","index":0,"delta":{"type":"text_delta","text":"hé"}"#),
        frame("content_block_stop", r#","index":0"#),
        frame("message_delta", end),
        frame("message_stop", ""),
    ]
    .concat()
}

/// The data of every event that a client would dispatch.
fn events(stream: &str) -> Vec<serde_json::Value> {
    let whole = stream.rsplit_once("\n\n").map_or("", |(whole, _)| whole);
    let data = whole.split('\n').filter_map(|line| line.strip_prefix("data:"));
    let data = data.map(str::trim).filter(|data| *data != "[DONE]");
    data.map(|data| serde_json::from_str(data).unwrap_or_else(|_| panic!("{stream}"))).collect()
}

/// Wherever a stream is cut, its client reads whole events only, and the last one is the error.
fn check_cuts(protocol: &str, path: &str, body: &str, stream: &str, end: usize) {
    let cuts: Vec<usize> = (0..end).rev().step_by(3).collect();
    let chunked = |cut: &usize| {
        let piece = String::from_utf8_lossy(&stream.as_bytes()[..*cut]).into_owned();
        Script::Reply(sse(piece.trim_end_matches('\u{fffd}')))
    };
    let provider = Provider::start(cuts.iter().map(chunked).collect());
    let gateway = Running::start(&(provider.toml("p", protocol) + "retries = 0\n"));
    for cut in cuts {
        let reply = gateway.post(path, body);
        if reply.status == 502 {
            continue;
        }
        let events = events(&reply.body);
        let last = events.last().unwrap_or_else(|| panic!("{cut}: nothing"));
        assert!(last["error"].is_object(), "{cut}: {}", reply.body);
        assert!(events.len() < 2 || !events[events.len() - 2]["error"].is_object(), "{cut}");
    }
}

#[test]
fn half_an_event_never_reaches_a_client() {
    let stream = chat_chunk("one") + &chat_chunk("two") + CHAT_END;
    let finish = "\"finish_reason\":\"stop\"}";
    let end = stream.find(finish).unwrap() + finish.len() + 1;
    check_cuts("openai-chat", "/v1/chat/completions", &chat("p/m", true), &stream, end);
    let stream = messages_stream();
    let end = stream.rfind("event: message_stop").unwrap();
    check_cuts("anthropic-messages", "/v1/messages", &messages("p/m", true), &stream, end);
}

#[test]
fn events_pass_byte_for_byte_whatever_pieces_they_come_in() {
    let stream = format!(": begin\r\n\r\nretry: 5\r\n\r\n{}{CHAT_END}", chat_chunk("héllo"));
    for stream in [stream.clone(), stream.replace('\n', "\r\n").replace("\r\r", "\r")] {
        let (sender, pieces) = mpsc::channel();
        let provider = Provider::start(vec![Script::Pieces(Arc::new(Mutex::new(pieces)))]);
        let gateway = Running::start(&provider.toml("p", "openai-chat"));
        let client = gateway.send("POST /v1/chat/completions", &chat("p/m", true));
        sender.send(sse("")).unwrap();
        for character in stream.chars() {
            sender.send(character.to_string()).unwrap();
        }
        drop(sender);
        let mut client = client;
        assert_eq!(Reply::read(&mut client).body, stream);
    }
}

#[test]
fn half_a_count_behind_a_finished_answer_is_no_failure() {
    let whole = chat_chunk("done") + CHAT_END;
    let cut = &whole[..whole.find("\"completion_tokens\"").unwrap()];
    for (path, body, end) in [
        ("/v1/chat/completions", chat("p/m", true), "\"finish_reason\":\"stop\""),
        ("/v1/messages", messages("p/m", true), "message_stop"),
    ] {
        let provider = Provider::start(vec![Script::Reply(sse(cut))]);
        let gateway = Running::start(&provider.toml("p", "openai-chat"));
        let reply = gateway.post(path, &body);
        assert!(reply.body.contains(end) && !reply.body.contains("error"), "{}", reply.body);
        gateway.wait_for_metric("sabir_requests_in_flight 0");
        assert!(gateway.get("/metrics").body.contains("outcome=\"answered\"} 1"));
    }
}

#[test]
fn what_follows_the_word_for_the_end_is_none_of_the_answer() {
    let behind = "data: {\"error\":{\"message\":\"stray\",\"type\":\"server_error\"}}\n\n";
    let stream = sse(&(chat_chunk("done") + CHAT_END + behind));
    let provider = Provider::start(vec![Script::Reply(stream)]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let body = r#"{"model":"p/m","stream":true,"input":"hello"}"#;
    let reply = gateway.post("/v1/responses", body);
    assert!(reply.body.contains("response.completed"), "{}", reply.body);
    assert!(!reply.body.contains("stray"), "{}", reply.body);
}

#[test]
fn an_event_without_end_is_not_held_for_ever() {
    let lines = "event: message\n".repeat(100_000);
    let stream = sse(&(chat_chunk("begun") + &lines));
    let (left, _gone) = mpsc::channel();
    let provider = Provider::start(vec![Script::Hold(stream, left)]);
    let limits = "[limits]\nmax_frame_size = \"64KiB\"\n";
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + limits));
    let reply = gateway.post("/v1/chat/completions", &chat("p/m", true));
    assert!(reply.body.contains("cannot be read"), "{:.400}", reply.body);
}

#[test]
fn a_list_that_is_not_closed_has_no_end() {
    let first = r#"[{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}]}"#;
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{first}");
    let provider = Provider::start(vec![Script::Reply(answer)]);
    let gateway = Running::start(&provider.toml("p", "gemini"));
    let mut client = gateway.send("POST /v1beta/models/p%2Fm:streamGenerateContent", GEMINI);
    let mut all = String::new();
    std::io::Read::read_to_string(&mut client, &mut all).unwrap();
    assert!(all.contains("STOP") && !all.ends_with("0\r\n\r\n"), "{all}");
}

#[test]
fn a_provider_that_stays_is_not_waited_for_even_if_all_came_at_once() {
    let (left, gone) = mpsc::channel();
    let all = sse(&(chat_chunk("whole") + CHAT_END));
    let provider = Provider::start(vec![Script::Hold(all, left)]);
    let gateway = Running::start(&(provider.toml("p", "openai-chat") + "idle_timeout = \"15s\"\n"));
    let began = Instant::now();
    let reply = gateway.post("/v1/messages", &messages("p/m", true));
    assert!(reply.body.contains("message_stop"), "{}", reply.body);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    gone.recv_timeout(PATIENCE).unwrap();
}

/// A chunk of one of several Chat answers.
fn choice(index: u8, delta: &str, finish: &str) -> String {
    format!(
        "data: {{\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":{index},\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
    )
}

#[test]
fn what_comes_behind_the_finish_reason_is_heard() {
    let begun = choice(0, "{\"content\":\"High water \"}", "null");
    let behind = choice(0, "{}", "\"stop\"") + &choice(0, "{\"content\":\"at noon\"}", "null");
    for end in ["", "data: [DONE]\n\n"] {
        let stream = sse(&(begun.clone() + &behind + end));
        let provider = Provider::start(vec![Script::Reply(stream)]);
        let gateway = Running::start(&provider.toml("p", "openai-chat"));
        let reply = gateway.post("/v1/messages", &messages("p/m", true));
        assert!(reply.body.contains("at noon"), "{}", reply.body);
        assert!(reply.body.contains("message_stop"), "{}", reply.body);
    }
}

#[test]
fn an_answer_goes_on_while_one_of_its_candidates_does() {
    let (sender, pieces) = mpsc::channel();
    let provider = Provider::start(vec![Script::Pieces(Arc::new(Mutex::new(pieces)))]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let path = "POST /v1beta/models/p%2Fm:streamGenerateContent?alt=sse";
    let mut client = gateway.send(path, GEMINI);
    sender.send(sse(&choice(0, "{\"content\":\"a\"}", "null"))).unwrap();
    read_head(&mut client);
    sender.send(choice(1, "{\"content\":\"b\"}", "null")).unwrap();
    sender.send(choice(0, "{}", "\"stop\"")).unwrap();
    let_pass(Duration::from_millis(1_500));
    sender.send(choice(1, "{\"content\":\"late\"}", "\"stop\"") + "data: [DONE]\n\n").unwrap();
    drop(sender);
    let mut body = String::new();
    while let Some(chunk) = read_chunk(&mut client) {
        body += &String::from_utf8(chunk).unwrap();
    }
    assert!(body.contains("late") && !body.contains("error"), "{body}");
}

/// Whether the client of a stream that simply ends gets an error for what is missing.
fn reports_cut(protocol: &str, path: &str, body: &str, stream: &str) -> bool {
    let provider = Provider::start(vec![Script::Reply(sse(stream))]);
    let gateway = Running::start(&provider.toml("p", protocol));
    let reply = gateway.post(path, body);
    assert!(reply.body.starts_with(stream), "{}", reply.body);
    reply.body.contains("\"error\"")
}

#[test]
fn an_answer_is_whole_when_all_of_its_candidates_are() {
    let (a, b) =
        (choice(0, "{\"content\":\"a\"}", "null"), choice(1, "{\"content\":\"b\"}", "null"));
    let (end_a, end_b) = (choice(0, "{}", "\"stop\""), choice(1, "{}", "\"stop\""));
    let call = choice(0, r#"{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]}"#, "null");
    for (stream, is_cut) in [
        ([&a, &b, &end_a].map(String::as_str).concat(), true),
        ([&b, &a, &end_b].map(String::as_str).concat(), true),
        ([&a, &b, &end_a, &end_b].map(String::as_str).concat(), false),
        ([&a, &b, &end_a, "data: [DONE]\n\n"].concat(), false),
        ([&a, &call, &end_a].map(String::as_str).concat(), false),
    ] {
        let path = "/v1/chat/completions";
        let is_reported = reports_cut("openai-chat", path, &chat("p/m", true), &stream);
        assert_eq!(is_reported, is_cut, "{stream}");
    }
    let gemini = |index: u8, finish: &str| {
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"x\"}}]}}{finish},\"index\":{index}}}]}}\n\n"
        )
    };
    let (begun, end) = (gemini(0, "") + &gemini(1, ""), ",\"finishReason\":\"STOP\"");
    for (stream, is_cut) in [
        (begun.clone() + &gemini(0, end), true),
        (begun + &gemini(0, end) + &gemini(1, end), false),
    ] {
        let path = "/v1beta/models/p%2Fm:streamGenerateContent?alt=sse";
        assert_eq!(reports_cut("gemini", path, GEMINI, &stream), is_cut, "{stream}");
    }
}

/// The frames of a Gemini stream, each with one part; the last one has a reason for the end, if there is one.
fn parts(parts: &[&str], end: Option<&str>) -> String {
    let end = end.map(|reason| format!(",\"finishReason\":\"{reason}\"")).unwrap_or_default();
    let frame = |(index, part): (usize, &&str)| {
        let end = if index + 1 == parts.len() { end.as_str() } else { "" };
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{part}]}}{end},\"index\":0}}]}}\n\n"
        )
    };
    parts.iter().enumerate().map(frame).collect()
}

#[test]
fn nothing_is_added_behind_the_end_of_calls_in_pieces() {
    let begun = |id: &str| {
        format!(
            r#"{{"functionCall":{{"id":"{id}","name":"f","partialArgs":[{{"jsonPath":"$.a","stringValue":"x","willContinue":true}}],"willContinue":true}}}}"#
        )
    };
    let ended = |id: &str| {
        format!(
            r#"{{"functionCall":{{"id":"{id}","partialArgs":[{{"jsonPath":"$.a","stringValue":"y"}}]}}}}"#
        )
    };
    let (c1, c2) = (begun("c1"), begun("c2"));
    let (end_c1, end_c2) = (ended("c1"), ended("c2"));
    let by_turns = [&c1, &c2, &end_c1, &end_c2].map(String::as_str);
    let nobodys = [&c1, &c2, r#"{"functionCall":{}}"#];
    let unended = [&c1, r#"{"functionCall":{"id":"c1"}}"#];
    for (stream, outcome) in [
        (parts(&by_turns, Some("STOP")), "answered"),
        (parts(&nobodys, Some("STOP")), "upstream_error"),
        (parts(&unended, Some("STOP")), "upstream_error"),
    ] {
        let provider = Provider::start(vec![Script::Reply(sse(&stream))]);
        let gateway = Running::start(&provider.toml("p", "gemini"));
        let path = "/v1beta/models/p%2Fm:streamGenerateContent?alt=sse";
        assert_eq!(gateway.post(path, GEMINI).body, stream);
        let line = "sabir_requests_total{provider=\"p\",client=\"gemini\",upstream=\"gemini\"";
        gateway.wait_for_metric(&format!("{line},outcome=\"{outcome}\"}} 1"));
    }
    let path = "/v1beta/models/p%2Fm:streamGenerateContent?alt=sse";
    assert!(reports_cut("gemini", path, GEMINI, &parts(&by_turns, None)));
}
