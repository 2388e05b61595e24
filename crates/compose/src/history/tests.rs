//! Histories in, JSON out.

use super::History;
use crate::{Policy, Unanswered};

/// Builds by the default policy and compares the messages.
#[track_caller]
fn check(history: &str, expected: &str) {
    check_by(Policy::default(), history, expected);
}

#[track_caller]
fn check_by(policy: Policy, history: &str, expected: &str) {
    let built = build(policy, history);
    let expected = format!(r#"{{"messages":{expected},"trace":"#);
    assert!(built.starts_with(&expected), "{built}");
    // What was built is a history that needs no more building.
    let again = build(policy, &built);
    assert!(again.starts_with(&expected) && again.ends_with(r#""trace":[]}"#), "{again}");
}

fn build(policy: Policy, history: &str) -> String {
    let history = History::parse(history).unwrap();
    let built = history.builder().set_policy(policy).build().unwrap();
    history.to_json(&built)
}

#[test]
fn entities_and_bare_messages_are_the_same() {
    let expected = r#"[{"role":"user","content":"hi"}]"#;
    check(r#"{"messages":[{"role":"user","content":"hi"}]}"#, expected);
    check(
        r#"{"messages":[{"id":7,"body":{"role":"user","content":"hi","segments":[]}}]}"#,
        expected,
    );
    let bare = r#"{"messages":[{"id":"x","role":"user","content":"hi","timestamp":12}]}"#;
    check(bare, expected);
}

#[test]
fn blocks_stay_blocks() {
    check(
        r#"{"messages":[{"role":"user","content":"?"},
            {"role":"assistant","content":[{"type":"tool_use","id":"call_1"}]},
            {"role":"tool","content":[{"tool_use_id":"call_1"}]},
            {"role":"tool","content":[{"tool_use_id":"call_2"}]},
            {"role":"tool","content":{"tool_use_id":"call_3"}}]}"#,
        r#"[{"role":"user","content":"?"},{"role":"assistant","content":[{"type":"tool_use","id":"call_1"}]},{"role":"tool","content":[{"tool_use_id":"call_1"}],"toolCallId":"call_1"}]"#,
    );
}

#[test]
fn calls_beside_the_content_are_calls() {
    let expected = r#"[{"role":"assistant","content":null,"toolCalls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","content":"1","toolCallId":"a"}]"#;
    for (calls, id) in [("toolCalls", "toolCallId"), ("tool_calls", "tool_call_id")] {
        check(
            &format!(
                r#"{{"messages":[{{"role":"assistant","content":null,"{calls}":[{{"id":"a","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]}},
                {{"role":"tool","content":"1","{id}":"a"}},{{"role":"tool","content":"2","{id}":"b"}}]}}"#
            ),
            expected,
        );
    }
}

#[test]
fn an_id_in_any_block_of_a_tools_message_counts() {
    check(
        r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
            {"role":"tool","content":[{"type":"text","text":"well"},{"tool_use_id":"a"}]}]}"#,
        r#"[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"tool","content":[{"type":"text","text":"well"},{"tool_use_id":"a"}],"toolCallId":"a"}]"#,
    );
}

#[test]
fn a_message_that_loses_a_part_keeps_the_spelling_of_the_rest() {
    check(
        r#"{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"?"},
            {"type":"image_url","image_url":{"url":"https://example.com/a.png"}},"words"]}]}"#,
        r#"[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}},"words"]}]"#,
    );
    let policy = Policy { unanswered: Unanswered::Drop, ..Policy::default() };
    check_by(
        policy,
        r#"{"messages":[{"role":"assistant","content":"so","toolCalls":[{"id":"a","name":"f"},{"id":"b","name":"f"}]},
            {"role":"tool","content":"1","toolCallId":"b"}]}"#,
        r#"[{"role":"assistant","content":"so","toolCalls":[{"id":"b","name":"f"}]},{"role":"tool","content":"1","toolCallId":"b"}]"#,
    );
}

#[test]
fn a_made_up_result_stands_among_the_results() {
    check(
        r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a"},{"type":"tool_use","id":"b"}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"text","text":"and?"}]}]}"#,
        r#"[{"role":"assistant","content":[{"type":"tool_use","id":"a"},{"type":"tool_use","id":"b"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"tool_result","tool_use_id":"b","content":"Error: this tool call has no result","is_error":true},{"type":"text","text":"and?"}]}]"#,
    );
}

const IMAGE: &str =
    r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}"#;

#[test]
fn a_result_that_moves_keeps_its_spelling() {
    let block = format!(
        r#"{{"type":"tool_result","tool_use_id":"a","content":[{{"type":"text","text":"x"}},{IMAGE}]}}"#
    );
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a"},{"type":"tool_use","id":"b"}]}"#;
    let other = r#"{"type":"tool_result","tool_use_id":"b","content":"B"}"#;
    // Into a message of its own,
    check(
        &format!(
            r#"{{"messages":[{call},{{"role":"tool","content":"B","toolCallId":"b"}},
            {{"role":"user","content":[{{"type":"text","text":"see"}},{block}]}}]}}"#
        ),
        &format!(
            r#"[{call},{{"role":"tool","content":"B","toolCallId":"b"}},{{"role":"tool","content":[{block}],"toolCallId":"a"}},{{"role":"user","content":[{{"type":"text","text":"see"}}]}}]"#
        ),
    );
    // or into one where other results stand.
    check(
        &format!(
            r#"{{"messages":[{call},{{"role":"user","content":[{other},"so"]}},
            {{"role":"user","content":[{block},{IMAGE}]}}]}}"#
        ),
        &format!(
            r#"[{call},{{"role":"user","content":[{other},{block},"so"]}},{{"role":"user","content":[{IMAGE}]}}]"#
        ),
    );
    // A message of a tool becomes a block there, whatever its content is.
    let image = format!("[{IMAGE}]");
    for content in [r#""A""#, &image] {
        check(
            &format!(
                r#"{{"messages":[{call},{{"role":"user","content":[{other}]}},{{"role":"user","content":"so"}},
                {{"role":"tool","content":{content},"toolCallId":"a"}}]}}"#
            ),
            &format!(
                r#"[{call},{{"role":"user","content":[{other},{{"type":"tool_result","tool_use_id":"a","content":{content}}}]}},{{"role":"user","content":"so"}}]"#
            ),
        );
    }
}

#[test]
fn two_calls_of_one_id_have_two_results() {
    let missing = "Error: this tool call has no result";
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a"},{"type":"tool_use","id":"a"}]}"#;
    let block = r#"{"type":"tool_result","tool_use_id":"a","content":"1"}"#;
    let made = format!(
        r#"{{"type":"tool_result","tool_use_id":"a","content":"{missing}","is_error":true}}"#
    );
    check(
        &format!(r#"{{"messages":[{call},{{"role":"user","content":[{block},"so"]}}]}}"#),
        &format!(r#"[{call},{{"role":"user","content":[{block},{made},"so"]}}]"#),
    );
    check(
        &format!(
            r#"{{"messages":[{call},{{"role":"user","content":[{block},{block},{block}]}}]}}"#
        ),
        &format!(r#"[{call},{{"role":"user","content":[{block},{block}]}}]"#),
    );
}

#[test]
fn a_call_without_an_id_is_answered_for_good() {
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","name":"f","input":{}}]}"#;
    check(
        &format!(r#"{{"messages":[{call}]}}"#),
        &format!(r#"[{call},{{"role":"tool","content":"Error: this tool call has no result"}}]"#),
    );
    check(
        &format!(r#"{{"messages":[{call},{{"role":"tool","content":"1"}}]}}"#),
        &format!(r#"[{call},{{"role":"tool","content":"1"}}]"#),
    );
}

#[test]
fn a_call_told_twice_goes_twice() {
    let policy = Policy { unanswered: Unanswered::Drop, ..Policy::default() };
    check_by(
        policy,
        r#"{"messages":[{"role":"assistant","content":["so",{"type":"tool_use","id":"a"},{"type":"tool_use","id":"b"}],
            "toolCalls":[{"id":"b","name":"f"},{"id":"a","name":"f"}]},{"role":"tool","content":"1","toolCallId":"b"}]}"#,
        r#"[{"role":"assistant","content":["so",{"type":"tool_use","id":"b"}],"toolCalls":[{"id":"b","name":"f"}]},{"role":"tool","content":"1","toolCallId":"b"}]"#,
    );
}

#[test]
fn a_call_beside_what_a_tool_says_goes() {
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a"}]}"#;
    check(
        &format!(
            r#"{{"messages":[{call},{{"role":"tool","content":"1","toolCallId":"a","toolCalls":[{{"id":"b","name":"f"}}]}}]}}"#
        ),
        &format!(r#"[{call},{{"role":"tool","content":"1","toolCallId":"a"}}]"#),
    );
}

#[test]
fn blank_words_of_a_user_count_where_calls_are_left_out() {
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a"}]}"#;
    let result = r#"{"tool_use_id":"a"}"#;
    check(
        &format!(
            r#"{{"messages":[{call},{{"role":"user","content":["",{result}],"toolCalls":[{{"id":"b","name":"f"}}]}}]}}"#
        ),
        &format!(r#"[{call},{{"role":"tool","content":[{result}],"toolCallId":"a"}}]"#),
    );
}

#[test]
fn another_list_that_says_no_more_does_not_take_the_place_of_calls() {
    let expected = r#"[{"role":"assistant","content":"","toolCalls":[{"id":"a","name":"f"}]},{"role":"tool","content":"1","toolCallId":"a"}]"#;
    let same = r#""toolCalls":[{"id": "a", "name": "f"}]"#;
    for other in [r#""toolCalls":[ ]"#, r#""toolCalls":null"#, same] {
        check(
            &format!(
                r#"{{"messages":[{{"role":"assistant","content":"","tool_calls":[{{"id":"a","name":"f"}}],{other}}},
                {{"role":"tool","content":"1","tool_call_id":"a","toolCallId":null}}]}}"#
            ),
            expected,
        );
    }
}

#[test]
fn the_name_of_a_tool_is_no_speakers() {
    let history = History::parse(
        r#"{"messages":[{"role":"user","content":"u","name":"bob"},{"role":"assistant","tool_calls":[{"id":"a","name":"f"}]},
            {"role":"tool","name":"f","content":"1","tool_call_id":"a"}]}"#,
    )
    .unwrap();
    let built = history.builder().build().unwrap();
    let names: Vec<bool> = built.turns.iter().map(|turn| turn.message.name.is_some()).collect();
    assert_eq!(names, [true, false, false]);
}

#[test]
fn many_parts_of_one_message_cost_no_more_than_one_pass() {
    let list = |part: fn(usize) -> String| (1..20_000).map(part).collect::<Vec<_>>().join(",");
    let calls = list(|id| format!(r#"{{"type":"tool_use","id":"{id}"}}"#));
    let beside = list(|id| format!(r#"{{"id":"{id}","name":"f"}}"#));
    let results = list(|id| format!(r#"{{"tool_use_id":"{id}"}}"#));
    let built = build(
        Policy::default(),
        &format!(
            r#"{{"messages":[{{"role":"assistant","content":[{calls},{{"type":"tool_use","id":"0"}}],"toolCalls":[{beside}]}},
            {{"role":"user","content":[{results}]}},{{"role":"assistant","content":[{calls}]}},
            {{"role":"user","content":["so",{results}]}}]}}"#
        ),
    );
    assert!(built.contains(r#""tool_use_id":"0""#));
}

#[test]
fn what_is_no_history_is_refused_with_its_place() {
    for (history, expected) in [
        ("{}", "expected `messages`"),
        (r#"{"messages":[{"role":"owl","content":""}]}"#, "found another word at /messages/0/role"),
        (r#"{"messages":[{"role":7}]}"#, "at /messages/0/role"),
        (
            r#"{"messages":[{"id":1,"body":{"content":"x"}}]}"#,
            "found none at /messages/0/body/role",
        ),
        (r#"{"messages":[{"role":"user","tool_calls":[7]}]}"#, "at /messages/0/tool_calls/0"),
        (r#"{"messages":[{"role":"user","toolCalls":7}]}"#, "at /messages/0/toolCalls"),
        (
            r#"{"messages":[{"role":"user"},{"id":1,"body":{"role":"user","content":["a",{"type":"image_url","image_url":7}]}}]}"#,
            "at /messages/1/body/content/1/image_url",
        ),
        (
            r#"{"messages":[{"role":"assistant","toolCalls":[{"id":"a"}],"tool_calls":[{"id":"b"}]}]}"#,
            "expected one list of calls, found two at /messages/0/tool_calls",
        ),
        (r#"{"messages":[],"summary":3}"#, "at /summary"),
    ] {
        let error = History::parse(history).unwrap_err().to_string();
        assert!(error.ends_with(expected), "{error}");
    }
}
