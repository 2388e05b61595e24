//! Errors inside a stream of chunks.

use crate::sim::openai;
use crate::sim::problem::Problem;

pub(super) fn frame(problem: &Problem) -> String {
    format!("data: {}\n\n", openai::error(problem))
}
