//! Expectations: what a fixture says must come out of a translation, checked one by one.

use std::fs;
use std::path::Path;

use anyhow::Context;
use anyhow::Result;
use anyhow::anyhow;
use anyhow::bail;
use sabir_wire::Protocol;
use sabir_wire::Report;
use sabir_wire::json::Json;
use serde_json::Value;

use crate::sample::Kind;
use crate::translate;

/// A translation that did not give what the fixture expects.
#[derive(Clone, Debug)]
pub struct Miss {
    pub case: String,
    /// The behaviour that the fixture speaks of.
    pub why: String,
    pub detail: String,
}

/// What came out of one translation.
struct Outcome {
    /// The output as it was written (a stream: the answer it folds to); numbers and key order are compared here.
    text: String,
    output: Value,
    folded: Value,
    status: Option<u16>,
    report: Report,
}

/// Runs the expectations of every case below `fixtures`; answers how many there were and which were missed.
pub fn check_all(fixtures: &Path) -> Result<(usize, Vec<Miss>)> {
    let mut cases: Vec<_> = fs::read_dir(fixtures)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.is_dir())
        .collect();
    cases.sort();
    let (mut count, mut misses) = (0, Vec::new());
    for case in cases {
        let name = case.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        for expected in expectations(&case).with_context(|| name.to_owned())? {
            count += 1;
            misses.extend(check(&case, &expected).into_iter().map(|detail| Miss {
                case: name.to_owned(),
                why: told(&expected),
                detail,
            }));
        }
    }
    Ok((count, misses))
}

fn expectations(case: &Path) -> Result<Vec<Value>> {
    let path = case.join("expect.json");
    let text = fs::read(&path).context("every case has an expect.json")?;
    Ok(serde_json::from_slice(&text)?)
}

fn told(expected: &Value) -> String {
    let text = |key: &str| expected[key].as_str().unwrap_or_default();
    let kind = expected["kind"].as_str().unwrap_or("request");
    format!("{} → {} {kind}: {}", text("from"), text("to"), text("why"))
}

/// Every way in which one expectation is missed.
fn check(case: &Path, expected: &Value) -> Vec<String> {
    let outcome = match (translated(case, expected), expected.get("error")) {
        (Ok(outcome), None) => outcome,
        (Ok(_), Some(_)) => return vec!["expected an error, found a translation".to_owned()],
        (Err(error), None) => return vec![format!("{error:#}")],
        (Err(error), Some(wanted)) => return error_misses(&error, wanted),
    };
    let mut misses = Vec::new();
    let missed = |check: &Value, value: &Value| {
        miss(check, value).filter(|_| !is_spelled(check, &outcome.text))
    };
    misses.extend(checks(expected, "output").filter_map(|it| missed(it, &outcome.output)));
    misses.extend(
        checks(expected, "folded")
            .filter_map(|it| missed(it, &outcome.folded))
            .map(|it| format!("folded {it}")),
    );
    misses.extend(checks(expected, "losses").filter_map(|loss| loss_miss(loss, &outcome.report)));
    if expected["no_losses"] == Value::Bool(true) {
        let losses = outcome.report.entries().iter().filter(|loss| loss.kind.matters());
        misses.extend(
            losses.map(|it| format!("no loss expected, found {} at {}", it.kind, it.pointer)),
        );
    }
    if expected["truncated"] == Value::Bool(true) && !ends_in_error(&outcome.output) {
        misses.push("expected the stream to end in an error".to_owned());
    }
    if expected["status_out"].as_u64() != outcome.status.map(u64::from)
        && !expected["status_out"].is_null()
    {
        misses.push(format!(
            "expected status {}, found {:?}",
            expected["status_out"], outcome.status
        ));
    }
    misses
}

fn checks<'e>(expected: &'e Value, key: &str) -> impl Iterator<Item = &'e Value> {
    expected[key].as_array().into_iter().flatten()
}

fn error_misses(error: &anyhow::Error, wanted: &Value) -> Vec<String> {
    let pointer = error.downcast_ref::<sabir_wire::Error>().map(sabir_wire::Error::pointer);
    match (pointer, wanted["at"].as_str()) {
        (Some(pointer), Some(wanted)) if pointer == wanted => Vec::new(),
        (Some(_), None) => Vec::new(),
        (found, wanted) => {
            vec![format!("expected an error at {wanted:?}, found {found:?}: {error}")]
        }
    }
}

fn translated(case: &Path, expected: &Value) -> Result<Outcome> {
    let protocol = |key: &str| {
        let name = expected[key].as_str().unwrap_or_default();
        Protocol::parse(name).ok_or_else(|| anyhow!("no protocol is called {name:?}"))
    };
    let (from, to) = (protocol("from")?, protocol("to")?);
    let kind = match expected["kind"].as_str() {
        None | Some("request") => Kind::Request,
        Some("response") => Kind::Response,
        Some("stream") => Kind::Stream,
        Some("error") => {
            let status = expected["status"].as_u64().and_then(|status| status.try_into().ok());
            Kind::Error { status }
        }
        Some(other) => bail!("no kind is called {other:?}"),
    };
    let file = expected["file"].as_str().unwrap_or(match kind {
        Kind::Request => "request.json",
        Kind::Response => "response.json",
        Kind::Stream => "stream.sse",
        Kind::Error { .. } => "error.json",
    });
    let body = fs::read(case.join(from.as_str()).join(file)).with_context(|| file.to_owned())?;
    translate(from, to, kind, &body, expected["model"].as_str())
}

fn translate(
    from: Protocol,
    to: Protocol,
    kind: Kind,
    body: &[u8],
    model: Option<&str>,
) -> Result<Outcome> {
    let whole = |(body, report): (String, Report)| -> Result<Outcome> {
        let output = serde_json::from_str(&body)?;
        Ok(Outcome { text: body, output, folded: Value::Null, status: None, report })
    };
    match kind {
        Kind::Request => whole(translate::request(from, to, body, model)?),
        Kind::Response => whole(translate::response(from, to, body)?),
        Kind::Stream => {
            let (text, report) = translate::stream(from, to, body);
            let output = frames(&text)?;
            let text = folded(to, &text);
            let folded = serde_json::from_str(&text)?;
            Ok(Outcome { text, output, folded, status: None, report })
        }
        Kind::Error { status } => {
            let (status, body) = to.encode_fault(&from.decode_fault(status, body));
            let output = serde_json::from_str(&body)?;
            let report = Report::default();
            Ok(Outcome { text: body, output, folded: Value::Null, status: Some(status), report })
        }
    }
}

/// The frames of a stream as a list; what is not JSON is a string.
pub fn frames(text: &str) -> Result<Value> {
    let mut frames = Vec::new();
    let mut parser = sabir_wire::sse::Parser::default();
    let mut keep = |frame: sabir_wire::sse::Frame<'_>| {
        let data = serde_json::from_str(frame.data);
        frames.push(data.unwrap_or_else(|_| Value::String(frame.data.to_owned())));
        Ok(())
    };
    parser.push(text.as_bytes(), &mut keep)?;
    parser.end(&mut keep)?;
    Ok(Value::Array(frames))
}

fn folded(protocol: Protocol, text: &str) -> String {
    let response = translate::fold(protocol, text.as_bytes());
    let asked = sabir_wire::protocol::Asked::default();
    protocol.encode_response(&response, protocol, &asked).body
}

fn ends_in_error(frames: &Value) -> bool {
    let is_error = |frame: &Value| {
        frame.get("error").is_some()
            || matches!(frame["type"].as_str(), Some("error" | "response.failed"))
    };
    frames.as_array().and_then(|frames| frames.last()).is_some_and(is_error)
}

/// Why a check on a value fails, if it does.
fn miss(check: &Value, value: &Value) -> Option<String> {
    let at = check["at"].as_str().unwrap_or_default();
    let found = look(value, at);
    let passes = if let Some(equals) = check.get("equals") {
        found == Some(equals)
    } else if check["absent"] == Value::Bool(true) {
        found.is_none_or(Value::is_null)
    } else if let Some(count) = check["count"].as_u64() {
        found.and_then(Value::as_array).is_some_and(|list| list.len() as u64 == count)
    } else if let Some(part) = check["contains"].as_str() {
        found.and_then(Value::as_str).is_some_and(|text| text.contains(part))
    } else if let Some(text) = check["same_text"].as_str() {
        found.is_some_and(|found| spelling(found) == text)
    } else if let Some(other) = check["same_as"].as_str() {
        found.is_some() && found == look(value, other)
    } else if let Some(other) = check["differs_from"].as_str() {
        found.is_some() && found != look(value, other)
    } else {
        false
    };
    (!passes).then(|| {
        let found = found.map_or("nothing".to_owned(), |found| found.to_string());
        let found: String = found.chars().take(300).collect();
        format!("{check} but found {found}")
    })
}

/// Whether the text has a value spelled exactly as the check wants it; a parsed value has lost its spelling.
fn is_spelled(check: &Value, text: &str) -> bool {
    let (Some(at), Some(wanted)) = (check["at"].as_str(), check["same_text"].as_str()) else {
        return false;
    };
    let found = Json::parse(text).ok().and_then(|json| raw_at(&json, at));
    found.is_some_and(|found| found.compact() == wanted)
}

fn raw_at(json: &Json<'_>, pointer: &str) -> Option<Json<'static>> {
    let Some((step, rest)) =
        pointer.strip_prefix('/').map(|it| it.split_once('/').unwrap_or((it, "")))
    else {
        return Some(json.clone().into_owned());
    };
    let mut found = None;
    let mut reader = json.reader();
    let read = match step.parse::<usize>() {
        Ok(wanted) if json.kind() == sabir_wire::json::Kind::Array => {
            reader.array(|index, reader| {
                let element = reader.raw()?;
                found = found.take().or_else(|| (index == wanted).then(|| element.into_owned()));
                Ok(())
            })
        }
        _ => reader.object(|key, reader| {
            let member = reader.raw()?;
            found = found.take().or_else(|| (key == step).then(|| member.into_owned()));
            Ok(())
        }),
    };
    let rest = if rest.is_empty() { String::new() } else { format!("/{rest}") };
    read.ok().and(found).and_then(|found| raw_at(&found, &rest))
}

/// A string's content, or the JSON as it is spelled, compact.
fn spelling(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What stands at a pointer in which `-1` is the last element of a list, `-2` the one before.
fn look<'v>(value: &'v Value, pointer: &str) -> Option<&'v Value> {
    pointer.split('/').skip(1).try_fold(value, |value, step| match (value, step) {
        (Value::Array(list), step) => match step.strip_prefix('-') {
            Some(back) => list.get(list.len().checked_sub(back.parse().ok()?)?),
            None => list.get(step.parse::<usize>().ok()?),
        },
        (value, step) => value.get(step.replace("~1", "/").replace("~0", "~")),
    })
}

fn loss_miss(wanted: &Value, report: &Report) -> Option<String> {
    let at = wanted["at"].as_str().unwrap_or_default();
    let below = wanted["below"] == Value::Bool(true);
    let kind = wanted["kind"].as_str().unwrap_or_default();
    let found = report.entries().iter().any(|loss| {
        let rest = loss.pointer.strip_prefix(at);
        let there = rest.is_some_and(|rest| rest.is_empty() || (below && rest.starts_with('/')));
        there && loss.kind.as_str() == kind
    });
    let entries: Vec<String> =
        report.entries().iter().map(|it| format!("{} {}", it.kind, it.pointer)).collect();
    (!found).then(|| format!("expected the loss {wanted}, found [{}]", entries.join(", ")))
}
