//! How a prompt looks: the headers of its sections and the form of a line of context.

use super::ContextMessage;

/// The look of one agent's prompt. Headers include the line break that ends them; a plain prompt's are empty.
pub(super) struct Layout {
    pub(super) instructions: InstructionsPlace,
    pub(super) team_task: &'static str,
    pub(super) context: &'static str,
    pub(super) task: &'static str,
    pub(super) line: for<'m> fn(&'m ContextMessage<'_>) -> Line<'m>,
}

/// Where the instructions go.
pub(super) enum InstructionsPlace {
    /// Beside the prompt, as an argument of the agent's command line.
    Flag,
    /// The prompt's first section, under this header.
    Section(&'static str),
}

/// A line of context in pieces, so that it can be measured without being written.
pub(super) struct Line<'m>(pub(super) [&'m str; 6]);

impl Line<'_> {
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|piece| piece.len()).sum()
    }

    pub(super) fn push_to(&self, out: &mut String) {
        self.0.iter().for_each(|piece| out.push_str(piece));
    }
}
