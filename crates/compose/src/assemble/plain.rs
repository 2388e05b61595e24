//! Any other program: the same sections in the same order, without headers.

use super::ContextMessage;
use super::layout::{InstructionsPlace, Layout, Line};

pub(super) const LAYOUT: Layout = Layout {
    instructions: InstructionsPlace::Section(""),
    team_task: "",
    context: "",
    task: "",
    lines: &line,
};

fn line<'m>(message: &'m ContextMessage<'_>) -> Line<'m> {
    [&message.from, ": ", &message.content, "", "", ""]
}
