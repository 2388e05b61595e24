//! Token counts of Gemini.

use serde_json::{Value, json};

use super::{fault, shape, validate};
use crate::sim::plan::Plan;
use crate::sim::problem::Problem;
use crate::sim::question::Question;
use crate::sim::shape::check as check_shape;
use crate::sim::tokens::Count;

/// What a prompt counts.
pub(super) fn input(body: &Value) -> Count {
    let mut count = Count::default();
    for key in ["tools", "systemInstruction", "contents"] {
        count.add(&body[key], "");
    }
    count
}

/// The answer of `countTokens`: of contents, or of a whole request.
pub(super) fn answer(body: &Value, model: &str) -> Result<Value, Problem> {
    check_shape(body, &shape::COUNT).map_err(|it| fault::violation(&it))?;
    let request = &body["generateContentRequest"];
    if !request.is_null() && !body["contents"].is_null() {
        return Err(Problem::invalid(
            "Only one of contents and generate_content_request may be set.",
        ));
    }
    let counted = if request.is_null() { body } else { request };
    validate::check(counted, model, &shape::BODY)?;
    let total = input(counted).total;
    Ok(json!({
        "totalTokens": total, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": total}],
    }))
}

pub(super) fn usage(question: &Question, plans: &[Plan]) -> Value {
    let thinking: u64 = plans.iter().map(Plan::thinking_tokens).sum();
    let visible: u64 = plans.iter().map(Plan::visible_tokens).sum();
    let prompt = question.input.total;
    let mut usage = json!({
        "promptTokenCount": prompt,
        "totalTokenCount": prompt + visible + thinking,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt}],
    });
    // Zero is not written in protobuf's JSON.
    if visible > 0 {
        usage["candidatesTokenCount"] = json!(visible);
    }
    if thinking > 0 {
        usage["thoughtsTokenCount"] = json!(thinking);
    }
    usage
}
