//! Sessions of Claude Code: branches, compactions, and what was sent.

use serde_json::{Value, json};

use super::{CLAUDE, left_out, parse, request, with, without};

fn texts(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        blocks => {
            let blocks = blocks.as_array().unwrap().iter();
            let texts = blocks.map(|block| {
                block["text"].as_str().unwrap_or_else(|| block["type"].as_str().unwrap())
            });
            texts.collect::<Vec<_>>().join("|")
        }
    }
}

fn outline(text: &str) -> Vec<String> {
    let request = request(&parse(text));
    let messages = request["messages"].as_array().unwrap().iter();
    messages.map(|it| format!("{}: {}", it["role"].as_str().unwrap(), texts(it))).collect()
}

const REMINDER: &str = "<system-reminder>\nSign your work.\n</system-reminder>";

#[test]
fn a_session_is_the_history_that_was_sent_with_its_answer() {
    let session = parse(CLAUDE);
    assert_eq!((session.id(), session.title()), ("5f0c", "Copying a note"));
    assert_eq!(left_out(&session), ["1 × lines of sub-agents"]);
    assert_eq!(
        outline(CLAUDE),
        [
            format!("user: {REMINDER}\n|Copy the note and look at the picture."),
            "system: It is Tuesday.".to_owned(),
            "assistant: thinking|tool_use|tool_use".to_owned(),
            "user: tool_result|tool_result".to_owned(),
            "assistant: A red dot.".to_owned(),
        ]
    );
    let request = request(&session);
    assert_eq!(request["system"], json!([{"type": "text", "text": "You are an agent."}]));
    assert_eq!(request["tools"][1]["name"], "Read");
    assert_eq!(request["messages"][2]["content"][0]["signature"], "c2lnbmVk");
    assert_eq!(request["messages"][3]["content"][1]["content"][0]["type"], "image");
}

#[test]
fn without_requests_the_context_is_what_the_lines_say() {
    let older = without(CLAUDE, "api-request");
    assert_eq!(
        outline(&older),
        [
            format!("user: {REMINDER}|Copy the note and look at the picture."),
            "system: <system-reminder>\nIt is Tuesday.\n</system-reminder>".to_owned(),
            "assistant: thinking|tool_use|tool_use".to_owned(),
            "user: tool_result|tool_result".to_owned(),
            "assistant: A red dot.".to_owned(),
        ]
    );
    assert!(request(&parse(&older)).get("system").is_none());
}

#[test]
fn a_line_that_is_missing_does_not_end_the_conversation() {
    let holed = without(&without(CLAUDE, "api-request"), "attachment");
    let outline = outline(&holed);
    assert_eq!(outline[0], "user: Copy the note and look at the picture.");
    assert_eq!(outline.len(), 4);
    assert!(
        left_out(&parse(&holed)).contains(&"1 × lines that are missing from the file".to_owned())
    );
}

#[test]
fn a_request_that_does_not_fit_the_lines_does_not_count() {
    let other = CLAUDE.replace("Copy the note and look at the picture.\"}]", "Something else.\"}]");
    assert_eq!(
        outline(&other)[0],
        format!("user: {REMINDER}|Copy the note and look at the picture.")
    );
}

#[test]
fn the_branch_that_was_left_is_not_the_conversation() {
    let rewound = with(
        CLAUDE,
        &[
            r#"{"parentUuid":"a4","type":"user","message":{"role":"user","content":"Wrong."},"uuid":"u2","sessionId":"5f0c"}"#,
            r#"{"parentUuid":"u2","type":"assistant","message":{"id":"msg_3","role":"assistant","content":[{"type":"text","text":"Oh."}]},"uuid":"a5","sessionId":"5f0c"}"#,
            r#"{"parentUuid":"a4","type":"user","message":{"role":"user","content":"Thanks."},"uuid":"u3","sessionId":"5f0c"}"#,
        ],
    );
    let outline = outline(&rewound);
    assert_eq!(outline.last().unwrap(), "user: Thanks.");
    assert_eq!(outline.len(), 6);
    let left_out = left_out(&parse(&rewound));
    assert_eq!(left_out, ["1 × lines of sub-agents", "2 × lines of branches that were left"]);
}

#[test]
fn a_compaction_begins_the_conversation_anew() {
    let compacted = with(
        CLAUDE,
        &[
            r#"{"parentUuid":null,"logicalParentUuid":"a4","type":"system","subtype":"compact_boundary","compactMetadata":{"preservedMessages":{"anchorUuid":"u2","uuids":["a4"]}},"uuid":"b1","sessionId":"5f0c"}"#,
            r#"{"parentUuid":"b1","type":"user","isCompactSummary":true,"message":{"role":"user","content":"This session is being continued."},"uuid":"u2","sessionId":"5f0c"}"#,
            r#"{"parentUuid":"u2","type":"user","message":{"role":"user","content":"Go on."},"uuid":"u3","sessionId":"5f0c"}"#,
        ],
    );
    assert_eq!(
        outline(&compacted),
        ["user: This session is being continued.", "assistant: A red dot.", "user: Go on."]
    );
    let left_out = left_out(&parse(&compacted));
    assert_eq!(left_out, ["6 × lines before a compaction", "1 × lines of sub-agents"]);
}

#[test]
fn a_file_of_a_sub_agent_is_a_session_of_its_own() {
    let own = r#"{"parentUuid":null,"isSidechain":true,"agentId":"abe7","type":"user","message":{"role":"user","content":"Find it."},"uuid":"1","sessionId":"5f0c"}"#;
    let session = parse(own);
    assert_eq!((session.id(), session.messages()), ("abe7", 1));
}

#[test]
fn errors_that_were_shown_are_not_said() {
    let failed = with(
        CLAUDE,
        &[
            r#"{"parentUuid":"a4","type":"assistant","isApiErrorMessage":true,"message":{"id":"x","role":"assistant","content":[{"type":"text","text":"API Error"}]},"uuid":"e1","sessionId":"5f0c"}"#,
        ],
    );
    assert_eq!(outline(&failed).len(), 5);
    assert!(left_out(&parse(&failed)).contains(&"1 × errors that the CLI showed".to_owned()));
}

#[test]
fn lines_and_requests_in_circles_end() {
    let circle = [
        r#"{"parentUuid":"2","type":"user","message":{"role":"user","content":"a"},"uuid":"1","sessionId":"s"}"#,
        r#"{"type":"api-request","id":"r1","base":"r2","keep":9,"tail":["x"],"sessionId":"s"}"#,
        r#"{"type":"api-request","id":"r2","base":"r1","keep":9,"tail":["y"],"sessionId":"s"}"#,
        r#"{"parentUuid":"1","type":"assistant","requestRef":"r1","message":{"role":"assistant","content":"b"},"uuid":"2","sessionId":"s"}"#,
    ];
    assert_eq!(outline(&circle.join("\n")), ["user: a", "assistant: b"]);
}
