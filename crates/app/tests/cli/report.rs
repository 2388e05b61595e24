//! The loss report and what `--strict` makes of it.

use serde_json::Value;

use crate::run::sabir;

const LOSSY: &str = r#"{"model":"claude-x","max_tokens":50,"top_k":5,"messages":[{"role":"user","content":"Hello"}]}"#;
const TO_CHAT: &str = "convert --from messages --to chat";

#[test]
fn a_json_report_points_into_the_input() {
    let run = sabir(&format!("{TO_CHAT} --report json"), LOSSY).exits(0);
    let losses = run.losses();
    let input: Value = serde_json::from_str(LOSSY).unwrap();
    assert!(losses.iter().any(|loss| loss.kind == "dropped" && loss.pointer == "/top_k"));
    for loss in losses {
        let is_made_up = loss.kind == "synthesised";
        assert!(is_made_up || input.pointer(&loss.pointer).is_some(), "{loss:?}");
        assert!(!loss.reason.is_empty(), "{loss:?}");
    }
}

#[test]
fn a_report_for_people_counts_and_lists() {
    let run = sabir(TO_CHAT, LOSSY).exits(0);
    let mut lines = run.stderr.lines();
    assert!(lines.next().unwrap().starts_with("1 dropped"), "{}", run.stderr);
    let first = lines.next().unwrap();
    assert!(first.starts_with("  dropped       /top_k"), "{first}");
}

#[test]
fn strict_refuses_a_drop_without_output() {
    let run = sabir(&format!("{TO_CHAT} --strict"), LOSSY).exits(3);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains("/top_k") && run.stderr.contains("refused"), "{}", run.stderr);
    let run = sabir(&format!("{TO_CHAT} --strict --report json"), LOSSY).exits(3);
    assert_eq!(run.stdout, "");
    assert!(run.losses().iter().any(|loss| loss.kind == "dropped"));
}

#[test]
fn strict_lets_everything_else_pass() {
    let body = LOSSY.replace(r#""top_k":5,"#, "");
    let run = sabir(&format!("{TO_CHAT} --strict"), &body).exits(0);
    assert_eq!(run.stdout, sabir(TO_CHAT, &body).stdout);
}

#[test]
fn a_quiet_translation_says_so_in_one_line() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"Hello"}]}"#;
    assert_eq!(sabir("convert --from chat --to chat", body).exits(0).stderr, "nothing lost\n");
}
