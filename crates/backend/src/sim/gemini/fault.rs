//! Keys, headers and errors of Gemini.

use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::sim::api::Url;
use crate::sim::problem::Problem;
use crate::sim::question::Delivery;
use crate::sim::shape;
use crate::sim::shape::{Step, Violation, What};

/// A key in a header or in the query.
pub(super) fn admit(headers: &HeaderMap, url: &Url<'_>) -> Result<(), Problem> {
    let text = |name: &str| headers.get(name).and_then(|it| it.to_str().ok()).map(str::trim);
    let bearer = text("authorization").and_then(|it| it.strip_prefix("Bearer "));
    let key = text("x-goog-api-key").or(url.parameter("key")).or(bearer).unwrap_or_default();
    match key {
        "" => Err(Problem::new(
            401,
            "Request is missing required authentication credential. Expected an API key, OAuth 2 access token, login cookie or other valid authentication credential.",
        )),
        "invalid" => Err(Problem::invalid("API key not valid. Please pass a valid API key.")
            .coded("API_KEY_INVALID")),
        _ => Ok(()),
    }
}

pub(super) fn headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("server", "scaffolding on HTTPServer2"),
        ("vary", "Origin, X-Origin, Referer"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "SAMEORIGIN"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
}

/// Google has no 529: what is overloaded is unavailable.
pub(super) fn code(problem: &Problem) -> u16 {
    if problem.status == 529 { 503 } else { problem.status }
}

pub(super) fn body(problem: &Problem) -> Value {
    let code = code(problem);
    let mut error = json!({"code": code, "message": message(problem), "status": status(code)});
    let details = details(problem);
    if !details.is_empty() {
        error["details"] = Value::Array(details);
    }
    json!({"error": error})
}

fn message(problem: &Problem) -> &str {
    if problem.message.is_empty() { "Requested entity was not found." } else { &problem.message }
}

fn details(problem: &Problem) -> Vec<Value> {
    let mut out = Vec::new();
    if let Some(reason) = problem.code.filter(|it| it.starts_with("API_KEY")) {
        out.push(json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason,
            "domain": "googleapis.com", "metadata": {"service": "generativelanguage.googleapis.com"},
        }));
    }
    if let Some(param) = &problem.param {
        out.push(json!({
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [{"field": param, "description": problem.message}],
        }));
    }
    if let Some(wait) = problem.retry_after_s {
        let delay = format!("{wait}s");
        out.push(json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}));
    }
    out
}

/// An error inside a stream; in the array form it is the last element.
pub(super) fn frame(problem: &Problem, delivery: Delivery, frames_before: usize) -> String {
    let body = body(problem);
    match (delivery, frames_before) {
        (Delivery::Array, 0) => format!("[{body}]"),
        (Delivery::Array, _) => format!(",\r\n{body}]"),
        _ => format!("data: {body}\r\n\r\n"),
    }
}

fn status(code: u16) -> &'static str {
    match code {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        409 => "ABORTED",
        429 => "RESOURCE_EXHAUSTED",
        499 => "CANCELLED",
        502 | 503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}

/// A violation in Google's words.
pub(super) fn violation(violation: &Violation) -> Problem {
    let place = shape::bracketed(&violation.path);
    let parent = &violation.path[..violation.path.len().saturating_sub(1)];
    let name = match violation.path.last() {
        Some(Step::Key(name)) => name.as_str(),
        _ => "",
    };
    let message = match &violation.what {
        What::Unknown if parent.is_empty() => {
            format!("Invalid JSON payload received. Unknown name \"{name}\": Cannot find field.")
        }
        What::Unknown => format!(
            "Invalid JSON payload received. Unknown name \"{name}\" at '{}': Cannot find field.",
            shape::bracketed(parent)
        ),
        What::Missing => format!("* GenerateContentRequest.{place}: {name} is not specified\n"),
        What::Type { expected, found } => {
            format!("Invalid value at '{place}' (expected {expected}), found {found}")
        }
        What::Word { found, .. } => format!("Invalid value at '{place}', \"{found}\""),
        What::Below { .. } | What::Above { .. } => {
            format!("* GenerateContentRequest.{place}: {name} is out of the supported range\n")
        }
    };
    Problem::invalid(message).at(place)
}
