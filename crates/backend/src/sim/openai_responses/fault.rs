//! Errors inside a stream of events.

use serde_json::json;

use crate::sim::openai;
use crate::sim::problem::Problem;

/// The event `error`, nested as live streams have it.
pub(super) fn frame(problem: &Problem, sequence_number: usize) -> String {
    let error = &openai::error(problem)["error"];
    let event = json!({"type": "error", "sequence_number": sequence_number, "error": error});
    format!("event: error\ndata: {event}\n\n")
}
