//! Token counts of Responses.

use serde_json::{Value, json};

use crate::sim::plan::Plan;
use crate::sim::question::Question;
use crate::sim::tokens::Count;

const MARKER: &str = "prompt_cache_breakpoint";

/// What a prompt counts.
pub(super) fn input(body: &Value) -> Count {
    let mut count = Count::default();
    for key in ["tools", "instructions", "input"] {
        count.add(&body[key], MARKER);
    }
    count
}

/// The answer of the counting endpoint.
pub(super) fn answer(body: &Value) -> Value {
    json!({"object": "response.input_tokens", "input_tokens": input(body).total})
}

/// The usage of an answer. A marked prefix is written to the cache by a first call and read from it by a later one.
pub(super) fn usage(question: &Question, plan: &Plan) -> Value {
    let marked = question.input.marked;
    let (read, written) = if question.is_continued() { (marked, 0) } else { (0, marked) };
    let output = plan.thinking_tokens() + plan.visible_tokens();
    json!({
        "input_tokens": question.input.total,
        "input_tokens_details": {"cached_tokens": read, "cache_write_tokens": written},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": plan.thinking_tokens()},
        "total_tokens": question.input.total + output,
    })
}
