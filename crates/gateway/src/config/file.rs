//! Reading `sabir.toml`: the whole file, with every problem at once.
//! A file that is not TOML is read no further, since what follows a slip is guesswork.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use toml::de::DeTable;

use crate::config::environment::{Lookup, environment_providers, simulators};
use crate::config::problem::{Collector, Problems};
use crate::config::secret_source::Outside;
use crate::config::section::{Item, Section, shortened};
use crate::config::types::{Config, FamilyCorrection, Model, Provider};
use crate::config::{family, keys, model, provider, server};
use crate::surface;

/// Reads a config file's text. `file` is named in problems, and relative paths start from its folder.
pub fn parse(text: &str, file: &Path, variable: Lookup<'_>) -> Result<Config, Problems> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut problems = Collector::new(text);
    let outside = Outside { folder: file.parent().unwrap_or(Path::new("")), variable };
    let config = read(text, outside, &mut problems);
    if problems.is_empty() {
        return Ok(config);
    }
    Err(Problems { file: file.display().to_string(), list: problems.into_list() })
}

fn read(text: &str, outside: Outside<'_>, problems: &mut Collector<'_>) -> Config {
    let (document, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        note_slips(&errors, problems);
        return Config::default();
    }
    let top = Section::open(&document, keys::TOP, problems);
    let (providers, names) = providers(&top, outside, problems);
    let providers = with_families(providers, family::read(&top, problems));
    let models = models(&top, &names, problems);
    let base = Config { providers, models, ..Config::default() };
    server::read(base, &top, outside, problems)
}

/// Providers that know what the operator corrects of models.
fn with_families(
    providers: Vec<Arc<Provider>>,
    families: Vec<FamilyCorrection>,
) -> Vec<Arc<Provider>> {
    let families: Arc<[FamilyCorrection]> = families.into();
    let correct = |provider: Arc<Provider>| {
        let families = Arc::clone(&families);
        Arc::new(Provider { families, ..Arc::unwrap_or_clone(provider) })
    };
    providers.into_iter().map(correct).collect()
}

/// Says where a file stops being TOML. In a list that nobody closed the rest of the file is one slip after the other: where
/// they begin and what is missing is all that helps.
fn note_slips(errors: &[toml::de::Error], problems: &mut Collector<'_>) {
    let is_unclosed = |error: &toml::de::Error| error.message().starts_with("unclosed array,");
    let place = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
    let first = errors.iter().map(place).min();
    let is_one_slip = errors.iter().any(is_unclosed);
    let is_specific = |error: &&toml::de::Error| {
        !is_one_slip || is_unclosed(error) || Some(place(error)) == first
    };
    for error in errors.iter().filter(is_specific) {
        problems.add(place(error), format!("this is not TOML: {}", error.message()));
    }
}

/// All providers with the names of all, those of unreadable tables included.
fn providers(
    top: &Section<'_, '_>,
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> (Vec<Arc<Provider>>, Vec<String>) {
    let tables = top.item("provider").map(|it| it.sections(keys::PROVIDER, problems));
    let tables = tables.unwrap_or_default();
    note_names(&tables, problems);
    let mut providers = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for table in &tables {
        providers.extend(provider::read(table, outside, problems).map(Arc::new));
        names.extend(provider::declared_name(table).map(str::to_owned));
    }
    let from_environment = top.bool("env_providers", problems).unwrap_or(true);
    let environment = environment_providers(outside.variable).filter(|_| from_environment);
    for provider in environment.chain(simulators()) {
        if !names.contains(&provider.name) {
            names.push(provider.name.clone());
            providers.push(Arc::new(provider));
        }
    }
    (providers, names)
}

fn note_names(tables: &[Section<'_, '_>], problems: &mut Collector<'_>) {
    let mut seen = BTreeMap::new();
    for table in tables {
        let Some(item) = table.item("name").or_else(|| table.item("preset")) else { continue };
        let Some(name) = item.as_string() else {
            item.string(problems);
            continue;
        };
        if let Err(message) = check_name(name) {
            item.remark(message, problems);
        } else if seen.insert(name, ()).is_some() {
            item.remark(format!("a second provider `{name}`; give one another `name`"), problems);
        }
    }
}

/// A name stands before the slash of `provider/model` and in URLs.
fn check_name(name: &str) -> Result<(), String> {
    let fits = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(fits) {
        return Err("a provider's name has letters, digits, `-`, `_` and `.` only".to_owned());
    }
    let is_collection = |it: &&str| it.strip_suffix('/') == Some(name);
    if let Some(taken) = surface::all().filter_map(|it| it.collection).find(is_collection) {
        return Err(format!(
            "some clients put `{taken}` before the name of every model; choose another"
        ));
    }
    Ok(())
}

fn models(
    top: &Section<'_, '_>,
    providers: &[String],
    problems: &mut Collector<'_>,
) -> Vec<Arc<Model>> {
    let tables = top.item("model").map(|item| item.sections(keys::MODEL, problems));
    let mut models: Vec<Arc<Model>> = Vec::new();
    for table in tables.unwrap_or_default() {
        let Some(model) = model::read(&table, providers, problems) else { continue };
        if models.iter().any(|known| known.name == model.name) {
            let name = shortened(model.name.as_str());
            let item = table.item("name");
            let message = format!("a second [[model]] `{name}`; put all targets into one");
            item.iter().for_each(|item: &Item<'_, '_>| item.remark(&message, problems));
        }
        models.push(Arc::new(model));
    }
    models
}

/// An address as `HOST:PORT`, where the host is an address or `localhost`.
pub fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let text = text.trim();
    let address = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}").parse(),
        None => text.parse(),
    };
    address.map_err(|_| {
        let shown = shortened(text);
        format!("`{shown}` is not an address; write it as in \"127.0.0.1:4747\" or \"[::1]:4747\"")
    })
}
