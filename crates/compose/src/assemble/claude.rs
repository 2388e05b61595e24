//! Claude Code: bracketed headers; the instructions are no part of the prompt but go with `--append-system-prompt`.

use super::ContextMessage;
use super::layout::{InstructionsPlace, Layout, Line};

pub(super) const LAYOUT: Layout = Layout {
    instructions: InstructionsPlace::Flag,
    team_task: "[TEAM_TASK]\n",
    context: "[CONTEXT]\n",
    task: "[MESSAGE]\n",
    lines: &line,
};

fn line<'m>(message: &'m ContextMessage<'_>) -> Line<'m> {
    ["- ", &message.from, " -> ", message.addressee(), ": ", &message.content]
}
