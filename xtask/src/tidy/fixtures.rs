//! Rules on `fixtures/`: every case says what is expected of it, and every expected loss says why.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Finding;
use super::tree::Tree;

const FIXTURES: &str = "fixtures";

pub(super) fn expectations_exist(tree: &Tree) -> Vec<Finding> {
    let cases: BTreeSet<&str> =
        tree.below(FIXTURES).filter_map(|(path, _)| Some(path.split_once('/')?.0)).collect();
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

/// A loss that nobody can explain is a bug that has been written down.
pub(super) fn losses_have_reasons(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.below(FIXTURES).filter(|(path, _)| is_losses(path)) {
        let path = format!("{FIXTURES}/{path}");
        match serde_json::from_str(text).ok().as_ref().and_then(entries) {
            Some(losses) => findings.extend(unexplained(&path, losses)),
            None => findings.push(Finding::new(&path, 1, "expected a list of losses")),
        }
    }
    findings
}

/// `case/protocol/losses.target.json`
fn is_losses(path: &str) -> bool {
    let mut names = path.split('/').skip(2);
    let name = names.next().unwrap_or_default();
    names.next().is_none() && name.starts_with("losses.") && name.ends_with(".json")
}

/// The entries of a list, or of the object that `--report json` prints.
fn entries(losses: &Value) -> Option<&Vec<Value>> {
    losses.get("losses").unwrap_or(losses).as_array()
}

fn unexplained(path: &str, losses: &[Value]) -> Vec<Finding> {
    let reason = |loss: &Value| {
        loss.get("reason").and_then(Value::as_str).map(str::trim).unwrap_or("").len()
    };
    let bare = losses.iter().enumerate().filter(|(_, loss)| reason(loss) == 0);
    bare.map(|(index, _)| Finding::new(path, 1, format!("entry {index} has no reason"))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;
    use super::*;

    const EXPECT: (&str, &str) = ("fixtures/plain/expect.json", "{}");
    const LOSSES: &str = "fixtures/plain/gemini/losses.openai-chat.json";

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

    #[test]
    fn losses_with_reasons_pass() {
        for losses in ["[]", r#"[{"reason": "no such field"}]"#, r#"{"losses": [{"reason": "a"}]}"#]
        {
            assert!(places(losses_have_reasons, &[(LOSSES, losses)]).is_empty(), "{losses}");
        }
    }

    #[test]
    fn losses_without_reasons_are_found() {
        for losses in
            [r#"[{"kind": "dropped"}]"#, r#"{"losses": [{"reason": " "}]}"#, "{}", "3", "{"]
        {
            assert_eq!(places(losses_have_reasons, &[(LOSSES, losses)]), [format!("{LOSSES}:1")]);
        }
    }
}
