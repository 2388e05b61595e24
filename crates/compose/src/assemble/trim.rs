//! Fitting sections into a budget: the oldest context goes first, then the end of the task, and nothing else ever.

use super::sections::Sections;
use super::{Overflow, Trimmed};

/// Sections that fit.
pub(super) struct Fitted<'i> {
    pub(super) sections: Sections<'i>,
    /// What they take, the flag included.
    pub(super) bytes: usize,
    pub(super) trimmed: Trimmed,
}

/// Cuts the sections until they fit, or says why they cannot.
pub(super) fn fit(mut sections: Sections<'_>, bytes_max: usize) -> Result<Fitted<'_>, Overflow> {
    let needed_bytes = sections.fixed_bytes();
    if needed_bytes > bytes_max {
        return Err(Overflow { needed_bytes, allowed_bytes: bytes_max });
    }
    let newest = sections.newest(sections.context_room(bytes_max).unwrap_or(0));
    let context_messages = sections.context.len() - newest.count;
    sections.context = &sections.context[context_messages..];
    // Only where no context is left may the task be touched: beside context it fits whole.
    let task_bytes = match newest.count {
        0 => trim_task(&mut sections, bytes_max),
        _ => 0,
    };
    let trimmed = Trimmed { context_messages, task_bytes };
    Ok(Fitted { bytes: sections.bytes(newest.bytes), sections, trimmed })
}

/// Keeps as many whole characters of the task as fit, and says how many bytes were cut.
fn trim_task(sections: &mut Sections<'_>, bytes_max: usize) -> usize {
    let room = sections.task_room(bytes_max).unwrap_or(0);
    let task = sections.task;
    sections.task = &task[..task.floor_char_boundary(room)];
    task.len() - sections.task.len()
}
