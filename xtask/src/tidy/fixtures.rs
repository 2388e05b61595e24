//! Rules on `fixtures/`: every case says what is expected of it, all of its JSON parses, and comments name cases that exist.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Finding;
use super::tree::Tree;

const FIXTURES: &str = "fixtures";

/// A body stands in the folder of its protocol, and that in the folder of its case.
pub(super) fn expectations_exist(tree: &Tree) -> Vec<Finding> {
    let bodies = tree.below(FIXTURES).filter(|(path, _)| !path.ends_with("/expect.json"));
    let cases: BTreeSet<&str> =
        bodies.filter_map(|(path, _)| Some(path.rsplit_once('/')?.0.rsplit_once('/')?.0)).collect();
    let paths = cases.iter().map(|case| format!("{FIXTURES}/{case}"));
    paths
        .filter(|case| tree.text(&format!("{case}/expect.json")).is_none())
        .map(|case| Finding::new(&case, 1, "the case has no expect.json"))
        .collect()
}

pub(super) fn json_parses(tree: &Tree) -> Vec<Finding> {
    let files = tree.below(FIXTURES).filter(|(path, _)| path.ends_with(".json"));
    files
        .filter_map(|(path, text)| {
            let error = serde_json::from_str::<Value>(text).err()?;
            Some(Finding::new(&format!("{FIXTURES}/{path}"), error.line(), error.to_string()))
        })
        .collect()
}

/// What stands before the name of a case in a comment that says which one forced a rule.
const CITED: &str = "Fixture `";

pub(super) fn cited_cases_exist(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.below("crates/wire/src") {
        for (index, line) in text.lines().enumerate() {
            let cited = line.split(CITED).skip(1).filter_map(|rest| rest.split('`').next());
            for case in
                cited.filter(|it| tree.text(&format!("{FIXTURES}/{it}/expect.json")).is_none())
            {
                let path = format!("crates/wire/src/{path}");
                findings.push(Finding::new(
                    &path,
                    index + 1,
                    format!("there is no fixture {case}"),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;
    use super::*;

    const EXPECT: (&str, &str) = ("fixtures/plain/expect.json", "{}");

    #[test]
    fn a_case_with_an_expectation_passes() {
        let files =
            [EXPECT, ("fixtures/README.md", ""), ("fixtures/plain/gemini/request.json", "")];
        assert!(places(expectations_exist, &files).is_empty());
    }

    #[test]
    fn a_case_without_an_expectation_is_found() {
        let files = [EXPECT, ("fixtures/image/gemini/request.json", "{}")];
        assert_eq!(places(expectations_exist, &files), ["fixtures/image:1"]);
    }

    #[test]
    fn a_comment_names_a_case_that_exists() {
        let source = "crates/wire/src/a.rs";
        let sound = [EXPECT, (source, "/// Text first. Fixture `plain`.\n")];
        assert!(places(cited_cases_exist, &sound).is_empty());
        let stale = [EXPECT, (source, "//! A\n//! Fixture `gone`.\n")];
        assert_eq!(places(cited_cases_exist, &stale), ["crates/wire/src/a.rs:2"]);
    }

    #[test]
    fn sound_json_passes() {
        let files = [EXPECT, ("fixtures/plain/gemini/stream.sse", "data: {\n"), ("a.json", "{")];
        assert!(places(json_parses, &files).is_empty());
    }

    #[test]
    fn broken_json_is_found_at_its_line() {
        assert_eq!(
            places(json_parses, &[("fixtures/a/b.json", "{\n  \"c\":\n}")]),
            ["fixtures/a/b.json:3"]
        );
    }
}
