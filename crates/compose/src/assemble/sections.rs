//! The sections of a prompt as data: measured and rendered by the same rules, so that neither can drift from the other.

use super::layout::{InstructionsPlace, Layout, Newest};
use super::text::trimmed;
use super::{ContextMessage, Input};

/// What stands between two sections, and between two texts of instructions.
const JOINT: &str = "\n\n";

/// The content of a prompt. What is empty has no section.
pub(super) struct Sections<'i> {
    layout: &'static Layout,
    instructions: Vec<&'i str>,
    team_task: &'i str,
    pub(super) context: &'i [ContextMessage<'i>],
    pub(super) task: &'i str,
}

impl<'i> Sections<'i> {
    pub(super) fn of(input: &'i Input<'_>, layout: &'static Layout) -> Self {
        let instructions = [&input.system_instruction, &input.instruction_file];
        let instructions = instructions.into_iter().flatten().map(|text| trimmed(text));
        Self {
            layout,
            instructions: instructions.filter(|text| !text.is_empty()).collect(),
            team_task: input.team_task.as_ref().map_or("", |text| trimmed(text)),
            context: &input.context,
            task: trimmed(&input.current_message),
        }
    }

    /// The size of what is never cut.
    pub(super) fn fixed_bytes(&self) -> usize {
        self.fixed_with([0, 0])
    }

    /// How many bytes of lines the context may have beside the whole task; none if not even its header fits.
    pub(super) fn context_room(&self, bytes_max: usize) -> Option<usize> {
        let least = self.layout.context.len() + 1;
        let taken = self.fixed_with([least, self.task_bytes()]) - 1;
        bytes_max.checked_sub(taken)
    }

    /// How many bytes the task may have without any context; none if not even its header fits.
    pub(super) fn task_room(&self, bytes_max: usize) -> Option<usize> {
        let taken = self.fixed_with([0, self.layout.task.len() + 1]) - 1;
        bytes_max.checked_sub(taken)
    }

    /// The size of everything, when the lines of context take so many bytes.
    pub(super) fn bytes(&self, lines: usize) -> usize {
        let context = section_bytes(self.layout.context, lines);
        self.fixed_with([context, self.task_bytes()])
    }

    /// As much of the newest context as has lines of at most so many bytes.
    pub(super) fn newest(&self, room: usize) -> Newest {
        self.layout.lines.newest(self.context, room)
    }

    /// The instructions, where they go beside the prompt.
    pub(super) fn flag(&self) -> Option<String> {
        let is_flag = matches!(self.layout.instructions, InstructionsPlace::Flag);
        (is_flag && !self.instructions.is_empty()).then(|| self.instructions.join(JOINT))
    }

    /// Writes the prompt, which takes no more than so many bytes.
    pub(super) fn prompt(&self, bytes: usize) -> String {
        let mut out = String::with_capacity(bytes);
        if let InstructionsPlace::Section(header) = self.layout.instructions {
            for (index, text) in self.instructions.iter().enumerate() {
                begin(&mut out, if index == 0 { header } else { "" });
                out.push_str(text);
            }
        }
        if !self.team_task.is_empty() {
            begin(&mut out, self.layout.team_task);
            out.push_str(self.team_task);
        }
        if !self.context.is_empty() {
            begin(&mut out, self.layout.context);
            self.layout.lines.push(self.context, &mut out);
        }
        if !self.task.is_empty() {
            begin(&mut out, self.layout.task);
            out.push_str(self.task);
        }
        out
    }

    /// The size of everything when context and task have these sizes, headers included; 0 is no section.
    fn fixed_with(&self, [context, task]: [usize; 2]) -> usize {
        let texts: usize = self.instructions.iter().map(|text| text.len()).sum();
        let gaps = self.instructions.len().saturating_sub(1);
        let instructions = texts + gaps * JOINT.len();
        let team_task = section_bytes(self.layout.team_task, self.team_task.len());
        match self.layout.instructions {
            InstructionsPlace::Flag => instructions + joined_bytes([0, team_task, context, task]),
            InstructionsPlace::Section(header) => {
                joined_bytes([section_bytes(header, instructions), team_task, context, task])
            }
        }
    }

    fn task_bytes(&self) -> usize {
        section_bytes(self.layout.task, self.task.len())
    }
}

/// The size of a section; without a body there is none.
fn section_bytes(header: &str, body: usize) -> usize {
    match body {
        0 => 0,
        body => header.len() + body,
    }
}

/// The size of the sections that are there, with the joints between them.
fn joined_bytes(sections: [usize; 4]) -> usize {
    let count = sections.iter().filter(|bytes| **bytes > 0).count();
    sections.iter().sum::<usize>() + count.saturating_sub(1) * JOINT.len()
}

fn begin(out: &mut String, header: &str) {
    if !out.is_empty() {
        out.push_str(JOINT);
    }
    out.push_str(header);
}
