//! Prompts to the byte: the worked outputs, every number of the budget, and laws over generated inputs.

mod agents;
mod budget;
mod conversation;
mod dialogue;
mod gemini;
mod properties;

use super::{Agent, ContextMessage, Input, Output};

/// The worked example in which every section has content.
fn example() -> Input<'static> {
    Input {
        context: vec![
            ContextMessage::new("kailai", "Can you design the UI?").addressed("carol"),
            ContextMessage::new("max", "I suggest a clean interface").addressed("carol"),
        ],
        team_task: Some("Design the user dashboard".into()),
        system_instruction: Some("You are Carol, a UI/UX designer".into()),
        instruction_file: Some("Focus on accessibility and user experience".into()),
        ..Input::new("What UI framework should we use?")
    }
}

fn assemble(agent: Agent, input: &Input<'_>) -> Output {
    agent.assemble(input).expect("the fixed parts fit")
}

fn within(bytes_max: usize, input: Input<'_>) -> Input<'_> {
    Input { bytes_max, ..input }
}
