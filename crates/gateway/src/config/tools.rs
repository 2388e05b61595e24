//! Reading `[tools]`, and the tables of the same form that a model or a key has: which tools are offered, and what of their calls
//! passes.

use sabir_compose::govern::{ArgumentRule, HostedRule, NameRule, RuleTable, UndeclaredRule};

use crate::config::keys;
use crate::config::problem::Collector;
use crate::config::provider::globs;
use crate::config::section::{Item, Section};

const NAMES: [(&str, NameRule); 2] = [("alias", NameRule::Alias), ("reject", NameRule::Reject)];

const ARGUMENTS: [(&str, ArgumentRule); 3] = [
    ("pass", ArgumentRule::Pass),
    ("repair", ArgumentRule::Repair),
    ("refuse", ArgumentRule::Refuse),
];

const UNDECLARED: [(&str, UndeclaredRule); 3] = [
    ("pass", UndeclaredRule::Pass),
    ("text", UndeclaredRule::Text),
    ("refuse", UndeclaredRule::Refuse),
];

const HOSTED: [(&str, HostedRule); 2] =
    [("drop", HostedRule::Drop), ("refuse", HostedRule::Refuse)];

/// The rules that a table has under `tools`; none if it has none.
pub(super) fn read(table: &Section<'_, '_>, problems: &mut Collector<'_>) -> Option<RuleTable> {
    let section = table.item("tools")?.section(keys::TOOLS, problems)?;
    let mut limit = |key| section.item(key).and_then(|item| limit(item, problems));
    let (count_max, rounds_max) = (limit("count_max"), limit("rounds_max"));
    let schema_bytes_max = limit("schema_bytes_max");
    let result_bytes_max = limit("result_bytes_max");
    Some(RuleTable {
        allow: section.item("allow").map(|item| globs(item, problems)),
        deny: section.item("deny").map(|item| globs(item, problems)),
        rename: section.item("rename").and_then(|item| renames(item, problems)),
        count_max,
        schema_bytes_max,
        result_bytes_max,
        long_names: section.item("long_names").and_then(|item| item.choice(&NAMES, problems)),
        arguments: section.item("arguments").and_then(|item| item.choice(&ARGUMENTS, problems)),
        undeclared: section.item("undeclared").and_then(|item| item.choice(&UNDECLARED, problems)),
        hosted: section.item("hosted").and_then(|item| item.choice(&HOSTED, problems)),
        rounds_max,
    })
}

/// A whole number; zero is no limit.
fn limit(item: Item<'_, '_>, problems: &mut Collector<'_>) -> Option<usize> {
    let limit = item.number(0, problems)?;
    Some(usize::try_from(limit).unwrap_or(usize::MAX))
}

fn renames(item: Item<'_, '_>, problems: &mut Collector<'_>) -> Option<Vec<(String, String)>> {
    let Some(entries) = item.entries() else {
        item.expected("a table of names, as in { shell = \"run\" }", problems);
        return None;
    };
    let rename = |item: Item<'_, '_>, problems: &mut Collector<'_>| {
        Some((item.key.to_owned(), item.string(problems)?.to_owned()))
    };
    Some(entries.into_iter().filter_map(|item| rename(item, problems)).collect())
}
