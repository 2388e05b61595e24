//! Reading a `[[model]]`: a name that clients ask for, and its targets.

use crate::config::keys;
use crate::config::presets::Preset;
use crate::config::problem::Collector;
use crate::config::provider::glob;
use crate::config::section::{Item, Section, shortened};
use crate::config::suggest::suggestion;
use crate::config::types::{Model, Strategy, Target};

const STRATEGIES: [(&str, Strategy); 2] =
    [("fallback", Strategy::Fallback), ("weighted", Strategy::Weighted)];

/// Reads one model. `providers` are the names of all. `None` means that problems were noted.
pub(super) fn read(
    section: &Section<'_, '_>,
    providers: &[String],
    problems: &mut Collector<'_>,
) -> Option<Model> {
    let strategy = section.item("strategy").map(|item| strategy(item, problems));
    let context_window = section.item("context_window").and_then(|it| it.number(1, problems));
    let targets = targets(section, providers, problems);
    let Some(item) = section.item("name") else {
        section.lacks("a `name`: what clients ask for", problems);
        return None;
    };
    let name = glob(item.string(problems)?, item, problems)?;
    let strategy = strategy.unwrap_or(Some(Strategy::Fallback))?;
    Some(Model { name, strategy, context_window, targets })
}

fn strategy(item: Item<'_, '_>, problems: &mut Collector<'_>) -> Option<Strategy> {
    if item.as_string() == Some("fastest") {
        item.remark("`fastest` comes in a later version; use `fallback` or `weighted`", problems);
        return None;
    }
    item.choice(&STRATEGIES, problems)
}

fn targets(
    section: &Section<'_, '_>,
    providers: &[String],
    problems: &mut Collector<'_>,
) -> Vec<Target> {
    const EXAMPLE: &str = "write them as in [{ provider = \"openai\", model = \"gpt-5.6\" }]";
    let Some(item) = section.item("targets") else {
        section.lacks(&format!("`targets`; {EXAMPLE}"), problems);
        return Vec::new();
    };
    if item.elements().is_some_and(|targets| targets.is_empty()) {
        item.wrong(format!("is empty; {EXAMPLE}"), problems);
    }
    let sections = item.sections(keys::TARGET, problems);
    sections.iter().filter_map(|section| target(section, providers, problems)).collect()
}

fn target(
    section: &Section<'_, '_>,
    providers: &[String],
    problems: &mut Collector<'_>,
) -> Option<Target> {
    let weight = section.item("weight").map(|item| item.number(1, problems));
    let model = section.item("model");
    if model.is_none() {
        section.lacks("a `model`: what the provider calls it", problems);
    }
    let model = model.and_then(|item| item.string(problems));
    let Some(item) = section.item("provider") else {
        section.lacks("a `provider`", problems);
        return None;
    };
    let provider = known(item, providers, problems);
    let weight = weight.unwrap_or(Some(1))?;
    let weight = u32::try_from(weight).unwrap_or(u32::MAX);
    Some(Target { provider: provider?, model: model?.to_owned(), weight })
}

/// The name of a provider that there is.
fn known(item: Item<'_, '_>, providers: &[String], problems: &mut Collector<'_>) -> Option<String> {
    let name = item.string(problems)?;
    let known = providers.iter().find(|known| *known == name);
    if known.is_none() {
        let hint = hint(name, providers);
        item.remark(format!("there is no provider `{}`{hint}", shortened(name)), problems);
    }
    known.cloned()
}

fn hint(name: &str, providers: &[String]) -> String {
    match Preset::named(name) {
        Some(preset) => match preset.key_variables.first() {
            Some(key) => format!("; set {key}, or add [[provider]] preset = \"{name}\""),
            None => format!("; add [[provider]] preset = \"{name}\""),
        },
        None => suggestion(name, providers.iter().map(String::as_str)),
    }
}
