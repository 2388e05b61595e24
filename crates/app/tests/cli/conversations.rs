//! `conversations` and `usage`: the same with a gateway that runs and without one.

use std::fs;
use std::path::Path;
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
fn a_loss_points_at_the_message_that_lacks_something() {
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}});
    let result = |id: &str, content: Value| json!({"type": "tool_result", "tool_use_id": id, "content": content});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "look", "input": {}});
    let messages = json!({"messages": [
        {"role": "user", "content": "look twice"},
        {"role": "assistant", "content": [call("t1"), call("t2")]},
        {"role": "user", "content": [image, result("t1", json!("nothing")), result("t2", json!([image])),
            {"type": "text", "text": "and?"}]},
    ]});
    let folder = folder("images").with("looked.json", &messages.to_string());
    run(&folder, "conversations import looked.json --id looked", 0);
    let output = run(&folder, "conversations export looked --json", 0);
    let losses = output.losses();
    let pointers: Vec<&str> = losses.iter().map(|loss| loss.pointer.as_str()).collect();
    assert_eq!(pointers, ["/3", "/4"], "{}", output.stderr);
    let exported = output.json();
    assert_eq!(
        (&exported[3]["tool_call_id"], &exported[4]["content"]),
        (&json!("t2"), &json!("and?"))
    );
    let shown = run(&folder, "conversations show looked", 0).stdout;
    let expected = "tool\n  [not shown: images]\n\nuser\n  and?\n  [not shown: images]\n";
    assert!(shown.ends_with(expected), "{shown}");
}

#[test]
fn a_session_keeps_the_times_at_which_it_was_said() {
    let line = |uuid: u8, parent: Option<u8>, time: Option<&str>, (role, text): (&str, &str)| {
        let mut line = json!({"type": role, "uuid": uuid.to_string(), "parentUuid": parent.map(|it| it.to_string()),
            "sessionId": "a-b", "message": {"role": role, "content": [{"type": "text", "text": text}]}});
        if let Some(time) = time {
            line["timestamp"] = json!(time);
        }
        format!("{line}\n")
    };
    let [first, second] = ["2026-11-17T12:17:40.250Z", "2026-11-17T13:17:41+01:00"];
    let mut session = line(1, None, Some(first), ("user", "Hi"));
    session.push_str(&line(2, Some(1), Some(second), ("assistant", "Hello.")));
    let folder = folder("times").with("session.jsonl", &session);
    let imported = run(&folder, "conversations import session.jsonl", 0);
    assert!(!imported.stderr.contains("time"), "{}", imported.stderr);
    let times = || {
        let exported = run(&folder, "conversations export a-b", 0).json();
        let times = exported.as_array().unwrap().iter().map(|it| it["timestamp"].as_i64().unwrap());
        times.collect::<Vec<i64>>()
    };
    assert_eq!(times(), [1_794_917_860_250, 1_794_917_861_000]);
    // What is added later has its times as well, and what has none is said.
    session.push_str(&line(3, Some(2), Some("2026-11-17T12:17:42Z"), ("user", "More")));
    session.push_str(&line(4, Some(3), None, ("assistant", "Yes.")));
    std::fs::write(folder.path().join("session.jsonl"), &session).unwrap();
    let imported = run(&folder, "conversations import session.jsonl", 0);
    assert!(imported.stderr.contains("no time for 1 message"), "{}", imported.stderr);
    assert!(imported.stderr.contains("2 messages were new"), "{}", imported.stderr);
    assert_eq!(times()[2], 1_794_917_862_000);
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
    let more = |output: &str| {
        let after = output.strip_prefix("more: sabir conversations list --after ").unwrap();
        let (time, rest) = after.split_once(':').unwrap();
        assert!(time.parse::<u64>().is_ok(), "{output}");
        rest.to_owned()
    };
    assert_eq!(more(&output.stderr), "three --limit 1\n");
    let mut listing = folder.command("conversations list --limit 2 --config sabir.toml", &[]);
    let listing = listing.args(["--query", "what is", "--key", "sesame"]).output().unwrap();
    let rest = "two --limit 2 --query 'what is' --config sabir.toml --key KEY\n";
    assert_eq!(more(&String::from_utf8(listing.stderr).unwrap()), rest);
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
fn a_page_goes_on_where_it_ended_whatever_happened_meanwhile() {
    let folder = with_tour("cursor");
    for id in ["one", "two", "three"] {
        run(&folder, &format!("conversations import tour.json --id {id}"), 0);
    }
    let page = run(&folder, "conversations list --limit 2 --json", 0).json();
    assert_eq!(ids(&page), ["three", "two"]);
    run(&folder, "conversations delete two", 0);
    folder.sabir_reads("chat --model sim-chat/demo --conversation three", "hello").exits(0);
    let next = page["next"].as_str().unwrap();
    let rest = run(&folder, &format!("conversations list --after {next} --json"), 0).json();
    assert_eq!((ids(&rest), rest.get("next")), (vec!["one", "tour"], None));
}

#[test]
fn a_folder_that_is_misspelt_is_not_made_by_reading() {
    let files = format!("{NOBODY}[store]\nurl = \"files:dota\"\n");
    for (test, config) in [("misspelt", NOBODY), ("misspelt-files", files.as_str())] {
        let folder = folder(test).with("sabir.toml", config);
        let listed = run(&folder, "conversations list --json --data dota", 0).json();
        assert_eq!(ids(&listed), [""; 0]);
        run(&folder, "conversations show tour --data dota", 1);
        run(&folder, "conversations export tour --data dota", 1);
        // Files have no rows to sum up.
        let code = if test == "misspelt" { 0 } else { 1 };
        run(&folder, "usage --data dota", code);
        assert!(!folder.path().join("dota").exists(), "{test}");
    }
}

#[test]
fn an_import_begins_when_its_first_message_was_said() {
    let files = format!("{NOBODY}[store]\nurl = \"files:data\"\n");
    for (test, config) in [("began", NOBODY), ("began-files", files.as_str())] {
        let folder = folder(test).with("sabir.toml", config).with("tour.json", &transcript());
        run(&folder, "conversations import tour.json --id tour", 0);
        let listed = run(&folder, "conversations list --json", 0).json();
        assert_eq!(listed["data"][0]["created_at"], 1_700_000_000, "{test}");
        assert!(listed["data"][0]["updated_at"].as_i64().unwrap() > 1_790_000_000, "{test}");
    }
}

#[test]
fn the_instructions_of_a_session_have_their_own_time() {
    let line = |kind: &str, time: &str, payload: Value| {
        format!("{}\n", json!({"timestamp": time, "type": kind, "payload": payload}))
    };
    let meta = json!({"id": "s-1", "base_instructions": {"text": "Be brief."}});
    let message = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    let session = [
        line("session_meta", "2026-11-17T12:17:40.250Z", meta),
        line("response_item", "2026-11-17T12:17:41Z", message("user", "input_text", "Hi")),
        line("response_item", "2026-11-17T12:17:42Z", message("assistant", "output_text", "Yes.")),
    ];
    let files = format!("{NOBODY}[store]\nurl = \"files:data\"\n");
    for (test, config) in [("instructed", NOBODY), ("instructed-files", files.as_str())] {
        let folder = folder(test).with("sabir.toml", config).with("s.jsonl", &session.concat());
        run(&folder, "conversations import s.jsonl", 0);
        let exported = run(&folder, "conversations export s-1", 0).json();
        let timed: Vec<(&str, i64)> = exported
            .as_array()
            .unwrap()
            .iter()
            .map(|it| (it["role"].as_str().unwrap(), it["timestamp"].as_i64().unwrap()))
            .collect();
        let expected = [
            ("system", 1_794_917_860_250),
            ("user", 1_794_917_861_000),
            ("assistant", 1_794_917_862_000),
        ];
        assert_eq!(timed, expected, "{test}");
    }
}

#[test]
fn an_image_of_a_result_is_no_turn_after_any_export() {
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}});
    let messages = json!({"messages": [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [image]}]},
        {"role": "assistant", "content": "a cat"},
    ]});
    let folder = folder("looked").with("looked.json", &messages.to_string());
    run(&folder, "conversations import looked.json --id looked", 0);
    for protocol in ["openai-chat", "openai-responses", "anthropic-messages", "gemini"] {
        run(&folder, &format!("conversations export looked --as {protocol} -o {protocol}.json"), 0);
        let import = format!("conversations import {protocol}.json --id {protocol} --json");
        assert_eq!(run(&folder, &import, 0).json()["turns"], 1, "{protocol}");
    }
}

#[test]
fn a_transcript_made_by_hand_comes_back_in_the_one_form_and_from_then_on_byte_for_byte() {
    let call =
        json!({"function": {"arguments": "{ }", "name": "f"}, "type": "function", "id": "c"});
    let by_hand = json!([
        {"timestamp": 7, "content": "a\u{e9}\u{1f600}", "role": "user"},
        {"timestamp": 8, "tool_calls": [call], "content": null, "role": "assistant"},
        {"timestamp": 9, "tool_call_id": "c", "role": "tool", "content": "b"},
    ]);
    let folder = folder("by-hand").with("mine.json", &by_hand.to_string());
    run(&folder, "conversations import mine.json --id one", 0);
    let first = run(&folder, "conversations export one", 0).stdout;
    let expected = json!([
        {"role": "user", "content": "a\u{e9}\u{1f600}", "timestamp": 7},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "type": "function",
            "function": {"name": "f", "arguments": "{ }"}}], "timestamp": 8},
        {"role": "tool", "content": "b", "tool_call_id": "c", "timestamp": 9},
    ]);
    assert_eq!(serde_json::from_str::<Value>(&first).unwrap(), expected);
    let folder = folder.with("again.json", &first);
    run(&folder, "conversations import again.json --id two", 0);
    assert_eq!(run(&folder, "conversations export two", 0).stdout, first);
}

#[test]
fn half_a_character_is_kept_or_refused_and_never_becomes_another() {
    let half = r#"[{"role":"user","content":"ok","timestamp":1},{"role":"user","content":"a\ud800b","timestamp":1}]"#;
    let messages =
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a\ud800b"}]}]}"#;
    let folder = folder("halved").with("half.json", half).with("messages.json", messages);
    for (file, id, form) in [("half.json", "half", "chat"), ("messages.json", "kept", "messages")] {
        run(&folder, &format!("conversations import {file} --id {id}"), 0);
        let exported = run(&folder, &format!("conversations export {id} --as {form}"), 0).stdout;
        assert!(exported.contains(r"a\ud800b"), "{exported}");
        // What a transcript has no room for is said.
        let exported = run(&folder, &format!("conversations export {id}"), 0);
        assert!(exported.stderr.contains("no halves of surrogate pairs"), "{}", exported.stderr);
        let shown = run(&folder, &format!("conversations show {id}"), 0).stdout;
        assert!(shown.contains("[not shown: halves of surrogate pairs]"), "{shown}");
    }
    let files = format!("{NOBODY}[store]\nurl = \"files:data\"\n");
    let folder = folder.with("sabir.toml", &files);
    let refused = run(&folder, "conversations import half.json --id half", 1).stderr;
    assert!(refused.contains("a transcript has no halves of surrogate pairs"), "{refused}");
    assert_eq!(ids(&run(&folder, "conversations list --json", 0).json()), [""; 0]);
}

#[test]
fn what_a_file_says_cannot_command_the_terminal() {
    let note = r#"[{"role":"user","content":"a","timestamp":1,"mo\u001b[2Jod":1}]"#;
    let role = r#"{"messages":[{"role":"ro\u202ebot","content":"a"}]}"#;
    let folder = folder("commanding").with("note.json", note).with("role.json", role);
    let noted = run(&folder, "conversations import note.json", 0).stderr;
    assert!(noted.contains(r"no transcript has it: mo\u{1b}[2Jod"), "{noted}");
    let refused = run(&folder, "conversations import role.json", 1).stderr;
    assert!(refused.contains(r"found `ro\u{202e}bot`"), "{refused}");
}

#[test]
fn what_a_file_leaves_out_of_an_import_is_reported() {
    let files = format!("{NOBODY}[store]\nurl = \"files:data\"\n");
    let folder = Folder::new("import-left-out").with("sabir.toml", &files);
    let named = r#"[{"role":"user","name":"ada","content":"Hi"}]"#;
    let folder = folder.with("named.json", named);
    let imported = run(&folder, "conversations import named.json --from chat --id named", 0);
    assert_eq!(imported.stdout, "named\n");
    assert!(
        imported.stderr.contains("a transcript has no names of speakers"),
        "{}",
        imported.stderr
    );
}

#[test]
fn a_file_that_cannot_be_read_is_listed_with_the_reason() {
    let files = format!("{NOBODY}[store]\nurl = \"files:data\"\n");
    let folder = folder("unreadable").with("sabir.toml", &files);
    let session = folder.path().join("data/sessions/broken");
    fs::create_dir_all(&session).unwrap();
    fs::write(session.join("transcript.json"), "[{\"role\":").unwrap();
    let listed = run(&folder, "conversations list", 0).stdout;
    let row = listed.lines().nth(1).unwrap();
    assert!(row.starts_with("broken") && row.contains("  ?  "), "{listed}");
    assert!(row.contains("(the conversation's file cannot be read: "), "{listed}");
    let shown = run(&folder, "conversations show broken", 1).stderr;
    assert!(shown.contains("data/sessions/broken/transcript.json"), "{shown}");
}

#[test]
fn a_file_that_is_wrong_in_one_place_is_refused_with_that_place() {
    let user = r#"{"role":"user","content":"a"}"#;
    let folder = folder("wrong")
        .with("cut.jsonl", &format!("{user}\n{user}\n{{\"role\":\"us"))
        .with("nobody.json", &format!(r#"[{user},{{"content":"b"}}]"#))
        .with("robot.json", &format!(r#"{{"messages":[{user},{{"role":"robot","content":"b"}}]}}"#))
        .with("noon.json", r#"[{"role":"user","content":"a","timestamp":"noon"}]"#);
    for (file, words) in [
        ("cut.jsonl", "line 3: "),
        ("nobody.json", "message 2: expected a message with a `role`"),
        ("robot.json", "message 2, role: expected one of "),
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
    assert!(output.stderr.contains("sabir conversations show ID"), "{}", output.stderr);
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
fn nothing_is_left_on_disk_of_what_was_deleted() {
    let folder = folder("erased")
        .with("secret.json", r#"[{"role":"user","content":"the word is Rumpelstiltskin"}]"#);
    run(&folder, "conversations import secret.json --id secret", 0);
    fs::remove_file(folder.path().join("secret.json")).unwrap();
    assert!(is_on_disk(folder.path(), b"Rumpelstiltskin"));
    run(&folder, "conversations delete secret", 0);
    assert!(!is_on_disk(folder.path(), b"Rumpelstiltskin"));
}

/// Whether a file below a folder says something.
fn is_on_disk(folder: &Path, words: &[u8]) -> bool {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).any(|path| {
        match path.is_dir() {
            true => is_on_disk(&path, words),
            false => fs::read(&path).unwrap().windows(words.len()).any(|it| it == words),
        }
    })
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
