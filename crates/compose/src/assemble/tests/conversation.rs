//! From a conversation of protocols to a dialogue.

use sabir_wire::Protocol;

use super::super::{Agent, Dialogue};
use super::assemble;

/// Assembles all of a request's conversation for Claude Code.
fn claude(protocol: Protocol, body: &str) -> (String, Option<String>) {
    let decoded = protocol.decode_request(body.as_bytes()).expect("a request");
    let dialogue = Dialogue { window: usize::MAX, ..Dialogue::of(&decoded.request().messages) };
    let output = assemble(Agent::ClaudeCode, &dialogue.prepare().input);
    (output.prompt, output.system_flag)
}

#[test]
fn tools_take_part_in_the_conversation() {
    let chat = r#"{"messages":[{"role":"system","content":"Be brief."},{"role":"system","content":"Use Celsius."},
        {"role":"user","content":"Weather?"},
        {"role":"assistant","content":"Let me see.","tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Bern\"}"}}]},
        {"role":"tool","tool_call_id":"c1","content":"18 degrees"},
        {"role":"user","name":"ada","content":"And now?"}]}"#;
    let anthropic = r#"{"max_tokens":1,"system":[{"type":"text","text":"Be brief."},{"type":"text","text":"Use Celsius."}],"messages":[
        {"role":"user","content":"Weather?"},
        {"role":"assistant","content":[{"type":"text","text":"Let me see."},{"type":"tool_use","id":"c1","name":"weather","input":{"city": "Bern"}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"18 degrees"},{"type":"text","text":"And now?"}]}]}"#;
    let expected = "\
[CONTEXT]
- user -> assistant: Weather?
- assistant -> user: Let me see.
(calls weather with {\"city\":\"Bern\"})
- weather -> assistant: 18 degrees

[MESSAGE]
And now?";
    let flag = |joint: &str| Some(["Be brief.", "Use Celsius."].join(joint));
    assert_eq!(claude(Protocol::OpenaiChat, chat), (expected.to_owned(), flag("\n\n")));
    assert_eq!(claude(Protocol::AnthropicMessages, anthropic), (expected.to_owned(), flag("\n")));
}

#[test]
fn what_has_no_words_is_told_in_brackets() {
    let body = r#"{"max_tokens":1,"messages":[
        {"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]},
        {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"tool_use","id":"c1","name":"look","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"gone"}]},
        {"role":"assistant","content":[{"type":"tool_use","id":"c2","name":"look","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"c2"}]}]}"#;
    let expected = "\
[CONTEXT]
- user -> assistant: (an image)
- assistant -> user: (calls look with {})
- look -> assistant: (failed) gone
- assistant -> user: (calls look with {})

[MESSAGE]
(nothing)";
    assert_eq!(claude(Protocol::AnthropicMessages, body), (expected.to_owned(), None));
}

#[test]
fn results_without_ids_come_from_the_tool_that_they_name() {
    let body = r#"{"contents":[{"role":"user","parts":[{"text":"u"}]},
        {"role":"model","parts":[{"functionCall":{"name":"look","args":{"at": 1}}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output": "seen"}}}]},
        {"role":"user","parts":[{"text":"Go on"}]}]}"#;
    let (prompt, _) = claude(Protocol::Gemini, body);
    assert!(prompt.contains("- look -> assistant: {\"output\":\"seen\"}\n"), "{prompt}");
}

#[test]
fn what_is_said_twice_is_told_twice() {
    let body = r#"{"messages":[{"role":"user","content":"yes"},{"role":"assistant","content":" "},
        {"role":"user","content":"yes"}]}"#;
    let (prompt, _) = claude(Protocol::OpenaiChat, body);
    assert_eq!(prompt, "[CONTEXT]\n- user -> assistant: yes\n\n[MESSAGE]\nyes");
}

#[test]
fn late_instructions_are_told_in_place() {
    let body = r#"{"messages":[{"role":"user","content":"a"},{"role":"system","content":"Be kind."},
        {"role":"assistant","name":"bea","content":"b"},{"role":"user","content":"c"}]}"#;
    let (prompt, flag) = claude(Protocol::OpenaiChat, body);
    let expected = "[CONTEXT]\n- user -> assistant: a\n- system -> all: Be kind.\n- bea -> user: b\n\n[MESSAGE]\nc";
    assert_eq!((prompt.as_str(), flag), (expected, None));
}

#[test]
fn what_a_team_said_is_told_by_its_markers() {
    let body = r#"{"messages":[{"role":"user","content":"[FROM: user] [NEXT: ann]\nPlan it"},
        {"role":"assistant","content":"[FROM: ann] [NEXT: bob, carol]\nYes.\n\nNow you."},
        {"role":"assistant","content":"[FROM: bob]\nNo."},{"role":"user","content":"Why? [FROM: nobody]"}]}"#;
    let (prompt, _) = claude(Protocol::OpenaiChat, body);
    let expected = "[CONTEXT]\n- user -> ann: Plan it\n- ann -> bob, carol: Yes.\n\nNow you.\n- bob -> all: No.\n\n[MESSAGE]\nWhy?";
    assert_eq!(prompt, expected);
    // One message of two participants, as Messages and Gemini have to write it.
    let merged = r#"{"max_tokens":1,"messages":[{"role":"user","content":"[FROM: user] [NEXT: ann]\nPlan it"},
        {"role":"assistant","content":[{"type":"text","text":"[FROM: ann] [NEXT: bob, carol]\nYes.\n\nNow you."},
        {"type":"text","text":"[FROM: bob]\nNo."}]},{"role":"user","content":"Why?"}]}"#;
    assert_eq!(claude(Protocol::AnthropicMessages, merged).0, expected);
}
