//! Compaction: which messages a summary takes the place of, what a model is asked that writes it, and the conversation
//! afterwards. Who asks that model, and when, is left to the caller.

mod apply;
mod boundary;
mod plan;
mod prompt;
mod transcript;
mod weight;

pub use apply::compacted;
pub use plan::{Keep, Plan, plan, plan_where};
pub use prompt::{PROMPT, Questions, questions, summary_in, summary_text};
pub use weight::weight;
pub(crate) use weight::{MESSAGE_BYTES, of_part};

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
