//! Clients of Miniature and of the other protocols, with the simulators behind the gateway.

use crate::harness::{Running, chat};

const HELLO: &str = r#"[{"who":"user","text":"Hello."}]"#;

#[test]
fn a_client_of_miniature_is_answered_by_every_simulator() {
    let gateway = Running::start("");
    for simulator in ["sim-chat", "sim-responses", "sim-anthropic", "sim-gemini", "sim-miniature"] {
        for stream in [false, true] {
            let body =
                format!(r#"{{"model":"{simulator}/m","turns":{HELLO},"stream":{stream}}}"#);
            let reply = gateway.post("/m1/answer", &body);
            assert_eq!(reply.status, 200, "{simulator}: {}", reply.body);
            assert!(reply.body.contains(r#""end":"done""#), "{simulator}: {}", reply.body);
        }
    }
}

#[test]
fn a_client_of_chat_is_answered_by_the_simulator_of_miniature() {
    let gateway = Running::start("");
    for stream in [false, true] {
        let reply = gateway.post("/v1/chat/completions", &chat("sim-miniature/m", stream));
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert!(reply.body.contains(r#""finish_reason":"stop""#), "{}", reply.body);
    }
}

#[test]
fn errors_have_the_shape_of_miniature() {
    let gateway = Running::start("");
    let reply = gateway.post("/m1/answer", r#"{"model":"sim-chat/m","turns":[{"who":"nobody"}]}"#);
    assert_eq!(reply.status, 400, "{}", reply.body);
    assert_eq!(reply.json()["error"]["kind"], "bad-request");
}
