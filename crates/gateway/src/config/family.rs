//! Reading `[[family]]`: what the operator knows better of models, by patterns of their names.

use sabir_wire::target::Inputs;

use crate::config::keys;
use crate::config::problem::Collector;
use crate::config::provider::glob;
use crate::config::section::{Item, Section};
use crate::config::types::FamilyCorrection;

/// All corrections, the widest pattern first.
pub(super) fn read(top: &Section<'_, '_>, problems: &mut Collector<'_>) -> Vec<FamilyCorrection> {
    let tables = top.item("family").map(|item| item.sections(keys::FAMILY, problems));
    let tables = tables.unwrap_or_default();
    let mut families: Vec<_> = tables.iter().filter_map(|it| family(it, problems)).collect();
    families.sort_by_key(|family| family.pattern.specificity());
    families
}

fn family(section: &Section<'_, '_>, problems: &mut Collector<'_>) -> Option<FamilyCorrection> {
    let context_window = section.item("context_window").and_then(|it| it.number(1, problems));
    let max_output_tokens = section.item("max_output_tokens").and_then(|it| it.number(1, problems));
    let inputs = section.item("inputs").map(|item| inputs(item, problems));
    let structured_output = section.bool("structured_output", problems);
    let Some(item) = section.item("match") else {
        section.lacks("a `match`: a pattern of the models' names", problems);
        return None;
    };
    let pattern = glob(item.string(problems)?, item, problems)?;
    Some(FamilyCorrection { pattern, context_window, max_output_tokens, inputs, structured_output })
}

/// Where it is noted that a model takes something.
type Noted = fn(&mut Inputs) -> &mut bool;

const KINDS: [(&str, Noted); 4] = [
    ("image", |it| &mut it.image),
    ("audio", |it| &mut it.audio),
    ("video", |it| &mut it.video),
    ("pdf", |it| &mut it.pdf),
];

/// What a model takes beside text.
fn inputs(item: Item<'_, '_>, problems: &mut Collector<'_>) -> Inputs {
    let mut inputs = Inputs::TEXT;
    for (_, item) in item.strings(problems) {
        if let Some(input) = item.choice(&KINDS, problems) {
            *input(&mut inputs) = true;
        }
    }
    inputs
}
