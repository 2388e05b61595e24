//! Reading `[compaction]`: who writes summaries of long conversations, what is asked for, and when nobody has to ask.

use crate::config::problem::Collector;
use crate::config::secret_source::Outside;
use crate::config::section::{Item, Section};
use crate::config::types::{AutoCompaction, Compaction};
use crate::config::{bounded, keys};

const AUTOS: [(&str, AutoCompaction); 3] =
    [("fit", AutoCompaction::Fit), ("early", AutoCompaction::Early), ("off", AutoCompaction::Off)];

/// No prompt is longer.
const PROMPT_BYTES_MAX: usize = 64 * 1024;

pub(super) fn read(
    top: &Section<'_, '_>,
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> Compaction {
    let section = top.item("compaction").and_then(|item| item.section(keys::COMPACTION, problems));
    let default = Compaction::default();
    let Some(section) = section else { return default };
    let model = section.item("model").and_then(|item| item.string(problems));
    let prompt = section.item("prompt_file").and_then(|item| prompt(item, outside, problems));
    let auto = section.item("auto").and_then(|item| item.choice(&AUTOS, problems));
    let at = section.item("at").and_then(|item| item.thousandths(problems));
    let keep_turns = section.item("keep_turns").and_then(|item| item.number(0, problems));
    let keep_turns = keep_turns.map(|turns| usize::try_from(turns).unwrap_or(usize::MAX));
    Compaction {
        model: model.map(str::to_owned),
        prompt,
        auto: auto.unwrap_or(default.auto),
        at_thousandths: at.unwrap_or(default.at_thousandths),
        keep_turns: keep_turns.unwrap_or(default.keep_turns),
    }
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
