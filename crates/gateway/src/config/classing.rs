//! Reading `[route]`: what the classes of requests are told by.

use sabir_compose::class::Intent;

use crate::config::keys;
use crate::config::problem::Collector;
use crate::config::provider::globs;
use crate::config::section::{Item, Section};
use crate::config::types::Classing;

pub(super) fn read(top: &Section<'_, '_>, problems: &mut Collector<'_>) -> Classing {
    let section = top.item("route").and_then(|item| item.section(keys::ROUTE, problems));
    let Some(section) = section else { return Classing::default() };
    let background = section.item("background").map(|item| globs(item, problems));
    let web_search = section.item("web_search").map(|item| phrases(item, problems));
    let negations = section.item("negations").map(|item| phrases(item, problems));
    let intent = Intent::new(&web_search.unwrap_or_default(), &negations.unwrap_or_default());
    Classing { background: background.unwrap_or_default(), intent }
}

fn phrases(item: Item<'_, '_>, problems: &mut Collector<'_>) -> Vec<String> {
    item.strings(problems).into_iter().map(|(phrase, _)| phrase.trim().to_owned()).collect()
}
