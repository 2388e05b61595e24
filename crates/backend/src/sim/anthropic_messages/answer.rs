//! Whole answers of Messages.

use serde_json::{Value, json};

use super::{count, rules};
use crate::sim::plan::{End, Plan};
use crate::sim::question::Question;
use crate::sim::{script, seal};

pub(super) fn whole(question: &Question, plans: &[Plan]) -> Value {
    let Some(plan) = plans.first() else { return Value::Null };
    let mut message = envelope(question);
    message["content"] = Value::Array(blocks(question, plan));
    let ending = ending(plan);
    for name in ["stop_reason", "stop_sequence", "stop_details"] {
        message[name] = ending[name].clone();
    }
    message["usage"] = count::usage(question, plan);
    message
}

/// A message before anything is said.
pub(super) fn envelope(question: &Question) -> Value {
    json!({
        "model": question.model,
        "id": question.id("msg_01"),
        "type": "message",
        "role": "assistant",
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "stop_details": null,
        "usage": count::before(question),
    })
}

pub(super) fn blocks(question: &Question, plan: &Plan) -> Vec<Value> {
    let mut blocks = thinking(question, plan);
    if !plan.text.is_empty() {
        blocks.push(json!({"type": "text", "text": plan.text}));
    }
    for (index, call) in plan.calls.iter().enumerate() {
        let input: Value = serde_json::from_str(&call.input_text()).unwrap_or_default();
        let id = format!("{}_{index}", question.id("toolu_01"));
        blocks.push(json!({"type": "tool_use", "id": id, "name": call.name, "input": input}));
    }
    blocks
}

/// What was thought, sealed; with `redacted thinking` in the user's text there is a block that only we can read.
fn thinking(question: &Question, plan: &Plan) -> Vec<Value> {
    let Some(shown) = plan.shown_thinking(question) else { return Vec::new() };
    let signature = seal::issue(rules::THINKING_SEAL, question.seed, shown);
    let mut blocks = vec![json!({"type": "thinking", "thinking": shown, "signature": signature})];
    if script::names(&question.instructions(), "redacted thinking") {
        let data = seal::issue(rules::REDACTED_SEAL, question.seed, "");
        blocks.push(json!({"type": "redacted_thinking", "data": data}));
    }
    blocks
}

/// Why the answer ends, as `message_delta` says it too.
pub(super) fn ending(plan: &Plan) -> Value {
    let (reason, stop, details) = match &plan.end {
        End::Stop => ("end_turn", Value::Null, Value::Null),
        End::StopSequence(stop) => ("stop_sequence", json!(stop), Value::Null),
        End::Length => ("max_tokens", Value::Null, Value::Null),
        End::Calls => ("tool_use", Value::Null, Value::Null),
        End::Refusal => {
            let explanation = "The simulator was asked to refuse.";
            let details =
                json!({"type": "refusal", "category": "general_harms", "explanation": explanation});
            ("refusal", Value::Null, details)
        }
    };
    json!({"stop_reason": reason, "stop_sequence": stop, "stop_details": details})
}

pub(super) fn models() -> Value {
    let data = ["sim", "claude-opus-4-6", "claude-sonnet-5-1"].map(model);
    json!({"data": data, "has_more": false, "first_id": "sim", "last_id": "claude-sonnet-5-1"})
}

pub(super) fn model(id: &str) -> Value {
    json!({
        "type": "model", "id": id, "display_name": id, "created_at": "2026-01-01T00:00:00Z",
        "lifecycle": "active", "max_input_tokens": 200_000, "max_tokens": 64_000,
    })
}
