//! The tables of modules in ARCHITECTURE.md: each names every module of its crate, and no other.

use std::collections::BTreeSet;

use super::Finding;
use super::tree::Tree;

const DOCUMENT: &str = "ARCHITECTURE.md";

/// Not modules of their own: what a crate begins with, and its tests.
const APART: [&str; 3] = ["lib", "main", "tests"];

pub(super) fn modules_are_listed(tree: &Tree) -> Vec<Finding> {
    let text = tree.text(DOCUMENT).unwrap_or_default();
    tables(text).iter().flat_map(|table| table.findings(tree)).collect()
}

/// The table of one crate.
struct Table<'t> {
    folder: String,
    /// Where the crate's section begins.
    line: usize,
    /// The names in the first cells, with their lines.
    names: Vec<(usize, &'t str)>,
}

/// The tables of all crates that have one.
fn tables(text: &str) -> Vec<Table<'_>> {
    let mut tables: Vec<Table<'_>> = Vec::new();
    let mut is_inside = false;
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        if line.starts_with('#') {
            let name = line.strip_prefix("### `crates/").and_then(|rest| rest.split_once('`'));
            is_inside = name.is_some();
            tables.extend(name.map(|(name, _)| Table {
                folder: format!("crates/{name}/src"),
                line: line_number,
                names: Vec::new(),
            }));
        }
        let cell = line.strip_prefix("| `").and_then(|rest| rest.split_once(" |"));
        if let (true, Some(table), Some((cell, _))) = (is_inside, tables.last_mut(), cell) {
            let names = cell.split('`').step_by(2).filter(|name| !name.is_empty());
            table.names.extend(names.map(|name| (line_number, name)));
        }
    }
    tables.retain(|table| !table.names.is_empty());
    tables
}

impl Table<'_> {
    fn findings(&self, tree: &Tree) -> Vec<Finding> {
        let Self { folder, line, names } = self;
        let is_there = |name: &str| {
            let path = format!("{folder}/{name}");
            tree.holds(&path) || tree.holds(&format!("{path}.rs"))
        };
        let missing = names.iter().filter(|(_, name)| !is_there(name)).map(|(line, name)| {
            Finding::new(DOCUMENT, *line, format!("`{folder}` has no module `{name}`"))
        });
        let listed: BTreeSet<&str> =
            names.iter().filter_map(|(_, it)| it.split('/').next()).collect();
        let modules =
            tree.below(folder).filter_map(|(path, _)| module(path)).collect::<BTreeSet<_>>();
        let unlisted = modules.into_iter().filter(|it| !listed.contains(it) && !APART.contains(it));
        let unlisted = unlisted.map(|name| {
            Finding::new(DOCUMENT, *line, format!("no row says what `{folder}/{name}` holds"))
        });
        missing.chain(unlisted).collect()
    }
}

/// The module at the top of a crate that a file belongs to.
fn module(path: &str) -> Option<&str> {
    match path.split_once('/') {
        Some((folder, _)) => Some(folder),
        None => path.strip_suffix(".rs"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;
    use super::*;

    const TABLE: &str = "### `crates/a`: one\n\n| Module | Holds |\n|---|---|\n| `b`, `c/d` | things |\n\n### `xtask`\n\n| `e` | no module |\n";

    #[test]
    fn a_table_of_all_modules_passes() {
        let files = [
            (DOCUMENT, TABLE),
            ("crates/a/src/lib.rs", ""),
            ("crates/a/src/b.rs", ""),
            ("crates/a/src/c/d.rs", ""),
            ("crates/a/src/tests/f.rs", ""),
            ("crates/a/src/words.txt", ""),
        ];
        assert!(places(modules_are_listed, &files).is_empty());
    }

    #[test]
    fn a_module_without_a_row_is_found_and_a_row_without_a_module() {
        let files = [(DOCUMENT, TABLE), ("crates/a/src/b/mod.rs", ""), ("crates/a/src/g.rs", "")];
        let found = places(modules_are_listed, &files);
        assert_eq!(found, ["ARCHITECTURE.md:1", "ARCHITECTURE.md:5"]);
    }
}
