//! Rollouts of Codex: items, rollbacks and compactions.

use serde_json::Value;

use super::{CODEX, left_out, parse, request, with};

fn kinds(text: &str) -> Vec<String> {
    let request = request(&parse(text));
    let items = request["input"].as_array().unwrap().iter();
    items.map(|item| item["id"].as_str().unwrap_or("none").to_owned()).collect()
}

#[test]
fn a_rollout_is_its_items() {
    let session = parse(CODEX);
    assert_eq!((session.id(), session.title()), ("01a1-e968", "Copy the note."));
    assert_eq!(left_out(&session), ["1 × items that are not sent"]);
    assert_eq!(kinds(CODEX), ["msg_1", "msg_2", "msg_3", "rs_1", "fc_1", "fco_1", "msg_4"]);
    assert_eq!(session.times()[0], Some(1_794_916_800_200));
    let request = request(&session);
    assert_eq!(request["instructions"], "You are a coding agent.");
    assert_eq!(request["input"][3]["encrypted_content"], "c2VhbGVk");
    assert_eq!(request["input"][2]["content"][1]["type"], "input_image");
    let own = &request["input"][0]["internal_chat_message_metadata_passthrough"];
    assert_eq!(*own, Value::Null);
}

const ANOTHER_TURN: [&str; 2] = [
    r#"{"type":"response_item","payload":{"type":"message","id":"msg_5","role":"user","content":[{"type":"input_text","text":"Again."}]}}"#,
    r#"{"type":"response_item","payload":{"type":"message","id":"msg_6","role":"assistant","content":[{"type":"output_text","text":"Copied again."}]}}"#,
];

#[test]
fn turns_that_were_rolled_back_are_left_out() {
    let back = |turns: u64| {
        let event = format!(
            r#"{{"type":"event_msg","payload":{{"type":"thread_rolled_back","num_turns":{turns}}}}}"#
        );
        with(CODEX, &[ANOTHER_TURN[0], ANOTHER_TURN[1], &event])
    };
    assert_eq!(kinds(&back(1)).last().unwrap(), "msg_4");
    assert_eq!(kinds(&back(2)), ["msg_1", "msg_2"]);
    assert_eq!(kinds(&back(u64::MAX)), ["msg_1", "msg_2"]);
    assert!(left_out(&parse(&back(1))).contains(&"2 × messages that were rolled back".to_owned()));
    assert_eq!(kinds(&back(0)).last().unwrap(), "msg_6");
}

#[test]
fn a_compaction_replaces_the_history() {
    let compacted = |payload: &str| {
        let line = format!(r#"{{"type":"compacted","payload":{payload}}}"#);
        with(CODEX, &[&line, ANOTHER_TURN[0]])
    };
    let replaced = compacted(
        r#"{"message":"","replacement_history":[{"type":"message","id":"msg_3","role":"user","content":[{"type":"input_text","text":"Copy the note."}]},{"type":"compaction","id":"cmp_1","encrypted_content":"c2VhbGVk"}]}"#,
    );
    assert_eq!(kinds(&replaced), ["msg_3", "cmp_1", "msg_5"]);
    let summarised = compacted(r#"{"message":"The note was copied."}"#);
    assert_eq!(request(&parse(&summarised))["input"][0]["content"], "The note was copied.");
    let left_out = left_out(&parse(&summarised));
    assert_eq!(left_out, ["1 × items that are not sent", "7 × messages before a compaction"]);
}

#[test]
fn a_fork_has_its_own_id_and_the_history_of_the_other() {
    let own = r#"{"type":"session_meta","payload":{"id":"own","forked_from_id":"01a1-e968"}}"#;
    let session = parse(&format!("{own}\n{CODEX}"));
    assert_eq!((session.id(), session.messages()), ("own", 7));
}
