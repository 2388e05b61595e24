//! What was asked of the builder, scenario by scenario.

use sabir_compose::history::History;
use sabir_compose::{Built, Misplaced, Policy, Unanswered};
use sabir_wire::Protocol;
use serde_json::{Value, json};

use crate::simulator;

fn build(history: &Value) -> Value {
    let text = history.to_string();
    let history = History::parse(&text).unwrap();
    let built = history.builder().build().unwrap();
    serde_json::from_str(&history.to_json(&built)).unwrap()
}

fn tools_in(built: &Value) -> Vec<&Value> {
    let messages = built["messages"].as_array().unwrap();
    messages.iter().filter(|message| message["role"] == "tool").collect()
}

fn lines(built: &Built<'_>) -> Vec<String> {
    built.log.lines().iter().map(ToString::to_string).collect()
}

#[test]
fn orphaned_tool_messages_are_removed_in_both_shapes() {
    let blocks = json!({"messages": [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "call_1"}]},
        {"role": "tool", "content": [{"tool_use_id": "call_1"}]},
        {"role": "tool", "content": [{"tool_use_id": "call_2"}]},
    ]});
    let lists = json!({"messages": [
        {"role": "assistant", "content": "", "toolCalls": [{"id": "call_1", "type": "function",
            "function": {"name": "look", "arguments": "{}"}}]},
        {"role": "tool", "content": "seen", "toolCallId": "call_1"},
        {"role": "tool", "content": "seen", "toolCallId": "call_2"},
    ]});
    for history in [blocks, lists] {
        let built = build(&history);
        let [tool] = tools_in(&built).try_into().unwrap();
        assert_eq!(tool["toolCallId"], "call_1");
        assert_eq!(built["messages"].as_array().unwrap().len(), 2);
        assert_eq!(built["trace"][0]["pointer"], "/messages/2");
    }
}

/// Eight messages, of which the first four are summed up and the last is empty.
fn flow() -> Value {
    let message = |id: u32| {
        let role = if id % 2 == 1 { "user" } else { "assistant" };
        let content = if id == 8 { String::new() } else { format!("m{id}") };
        json!({"id": id, "body": {"role": role, "content": content, "segments": []}})
    };
    let summary = json!({"messageIds": [1, 2, 3, 4], "startMessageId": 1, "summary": "They met."});
    let messages: Vec<Value> = (1..=8).map(message).collect();
    json!({"messages": messages, "systemPrompts": ["P1", "P2"], "summary": summary})
}

const SUMMARY: &str = "[Previous conversation summary (4 messages compressed)]\n\nThey met.";

#[test]
fn the_eight_message_flow_is_built() {
    let expected = json!([
        {"role": "system", "content": "P1\nP2"},
        {"role": "system", "content": SUMMARY},
        {"role": "user", "content": "m5"},
        {"role": "assistant", "content": "m6"},
        {"role": "user", "content": "m7"},
    ]);
    assert_eq!(build(&flow())["messages"], expected);
}

#[test]
fn the_flow_reaches_all_four_providers_with_its_summary() {
    let text = flow().to_string();
    for protocol in Protocol::ALL {
        let history = History::parse(&text).unwrap();
        let built = history.builder().set_policy(Policy::towards(protocol)).build().unwrap();
        let body = simulator::takes(protocol, &built.into_messages());
        assert!(body.contains("They met.") && body.contains("P1\\nP2"), "{body}");
    }
}

#[test]
fn an_unknown_start_uses_all_messages() {
    let mut history = flow();
    history["summary"]["startMessageId"] = json!("nowhere");
    let text = history.to_string();
    let built = History::parse(&text).unwrap().builder().build().unwrap();
    assert_eq!(built.turns.len(), 8);
    let warning = "[MessageBuilder] startMessageId not found, using all messages";
    assert_eq!(lines(&built)[0], warning);
}

#[test]
fn a_message_without_an_id_outlives_a_summary() {
    let mut history = flow();
    let typed = json!({"role": "user", "content": "just typed"});
    history["messages"].as_array_mut().unwrap().push(typed.clone());
    let built = build(&history);
    assert_eq!(built["messages"].as_array().unwrap().last(), Some(&typed));
}

#[test]
fn messages_before_the_start_vanish_though_not_listed() {
    let mut history = flow();
    history["summary"] = json!({"messageIds": [4], "startMessageId": 4, "summary": "s"});
    let built = build(&history);
    let contents: Vec<&Value> =
        built["messages"].as_array().unwrap().iter().map(|message| &message["content"]).collect();
    let summary_text = "[Previous conversation summary (1 messages compressed)]\n\ns";
    assert_eq!(contents, ["P1\nP2", summary_text, "m5", "m6", "m7"]);
}

/// Only what the design document repairs.
const LITERAL: Policy = Policy {
    blank: sabir_compose::Blank::Assistant,
    misplaced: Misplaced::Keep,
    unanswered: Unanswered::Keep,
    opening: sabir_compose::Opening::Keep,
    summary_role: sabir_compose::SummaryRole::System,
    target: None,
};

#[test]
fn errors_and_success_have_their_words() {
    let first = json!({"messages": [{"role": "tool", "content": [{"tool_use_id": "a"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]}]})
    .to_string();
    let first = History::parse(&first).unwrap();
    let refused = first.builder().set_policy(LITERAL).build().unwrap_err();
    let words = "[MessageBuilder] Messages cannot start with a tool message";
    assert_eq!(refused.to_string(), words);
    let empty = History::parse(r#"{"messages":[],"summary":null}"#).unwrap();
    let refused = empty.builder().build().unwrap_err();
    assert_eq!(refused.to_string(), "[MessageBuilder] Messages cannot be empty");
    let flow = flow().to_string();
    let built = History::parse(&flow).unwrap().builder().build().unwrap();
    assert_eq!(
        lines(&built),
        [
            "[MessageBuilder] Filtering empty assistant message",
            "[MessageBuilder] Validation passed: 5 messages",
        ]
    );
}

#[test]
fn a_result_whose_call_is_summed_up_goes_without_an_error() {
    let call = json!([{"type": "tool_use", "id": "call_1", "name": "look", "input": {}}]);
    let history = json!({
        "messages": [
            {"id": "1", "body": {"role": "user", "content": "u"}},
            {"id": "2", "body": {"role": "assistant", "content": call}},
            {"id": "3", "body": {"role": "tool", "content": "seen", "toolCallId": "call_1"}},
            {"id": "4", "body": {"role": "user", "content": "v"}},
        ],
        "summary": {"messageIds": ["1", "2"], "startMessageId": "1", "summary": "s"},
    });
    let built = build(&history);
    assert_eq!(tools_in(&built).len(), 0);
    assert_eq!(built["messages"].as_array().unwrap().len(), 2);
}

#[test]
fn a_call_without_result_is_repaired_for_all_four_providers() {
    let call = json!([{"type": "tool_use", "id": "call_1", "name": "look", "input": {}}]);
    let lists = json!([{"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]);
    for message in [
        json!({"role": "assistant", "content": call}),
        json!({"role": "assistant", "content": "", "toolCalls": lists}),
    ] {
        let text = json!({"messages": [{"role": "user", "content": "u"}, message]}).to_string();
        for protocol in Protocol::ALL {
            for unanswered in [Unanswered::Answer, Unanswered::Drop] {
                let policy = Policy { unanswered, ..Policy::towards(protocol) };
                let history = History::parse(&text).unwrap();
                let built = history.builder().set_policy(policy).build().unwrap();
                assert_eq!(built.trace.changes()[0].pointer, "/messages/1");
                simulator::takes(protocol, &built.into_messages());
            }
        }
    }
}
