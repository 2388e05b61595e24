//! Fitting sections into a budget: the oldest context goes first, then the end of the task, and nothing else ever.

use super::Overflow;
use super::Trimmed;
use super::sections::Sections;

/// Cuts the sections until they fit, or says why they cannot.
pub(super) fn fit(sections: &mut Sections<'_>, bytes_max: usize) -> Result<Trimmed, Overflow> {
    let needed_bytes = sections.fixed_bytes();
    if needed_bytes > bytes_max {
        return Err(Overflow { needed_bytes, allowed_bytes: bytes_max });
    }
    let context_messages = trim_context(sections, bytes_max);
    // Only where no context is left may the task be touched: beside context it fitted whole.
    let task_bytes = match sections.context.is_empty() {
        true => trim_task(sections, bytes_max),
        false => 0,
    };
    Ok(Trimmed { context_messages, task_bytes })
}

/// Keeps the newest messages that fit beside the whole task, and says how many were left out.
///
/// Counted from the newest, so that the cost is that of what is kept.
fn trim_context(sections: &mut Sections<'_>, bytes_max: usize) -> usize {
    let mut room = sections.context_room(bytes_max);
    let mut left_out = sections.context.len();
    for message in sections.context.iter().rev() {
        let line = sections.line_bytes(message);
        let Some(rest) = room.and_then(|room| room.checked_sub(line)) else { break };
        left_out -= 1;
        // The next older line needs a line break as well.
        room = rest.checked_sub(1);
    }
    sections.context = &sections.context[left_out..];
    left_out
}

/// Keeps as many whole characters of the task as fit, and says how many bytes were cut.
fn trim_task(sections: &mut Sections<'_>, bytes_max: usize) -> usize {
    let room = sections.task_room(bytes_max).unwrap_or(0);
    let task = sections.task;
    sections.task = &task[..task.floor_char_boundary(room)];
    task.len() - sections.task.len()
}
