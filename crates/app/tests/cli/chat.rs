//! `chat` without a terminal: what comes through a pipe is one turn. `tests/terminal` has one.

use std::io::{Read, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::folder::Folder;
use crate::serving::Serving;
use crate::waiting::wait_for;

const NOBODY: &str = "listen = \"127.0.0.1:1\"\nenv_providers = false\n";

fn folder(test: &str) -> Folder {
    Folder::new(test).with("sabir.toml", NOBODY)
}

#[track_caller]
fn conversation(folder: &Folder, id: &str) -> Value {
    folder.sabir(&format!("conversations show {id} --json"), &[]).exits(0).json()
}

#[test]
fn a_pipe_is_one_turn_of_a_conversation_that_goes_on_with_any_model() {
    let folder = folder("chat-pipe");
    let first = folder.sabir_reads("chat --model sim-gemini/demo", "My name is Ada.\n").exits(0);
    assert!(
        first.stdout.contains("My name is Ada.") && first.stdout.ends_with('\n'),
        "{}",
        first.stdout
    );
    let id = first.stderr.trim().strip_prefix("conversation: ").unwrap();
    folder
        .sabir_reads(&format!("chat --model sim-anthropic/demo --conversation {id}"), "Again")
        .exits(0);
    // Without a model it is the last one's.
    folder.sabir_reads(&format!("chat --conversation {id}"), "And again").exits(0);
    let kept = conversation(&folder, id);
    let providers: Vec<&str> = kept["turns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["provider"].as_str().unwrap())
        .collect();
    assert_eq!(providers, ["sim-gemini", "sim-anthropic", "sim-anthropic"]);
    assert_eq!(kept["messages"][0]["content"], "My name is Ada.");
    assert_eq!(kept["messages"][4]["content"], "And again");
}

#[test]
fn a_message_may_be_longer_than_any_argument() {
    let folder = folder("chat-long");
    let text = "漢".repeat(500_000);
    folder.sabir_reads("chat --model sim-chat/demo --conversation long", &text).exits(0);
    assert_eq!(conversation(&folder, "long")["messages"][0]["content"], text.as_str());
}

#[test]
fn a_gateway_that_runs_is_used_with_its_key() {
    let keys = "env_providers = false\n[auth]\nrequired = true\n[[auth.key]]\nname = \"a\"\nvalue = { value = \"sesame-a-1234\" }\n";
    let folder = Folder::new("chat-running").with("sabir.toml", keys);
    let (_serving, address) = Serving::start(&folder);
    let folder = folder.with("sabir.toml", &format!("listen = \"{address}\"\n{keys}"));
    folder.sabir_reads("chat --model sim-chat/demo --conversation mine", "hello").exits(0);
    assert_eq!(conversation(&folder, "mine")["turns"][0]["status"], json!("finished"));
    let refused = folder.sabir_reads("chat --model sim-chat/demo --key wrong", "hello").exits(1);
    assert!(refused.stderr.contains("--key or $SABIR_KEY"), "{}", refused.stderr);
}

#[test]
fn a_turn_that_finds_its_conversation_locked_is_one_call() {
    let folder = Folder::new("chat-locked").with("sabir.toml", "env_providers = false\n");
    let (_serving, address) = Serving::start(&folder);
    let config = format!("listen = \"{address}\"\nenv_providers = false\n");
    let folder = folder.with("sabir.toml", &config);
    let slow = "chat --model sim-chat/fault-never-ending --conversation mine";
    let mut slow = folder.command(slow, &[]);
    let mut first = slow.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    first.stdin.take().unwrap().write_all(b"hello").unwrap();
    // The answer has begun.
    first.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    let refused = folder.sabir_reads("chat --model sim-chat/demo --conversation mine", "me too");
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(refused.exits(1).stderr.contains("currently operating"));
    // The refused call is counted before the one that was under way.
    let total = || folder.sabir("usage --json", &[]).exits(0).json()["total"].clone();
    let total = wait_for("the calls are not counted", || {
        Some(total()).filter(|it| it["calls"].as_u64() > it["errors"].as_u64())
    });
    assert_eq!((&total["calls"], &total["errors"]), (&json!(2), &json!(1)), "{total}");
}

#[test]
fn what_cannot_be_is_said_in_words() {
    let folder = folder("chat-words");
    let empty = folder.sabir_reads("chat", "  \n").exits(1);
    assert!(empty.stderr.contains("nothing came through the pipe"), "{}", empty.stderr);
    let unknown = folder.sabir_reads("chat --model nobody/has-it", "hello").exits(1);
    assert!(unknown.stderr.contains("nobody/has-it"), "{}", unknown.stderr);
    let lost = folder.sabir_reads("chat --conversation conv_1", "hello").exits(1);
    assert!(
        lost.stderr.contains("cannot be continued")
            && lost.stderr.contains("conv_1")
            && lost.stderr.contains("try: sabir conversations list"),
        "{}",
        lost.stderr
    );
    let mut misnamed = folder.command("chat", &[]);
    let misnamed = misnamed.args(["--conversation", "my chat"]).output().unwrap();
    assert!(String::from_utf8_lossy(&misnamed.stderr).contains("letters, digits, `_` and `-`"));
    let folder = folder.with("sabir.toml", &format!("{NOBODY}[store]\nrecord = \"off\"\n"));
    let unkept = folder.sabir_reads("chat --conversation mine", "hello").exits(1);
    assert!(unkept.stderr.contains("record = \"stateful\""), "{}", unkept.stderr);
    // Without a name for it the conversation is had all the same.
    let answer = folder.sabir_reads("chat --model sim-chat/demo", "hello").exits(0);
    assert!(
        answer.stdout.contains("hello") && answer.stderr.starts_with("not kept: "),
        "{}",
        answer.stderr
    );
    let folder = folder.with("sabir.toml", &format!("{NOBODY}[store]\nurl = \"memory:\"\n"));
    let answer = folder.sabir_reads("chat --model sim-chat/demo", "hello").exits(0);
    assert!(
        answer.stdout.contains("hello") && answer.stderr.contains("none runs at 127.0.0.1:1"),
        "{}",
        answer.stderr
    );
    let unkept = folder.sabir_reads("chat --conversation mine", "hello").exits(1);
    assert!(unkept.stderr.contains("memory:"), "{}", unkept.stderr);
    let folder = folder.with("sabir.toml", &format!("{NOBODY}[store]\nurl = \"files:data\"\n"));
    std::fs::create_dir_all(folder.path().join("data/sessions/broken")).unwrap();
    let folder = folder.with("data/sessions/broken/transcript.json", "[{");
    let broken = folder.sabir_reads("chat --conversation broken", "hello").exits(1);
    assert!(
        broken.stderr.contains("broken/transcript.json")
            && broken.stderr.contains("try: mend or delete what it names"),
        "{}",
        broken.stderr
    );
}

#[test]
fn what_goes_to_a_file_is_what_the_model_wrote() {
    let folder = folder("chat-bytes");
    let answer = folder.sabir_reads("chat --model sim-chat/demo", "a\u{1b}[31m\tb\r\nc").exits(0);
    assert!(answer.stdout.contains("a\u{1b}[31m\tb\r\nc"), "{:?}", answer.stdout);
}
