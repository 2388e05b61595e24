//! Samples: bodies and streams of one protocol, from fixtures, recordings or generators.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use sabir_wire::Protocol;
use serde_json::Value;

/// Something that was said in one protocol.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Where it comes from, for people.
    pub name: String,
    pub protocol: Protocol,
    pub kind: Kind,
    pub body: Vec<u8>,
    /// The model that a request is for, where the body does not say it.
    pub model: Option<String>,
    /// Whether this is a stream that does not reach its end.
    pub is_cut: bool,
    /// Whether this is a request that its provider refused, so that we may refuse it too.
    pub was_refused: bool,
}

/// What sort of thing a [`Sample`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Request,
    Response,
    Stream,
    /// An error, with its status unless only the body was kept.
    Error {
        status: Option<u16>,
    },
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
            Self::Stream => "stream",
            Self::Error { .. } => "error",
        }
    }
}

/// Every sample below a folder, whatever its layout: our fixtures, case folders of recordings, or lines of exchanges.
pub fn below(folder: &Path) -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    visit(folder, &mut samples)?;
    samples.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(samples)
}

fn visit(path: &Path, samples: &mut Vec<Sample>) -> Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path).with_context(|| path.display().to_string())? {
            visit(&entry?.path(), samples)?;
        }
        return Ok(());
    }
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let read = || fs::read(path).with_context(|| path.display().to_string());
    if name.ends_with(".jsonl") {
        return exchanges(&String::from_utf8(read()?)?, path, samples);
    }
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let Some(protocol) = folder.and_then(Protocol::parse) else { return Ok(()) };
    let kind = match name {
        "request.json" | "followup.json" | "followup-request.json" => Kind::Request,
        "response.json" | "followup-response.json" => Kind::Response,
        "stream.sse" | "response-streaming.json" | "followup-response-streaming.json" => {
            Kind::Stream
        }
        "error.json" => Kind::Error { status: None },
        _ => return Ok(()),
    };
    let mut body = read()?;
    if name.ends_with("streaming.json") {
        body = framed(protocol, &serde_json::from_slice(&body)?);
    }
    let is_cut = kind == Kind::Stream && expects_cut(path, protocol);
    let name = path.display().to_string();
    let was_refused = false;
    samples.push(Sample { name, protocol, kind, body, model: None, is_cut, was_refused });
    Ok(())
}

/// Whether the case that a file belongs to says of its stream that it is truncated.
fn expects_cut(path: &Path, protocol: Protocol) -> bool {
    let case = path.parent().and_then(Path::parent);
    let expected = case.and_then(|case| fs::read(case.join("expect.json")).ok());
    let expected: Value =
        expected.and_then(|it| serde_json::from_slice(&it).ok()).unwrap_or_default();
    expected
        .as_array()
        .into_iter()
        .flatten()
        .any(|check| check["from"] == protocol.as_str() && check["truncated"] == Value::Bool(true))
}

/// The samples of a file of exchanges, one JSON object a line.
fn exchanges(lines: &str, path: &Path, samples: &mut Vec<Sample>) -> Result<()> {
    for (number, line) in lines.lines().enumerate() {
        let exchange: Value = serde_json::from_str(line)?;
        let text = |key: &str| exchange[key].as_str();
        let Some(protocol) = text("protocol").and_then(Protocol::parse) else { continue };
        let status = exchange["status"].as_u64().unwrap_or(200) as u16;
        let mut add = |part: &str, kind: Kind, body: &str| {
            samples.push(Sample {
                name: format!("{}:{} {part}", path.display(), number + 1),
                protocol,
                kind,
                body: body.as_bytes().to_vec(),
                model: text("path").and_then(model_in_path),
                is_cut: false,
                was_refused: status >= 400 && kind == Kind::Request,
            });
        };
        if let Some(request) = text("request") {
            add("request", Kind::Request, request);
        }
        match (text("response"), text("stream")) {
            (Some(response), _) if status < 400 => add("response", Kind::Response, response),
            (Some(response), _) => add("error", Kind::Error { status: Some(status) }, response),
            (None, Some(stream)) if status < 400 => add("stream", Kind::Stream, stream),
            (None, Some(stream)) => add("error", Kind::Error { status: Some(status) }, stream),
            (None, None) => {}
        }
    }
    Ok(())
}

/// The model that a Gemini path names.
fn model_in_path(path: &str) -> Option<String> {
    let (_, rest) = path.split_once("/models/")?;
    Some(rest.split(':').next().unwrap_or(rest).to_owned())
}

/// A list of events as the protocol frames them.
fn framed(protocol: Protocol, events: &Value) -> Vec<u8> {
    let mut out = String::new();
    for event in events.as_array().into_iter().flatten() {
        if let Some(name) = event["type"].as_str().filter(|_| names_events(protocol)) {
            out.push_str(&format!("event: {name}\n"));
        }
        out.push_str(&format!("data: {event}\n\n"));
    }
    if protocol == Protocol::OpenaiChat {
        out.push_str("data: [DONE]\n\n");
    }
    out.into_bytes()
}

fn names_events(protocol: Protocol) -> bool {
    matches!(protocol, Protocol::AnthropicMessages | Protocol::OpenaiResponses)
}
