//! Chats of Gemini CLI: replaced, repeated and rewound messages.

use serde_json::json;

use super::{GEMINI, left_out, parse, request, with};

#[test]
fn a_chat_is_its_contents_with_calls_and_results() {
    let session = parse(GEMINI);
    assert_eq!(session.id(), "cd70-2f0b");
    assert_eq!(session.title(), "Copy the note and look at the picture.");
    assert_eq!(left_out(&session), ["1 × notes that the CLI showed"]);
    let expected = json!({"contents": [
        {"role": "user", "parts": [
            {"text": "<session_context>\nIt is Tuesday."},
            {"text": "Copy the note and look at the picture."},
        ]},
        {"role": "model", "parts": [
            {"text": "**Plan** Two tools will do.", "thought": true},
            {"functionCall": {"id": "fc_0", "name": "run_shell_command", "args": {"command": "cp note.txt copy.txt"}}},
            {"functionCall": {"id": "fc_1", "name": "read_file", "args": {"file_path": "/srv/dot.png"}}},
        ]},
        {"role": "user", "parts": [
            {"functionResponse": {"id": "fc_0", "name": "run_shell_command", "response": {"output": "done"}}},
            {"functionResponse": {"id": "fc_1", "name": "read_file", "response": {"output": "1 item"}}},
            {"inlineData": {"data": "iVBORw0KGgo=", "mimeType": "image/png"}},
        ]},
        {"role": "model", "parts": [{"text": "A red dot."}]},
    ]});
    assert_eq!(request(&session), expected);
}

#[test]
fn a_resumed_chat_repeats_itself_and_is_the_same() {
    let resumed = with(
        GEMINI,
        &[
            r#"{"sessionId":"cd70-2f0b","projectHash":"9de4","kind":"main"}"#,
            r#"{"$set":{"messages":[{"id":"m1","type":"user","content":[{"text":"Copy the note."}]},{"id":"m2","type":"gemini","content":[{"text":"Plan","thought":true},{"functionCall":{"id":"sh__fc_0","name":"sh","args":{}}}]},{"id":"m2_response","type":"user","content":[{"functionResponse":{"id":"sh__fc_0","name":"sh","response":{"output":"done"}}}]},{"id":"m3","type":"user","content":[{"functionResponse":{"id":"sh__fc_0","name":"sh","response":{"output":"done"}}}]},{"id":"m5","type":"gemini","content":"Copied."}]}}"#,
        ],
    );
    let request = request(&parse(&resumed));
    let roles: Vec<&str> = request["contents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "model", "user", "model"]);
    assert_eq!(request["contents"][1]["parts"][1]["functionCall"]["id"], "fc_0");
    assert_eq!(request["contents"][2]["parts"].as_array().unwrap().len(), 1);
}

#[test]
fn what_was_rewound_is_left_out() {
    let rewound = with(GEMINI, &[r#"{"$rewindTo":"m2"}"#]);
    let session = parse(&rewound);
    assert_eq!(session.messages(), 1);
    assert_eq!(left_out(&session), ["4 × messages that were rewound"]);
}

#[test]
fn the_documents_of_the_first_versions_are_read() {
    let document = r#"{
      "sessionId": "old", "projectHash": "x",
      "messages": [
        {"id": "1", "type": "user", "content": "Hi"},
        {"id": "2", "type": "gemini", "content": "Hello.", "toolCalls": [{"id": "a", "name": "ls", "args": {}, "result": "note.txt"}]}
      ]
    }"#;
    let session = parse(document);
    assert_eq!((session.id(), session.title(), session.messages()), ("old", "Hi", 3));
    let result = &request(&session)["contents"][2]["parts"][0]["functionResponse"];
    assert_eq!(result["response"]["output"], "note.txt");
}
