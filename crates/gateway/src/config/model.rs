//! Reading a `[[model]]`: a name that clients ask for, and its targets.

use sabir_compose::class::Class;

use crate::config::presets::Preset;
use crate::config::problem::Collector;
use crate::config::provider::glob;
use crate::config::section::{Item, Section, shortened};
use crate::config::suggest::suggestion;
use crate::config::types::{ClassTargets, Model, Strategy, Target};
use crate::config::{keys, tools};

const STRATEGIES: [(&str, Strategy); 4] = [
    ("fallback", Strategy::Fallback),
    ("weighted", Strategy::Weighted),
    ("fastest", Strategy::Fastest),
    ("class", Strategy::Class),
];

/// Those by which a target is chosen inside a class.
fn inside_classes() -> &'static [(&'static str, Strategy)] {
    &STRATEGIES[..3]
}

/// Reads one model. `providers` are the names of all. `None` means that problems were noted.
pub(super) fn read(
    section: &Section<'_, '_>,
    providers: &[String],
    problems: &mut Collector<'_>,
) -> Option<Model> {
    let strategy = section.item("strategy").map(|item| item.choice(&STRATEGIES, problems));
    let context_window = section.item("context_window").and_then(|it| it.number(1, problems));
    let strategy = strategy.unwrap_or(Some(Strategy::Fallback));
    let (targets, classes) = match strategy {
        Some(Strategy::Class) => classes(section, providers, problems),
        _ => (own_targets(section, providers, problems), Vec::new()),
    };
    note_strays(section, strategy, problems);
    let inside =
        section.item("class_strategy").and_then(|it| it.choice(inside_classes(), problems));
    let class_strategy = inside.unwrap_or(Strategy::Fallback);
    let sticky = section.bool("sticky", problems).unwrap_or(false);
    let tools = tools::read(section, problems);
    let Some(item) = section.item("name") else {
        section.lacks("a `name`: what clients ask for", problems);
        return None;
    };
    let name = glob(item.string(problems)?, item, problems)?;
    let strategy = strategy?;
    Some(Model { name, strategy, context_window, targets, classes, class_strategy, sticky, tools })
}

const EXAMPLE: &str = "write them as in [{ provider = \"openai\", model = \"gpt-5.6\" }]";

/// Keys that another strategy would read.
fn note_strays(
    section: &Section<'_, '_>,
    strategy: Option<Strategy>,
    problems: &mut Collector<'_>,
) {
    let (strays, advice): (&[&'static str], _) = match strategy {
        Some(Strategy::Class) => (&["targets"], "put them under [model.classes] as `default`"),
        Some(_) => (&["classes", "class_strategy", "sticky"], "it needs strategy = \"class\""),
        None => return,
    };
    for item in strays.iter().filter_map(|key| section.item(key)) {
        item.wrong(format!("is not read with this strategy: {advice}"), problems);
    }
}

/// The targets of `default`, and those of the other classes.
fn classes(
    section: &Section<'_, '_>,
    providers: &[String],
    problems: &mut Collector<'_>,
) -> (Vec<Target>, Vec<ClassTargets>) {
    let item = section.item("classes");
    let table = item.as_ref().and_then(|item| item.section(keys::CLASSES, problems));
    if item.is_none() || table.as_ref().is_some_and(|table| table.item("default").is_none()) {
        section.lacks(
            &format!("targets of the class `default` in [model.classes]; {EXAMPLE}"),
            problems,
        );
    }
    let (mut default, mut others) = (Vec::new(), Vec::new());
    for class in Class::ALL {
        let Some(item) = table.as_ref().and_then(|table| table.item(class.name())) else {
            continue;
        };
        let targets = targets(item, providers, problems);
        match class {
            Class::Default => default = targets,
            class => others.push(ClassTargets { class, targets }),
        }
    }
    (default, others)
}

fn own_targets(
    section: &Section<'_, '_>,
    providers: &[String],
    problems: &mut Collector<'_>,
) -> Vec<Target> {
    match section.item("targets") {
        Some(item) => targets(item, providers, problems),
        None => {
            section.lacks(&format!("`targets`; {EXAMPLE}"), problems);
            Vec::new()
        }
    }
}

fn targets(item: Item<'_, '_>, providers: &[String], problems: &mut Collector<'_>) -> Vec<Target> {
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
