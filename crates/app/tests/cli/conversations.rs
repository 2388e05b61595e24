//! `conversations` and `usage`: the same with a gateway that runs and without one.

use std::process::Command;

use serde_json::{Value, json};

use crate::folder::Folder;
use crate::run::Run;
use crate::serving::Serving;
use crate::waiting::wait_for;

/// An address that nobody listens at, and providers that need no key.
const NOBODY: &str = "listen = \"127.0.0.1:1\"\nenv_providers = false\n";

fn folder(test: &str) -> Folder {
    Folder::new(test).with("sabir.toml", NOBODY)
}

/// A transcript of one round with a tool, as a file has it.
fn transcript() -> String {
    let messages = json!([
        {"role": "system", "content": "Be kind.", "timestamp": 1_700_000_000_000_i64},
        {"role": "user", "content": "what is in 漢字?", "timestamp": 1_700_000_000_001_i64},
        {"role": "assistant", "content": "I look.", "tool_calls": [{"id": "call_1", "type": "function",
            "function": {"name": "bash", "arguments": "{\"cmd\":\"ls\"}"}}], "timestamp": 1_700_000_000_002_i64},
        {"role": "tool", "content": "a\tb\n", "tool_call_id": "call_1", "timestamp": 1_700_000_000_003_i64},
        {"role": "assistant", "content": "\"two\" files", "timestamp": 1_700_000_000_004_i64},
    ]);
    format!("{}\n", serde_json::to_string_pretty(&messages).unwrap())
}

fn with_tour(test: &str) -> Folder {
    let folder = folder(test).with("tour.json", &transcript());
    assert_eq!(run(&folder, "conversations import tour.json --id tour", 0).stdout, "tour\n");
    folder
}

#[track_caller]
fn run(folder: &Folder, arguments: &str, code: i32) -> Run {
    folder.sabir(arguments, &[]).exits(code)
}

fn ids(listing: &Value) -> Vec<&str> {
    listing["data"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect()
}

#[test]
fn a_transcript_survives_import_and_export_byte_for_byte() {
    let folder = with_tour("bytes");
    assert_eq!(run(&folder, "conversations export tour", 0).stdout, transcript());
    run(&folder, "conversations export tour --as jsonl -o tour.jsonl", 0);
    let again = run(&folder, "conversations import tour.jsonl", 0).stdout;
    assert!(again.starts_with("conv_"), "{again}");
    assert_eq!(run(&folder, &format!("conversations export {again}"), 0).stdout, transcript());
    for protocol in ["openai-chat", "openai-responses", "anthropic-messages", "gemini"] {
        let (file, id) = (format!("{protocol}.json"), format!("from-{protocol}"));
        run(&folder, &format!("conversations export tour --as {protocol} -o {file}"), 0);
        run(&folder, &format!("conversations import {file} --id {id}"), 0);
        let output = run(&folder, &format!("conversations export {id} --json"), 0);
        assert!(output.losses().is_empty(), "{protocol}: {}", output.stderr);
        let output: Value = output.json();
        // A protocol whose calls stand apart from texts has a message more.
        let messages = output.as_array().unwrap();
        let texts = messages.iter().map(|it| it["content"].as_str().unwrap());
        let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
        let expected = ["Be kind.", "what is in 漢字?", "I look.", "a\tb\n", "\"two\" files"];
        assert_eq!(texts, expected, "{protocol}");
        let arguments =
            messages.iter().find_map(|it| it["tool_calls"][0]["function"]["arguments"].as_str());
        assert_eq!(arguments, Some("{\"cmd\":\"ls\"}"), "{protocol}");
    }
}

#[test]
fn what_a_form_cannot_hold_is_reported() {
    let thought = json!({"messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "a greeting", "signature": "s"}, {"type": "text", "text": "hi"}]}]});
    let folder = folder("losses").with("thought.json", &thought.to_string());
    run(&folder, "conversations import thought.json --id thought", 0);
    let output = run(&folder, "conversations export thought", 0);
    assert!(
        output.stderr.contains("dropped")
            && output.stderr.contains("a transcript has no reasoning"),
        "{}",
        output.stderr
    );
    let shown = run(&folder, "conversations show thought", 0).stdout;
    assert!(shown.ends_with("assistant\n  hi\n  [not shown: reasoning]\n"), "{shown}");
    let output = run(&folder, "conversations export thought --as gemini --json", 0);
    assert_eq!(output.losses()[0].kind, "dropped", "{}", output.stderr);
    assert!(output.losses()[0].pointer.starts_with("/turns/"), "{}", output.stderr);
}

#[test]
fn conversations_are_listed_in_pages_and_shown() {
    let folder = with_tour("pages");
    for id in ["one", "two", "three"] {
        run(&folder, &format!("conversations import tour.json --id {id}"), 0);
    }
    let listing = run(&folder, "conversations list --limit 2 --json", 0).json();
    assert_eq!((ids(&listing), &listing["has_more"]), (vec!["three", "two"], &json!(true)));
    let listing = run(&folder, "conversations list --after two --json", 0).json();
    assert_eq!((ids(&listing), &listing["has_more"]), (vec!["one", "tour"], &json!(false)));
    let output = run(&folder, "conversations list --limit 1", 0);
    assert_eq!(
        output.stdout,
        "ID     UPDATED   TURNS  MODELS  TITLE\nthree  just now      1          what is in 漢字?\n"
    );
    assert_eq!(output.stderr, "more: sabir conversations list --after three\n");
    assert_eq!(run(&folder, "conversations", 0).stdout.lines().count(), 5);
    let none = run(&folder, "conversations list --query nothing-like-it", 0);
    assert_eq!((none.stdout.as_str(), none.stderr.contains("has this text")), ("", true));
    let shown = run(&folder, "conversations show two", 0).stdout;
    assert!(
        shown.contains("\n  I look.\n  → bash {\"cmd\":\"ls\"}\n\ntool\n  a    b\n"),
        "{shown}"
    );
    let output = run(&folder, "conversations show two --json", 0).json();
    assert_eq!((&output["id"], output["messages"].as_array().unwrap().len()), (&json!("two"), 5));
}

#[test]
fn a_file_that_is_wrong_in_one_place_is_refused_with_that_place() {
    let user = r#"{"role":"user","content":"a"}"#;
    let folder = folder("wrong")
        .with("cut.jsonl", &format!("{user}\n{user}\n{{\"role\":\"us"))
        .with("nobody.json", &format!(r#"[{user},{{"content":"b"}}]"#))
        .with("noon.json", r#"[{"role":"user","content":"a","timestamp":"noon"}]"#);
    for (file, words) in [
        ("cut.jsonl", "line 3: "),
        ("nobody.json", "message 2: expected a message with a `role`"),
        ("noon.json", "message 1, timestamp: expected a time in milliseconds since 1970"),
    ] {
        let output = run(&folder, &format!("conversations import {file}"), 1);
        let expected = format!("cannot import {file}: {words}");
        assert!(output.stderr.contains(&expected), "{}", output.stderr);
    }
    assert_eq!(ids(&run(&folder, "conversations list --json", 0).json()), [""; 0]);
}

#[test]
fn a_list_of_messages_is_read_as_the_protocol_that_is_named() {
    let folder = folder("lists")
        .with(
            "blocks.json",
            r#"[{"role":"user","content":[{"type":"text","text":"a"}],"timestamp":7}]"#,
        )
        .with(
            "lines.jsonl",
            "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\n",
        );
    run(&folder, "conversations import blocks.json --from messages --id blocks", 0);
    run(&folder, "conversations import lines.jsonl --from responses --id lines", 0);
    let blocks = run(&folder, "conversations export blocks", 0).json();
    assert_eq!(blocks, json!([{"role": "user", "content": "a", "timestamp": 7}]));
    let lines = run(&folder, "conversations export lines --as responses", 0).json();
    assert_eq!(lines["input"].as_array().unwrap().len(), 2, "{lines}");
}

#[test]
fn where_all_goes_with_the_command_nothing_is_said_to_be_kept() {
    let memory = format!("{NOBODY}[store]\nurl = \"memory:\"\n");
    let folder = folder("memory").with("tour.json", &transcript()).with("sabir.toml", &memory);
    for command in ["conversations list", "conversations import tour.json", "usage"] {
        let output = run(&folder, command, 1);
        assert_eq!(output.stdout, "");
        for words in ["nothing is kept", "memory:", "sabir serve", "sqlite:"] {
            assert!(output.stderr.contains(words), "{words}: {}", output.stderr);
        }
    }
    let (_serving, address) = Serving::start(&folder);
    let running = memory.replace("127.0.0.1:1", &address);
    let folder = folder.with("sabir.toml", &running);
    run(&folder, "conversations import tour.json --id tour", 0);
    assert_eq!(ids(&run(&folder, "conversations list --json", 0).json()), ["tour"]);
}

#[test]
fn what_is_not_there_is_named_with_what_to_do() {
    let folder = with_tour("missing");
    for command in ["show no", "export no", "delete no", "fork no", "list --after no"] {
        let output = run(&folder, &format!("conversations {command}"), 1);
        assert_eq!(output.stdout, "");
        assert!(
            output.stderr.contains("Conversation with id 'no' not found."),
            "{}",
            output.stderr
        );
        assert!(output.stderr.contains("try: sabir conversations list"), "{}", output.stderr);
    }
    let output = run(&folder, "conversations fork tour --after turn_9", 1);
    assert!(output.stderr.contains("Turn with id 'turn_9' not found."), "{}", output.stderr);
    let output = run(&folder, "conversations import tour.json --id tour", 1);
    assert!(output.stderr.contains("exists already"), "{}", output.stderr);
    let output = run(&folder, "conversations import sabir.toml", 1);
    assert!(
        output.stderr.contains("cannot import sabir.toml: no JSON was found in it"),
        "{}",
        output.stderr
    );
    run(&folder, "conversations import nowhere.json", 1);
    assert_eq!(run(&folder, "conversations delete tour", 0).stdout, "deleted tour\n");
    run(&folder, "conversations show tour", 1);
}

#[test]
fn an_id_of_nothing_is_none() {
    let folder = with_tour("nothing");
    for command in ["show", "export", "delete", "fork"] {
        let ran =
            folder.command(&format!("conversations {command}"), &[]).arg("").output().unwrap();
        let words = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(2), "{words}");
        assert!(words.contains("a value is required for '<ID>'"), "{words}");
    }
}

#[test]
fn where_nothing_is_kept_the_setting_is_named() {
    let off = format!("{NOBODY}[store]\nrecord = \"off\"\n");
    let folder = folder("off").with("sabir.toml", &off);
    for command in ["conversations list", "usage"] {
        let output = run(&folder, command, 1);
        assert!(
            output.stderr.contains("record = \"") && output.stderr.contains("[store]"),
            "{}",
            output.stderr
        );
    }
    let unreadable = format!("{NOBODY}[store]\nurl = \"sqlite:{}\"\n", folder.path().display());
    let folder = folder.with("sabir.toml", &unreadable);
    let output = run(&folder, "conversations list", 1);
    assert!(output.stderr.contains("cannot be opened"), "{}", output.stderr);
    let folder = folder.with("sabir.toml", "listen = 7\n");
    assert!(run(&folder, "usage", 1).stderr.contains("sabir.toml:1:"));
}

const KEYS: &str = "[auth]\nrequired = true\n[[auth.key]]\nname = \"a\"\nvalue = { value = \"sesame-a-1234\" }\n\
                    [[auth.key]]\nname = \"b\"\nvalue = { value = \"sesame-b-1234\" }\n";

#[test]
fn a_gateway_that_runs_is_asked_with_the_right_key() {
    let folder = folder("running").with("tour.json", &transcript());
    let keys = format!("env_providers = false\n{KEYS}");
    let folder = folder.with("sabir.toml", &keys);
    let (_serving, address) = Serving::start(&folder);
    let folder = folder.with("sabir.toml", &format!("listen = \"{address}\"\n{keys}"));
    // The first key of the file where nobody gives one.
    run(&folder, "conversations import tour.json --id mine", 0);
    assert_eq!(ids(&run(&folder, "conversations list --json", 0).json()), ["mine"]);
    let others = folder.sabir("conversations list --json", &[("SABIR_KEY", "sesame-b-1234")]);
    assert!(ids(&others.exits(0).json()).is_empty());
    run(&folder, "conversations show mine --key sesame-b-1234", 1);
    let output = run(&folder, "conversations list --key wrong", 1);
    assert!(
        output.stderr.contains("--key or $SABIR_KEY") && !output.stderr.contains("sesame"),
        "{}",
        output.stderr
    );
}

#[test]
fn what_calls_cost_is_summed_up() {
    let folder = folder("costs");
    let (serving, address) = Serving::start(&folder);
    for model in ["sim-chat/small", "sim-chat/small", "sim-gemini/large"] {
        let body = json!({"model": model, "messages": [{"role": "user", "content": "hello"}]});
        let answer = serving.post("/v1/chat/completions", "", &body.to_string());
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let folder =
        folder.with("sabir.toml", &format!("listen = \"{address}\"\nenv_providers = false\n"));
    let sums = wait_for("the calls are not counted", || {
        let sums = run(&folder, "usage --json", 0).json();
        (sums["total"]["calls"] == 3).then_some(sums)
    });
    assert_eq!(
        (&sums["data"][0]["model"], &sums["data"][0]["calls"]),
        (&json!("small"), &json!(2))
    );
    assert_eq!(
        (&sums["data"][1]["model"], &sums["data"][1]["errors"]),
        (&json!("large"), &json!(0))
    );
    let table = run(&folder, "usage --by provider --since 1d", 0).stdout;
    let lines: Vec<Vec<&str>> =
        table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0][..4], ["PROVIDER", "CALLS", "ERRORS", "INPUT"]);
    assert_eq!(lines[1][..3], ["sim-chat", "2", "0"]);
    assert_eq!(lines[3][..3], ["total", "3", "0"]);
    drop(serving);
    let alone = run(&folder, "usage --by day --json", 0).json();
    assert_eq!(alone["data"].as_array().unwrap().len(), 1, "{alone}");
    run(&folder, "usage --since yesterday", 2);
    run(&folder, "usage --by colour", 2);
}

#[test]
fn bash_completes_ids() {
    let folder = with_tour("completion").with(
        "complete.sh",
        "PATH=\"$(dirname \"$1\"):$PATH\"\neval \"$(sabir completions bash)\"\n\
         try() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _sabir_or_ids sabir \"${@: -1}\" \"${@: -2:1}\"; echo \"${COMPREPLY[*]}\"; }\n\
         try sabir conversations show to\ntry sabir conversations export x\ntry sabir conversations fo\ntry sabir convers\n",
    );
    let mut shell = Command::new("bash");
    shell.args(["complete.sh", env!("CARGO_BIN_EXE_sabir")]).current_dir(folder.path());
    let output = shell.env("SABIR_DATA_DIR", folder.path()).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        printed,
        "tour\n\nfork\nconversations\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
