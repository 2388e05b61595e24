//! Prompts for agent CLIs: what was said, by whom, and what is to be done, as one text in the form that each CLI expects.
//!
//! An [`Input`] becomes sections, the sections are fitted into the budget, and only then is anything rendered. An
//! [`Agent`]'s file says nothing but how its prompt looks.

mod agent;
mod claude;
mod codex;
mod conversation;
mod dialogue;
mod gemini;
mod input;
mod layout;
mod marker;
mod output;
mod plain;
mod sections;
#[cfg(test)]
mod tests;
mod text;
mod trim;
mod warning;

pub use agent::Agent;
pub use dialogue::{Dialogue, Prepared, TEAM_TASK_BYTES_MAX, Utterance, WINDOW_DEFAULT};
pub use input::{BYTES_MAX_DEFAULT, ContextMessage, Input};
pub use marker::{Cleaned, clean, mark, names};
pub use output::{FLAG_BYTES_MAX, Output, Overflow, Trimmed};
pub use warning::Warning;
