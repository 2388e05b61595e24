//! Bad input: what is wrong, where, and what to do next.

use serde_json::Value;

use crate::folder::Folder;
use crate::run::sabir;

const CONVERT: &str = "convert --from chat --to messages";

#[track_caller]
fn check(arguments: &str, input: impl AsRef<[u8]>, words: &[&str]) {
    let run = sabir(arguments, input).exits(1);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
    for word in words {
        assert!(run.stderr.contains(word), "{word} in {}", run.stderr);
    }
}

#[test]
fn broken_json_is_placed() {
    check(CONVERT, r#"{"messages": [}"#, &["expected", "byte 14", "standard input", "try: mend"]);
}

#[test]
fn a_wrong_type_is_placed_by_pointer() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"a"},{"role":7}]}"#;
    check(CONVERT, body, &["expected a string", "at: /messages/1/role", "openai-chat", "--from"]);
}

#[test]
fn prompts_are_not_quoted() {
    let run = sabir(CONVERT, r#"{"messages":"my secret words"}"#).exits(1);
    assert!(!run.stderr.contains("secret"), "{}", run.stderr);
}

#[test]
fn empty_input_is_called_empty() {
    for input in ["", " \n", "\u{feff}"] {
        for arguments in
            [CONVERT, "inspect --from gemini", "convert --kind error --from chat --to chat"]
        {
            check(arguments, input, &["the input is empty", "FILE"]);
        }
    }
}

#[test]
fn other_encodings_are_named() {
    check(CONVERT, b"\xff\xfe{\0}\0", &["UTF-8"]);
}

#[test]
fn a_missing_file_is_named() {
    let arguments = format!("{CONVERT} no-such-folder/body.json");
    check(&arguments, "", &["cannot read no-such-folder/body.json"]);
}

#[test]
fn a_stream_taken_for_a_request_is_recognised() {
    check(CONVERT, "data: {}\n\n", &["--kind stream"]);
}

#[test]
fn a_body_taken_for_a_stream_is_recognised() {
    check(
        &format!("{CONVERT} --kind stream"),
        "{\"id\":1}",
        &["server-sent events", "--kind response"],
    );
}

#[test]
fn bytes_that_hold_no_event_are_no_stream() {
    for bytes in [b"\xff\xfe\x80".as_slice(), b"\xc3", b"\xff\xfe{\0}\0\n\0", b"\x80\n\n\xff"] {
        check(&format!("{CONVERT} --kind stream"), bytes, &["in: standard input", "try: "]);
        sabir("inspect --from chat --kind stream", bytes).exits(1);
    }
}

#[test]
fn a_stream_cut_in_its_first_frame_is_a_failed_answer() {
    for bytes in [b"data: {\"id\":\"\xc3".as_slice(), b"data: {\"id\"", b"data"] {
        let run = sabir(&format!("{CONVERT} --kind stream"), bytes).exits(0);
        assert!(run.stdout.contains("event: error"), "{bytes:?}: {}", run.stdout);
    }
}

#[test]
fn programs_get_the_error_as_json() {
    let run = sabir(&format!("{CONVERT} --report json"), r#"{"messages":7}"#).exits(1);
    let report: Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!(report["losses"], serde_json::json!([]));
    assert_eq!(report["error"]["pointer"], "/messages");
    assert!(report["error"]["message"].as_str().unwrap().contains("expected"), "{report}");
}

#[test]
fn every_error_says_what_to_do_next() {
    let folder = Folder::new("next")
        .with("sabir.toml", "listen = \"127.0.0.1:1\"\nenv_providers = false\n")
        .with("bad.json", "{\"a\":")
        .with("kept.json", r#"[{"role":"user","content":"hello"}]"#)
        .with("request.json", r#"{"model":"nobody","messages":[]}"#);
    folder.sabir("conversations import kept.json --id kept", &[]).exits(0);
    for (arguments, advice) in [
        ("convert --from chat --to gemini none.json", "try: name a file"),
        ("convert --from chat --to gemini bad.json", "try: mend the JSON"),
        ("convert --from chat --to gemini .", "try: name a file"),
        ("convert --from chat --to gemini", "try: name a FILE"),
        ("inspect --from chat none.json", "try: name a file"),
        ("inspect --from chat --kind stream none.json", "try: name a file"),
        ("assemble --agent claude", "try: pipe the input in"),
        ("build", "try: pipe the input in"),
        ("route none.json", "try: name a file"),
        ("route bad.json", "try: mend the body"),
        ("route request.json", "try: sabir models"),
        ("check --config none.toml", "mend the path"),
        ("models --config none.toml", "mend the path"),
        ("conversations show none", "try: sabir conversations list"),
        ("conversations export none", "try: sabir conversations list"),
        ("conversations delete none", "try: sabir conversations list"),
        ("conversations fork none", "try: sabir conversations list"),
        ("conversations import none.json", "try: name a file"),
        ("conversations import bad.json", "try: mend the file"),
        ("conversations import kept.json --id kept", "try: give another name with --id"),
        ("conversations fork kept --after turn_9", "try: name one of the turns"),
        ("conversations export kept -o nowhere/kept.json", "try: name a file with -o"),
        ("conversations export kept -o .", "try: name a file with -o"),
        ("chat", "write the message to standard input"),
        ("sim --listen 192.0.2.1:1", "use --listen"),
        ("serve --listen 192.0.2.1:1", "open_bind"),
    ] {
        let run = folder.sabir(arguments, &[]).exits(1);
        assert!(run.stderr.contains(advice), "{arguments}: {}", run.stderr);
    }
    let run = folder.sabir("run claude", &[("PATH", "")]).exits(127);
    assert!(run.stderr.contains("npm install"), "{}", run.stderr);
}
