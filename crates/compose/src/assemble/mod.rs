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
pub use dialogue::Dialogue;
pub use dialogue::Prepared;
pub use dialogue::TEAM_TASK_BYTES_MAX;
pub use dialogue::Utterance;
pub use dialogue::WINDOW_DEFAULT;
pub use input::BYTES_MAX_DEFAULT;
pub use input::ContextMessage;
pub use input::Input;
pub use marker::Cleaned;
pub use marker::clean;
pub use output::FLAG_BYTES_MAX;
pub use output::Output;
pub use output::Overflow;
pub use output::Trimmed;
pub use warning::Warning;
