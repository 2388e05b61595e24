//! Whole answers of Gemini.

use serde_json::{Value, json};

use super::{count, rules};
use crate::sim::plan::{End, Plan};
use crate::sim::question::Question;
use crate::sim::{chunk, seal};

pub(super) fn whole(question: &Question, plans: &[Plan]) -> Value {
    let candidates = plans.iter().enumerate();
    let candidates: Vec<Value> =
        candidates.map(|(index, plan)| candidate(question, plan, index)).collect();
    let mut response = envelope(question);
    response["candidates"] = Value::Array(candidates);
    response["usageMetadata"] = count::usage(question, plans);
    response
}

/// What every chunk has.
pub(super) fn envelope(question: &Question) -> Value {
    json!({
        "candidates": [], "usageMetadata": {}, "modelVersion": question.model, "responseId": question.id(""),
    })
}

fn candidate(question: &Question, plan: &Plan, index: usize) -> Value {
    let mut candidate = json!({"content": {"role": "model"}});
    let parts = parts(question, plan);
    if !parts.is_empty() {
        candidate["content"] = json!({"parts": parts, "role": "model"});
    }
    close(&mut candidate, plan, index);
    weigh(&mut candidate, question, &plan.text);
    candidate
}

/// Writes the log probabilities of a text's deltas, where they were asked for.
pub(super) fn weigh(candidate: &mut Value, question: &Question, text: &str) {
    let config = &question.body["generationConfig"];
    if config["responseLogprobs"] != true || text.is_empty() {
        return;
    }
    let tokens = chunk::deltas(text);
    let chosen: Vec<Value> = tokens.iter().map(|it| token(it, CHOSEN_LOGPROB)).collect();
    candidate["avgLogprobs"] = json!(CHOSEN_LOGPROB);
    candidate["logprobsResult"] = json!({"chosenCandidates": chosen});
    if let Some(count) = config["logprobs"].as_u64().filter(|count| *count > 0) {
        let top: Vec<Value> = tokens.iter().map(|it| alternatives(it, count)).collect();
        candidate["logprobsResult"]["topCandidates"] = json!(top);
    }
}

/// How likely every token is that a simulator chooses.
const CHOSEN_LOGPROB: f64 = -0.125;

/// The token itself and others that might have stood in its place.
fn alternatives(chosen: &str, count: u64) -> Value {
    let candidates = (0..count).map(|rank| match rank {
        0 => token(chosen, CHOSEN_LOGPROB),
        _ => token(&format!("{chosen}{rank}"), -2.0 - rank as f64),
    });
    json!({"candidates": candidates.collect::<Vec<Value>>()})
}

fn token(token: &str, logprob: f64) -> Value {
    let number: u32 = token.bytes().map(u32::from).sum();
    json!({"token": token, "tokenId": number, "logProbability": logprob})
}

/// Writes what the end of a candidate says.
pub(super) fn close(candidate: &mut Value, plan: &Plan, index: usize) {
    candidate["finishReason"] = json!(match plan.end {
        End::Length => "MAX_TOKENS",
        End::Refusal => "SAFETY",
        End::Stop | End::StopSequence(_) | End::Calls => "STOP",
    });
    candidate["index"] = json!(index);
    if plan.end == End::Refusal {
        candidate["safetyRatings"] = json!([{"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": true}]);
    }
    if plan.end == End::Calls {
        candidate["finishMessage"] = json!("Model generated function call(s).");
    }
}

/// Thoughts, the text, the calls. What was thought is sealed on the first call, or else on an empty text at the end.
pub(super) fn parts(question: &Question, plan: &Plan) -> Vec<Value> {
    let mut parts = Vec::new();
    let shown = plan.shown_thinking(question).filter(|it| !it.is_empty());
    parts.extend(shown.map(|shown| json!({"text": shown, "thought": true})));
    if !plan.text.is_empty() {
        parts.push(json!({"text": plan.text}));
    }
    let first_call = parts.len();
    for (index, call) in plan.calls.iter().enumerate() {
        let args: Value = serde_json::from_str(&call.input_text()).unwrap_or_default();
        let id = format!("{}_{index}", question.id("fc_"));
        parts.push(json!({"functionCall": {"name": call.name, "args": args, "id": id}}));
    }
    match parts.get_mut(first_call) {
        _ if plan.thinking.is_none() => {}
        Some(call) => seal(question, call),
        None => {
            let mut end = json!({"text": ""});
            seal(question, &mut end);
            parts.push(end);
        }
    }
    parts
}

fn seal(question: &Question, part: &mut Value) {
    let sealed = seal::issue(rules::THOUGHT_SEAL, question.seed, &rules::bound(part));
    part["thoughtSignature"] = json!(sealed);
}

pub(super) fn models() -> Value {
    let models = ["sim", "gemini-2.5-flash", "gemini-3-pro-preview"].map(model);
    json!({"models": models})
}

pub(super) fn model(id: &str) -> Value {
    json!({
        "name": format!("models/{id}"), "baseModelId": id, "version": "001", "displayName": id,
        "description": "A simulated model", "inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
        "temperature": 1, "maxTemperature": 2, "topP": 0.95, "topK": 64, "thinking": true,
    })
}
