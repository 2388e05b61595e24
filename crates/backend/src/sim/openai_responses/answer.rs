//! Whole answers of Responses.

use serde_json::{Value, json};

use super::{count, rules};
use crate::sim::openai::CREATED_S;
use crate::sim::plan::{Call, CallInput, End, Plan};
use crate::sim::question::Question;
use crate::sim::{openai, seal};

/// What asks for log probabilities in `include`.
const LOGPROBS: &str = "message.output_text.logprobs";

pub(super) fn whole(question: &Question, plans: &[Plan]) -> Value {
    let Some(plan) = plans.first() else { return Value::Null };
    if question.body["background"] == true {
        let mut queued = envelope(question);
        queued["status"] = json!("queued");
        return queued;
    }
    finished(question, plan)
}

/// A response when all has been said.
pub(super) fn finished(question: &Question, plan: &Plan) -> Value {
    let mut response = envelope(question);
    let is_cut = plan.end == End::Length;
    response["status"] = json!(if is_cut { "incomplete" } else { "completed" });
    if is_cut {
        response["incomplete_details"] = json!({"reason": "max_output_tokens"});
    } else {
        response["completed_at"] = json!(CREATED_S);
    }
    response["output"] = Value::Array(items(question, plan));
    response["usage"] = count::usage(question, plan);
    response
}

/// A response before anything is said: the settings in force.
pub(super) fn envelope(question: &Question) -> Value {
    let body = &question.body;
    let or =
        |name: &str, usual: Value| if body[name].is_null() { usual } else { body[name].clone() };
    let format = if body["text"]["format"].is_null() {
        json!({"type": "text"})
    } else {
        body["text"]["format"].clone()
    };
    let verbosity = body["text"]["verbosity"].as_str().unwrap_or("medium");
    json!({
        "id": question.id("resp_"),
        "object": "response",
        "created_at": CREATED_S,
        "status": "in_progress",
        "background": or("background", json!(false)),
        "completed_at": null,
        "error": null,
        "frequency_penalty": 0.0,
        "incomplete_details": null,
        "instructions": body["instructions"],
        "max_output_tokens": body["max_output_tokens"],
        "max_tool_calls": body["max_tool_calls"],
        "model": question.model,
        "output": [],
        "parallel_tool_calls": or("parallel_tool_calls", json!(true)),
        "presence_penalty": 0.0,
        "previous_response_id": null,
        "prompt_cache_key": body["prompt_cache_key"],
        "reasoning": {"effort": body["reasoning"]["effort"], "summary": body["reasoning"]["summary"]},
        "safety_identifier": body["safety_identifier"],
        "service_tier": "default",
        "store": or("store", json!(true)),
        "temperature": or("temperature", json!(1.0)),
        "text": {"format": format, "verbosity": verbosity},
        "tool_choice": or("tool_choice", json!("auto")),
        "tools": or("tools", json!([])),
        "top_logprobs": or("top_logprobs", json!(0)),
        "top_p": or("top_p", json!(1.0)),
        "truncation": or("truncation", json!("disabled")),
        "usage": null,
        "user": body["user"],
        "metadata": or("metadata", json!({})),
    })
}

pub(super) fn items(question: &Question, plan: &Plan) -> Vec<Value> {
    let mut items = Vec::new();
    items.extend(plan.shown_thinking(question).map(|shown| reasoning(question, shown)));
    if !plan.text.is_empty() {
        items.push(message(question, plan));
    }
    for (index, call) in plan.calls.iter().enumerate() {
        items.push(self::call(question, plan, call, index));
    }
    items
}

fn reasoning(question: &Question, shown: &str) -> Value {
    let summary =
        if shown.is_empty() { json!([]) } else { json!([{"type": "summary_text", "text": shown}]) };
    let sealed = seal::issue(rules::REASONING_SEAL, question.seed, "");
    json!({
        "id": question.id("rs_"), "type": "reasoning", "summary": summary, "encrypted_content": sealed,
    })
}

fn item_id(question: &Question, plan: &Plan, prefix: &str, index: usize) -> String {
    let suffix = if plan.thinking.is_some() { rules::REASONED } else { "" };
    format!("{}_{index}{suffix}", question.id(prefix))
}

fn message(question: &Question, plan: &Plan) -> Value {
    let part = if plan.end == End::Refusal {
        json!({"type": "refusal", "refusal": plan.text})
    } else {
        let logprobs = logprobs(question, &plan.text);
        json!({"type": "output_text", "annotations": [], "logprobs": logprobs, "text": plan.text})
    };
    let status = if plan.end == End::Length { "incomplete" } else { "completed" };
    json!({
        "id": item_id(question, plan, "msg_", 0), "type": "message", "status": status,
        "content": [part], "role": "assistant",
    })
}

/// The probabilities of a text's deltas, where they were asked for.
fn logprobs(question: &Question, text: &str) -> Vec<Value> {
    let include = question.body["include"].as_array();
    match include.is_some_and(|include| include.iter().any(|it| *it == LOGPROBS)) {
        true => openai::logprobs(text, question.body["top_logprobs"].as_u64().unwrap_or(0)),
        false => Vec::new(),
    }
}

fn call(question: &Question, plan: &Plan, call: &Call, index: usize) -> Value {
    let call_id = format!("{}_{index}", question.id("call_"));
    let mut item = match &call.input {
        CallInput::Arguments(arguments) => json!({
            "id": item_id(question, plan, "fc_", index), "type": "function_call", "status": "completed",
            "arguments": arguments.to_string(), "call_id": call_id, "name": call.name,
        }),
        CallInput::Freeform(input) => json!({
            "id": item_id(question, plan, "ctc_", index), "type": "custom_tool_call", "status": "completed",
            "call_id": call_id, "input": input, "name": call.name,
        }),
    };
    if let Some(namespace) = &call.namespace {
        item["namespace"] = json!(namespace);
    }
    item
}
