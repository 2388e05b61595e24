//! Translating requests and whole answers.

use std::{env, fs, process};

use serde_json::json;

use crate::run::sabir;

const CHAT: &str = r#"{"model":"gpt-x","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello"}]}"#;
const GEMINI_ANSWER: &str = r#"{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"look","args":{"at":1}}}]},"finishReason":"STOP","index":0}],"modelVersion":"gemini-x"}"#;
const PROTOCOLS: [&str; 4] = ["openai-chat", "openai-responses", "anthropic-messages", "gemini"];

#[test]
fn a_request_is_translated() {
    let run = sabir("convert --from openai-chat --to anthropic-messages", CHAT).exits(0);
    let body = run.json();
    assert_eq!(body["system"], "Be brief.");
    assert_eq!(body["messages"][0]["role"], "user");
    assert!(run.stdout.ends_with("}\n"), "{:?}", run.stdout);
}

#[test]
fn short_names_say_the_same() {
    let pairs = [("chat", 0), ("responses", 1), ("messages", 2), ("gemini-chat", 3)];
    for (short, full) in pairs {
        let short = sabir(&format!("convert --from chat --to {short}"), CHAT).exits(0);
        let full = sabir(&format!("convert --from openai-chat --to {}", PROTOCOLS[full]), CHAT);
        assert_eq!(short.stdout, full.stdout);
        assert_eq!(short.stderr, full.stderr);
    }
}

#[test]
fn a_protocol_to_itself_changes_nothing() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"x"}],"temperature":1.50,"new_field":[1e2,null]}"#;
    let run = sabir("convert --from chat --to chat --report json", body).exits(0);
    assert_eq!(run.json(), serde_json::from_str::<serde_json::Value>(body).unwrap());
    assert!(run.losses().is_empty(), "{}", run.stderr);
}

#[test]
fn a_file_reads_like_standard_input() {
    let path = env::temp_dir().join(format!("sabir-cli-{}.json", process::id()));
    fs::write(&path, CHAT).unwrap();
    let from_file = sabir(&format!("convert --from chat --to gemini {}", path.display()), "");
    fs::remove_file(&path).unwrap();
    let from_stdin = sabir("convert --from chat --to gemini", CHAT).exits(0);
    let from_dash = sabir("convert --from chat --to gemini -", CHAT);
    assert_eq!(from_file.stdout, from_stdin.stdout);
    assert_eq!(from_dash.stdout, from_stdin.stdout);
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let marked = format!("\u{feff}{CHAT}");
    let run = sabir("convert --from chat --to gemini", marked).exits(0);
    assert_eq!(run.stdout, sabir("convert --from chat --to gemini", CHAT).stdout);
}

#[test]
fn gemini_carries_its_model_in_the_body() {
    let run = sabir("convert --from chat --to gemini --model gemini-y", CHAT).exits(0);
    assert_eq!(run.json()["model"], "models/gemini-y");
    let back = sabir("convert --from gemini --to chat", &run.stdout).exits(0);
    assert_eq!(back.json()["model"], "gemini-y");
}

#[test]
fn a_missing_model_is_left_out_and_reported() {
    let body = r#"{"contents":[{"role":"user","parts":[{"text":"Hello"}]}]}"#;
    let run = sabir("convert --from gemini --to chat --report json", body).exits(0);
    assert_eq!(run.json().get("model"), None);
    let losses = run.losses();
    let model = losses.iter().find(|loss| loss.pointer == "/model");
    assert_eq!(model.map(|loss| loss.kind.as_str()), Some("synthesised"), "{losses:?}");
}

#[test]
fn the_model_decides_the_family() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"x"}],"max_tokens":9}"#;
    let old = sabir("convert --from chat --to chat --model gpt-4o", body).exits(0).json();
    assert_eq!(old["model"], "gpt-4o");
    let run = sabir("convert --from messages --to chat --model o3", body).exits(0);
    assert_eq!(run.json()["max_completion_tokens"], 9);
}

#[test]
fn an_answer_names_the_model_that_is_asked_for() {
    let run = sabir("convert --kind response --from gemini --to chat", GEMINI_ANSWER).exits(0);
    assert_eq!(run.json()["model"], "gemini-x");
    let named =
        sabir("convert --kind response --from gemini --to chat --model mine", GEMINI_ANSWER);
    assert_eq!(named.exits(0).json()["model"], "mine");
}

#[test]
fn the_same_input_gives_the_same_bytes_and_another_input_other_ids() {
    for to in PROTOCOLS {
        let arguments = format!("convert --kind response --from gemini --to {to} --report json");
        let (one, two) = (sabir(&arguments, GEMINI_ANSWER), sabir(&arguments, GEMINI_ANSWER));
        assert_eq!((one.code, &one.stdout), (0, &two.stdout));
        assert_eq!(one.stderr, two.stderr);
    }
    let arguments = "convert --kind response --from gemini --to chat";
    let call = "/choices/0/message/tool_calls/0/id";
    let id = |body: &str| sabir(arguments, body).json().pointer(call).cloned();
    assert_ne!(id(GEMINI_ANSWER), None);
    assert_ne!(id(GEMINI_ANSWER), id(&GEMINI_ANSWER.replace("look", "peek")));
}

#[test]
fn an_error_keeps_its_class() {
    let body = r#"{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}"#;
    let run = sabir("convert --kind error --from gemini --to messages", body).exits(0);
    assert_eq!(run.json()["error"]["type"], "rate_limit_error");
    assert!(run.stderr.contains("status 429"), "{}", run.stderr);
    let run = sabir(
        "convert --kind error --from chat --to messages --status 404",
        r#"{"error":{"message":"no"}}"#,
    );
    assert_eq!(run.exits(0).json()["error"]["type"], "not_found_error");
}

#[test]
fn without_a_status_the_words_of_an_error_tell_its_class() {
    let check = |body: &str, status: &str, word: &str| {
        let run = sabir("convert --kind error --from chat --to messages", body).exits(0);
        assert_eq!(run.json()["error"]["type"], word, "{body}");
        assert!(run.stderr.starts_with(&format!("status {status}\n")), "{}", run.stderr);
    };
    let key =
        r#"{"error":{"message":"no","type":"invalid_request_error","code":"invalid_api_key"}}"#;
    check(key, "401", "authentication_error");
    check(r#"{"error":{"message":"no","type":"server_error","code":null}}"#, "500", "api_error");
    check(r#"{"error":{"message":"no"}}"#, "400", "invalid_request_error");
}

#[test]
fn an_error_that_is_no_json_becomes_the_message() {
    let run = sabir("convert --kind error --from chat --to gemini --status 502", "bad gateway");
    let body = run.exits(0).json();
    assert!(body["error"]["message"].as_str().unwrap().contains("bad gateway"), "{body}");
    assert_ne!(body["error"]["code"], json!(null));
}
