//! Histories that grow the way agents let them grow: what was sent before stays as it was, so that the provider's prompt
//! cache holds.

use sabir_testkit::translate;
use sabir_wire::Protocol;
use serde_json::{Value, json};

/// How many rounds of tools a session has.
const ROUNDS: usize = 6;

/// A session of an agent after so many rounds, with a system message behind every tool result.
fn session(protocol: Protocol, rounds: usize) -> Value {
    let mut turns = vec![json!({"role": "user", "content": "Compare the files."})];
    for round in 0..rounds {
        turns.extend(round_of_turns(protocol, round));
    }
    match protocol {
        Protocol::AnthropicMessages => json!({
            "model": "m", "max_tokens": 1000, "system": "You are an agent.", "messages": turns,
            "tools": [{"name": "read", "input_schema": {"type": "object", "properties": {}}}],
        }),
        Protocol::OpenaiChat => {
            turns.insert(0, json!({"role": "system", "content": "You are an agent."}));
            json!({
                "model": "m", "messages": turns,
                "tools": [{"type": "function", "function": {"name": "read", "parameters": {"type": "object", "properties": {}}}}],
            })
        }
        _ => json!({
            "model": "m", "instructions": "You are an agent.", "input": turns,
            "tools": [{"type": "function", "name": "read", "parameters": {"type": "object", "properties": {}}}],
        }),
    }
}

/// One round: a call, its result, and how many tokens are left.
fn round_of_turns(protocol: Protocol, round: usize) -> Vec<Value> {
    let (id, output) = (format!("call_{round}"), format!("text {round}"));
    let left = format!("<total_tokens>{} tokens left</total_tokens>", 90_000 - 1_000 * round);
    match protocol {
        Protocol::AnthropicMessages => vec![
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "read", "input": {}}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output}]}),
            json!({"role": "system", "content": left}),
        ],
        Protocol::OpenaiChat => vec![
            json!({"role": "assistant", "content": null,
                "tool_calls": [{"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}}]}),
            json!({"role": "tool", "tool_call_id": id, "content": output}),
            json!({"role": "system", "content": left}),
        ],
        _ => vec![
            json!({"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": id, "output": output}),
            json!({"role": "developer", "content": left}),
        ],
    }
}

/// The prompt as the target reads it: what stands before the turns, and the turns.
fn prompt(from: Protocol, to: Protocol, rounds: usize, model: &str) -> (Vec<Value>, Vec<Value>) {
    let body = session(from, rounds).to_string();
    let (there, _) = translate::request(from, to, body.as_bytes(), Some(model))
        .expect("the session can be read");
    let mut there: Value = serde_json::from_str(&there).expect("an encoder writes JSON");
    let turns = there[to.facts().messages()].take();
    let before = ["systemInstruction", "system", "instructions", "tools"];
    let before = before.into_iter().map(|key| there[key].take()).collect();
    (before, turns.as_array().cloned().unwrap_or_default())
}

#[track_caller]
fn check(from: Protocol, to: Protocol, model: &str) {
    let (before, mut earlier) = prompt(from, to, 0, model);
    for rounds in 1..=ROUNDS {
        let (now, turns) = prompt(from, to, rounds, model);
        assert_eq!(now, before, "{from:?} to {to:?}, {model}, round {rounds}");
        assert!(turns.len() > earlier.len(), "{from:?} to {to:?}, {model}, round {rounds}");
        assert_eq!(turns[..earlier.len()], earlier, "{from:?} to {to:?}, {model}, round {rounds}");
        earlier = turns;
    }
}

#[test]
fn a_system_message_behind_every_tool_result_leaves_the_prompt_before_it_alone() {
    let agents = [Protocol::AnthropicMessages, Protocol::OpenaiChat, Protocol::OpenaiResponses];
    let targets = [
        (Protocol::Gemini, ["gemini-3-pro", "gemini-2.5-flash", "some-model"]),
        (Protocol::AnthropicMessages, ["claude-opus-5", "claude-sonnet-4-5", "some-model"]),
        (Protocol::OpenaiChat, ["gpt-4o", "gpt-5.6", "some-model"]),
        (Protocol::OpenaiResponses, ["gpt-4o", "gpt-5.6", "some-model"]),
    ];
    for from in agents {
        for (to, models) in targets.iter().filter(|(to, _)| *to != from) {
            models.iter().for_each(|model| check(from, *to, model));
        }
    }
}
