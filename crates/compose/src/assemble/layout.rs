//! How a prompt looks: the headers of its sections and the form of a line of context.

use super::ContextMessage;

/// The look of one agent's prompt. Headers include the line break that ends them; a plain prompt's are empty.
pub(super) struct Layout {
    pub(super) instructions: InstructionsPlace,
    pub(super) team_task: &'static str,
    pub(super) context: &'static str,
    pub(super) task: &'static str,
    pub(super) lines: &'static dyn Lines,
}

/// Where the instructions go.
pub(super) enum InstructionsPlace {
    /// Beside the prompt, as an argument of the agent's command line.
    Flag,
    /// The prompt's first section, under this header.
    Section(&'static str),
}

/// A line of context in pieces: measured and written from the same list, so that the two cannot differ.
pub(super) type Line<'m> = [&'m str; 6];

/// The newest messages of a context, and what their lines take.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Newest {
    pub(super) count: usize,
    pub(super) bytes: usize,
}

/// The lines of a context. The function that makes one line is all of them.
///
/// The loops are here, behind the pointer, so that the compiler sees each agent's line in its own loop.
pub(super) trait Lines: Sync {
    /// As many of the newest messages as fit into so many bytes; counted from the end, at the cost of what fits.
    fn newest(&self, context: &[ContextMessage<'_>], room: usize) -> Newest;

    fn push(&self, context: &[ContextMessage<'_>], out: &mut String);
}

impl<F> Lines for F
where
    F: for<'m, 'a> Fn(&'m ContextMessage<'a>) -> Line<'m> + Sync,
{
    fn newest(&self, context: &[ContextMessage<'_>], room: usize) -> Newest {
        let mut newest = Newest::default();
        for message in context.iter().rev() {
            let line_break = usize::from(newest.count > 0);
            let line: usize = self(message).iter().map(|piece| piece.len()).sum();
            let bytes = newest.bytes + line_break + line;
            if bytes > room {
                break;
            }
            newest = Newest { count: newest.count + 1, bytes };
        }
        newest
    }

    fn push(&self, context: &[ContextMessage<'_>], out: &mut String) {
        for (index, message) in context.iter().enumerate() {
            if index > 0 {
                out.push('\n');
            }
            self(message).iter().for_each(|piece| out.push_str(piece));
        }
    }
}
