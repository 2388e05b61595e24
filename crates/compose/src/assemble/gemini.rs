//! Gemini CLI: headers in natural language, and lines that do not say to whom somebody spoke.

use super::ContextMessage;
use super::layout::{InstructionsPlace, Layout, Line};

pub(super) const LAYOUT: Layout = Layout {
    instructions: InstructionsPlace::Section("Instructions:\n"),
    team_task: "Team Task:\n",
    context: "Conversation so far:\n",
    task: "Your task:\n",
    lines: &line,
};

fn line<'m>(message: &'m ContextMessage<'_>) -> Line<'m> {
    ["- ", &message.from, ": ", &message.content, "", ""]
}
