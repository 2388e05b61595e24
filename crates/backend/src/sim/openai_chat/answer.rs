//! Whole answers of Chat Completions.

use serde_json::{Value, json};

use super::count;
use crate::sim::openai;
use crate::sim::openai::CREATED_S;
use crate::sim::plan::{Call, CallInput, End, Plan};
use crate::sim::question::Question;

pub(super) fn whole(question: &Question, plans: &[Plan]) -> Value {
    let choices: Vec<Value> = plans
        .iter()
        .enumerate()
        .map(|(index, plan)| {
            json!({
                "index": index,
                "message": message(question, plan, index),
                "logprobs": logprobs(question, &plan.text),
                "finish_reason": finish_reason(question, plan),
            })
        })
        .collect();
    json!({
        "id": question.id("chatcmpl-"),
        "object": "chat.completion",
        "created": CREATED_S,
        "model": question.model,
        "choices": choices,
        "usage": count::usage(question, plans),
        "service_tier": "default",
        "system_fingerprint": FINGERPRINT,
    })
}

pub(super) const FINGERPRINT: &str = "fp_sabir_sim";

fn message(question: &Question, plan: &Plan, candidate: usize) -> Value {
    let is_refused = plan.end == End::Refusal;
    let has_no_text = is_refused || !plan.calls.is_empty();
    let mut message = json!({
        "role": "assistant",
        "content": if has_no_text { Value::Null } else { json!(plan.text) },
        "refusal": if is_refused { json!(plan.text) } else { Value::Null },
        "annotations": [],
    });
    if wants_old_functions(question) {
        if let Some(call) = plan.calls.first() {
            message["function_call"] = json!({"name": call.name, "arguments": call.input_text()});
        }
    } else if !plan.calls.is_empty() {
        let calls = plan.calls.iter().enumerate();
        message["tool_calls"] =
            calls.map(|(index, it)| call(question, it, candidate, index)).collect();
    }
    message
}

/// Whether the tools came in the deprecated `functions`.
pub(super) fn wants_old_functions(question: &Question) -> bool {
    !question.body["functions"].is_null()
}

pub(super) fn call_id(question: &Question, candidate: usize, index: usize) -> String {
    format!("{}_{candidate}_{index}", question.id("call_"))
}

fn call(question: &Question, call: &Call, candidate: usize, index: usize) -> Value {
    let id = call_id(question, candidate, index);
    match &call.input {
        CallInput::Arguments(arguments) => json!({
            "id": id, "type": "function",
            "function": {"name": call.name, "arguments": arguments.to_string()},
        }),
        CallInput::Freeform(input) => {
            json!({"id": id, "type": "custom", "custom": {"name": call.name, "input": input}})
        }
    }
}

pub(super) fn finish_reason(question: &Question, plan: &Plan) -> &'static str {
    match plan.end {
        End::Stop | End::StopSequence(_) | End::Refusal => "stop",
        End::Length => "length",
        End::Calls if wants_old_functions(question) => "function_call",
        End::Calls => "tool_calls",
    }
}

/// The probabilities of a text's deltas, where they were asked for.
pub(super) fn logprobs(question: &Question, text: &str) -> Value {
    if question.body["logprobs"] != true || text.is_empty() {
        return Value::Null;
    }
    let others = question.body["top_logprobs"].as_u64().unwrap_or(0);
    json!({"content": openai::logprobs(text, others), "refusal": null})
}
