//! Runs the translation that an expectation is about.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use sabir_wire::protocol::AnswerContext;
use sabir_wire::sse::{Frame, Parser};
use sabir_wire::{Protocol, Report};
use serde_json::Value;

use crate::expect::expectation::{Expectation, KindName};
use crate::translate;

/// What came out of one translation.
pub(super) struct Outcome {
    /// The output as it was written (a stream: the answer it folds to); numbers and key order are compared here.
    pub(super) text: String,
    pub(super) output: Value,
    pub(super) folded: Value,
    pub(super) status: Option<u16>,
    pub(super) report: Report,
}

impl Outcome {
    pub(super) fn of(case: &Path, expected: &Expectation) -> Result<Self> {
        let Expectation { from, to, kind, model, file, status, .. } = expected;
        let (from, to) = (*from, *to);
        let file = file.as_deref().unwrap_or(kind.usual_file());
        let body =
            fs::read(case.join(from.as_str()).join(file)).with_context(|| file.to_owned())?;
        match kind {
            KindName::Request => {
                Self::whole(translate::request(from, to, &body, model.as_deref())?)
            }
            KindName::Response => Self::whole(translate::response(from, to, &body)?),
            KindName::Stream => Self::streamed(to, translate::stream(from, to, &body)),
            KindName::Error => {
                let (status, encoded) = to.translate_fault(&from.decode_fault(*status, &body));
                let outcome = Self::whole((encoded.body, encoded.report))?;
                Ok(Self { status: Some(status), ..outcome })
            }
        }
    }

    fn whole((body, report): (String, Report)) -> Result<Self> {
        let output = serde_json::from_str(&body)?;
        Ok(Self { text: body, output, folded: Value::Null, status: None, report })
    }

    fn streamed(to: Protocol, (text, report): (String, Report)) -> Result<Self> {
        let output = frames(&text)?;
        let response = translate::fold(to, text.as_bytes());
        let text = to.encode_response(&response, to, &AnswerContext::default()).body;
        let folded = serde_json::from_str(&text)?;
        Ok(Self { text, output, folded, status: None, report })
    }

    pub(super) fn ends_in_error(&self) -> bool {
        let is_error = |frame: &Value| {
            frame.get("error").is_some()
                || matches!(frame["type"].as_str(), Some("error" | "response.failed"))
        };
        self.output.as_array().and_then(|frames| frames.last()).is_some_and(is_error)
    }
}

impl KindName {
    fn usual_file(self) -> &'static str {
        match self {
            Self::Request => "request.json",
            Self::Response => "response.json",
            Self::Stream => "stream.sse",
            Self::Error => "error.json",
        }
    }
}

/// The frames of a stream as a list; what is not JSON is a string.
pub fn frames(text: &str) -> Result<Value> {
    let mut frames = Vec::new();
    let mut parser = Parser::default();
    let mut keep = |frame: Frame<'_>| {
        let data = serde_json::from_str(frame.data);
        frames.push(data.unwrap_or_else(|_| Value::String(frame.data.to_owned())));
        Ok(())
    };
    parser.push(text.as_bytes(), &mut keep)?;
    parser.end(&mut keep)?;
    Ok(Value::Array(frames))
}
