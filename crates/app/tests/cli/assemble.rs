//! Prompts for agent CLIs.

use serde_json::{Value, json};

use crate::run::sabir;

fn example() -> Value {
    json!({
        "contextMessages": [
            {"from": "kailai", "to": "carol", "content": "Can you design the UI?"},
            {"from": "max", "to": "carol", "content": "I suggest a clean interface"},
        ],
        "currentMessage": "What UI framework should we use?",
        "teamTask": "Design the user dashboard",
        "systemInstruction": "You are Carol, a UI/UX designer",
        "instructionFileText": "Focus on accessibility and user experience",
        "maxBytes": 768 * 1024,
    })
}

const GEMINI: &str = "assemble --agent google-gemini";

#[test]
fn a_prompt_comes_with_its_report() {
    let run = sabir(GEMINI, example().to_string()).exits(0);
    let prompt = "Instructions:\nYou are Carol, a UI/UX designer\n\nFocus on accessibility and user experience\n\n\
        Team Task:\nDesign the user dashboard\n\nConversation so far:\n- kailai: Can you design the UI?\n\
        - max: I suggest a clean interface\n\nYour task:\nWhat UI framework should we use?";
    let report = json!({"bytes": 262, "maxBytes": 786432, "messagesDropped": 0, "taskBytesCut": 0});
    assert_eq!(run.json(), json!({"prompt": prompt, "report": report}));
    assert_eq!(run.stderr, "");
}

#[test]
fn only_claude_gets_a_flag() {
    let flag = "You are Carol, a UI/UX designer\n\nFocus on accessibility and user experience";
    for name in ["claude", "claude-code"] {
        let run = sabir(&format!("assemble --agent {name}"), example().to_string()).exits(0);
        assert_eq!(run.json()["systemFlag"], flag);
        assert!(run.json()["prompt"].as_str().unwrap().starts_with("[TEAM_TASK]\n"));
    }
    for name in ["codex", "openai-codex", "gemini", "plain"] {
        let run = sabir(&format!("assemble --agent {name}"), example().to_string()).exits(0);
        assert_eq!(run.json().get("systemFlag"), None);
    }
}

#[test]
fn the_flag_outranks_the_budget_of_the_input() {
    let mut input = example();
    input["maxBytes"] = json!(150);
    let report = |bytes: usize, bytes_max: usize, dropped: usize, cut: usize| json!({"bytes": bytes, "maxBytes": bytes_max, "messagesDropped": dropped, "taskBytesCut": cut});
    let shown = |arguments: &str| sabir(arguments, input.to_string()).exits(0).json();
    let own = shown(GEMINI);
    assert!(own["prompt"].as_str().unwrap().ends_with("Your task:\nWhat UI fr"));
    assert_eq!(own["report"], report(150, 150, 2, 22));
    assert_eq!(shown(&format!("{GEMINI} --max-bytes 261"))["report"], report(229, 261, 1, 0));
    assert_eq!(shown(&format!("{GEMINI} --max-bytes 127"))["report"], report(127, 127, 2, 32));
}

#[test]
fn fixed_parts_that_do_not_fit_fail_with_both_numbers() {
    let run = sabir(&format!("{GEMINI} --max-bytes 126"), example().to_string()).exits(1);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains("need 127 bytes, 126 are allowed"), "{}", run.stderr);
    assert!(!run.stderr.contains("Carol"), "{}", run.stderr);
}

#[test]
fn a_flag_that_no_argument_can_hold_is_warned_of() {
    let input = |bytes: usize| json!({"systemInstruction": "a".repeat(bytes)}).to_string();
    let run = sabir("assemble --agent claude", input(131_071)).exits(0);
    assert_eq!(run.stderr, "");
    let run = sabir("assemble --agent claude", input(131_072)).exits(0);
    assert_eq!(run.json()["systemFlag"].as_str().unwrap().len(), 131_072);
    let words = "warning: the system flag has 131072 bytes, and Linux takes no argument of more than 131071";
    assert!(run.stderr.starts_with(words), "{}", run.stderr);
    assert_eq!(sabir(GEMINI, input(131_072)).exits(0).stderr, "");
}

#[test]
fn what_is_absent_or_null_has_no_section() {
    let empty = sabir(GEMINI, "{}").exits(0).json();
    assert_eq!(empty["prompt"], "");
    assert_eq!(empty["report"]["maxBytes"], 786432);
    let input = r#"{"contextMessages":null,"currentMessage":"Hello Gemini","teamTask":null,"maxBytes":null}"#;
    assert_eq!(sabir(GEMINI, input).exits(0).json()["prompt"], "Your task:\nHello Gemini");
    let input = r#"{"contextMessages":[{"from":"a","content":"\u00e9\n"},{"from":"b","to":null,"content":""}]}"#;
    let shown = sabir("assemble --agent codex", input).exits(0).json();
    assert_eq!(shown["prompt"], "[CONTEXT]\n- a -> all: é\n\n- b -> all: ");
}

#[test]
fn what_means_nothing_is_named() {
    let input = r#"{"contextMesages":[],"contextMessages":[{"from":"a","content":"b","a/b":1}],"currentMessage":"c"}"#;
    let report = &sabir(GEMINI, input).exits(0).json()["report"];
    assert_eq!(report["ignored"], json!(["/contextMesages", "/contextMessages/0/a~1b"]));
}

#[track_caller]
fn check_bad(input: &str, words: &[&str]) {
    let run = sabir(GEMINI, input).exits(1);
    assert_eq!(run.stdout, "");
    for word in words {
        assert!(run.stderr.contains(word), "{word} in {}", run.stderr);
    }
}

#[test]
fn bad_input_is_placed_by_pointer() {
    check_bad("", &["the input is empty"]);
    check_bad("{", &["expected", "byte 1", "the parts of a prompt"]);
    check_bad("[]", &["expected an object"]);
    check_bad(r#"{"currentMessage":7}"#, &["expected a string", "at: /currentMessage"]);
    check_bad(r#"{"maxBytes":-1}"#, &["expected a whole number", "at: /maxBytes"]);
    check_bad(r#"{"maxBytes":1.5}"#, &["at: /maxBytes"]);
    let without = r#"{"contextMessages":[{"from":"a","content":"b"},{"from":"a"}]}"#;
    check_bad(without, &["expected `content`", "at: /contextMessages/1"]);
    check_bad(r#"{"contextMessages":[{"content":"b"}]}"#, &["expected `from`"]);
    let wrong = r#"{"contextMessages":[{"from":"a","to":["b"],"content":"c"}]}"#;
    check_bad(wrong, &["expected a string", "at: /contextMessages/0/to"]);
}
