//! Agents that work with their own tools in a folder: programs that play them, behind a gateway, for clients of every protocol.

use sabir_testkit::agents::FakeAgent;
use serde_json::{Value, json};

use crate::harness::*;

const LINES: &str = r#"{"type":"system","subtype":"init","model":"claude-fake","session_id":"S-1"}
{"type":"stream_event","event":{"type":"message_start","message":{}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Let me look."}}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"toolu_1","name":"Read","input":{"file_path":"note.txt"}}]}}
{"type":"stream_event","event":{"type":"message_start","message":{}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"It says hi."}}}
{"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":8},"is_error":false,"type":"result"}
"#;

fn toml(fake: &FakeAgent, more: &str) -> String {
    let command = serde_json::to_string(&fake.command()).unwrap();
    let folder = fake.path("project");
    std::fs::create_dir_all(&folder).unwrap();
    format!(
        "\n[[provider]]\nname = \"cli\"\nagent = \"claude-code\"\nmode = \"agent\"\nfolder = {folder:?}\ncommand = {command}\n{more}\n"
    )
}

fn asked(protocol: &str, stream: bool) -> (String, Value) {
    let tool = json!({"type": "object", "properties": {}});
    match protocol {
        "chat" => (
            "/v1/chat/completions".to_owned(),
            json!({"model": "cli/default", "stream": stream, "messages": [{"role": "user", "content": "What does it say?"}],
                "tools": [{"type": "function", "function": {"name": "Read", "parameters": tool}}]}),
        ),
        "responses" => (
            "/v1/responses".to_owned(),
            json!({"model": "cli/default", "stream": stream, "input": "What does it say?",
                "tools": [{"type": "function", "name": "Read", "parameters": tool}]}),
        ),
        "messages" => (
            "/v1/messages".to_owned(),
            json!({"model": "cli/default", "stream": stream, "max_tokens": 99,
                "messages": [{"role": "user", "content": "What does it say?"}], "tools": [{"name": "Read", "input_schema": tool}]}),
        ),
        _ => {
            let verb = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
            (
                format!("/v1beta/models/cli/default:{verb}"),
                json!({"contents": [{"role": "user", "parts": [{"text": "What does it say?"}]}],
                    "tools": [{"functionDeclarations": [{"name": "Read"}]}]}),
            )
        }
    }
}

#[test]
fn activity_is_shown_in_every_protocol_and_never_as_a_call_of_the_clients_tools() {
    let fake = FakeAgent::claude(LINES);
    let gateway = Running::start(&toml(&fake, ""));
    for protocol in ["chat", "responses", "messages", "gemini"] {
        for stream in [false, true] {
            let (path, body) = asked(protocol, stream);
            let reply = gateway.post(&path, &body.to_string());
            assert_eq!(reply.status, 200, "{protocol} {stream}: {}", reply.body);
            for words in ["Let me look.", "It says hi.", "note.txt"] {
                assert!(reply.body.contains(words), "{protocol} {stream}: {}", reply.body);
            }
            for call in ["tool_calls\":[{", "\"function_call\"", "\"tool_use\"", "functionCall\""] {
                assert!(!reply.body.contains(call), "{protocol} {stream}: {}", reply.body);
            }
            let losses = reply.header("sabir-loss").unwrap_or_default();
            assert!(losses.contains("dropped="), "the client's tool: {losses}");
        }
    }
    assert!(gateway.get("/sabir/v1/exchanges").body.contains("works with its own tools"));
    assert!(fake.noted("arguments").contains("--no-session-persistence"));
}

#[test]
fn a_conversation_goes_on_in_the_session_that_it_has() {
    let fake = FakeAgent::claude(LINES);
    let gateway = Running::start(&toml(&fake, ""));
    let send = |id: &str, messages: Value| {
        let body = json!({"model": "cli/default", "messages": messages}).to_string();
        let reply = gateway
            .request(&format!("POST /v1/chat/completions\r\nsabir-conversation: {id}\r\n"), &body);
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.json()["choices"][0]["message"].clone()
    };
    let is_taken_up = || fake.noted("arguments").contains("--resume=S-1");
    let last = || fake.noted("input").lines().last().unwrap_or_default().to_owned();
    let user = |text: &str| json!({"role": "user", "content": text});

    let answer = send("work", json!([user("one")]));
    assert!(!is_taken_up() && last().contains(r"[MESSAGE]\none"), "{}", last());
    send("work", json!([user("two")]));
    assert!(is_taken_up() && last().contains(r#""content":"[MESSAGE]\ntwo""#), "{}", last());
    // An app that sends everything goes on as well.
    send("other", json!([user("one")]));
    assert!(!is_taken_up());
    send("other", json!([user("one"), answer, user("two")]));
    assert!(is_taken_up() && last().contains(r#""content":"[MESSAGE]\ntwo""#), "{}", last());
    // Whoever names no conversation has no session.
    let body = json!({"model": "cli/default", "messages": [user("one"), answer, user("two")]});
    gateway.post("/v1/chat/completions", &body.to_string());
    assert!(!is_taken_up() && last().contains("[CONTEXT]"), "{}", last());
}

#[test]
fn an_agent_that_is_missing_or_fails_says_so() {
    let fake = FakeAgent::claude(
        r#"{"type":"system","subtype":"init","session_id":"S-1"}
{"type":"assistant","message":{"content":[{"type":"text","text":"Not logged in"}]},"error":"authentication_failed"}
{"is_error":true,"type":"result"}
"#,
    );
    let gateway = Running::start(&toml(&fake, "retries = 0"));
    let (path, body) = asked("chat", false);
    let reply = gateway.post(&path, &body.to_string());
    assert_eq!(reply.status, 401, "{}", reply.body);
    assert!(reply.body.contains("claude /login"), "{}", reply.body);
    let folder = fake.path("project");
    let missing = format!(
        "[[provider]]\nname = \"cli\"\nagent = \"google-gemini\"\nmode = \"agent\"\nfolder = {folder:?}\ncommand = \"/no/such/agent\"\nretries = 0\n"
    );
    let reply = Running::start(&missing).post(&path, &body.to_string());
    assert_eq!(reply.status, 503, "{}", reply.body);
}
