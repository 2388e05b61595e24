//! Token counts of Messages.

use serde_json::{Value, json};

use crate::sim::plan::Plan;
use crate::sim::question::Question;
use crate::sim::tokens::Count;

const MARKER: &str = "cache_control";

/// What a prompt counts, in the order in which it is rendered.
pub(super) fn input(body: &Value) -> Count {
    let mut count = Count::default();
    for key in ["tools", "system", "messages"] {
        count.add(&body[key], MARKER);
    }
    if !body[MARKER].is_null() {
        count.marked = count.total;
    }
    count
}

/// The answer of the counting endpoint.
pub(super) fn answer(body: &Value) -> Value {
    json!({"input_tokens": input(body).total})
}

/// The usage of an answer. A marked prefix is written to the cache by a first call and read from it by a later one.
pub(super) fn usage(question: &Question, plan: &Plan) -> Value {
    let mut usage = before(question);
    usage["output_tokens"] = json!(plan.thinking_tokens() + plan.visible_tokens());
    if plan.thinking.is_some() {
        usage["output_tokens_details"] = json!({"thinking_tokens": plan.thinking_tokens()});
    }
    usage
}

/// The usage that a stream begins with.
pub(super) fn before(question: &Question) -> Value {
    let marked = question.input.marked;
    let (read, written) = if question.is_continued() { (marked, 0) } else { (0, marked) };
    let is_long = question.body.to_string().contains("\"ttl\":\"1h\"");
    let (short, long) = if is_long { (0, written) } else { (written, 0) };
    json!({
        "input_tokens": question.input.total - marked,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
        "cache_creation": {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": long},
        "output_tokens": 1,
        "service_tier": "standard",
        "inference_geo": "not_available",
    })
}
