//! The bodies, headers, defaults and replies of the unified client, word for word.

use sabir_client::{Client, Folder, Message, Protocol, Tool, format, load_transcript};
use sabir_wire::unified::UnifiedToolCall;
use serde_json::{Value, json};

use crate::servers::{Scripted, Simulators, json as answer};
use crate::sessions::Scratch;

const CHAT: &str = r#"{"choices":[{"message":{"content":"Hello!","tool_calls":[{"id":"call_123","type":"function",
    "function":{"name":"bash","arguments":"{\"cmd\":\"ls\"}"}}]}}]}"#;
const CLAUDE: &str = r#"{"content":[{"type":"text","text":"Hello!"},
    {"type":"tool_use","id":"tu_123","name":"bash","input":{"cmd":"ls"}}]}"#;

fn call(id: &str, arguments: &str) -> UnifiedToolCall {
    UnifiedToolCall { id: id.to_owned(), name: "bash".to_owned(), arguments: arguments.to_owned() }
}

fn calling(text: &str, calls: Vec<UnifiedToolCall>) -> Message {
    Message { tool_calls: calls, ..Message::assistant(text) }
}

fn bash() -> Tool {
    let schema = r#"{"type":"object","properties":{"cmd":{"type":"string"}},"required":["cmd"]}"#;
    Tool::new("bash", "Runs a command", schema).unwrap()
}

fn history() -> Vec<Message> {
    vec![
        Message::system("You are helpful."),
        Message::user("Hello"),
        calling("", vec![call("call_1", r#"{"cmd":"ls"}"#)]),
        Message::tool("call_1", "a.txt"),
    ]
}

fn client(name: &str, url: &str) -> Client {
    let client = Client::new(format(name).unwrap(), &format!("{url}/v1")).unwrap();
    client.with_key("secret").unwrap().with_model("m")
}

async fn sent(
    name: &str,
    messages: &[Message],
    tools: &[Tool],
) -> (crate::servers::Request, Value) {
    let server = Scripted::json(if name == "claude" { CLAUDE } else { CHAT });
    client(name, &server.url).chat(messages, tools).await.unwrap();
    let request = server.request();
    let body = request.json();
    (request, body)
}

#[tokio::test]
async fn a1_1_a_history_with_a_tool_round_has_the_exact_body_of_claude() {
    let (_, body) = sent("claude", &history(), &[bash()]).await;
    assert_eq!(
        body,
        json!({
            "model": "m",
            "max_tokens": 4096,
            "system": "You are helpful.",
            "messages": [
                {"role": "user", "content": "Hello"},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "call_1", "name": "bash", "input": {"cmd": "ls"}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "call_1", "content": "a.txt"}]}
            ],
            "tools": [{"name": "bash", "description": "Runs a command", "input_schema":
                {"type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]}}]
        })
    );
}

#[tokio::test]
async fn a1_1_the_same_history_goes_to_openai_as_it_is() {
    let (request, body) = sent("openai", &history(), &[bash()]).await;
    let messages = json!([
        {"role": "system", "content": "You are helpful."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "call_1", "type": "function",
            "function": {"name": "bash", "arguments": "{\"cmd\":\"ls\"}"}}]},
        {"role": "tool", "content": "a.txt", "tool_call_id": "call_1"}
    ]);
    assert_eq!(body["messages"], messages);
    assert_eq!(body["tool_choice"], "auto");
    assert_eq!(body["tools"][0]["function"]["description"], "Runs a command");
    assert!(!request.body.contains("timestamp"));
}

#[tokio::test]
async fn a1_2_headers_and_paths_are_those_of_the_table() {
    let (request, body) = sent("openai", &[Message::user("Hi")], &[]).await;
    assert_eq!(request.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("authorization"), Some("Bearer secret"));
    assert_eq!(body, json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}));

    let (request, body) = sent("claude", &[Message::user("Hi")], &[]).await;
    assert_eq!(request.line, "POST /v1/messages HTTP/1.1");
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("x-api-key"), Some("secret"));
    assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    let messages = json!([{"role": "user", "content": "Hi"}]);
    assert_eq!(body, json!({"model": "m", "max_tokens": 4096, "messages": messages}));
}

#[tokio::test]
async fn a1_3_both_sample_replies_are_the_same_but_for_the_id() {
    let mut replies = Vec::new();
    for (name, body) in [("openai", CHAT), ("claude", CLAUDE)] {
        let server = Scripted::json(body);
        let client = client(name, &server.url);
        replies.push(client.chat(&[Message::user("Hi")], &[bash()]).await.unwrap().reply);
    }
    let openai = r#"{"content":"Hello!","toolCalls":[{"id":"call_123","name":"bash","input":{"cmd":"ls"}}],"finishReason":"tool_calls"}"#;
    assert_eq!(replies[0].to_json(), openai);
    assert_eq!(replies[1].to_json(), openai.replace("call_123", "tu_123"));
}

#[tokio::test]
async fn a1_4_a_session_begun_on_openai_goes_on_at_claude() {
    let simulators = Simulators::start();
    let scratch = Scratch::new();
    let store = Folder::new(scratch.path());
    let ask = |protocol: Protocol| {
        let client = Client::new(protocol, &simulators.url(protocol)).unwrap();
        client.with_key("k").unwrap().with_model("sim")
    };
    let first = ask(Protocol::OpenaiChat);
    let messages =
        vec![Message::system("Be brief."), Message::user("call bash with {\"cmd\":\"ls\"}")];
    let answer = first.extend_session(&store, "s1", messages, &[bash()]).await.unwrap();
    let id = answer.reply.tool_calls[0].id.clone();
    let results = vec![Message::tool(id, "a.txt")];
    first.extend_session(&store, "s1", results, &[bash()]).await.unwrap();
    let answer =
        ask(Protocol::AnthropicMessages).continue_session(&store, "s1", "And now?").await.unwrap();
    assert!(answer.reply.content.contains("And now?"), "{}", answer.reply.content);

    let file = std::fs::read_to_string(scratch.path().join("sessions/s1/transcript.json")).unwrap();
    let kept: Value = serde_json::from_str(&file).unwrap();
    assert_eq!(file, serde_json::to_string_pretty(&kept).unwrap());
    let roles: Vec<&str> =
        kept.as_array().unwrap().iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "assistant", "user", "assistant"]);
    for message in kept.as_array().unwrap() {
        assert!(message["timestamp"].as_i64().unwrap() > 1_700_000_000_000);
        assert_ne!(message.get("tool_calls"), Some(&json!([])));
    }
    assert_eq!(kept[2]["tool_calls"][0]["type"], "function");
    assert_eq!(load_transcript(&store, "s1").await.unwrap().to_json(), file);
}

#[tokio::test]
async fn a1_5_text_stays_beside_its_calls_and_bad_arguments_abort_nothing() {
    let calls = vec![call("call_1", "not json"), call("call_2", "")];
    let messages = [
        Message::system("One."),
        Message::system("Two."),
        Message::user("Hello"),
        calling("Let me look.", calls),
        Message::tool("call_1", "first"),
        Message::tool("call_2", "second"),
    ];
    let (_, body) = sent("claude", &messages, &[bash()]).await;
    assert_eq!(
        body["system"],
        json!([{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}])
    );
    assert_eq!(
        body["messages"][1]["content"],
        json!([
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "call_1", "name": "bash", "input": {"__raw_arguments": "not json"}},
            {"type": "tool_use", "id": "call_2", "name": "bash", "input": {}}
        ])
    );
    assert_eq!(
        body["messages"][2],
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "call_1", "content": "first"},
            {"type": "tool_result", "tool_use_id": "call_2", "content": "second"}
        ]})
    );
    assert_eq!(body["messages"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a1_7_an_id_that_leaves_the_folder_is_refused_before_anything_is_sent() {
    let scratch = Scratch::new();
    let store = Folder::new(scratch.path());
    let client = client("openai", "http://127.0.0.1:9");
    for id in ["../x", "..", "a/b", "", ".x"] {
        let error = client.continue_session(&store, id, "Hi").await.unwrap_err();
        assert_eq!(error.kind(), sabir_client::ErrorKind::Invalid, "{id}");
    }
    assert!(!scratch.path().join("x").exists());
}

#[tokio::test]
async fn tool_names_that_a_provider_forbids_come_back_as_the_caller_s() {
    let schema = r#"{"type":"object"}"#;
    let tool = Tool::new("fs.read/file", "Reads", schema).unwrap();
    let server = Scripted::start(vec![answer(200, CLAUDE)]);
    client("claude", &server.url)
        .chat(&[Message::user("Hi")], std::slice::from_ref(&tool))
        .await
        .unwrap();
    let alias = server.request().json()["tools"][0]["name"].as_str().unwrap().to_owned();
    assert_ne!(alias, "fs.read/file");
    let server = Scripted::json(&CLAUDE.replace("bash", &alias));
    let answer = client("claude", &server.url).chat(&[Message::user("Hi")], &[tool]).await.unwrap();
    assert_eq!(answer.reply.tool_calls[0].name, "fs.read/file");
}
