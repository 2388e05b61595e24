//! Codex: bracketed headers, with the instructions as the first section of the prompt.

use super::ContextMessage;
use super::layout::{InstructionsPlace, Layout, Line};

pub(super) const LAYOUT: Layout = Layout {
    instructions: InstructionsPlace::Section("[SYSTEM]\n"),
    team_task: "[TEAM_TASK]\n",
    context: "[CONTEXT]\n",
    task: "[MESSAGE]\n",
    lines: &line,
};

fn line<'m>(message: &'m ContextMessage<'_>) -> Line<'m> {
    ["- ", &message.from, " -> ", message.addressee(), ": ", &message.content]
}
