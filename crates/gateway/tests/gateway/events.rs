//! Events that a provider calls something else: they are known by their first bytes.

use std::sync::{Arc, Mutex, mpsc};

use crate::harness::*;

const KINDS: [&str; 4] = [
    "content-type: text/plain; charset=utf-8\r\n",
    "content-type: application/json\r\n",
    "content-type: application/octet-stream\r\n",
    "",
];

/// The head of a stream that is not called one.
fn misnamed(kind: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{kind}connection: close\r\n\r\n")
}

#[test]
fn events_under_another_name_are_events() {
    for kind in KINDS {
        for before in ["", ": hello\n\n", "event: message\n", "id: 1\n", "retry: 5\n\n", "\r\n"] {
            let frames = format!("{before}{}{CHAT_END}", chat_chunk("begun"));
            let provider = Provider::start(vec![Script::Reply(misnamed(kind) + &frames)]);
            let gateway = Running::start(&provider.toml("p", "openai-chat"));
            let reply = gateway.post("/v1/chat/completions", &chat("p/m", true));
            assert_eq!((reply.status, &*reply.body), (200, &*frames), "{kind:?}");
            assert_eq!(reply.header("content-type"), Some("text/event-stream"), "{kind:?}");
            let reply = gateway.post("/v1/messages", &messages("p/m", true));
            assert!(reply.body.contains("begun"), "{kind:?} {before:?}: {}", reply.body);
            assert!(reply.body.contains("message_stop"), "{kind:?} {before:?}: {}", reply.body);
        }
    }
}

#[test]
fn geminis_events_under_the_name_of_its_lists_are_events() {
    let event = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"begun\"}]},\"finishReason\":\"STOP\"}]}\n\n";
    let answer = misnamed(KINDS[1]) + event;
    let provider = Provider::start(vec![Script::Reply(answer)]);
    let gateway = Running::start(&provider.toml("p", "gemini"));
    let body = r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#;
    let path = "/v1beta/models/p%2Fm:streamGenerateContent?alt=sse";
    let reply = gateway.post(path, body);
    assert_eq!((reply.status, &*reply.body), (200, event));
    let reply = gateway.post("/v1/chat/completions", &chat("p/m", true));
    assert!(reply.body.contains("begun"), "{}", reply.body);
}

#[test]
fn the_first_event_under_another_name_leaves_at_once() {
    for (path, body) in
        [("/v1/chat/completions", chat("p/m", true)), ("/v1/messages", messages("p/m", true))]
    {
        let (sender, pieces) = mpsc::channel();
        let script = Script::Pieces(Arc::new(Mutex::new(pieces)));
        let provider = Provider::start(vec![script]);
        let gateway = Running::start(&provider.toml("p", "openai-chat"));
        let mut client = gateway.send(&format!("POST {path}"), &body);
        let first = chat_chunk("begun");
        for piece in [&misnamed(KINDS[0]), &first[..2], &first[2..]] {
            sender.send(piece.to_owned()).unwrap();
        }
        assert_eq!(read_head(&mut client).0, 200, "{path}");
        let mut seen = String::new();
        while !seen.contains("begun") {
            let chunk = read_chunk(&mut client).unwrap_or_else(|| panic!("{path}: {seen}"));
            seen += &String::from_utf8(chunk).unwrap();
        }
        sender.send(CHAT_END.to_owned()).unwrap();
    }
}
