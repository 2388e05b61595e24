//! `cargo xtask tidy`: the rules of this project that neither rustc nor clippy knows.
//! A rule reads the whole [`Tree`] and returns what it found; this file only lists the rules and prints.

mod cargo;
mod code;
mod fixtures;
mod layout;
mod links;
mod modules;
mod names;
mod protocols;
mod size;
mod source;
mod tables;
mod text;
mod tree;

use std::fmt;
use std::process::ExitCode;

use anyhow::{Result, ensure};

use self::tree::Tree;

/// One place that breaks a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    message: String,
}

type Rule = fn(&Tree) -> Vec<Finding>;

const RULES: &[Rule] = &[
    cargo::dependency_arrows,
    cargo::lock_sources,
    code::banned_code,
    code::failure_statuses,
    code::glob_reexports,
    code::sleeping_tests,
    fixtures::cited_cases_exist,
    fixtures::expectations_exist,
    fixtures::json_parses,
    layout::module_headers,
    layout::protocol_folders,
    links::local_links,
    modules::module_order,
    names::private_words,
    protocols::protocols_are_named_by_their_own,
    protocols::protocols_know_no_sibling,
    protocols::comparisons_have_a_reason,
    protocols::few_matches_list_all,
    size::long_files,
    size::overlong_functions,
    tables::modules_are_listed,
    text::machine_paths,
    text::whitespace,
];

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "tidy takes no arguments");
    let tree = Tree::read(crate::project_root())?;
    for note in size::long_functions(&tree) {
        println!("note: {note}");
    }
    let findings = check(&tree);
    for finding in &findings {
        println!("{finding}");
    }
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(tree)).collect();
    findings.sort();
    findings
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs one rule over a tree of `(path, text)` and gives `path:line` of each finding, in order.
    pub(super) fn places(rule: Rule, files: &[(&str, &str)]) -> Vec<String> {
        let mut findings = rule(&Tree::of(files));
        findings.sort();
        findings.iter().map(|finding| format!("{}:{}", finding.path, finding.line)).collect()
    }

    #[test]
    fn this_project_is_tidy() {
        let tree = Tree::read(crate::project_root()).unwrap();
        assert!(tree.text("Cargo.toml").is_some(), "the walk must reach the top folder");
        let findings: Vec<String> = check(&tree).iter().map(Finding::to_string).collect();
        assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
    }

    #[test]
    fn a_finding_prints_as_a_place_that_editors_can_open() {
        let finding = Finding::new("crates/wire/src/lib.rs", 7, "too long");
        assert_eq!(finding.to_string(), "crates/wire/src/lib.rs:7: too long");
    }
}
