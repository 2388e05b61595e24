//! Expectations: what a fixture says must come out of a translation, checked one by one.
//! `expectation` is the form of `expect.json`, `outcome` runs the translation that an expectation is about.

mod expectation;
mod outcome;
mod pointer;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::expect::expectation::{Check, ErrorCheck, Expectation, LossCheck};
use crate::expect::outcome::Outcome;
use crate::expect::pointer::{look, raw_at};

pub use self::outcome::frames;

/// The folder of every case below `fixtures`, at whatever depth: a case is a folder with an `expect.json`.
pub fn cases(fixtures: &Path) -> Result<Vec<PathBuf>> {
    let mut cases = Vec::new();
    collect_cases(fixtures, &mut cases)?;
    cases.sort();
    Ok(cases)
}

fn collect_cases(folder: &Path, cases: &mut Vec<PathBuf>) -> Result<()> {
    if folder.join("expect.json").is_file() {
        cases.push(folder.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            collect_cases(&path, cases)?;
        }
    }
    Ok(())
}

/// Runs every expectation of a case and describes those that are not met.
pub fn check(case: &Path) -> Result<Vec<String>> {
    let mut misses = Vec::new();
    for expectation in expectations(case)? {
        let found = check_one(case, &expectation);
        misses.extend(found.into_iter().map(|miss| format!("{expectation}\n    {miss}")));
    }
    Ok(misses)
}

/// What a case is about: the distinct `why` sentences of its expectations, in their order.
pub fn reasons(case: &Path) -> Result<Vec<String>> {
    let mut reasons: Vec<String> = Vec::new();
    for Expectation { why, .. } in expectations(case)? {
        if !reasons.contains(&why) {
            reasons.push(why);
        }
    }
    Ok(reasons)
}

fn expectations(case: &Path) -> Result<Vec<Expectation>> {
    let path = case.join("expect.json");
    let text = fs::read(&path).with_context(|| path.display().to_string())?;
    expectation::read(&text).with_context(|| path.display().to_string())
}

/// Every way in which one expectation is missed.
fn check_one(case: &Path, expected: &Expectation) -> Vec<String> {
    let outcome = match (Outcome::of(case, expected), &expected.error) {
        (Ok(outcome), None) => outcome,
        (Ok(_), Some(_)) => return vec!["expected an error, found a translation".to_owned()],
        (Err(error), None) => return vec![format!("{error:#}")],
        (Err(error), Some(wanted)) => return error_miss(&error, wanted).into_iter().collect(),
    };
    let output = expected.output.iter().filter_map(|it| miss(it, &outcome.output, &outcome.text));
    let folded = expected.folded.iter().filter_map(|it| miss(it, &outcome.folded, &outcome.text));
    let losses = expected.losses.iter().filter_map(|it| loss_miss(it, &outcome));
    let mut misses: Vec<String> = output.collect();
    misses.extend(folded.map(|it| format!("folded {it}")));
    misses.extend(losses);
    misses.extend(unwanted_losses(expected, &outcome));
    misses.extend(end_miss(expected, &outcome));
    misses.extend(status_miss(expected, &outcome));
    misses
}

fn error_miss(error: &anyhow::Error, wanted: &ErrorCheck) -> Option<String> {
    let pointer = error.downcast_ref::<sabir_wire::Error>().map(sabir_wire::Error::pointer);
    (pointer != Some(wanted.at.as_str()))
        .then(|| format!("expected an error at {:?}, found {pointer:?}: {error}", wanted.at))
}

/// Why a check on a value fails, if it does. `text` is the output as it was written: a parsed value has lost its spelling.
fn miss(Check { at, test }: &Check, value: &Value, text: &str) -> Option<String> {
    use crate::expect::expectation::Test;
    let found = look(value, at);
    let passes = match test {
        Test::Equals(wanted) => found == Some(wanted),
        Test::Absent => found.is_none_or(Value::is_null),
        Test::Count(count) => found.and_then(Value::as_array).is_some_and(|it| it.len() == *count),
        Test::Contains(part) => found.and_then(Value::as_str).is_some_and(|it| it.contains(part)),
        Test::SameText(wanted) => {
            found.is_some_and(|found| spelling(found) == *wanted)
                || raw_at(text, at).is_some_and(|found| found == *wanted)
        }
        Test::SameAs(other) => found.is_some() && found == look(value, other),
        Test::DiffersFrom(other) => found.is_some() && found != look(value, other),
    };
    (!passes).then(|| {
        let found = found.map_or("nothing".to_owned(), Value::to_string);
        let found: String = found.chars().take(300).collect();
        format!("at {at}: expected {test:?}, found {found}")
    })
}

/// A string's content, or the JSON as it is spelled, compact.
fn spelling(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn loss_miss(wanted: &LossCheck, outcome: &Outcome) -> Option<String> {
    let entries = outcome.report.entries();
    let found = entries.iter().any(|loss| {
        let rest = loss.pointer.strip_prefix(&wanted.at);
        let there =
            rest.is_some_and(|rest| rest.is_empty() || (wanted.below && rest.starts_with('/')));
        there && loss.kind.as_str() == wanted.kind
    });
    let listed = || entries.iter().map(|it| format!("{} {}", it.kind, it.pointer));
    (!found).then(|| {
        let LossCheck { at, kind, .. } = wanted;
        format!("expected {kind} at {at}, found [{}]", listed().collect::<Vec<_>>().join(", "))
    })
}

fn unwanted_losses(expected: &Expectation, outcome: &Outcome) -> Vec<String> {
    let losses = outcome.report.entries().iter().filter(|loss| loss.kind.matters());
    let losses = losses.map(|it| format!("no loss expected, found {} at {}", it.kind, it.pointer));
    losses.filter(|_| expected.no_losses).collect()
}

fn end_miss(expected: &Expectation, outcome: &Outcome) -> Option<String> {
    let is_missed = expected.truncated && !outcome.ends_in_error();
    is_missed.then(|| "expected the stream to end in an error".to_owned())
}

fn status_miss(expected: &Expectation, outcome: &Outcome) -> Option<String> {
    let wanted = expected.status_out?;
    (outcome.status != Some(wanted))
        .then(|| format!("expected status {wanted}, found {:?}", outcome.status))
}
