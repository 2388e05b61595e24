//! Reading `[compaction]`: who writes summaries of long conversations, and what is asked for.

use crate::config::problem::Collector;
use crate::config::secret_source::Outside;
use crate::config::section::{Item, Section};
use crate::config::types::Compaction;
use crate::config::{bounded, keys};

/// No prompt is longer.
const PROMPT_BYTES_MAX: usize = 64 * 1024;

pub(super) fn read(
    top: &Section<'_, '_>,
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> Compaction {
    let section = top.item("compaction").and_then(|item| item.section(keys::COMPACTION, problems));
    let Some(section) = section else { return Compaction::default() };
    let model = section.item("model").and_then(|item| item.string(problems));
    let prompt = section.item("prompt_file").and_then(|item| prompt(item, outside, problems));
    Compaction { model: model.map(str::to_owned), prompt }
}

fn prompt(
    item: Item<'_, '_>,
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> Option<String> {
    let path = outside.path(item.string(problems)?);
    match bounded::read(&path, PROMPT_BYTES_MAX) {
        Ok(prompt) if !prompt.trim().is_empty() => return Some(prompt),
        Ok(_) => item.remark(format!("{} is empty", path.display()), problems),
        Err(error) => {
            let message =
                format!("cannot read {}: {error}; mend the path or the file", path.display());
            item.remark(message, problems);
        }
    }
    None
}
