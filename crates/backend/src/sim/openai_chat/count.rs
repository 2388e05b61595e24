//! Token counts of Chat Completions.

use serde_json::{Value, json};

use crate::sim::plan::Plan;
use crate::sim::question::Question;
use crate::sim::tokens::Count;

const MARKER: &str = "prompt_cache_breakpoint";

/// What a prompt counts.
pub(super) fn input(body: &Value) -> Count {
    let mut count = Count::default();
    for key in ["tools", "functions", "messages"] {
        count.add(&body[key], MARKER);
    }
    count
}

/// The usage of an answer. A marked prefix is written to the cache by a first call and read from it by a later one.
pub(super) fn usage(question: &Question, plans: &[Plan]) -> Value {
    let thinking: u64 = plans.iter().map(Plan::thinking_tokens).sum();
    let output = thinking + plans.iter().map(Plan::visible_tokens).sum::<u64>();
    let marked = question.input.marked;
    let (read, written) = if question.is_continued() { (marked, 0) } else { (0, marked) };
    json!({
        "prompt_tokens": question.input.total,
        "completion_tokens": output,
        "total_tokens": question.input.total + output,
        "prompt_tokens_details": {"cached_tokens": read, "cache_write_tokens": written, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": thinking, "audio_tokens": 0,
            "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
        },
    })
}
