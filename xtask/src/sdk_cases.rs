//! Writes every fixture's translation into every other protocol, for the vendors' own SDKs to read.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use sabir_testkit::sample::{Kind, Sample};
use sabir_testkit::{sample, translate};
use sabir_wire::Protocol;
use serde_json::json;

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let [file] = arguments else { bail!("which file is to be written?") };
    let samples = sample::below(&crate::project_root().join("fixtures"))?;
    let mut lines = String::new();
    for sample in &samples {
        for target in Protocol::ALL.into_iter().filter(|target| *target != sample.protocol) {
            if let Some(line) = case(sample, target) {
                lines.push_str(&line);
                lines.push('\n');
            }
        }
    }
    fs::write(file, &lines)?;
    println!("{} bodies from {} samples", lines.lines().count(), samples.len());
    Ok(ExitCode::SUCCESS)
}

/// One translation as a line; none where the input is refused, which other tests cover.
fn case(sample: &Sample, target: Protocol) -> Option<String> {
    let (from, body) = (sample.protocol, &sample.body);
    let mut status = None;
    let mut ends = None;
    let body = match sample.kind {
        Kind::Request => {
            // A call always has a model; a body on its own may be without.
            let unnamed = from.decode_request(body).ok()?.request().model.is_none();
            let model = sample.model.as_deref().or(unnamed.then_some("a-model"));
            translate::request_as_sent(from, target, body, model).ok()?.0
        }
        Kind::Response => {
            // An answer that is an error is sent as one; the samples of errors cover those.
            from.decode_response(body).ok().filter(|response| response.fault.is_none())?;
            translate::response(from, target, body).ok()?.0
        }
        Kind::Stream => {
            let (text, _) = translate::stream(from, target, body);
            let folded = translate::fold(target, text.as_bytes());
            ends = folded.fault.is_some().then_some("error");
            text
        }
        Kind::Error { status: given } => {
            let (given, body) = target.encode_fault(&from.decode_fault(given, body));
            status = Some(given);
            body
        }
    };
    let name = Path::new(&sample.name)
        .parent()
        .and_then(Path::parent)
        .and_then(Path::file_name)
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let mut line = json!({
        "case": name,
        "from": from.as_str(),
        "to": target.as_str(),
        "kind": sample.kind.name(),
        "body": body,
    });
    if let Some(status) = status {
        line["status"] = json!(status);
    }
    if let Some(ends) = ends {
        line["ends"] = json!(ends);
    }
    Some(line.to_string())
}
