//! `sabir build`: histories in, messages and what was said about them out.

use serde_json::{Value, json};

use crate::run::sabir;

fn flow() -> Value {
    let message = |id: u32| {
        let role = if id % 2 == 1 { "user" } else { "assistant" };
        let content = if id == 8 { String::new() } else { format!("m{id}") };
        json!({"id": id, "body": {"role": role, "content": content, "segments": []}})
    };
    let summary = json!({"messageIds": [1, 2, 3, 4], "startMessageId": 1, "summary": "They met."});
    let messages: Vec<Value> = (1..=8).map(message).collect();
    json!({"messages": messages, "systemPrompts": ["P1", "P2"], "summary": summary})
}

const SUMMARY: &str = "[Previous conversation summary (4 messages compressed)]\n\nThey met.";

#[test]
fn a_history_with_a_summary_is_built() {
    let run = sabir("build", flow().to_string()).exits(0);
    assert_eq!(
        run.json()["messages"],
        json!([
            {"role": "system", "content": "P1\nP2"},
            {"role": "system", "content": SUMMARY},
            {"role": "user", "content": "m5"},
            {"role": "assistant", "content": "m6"},
            {"role": "user", "content": "m7"},
        ])
    );
    let trace = run.json()["trace"].clone();
    let steps: Vec<&str> =
        trace.as_array().unwrap().iter().map(|change| change["step"].as_str().unwrap()).collect();
    let expected =
        ["summarise", "summarise", "summarise", "summarise", "summarise", "filter", "system"];
    assert_eq!(steps, expected);
    assert_eq!(trace[5]["pointer"], "/messages/7");
    let expected = "[MessageBuilder] Filtering empty assistant message\n\
                [MessageBuilder] Validation passed: 5 messages\n";
    assert_eq!(run.stderr, expected);
}

#[test]
fn the_messages_of_each_protocol_hold_the_summary() {
    for (protocol, members) in [
        ("openai-chat", &["messages"][..]),
        ("responses", &["input"]),
        ("messages", &["messages", "system"]),
        ("gemini-chat", &["contents", "systemInstruction"]),
    ] {
        let run = sabir(&format!("build --to {protocol}"), flow().to_string()).exits(0);
        let body = run.json();
        let mut found: Vec<&String> = body.as_object().unwrap().keys().collect();
        found.sort();
        assert_eq!(found, members, "{protocol}");
        assert!(body.to_string().contains("They met."), "{body}");
        assert!(body.to_string().contains("P1\\nP2"), "{body}");
    }
}

#[test]
fn one_prompt_is_an_item_of_the_input() {
    let history = json!({"messages": [{"role": "user", "content": "hi"}], "systemPrompts": ["P"]});
    let body = sabir("build --to responses", history.to_string()).exits(0).json();
    assert_eq!(body["input"][0], json!({"role": "system", "content": "P"}));
    assert_eq!(body["input"][1]["role"], "user");
}

#[test]
fn repairs_towards_a_protocol_are_said() {
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]});
    let run = sabir("build --to messages", json!({"messages": [call]}).to_string()).exits(0);
    let roles: Vec<Value> = run.json()["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].clone())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    let expected = "repaired at /messages/0: error result added: the tool call has no result\n";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    let run = sabir("build --to chat", json!({"messages": [call]}).to_string()).exits(0);
    assert_eq!(run.json()["messages"].as_array().unwrap().len(), 2);
}

#[test]
fn an_unknown_start_is_warned_of() {
    let mut history = flow();
    history["summary"]["startMessageId"] = json!(99);
    let run = sabir("build", history.to_string()).exits(0);
    let warning = "[MessageBuilder] startMessageId not found, using all messages\n";
    assert!(run.stderr.starts_with(warning), "{}", run.stderr);
    assert_eq!(run.json()["messages"].as_array().unwrap().len(), 8);
}

#[test]
fn what_cannot_be_built_is_said_in_the_builders_words() {
    for messages in [json!([]), json!([{"role": "tool", "content": "1", "toolCallId": "a"}])] {
        let run = sabir("build", json!({"messages": messages}).to_string()).exits(1);
        assert_eq!(run.stdout, "");
        let words = "[MessageBuilder] Messages cannot be empty\n";
        assert!(run.stderr.ends_with(words), "{}", run.stderr);
    }
}

#[test]
fn what_cannot_be_read_is_an_error_with_its_place() {
    for (input, words) in [
        (
            "",
            "the input is empty\n  in: standard input, read as a history\n  try: pipe the input in",
        ),
        ("{", "read as a history"),
        ("{}", "expected `messages`"),
        (r#"{"messages":[{"role":"owl"}]}"#, "at: /messages/0/role"),
    ] {
        let run = sabir("build", input).exits(1);
        assert_eq!(run.stdout, "");
        assert!(run.stderr.contains(words), "{}", run.stderr);
    }
}
