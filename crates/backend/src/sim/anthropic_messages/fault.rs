//! Keys, headers and errors of Messages.

use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::sim::problem::Problem;
use crate::sim::shape;
use crate::sim::shape::{Violation, What};

/// A key in either header, and a version of the API.
pub(super) fn admit(headers: &HeaderMap) -> Result<(), Problem> {
    let text = |name: &str| headers.get(name).and_then(|it| it.to_str().ok()).map(str::trim);
    let bearer = text("authorization").and_then(|it| it.strip_prefix("Bearer "));
    match text("x-api-key").or(bearer).unwrap_or_default() {
        "" => return Err(Problem::new(401, "x-api-key header is required")),
        "invalid" => return Err(Problem::new(401, "invalid x-api-key")),
        _ => {}
    }
    match text("anthropic-version") {
        None => Err(Problem::invalid("anthropic-version: header is required")),
        Some("2023-01-01" | "2023-06-01" | "2026-10-21") => Ok(()),
        Some(version) => Err(Problem::invalid(format!(
            "anthropic-version: \"{version}\" is not a valid version"
        ))),
    }
}

pub(super) fn headers(request_id: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for kind in ["requests", "tokens", "input-tokens", "output-tokens"] {
        for (name, value) in
            [("limit", "4000"), ("remaining", "3999"), ("reset", "2026-01-01T00:00:00Z")]
        {
            let name = format!("anthropic-ratelimit-{kind}-{name}");
            if let Ok(name) = http::HeaderName::try_from(name) {
                headers.insert(name, HeaderValue::from_static(value));
            }
        }
    }
    headers.insert("anthropic-organization-id", HeaderValue::from_static("sabir-sim"));
    if let Ok(value) = HeaderValue::from_str(request_id) {
        headers.insert("request-id", value);
    }
    headers
}

pub(super) fn body(problem: &Problem, request_id: &str) -> Value {
    let mut error = json!({"type": class(problem.status), "message": problem.message});
    if problem.code == Some(THREAD_NOT_FOUND) {
        error["details"] = json!({"error_code": THREAD_NOT_FOUND});
    }
    json!({"type": "error", "error": error, "request_id": request_id})
}

/// The one code that clients act upon: they send the whole conversation again.
pub(super) const THREAD_NOT_FOUND: &str = "thread_not_found";

/// An error inside a stream.
pub(super) fn frame(problem: &Problem) -> String {
    let error = json!({
        "type": "error", "error": {"type": class(problem.status), "message": problem.message},
    });
    format!("event: error\ndata: {error}\n\n")
}

fn class(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

/// A violation in Anthropic's words.
pub(super) fn violation(violation: &Violation) -> Problem {
    let place = shape::dotted(&violation.path);
    let message = match &violation.what {
        What::Unknown => "Extra inputs are not permitted".to_owned(),
        What::Missing => "Field required".to_owned(),
        What::Type { expected, .. } => format!("Input should be a valid {}", type_name(expected)),
        What::Word { expected, .. } => {
            let words: Vec<String> = expected.iter().map(|it| format!("'{it}'")).collect();
            format!("Input should be {}", words.join(" or "))
        }
        What::Below { minimum, .. } => {
            format!("Input should be greater than or equal to {minimum}")
        }
        What::Above { maximum, .. } => format!("Input should be less than or equal to {maximum}"),
    };
    Problem::invalid(format!("{place}: {message}"))
}

fn type_name(kind: &'static str) -> &'static str {
    match kind {
        "object" => "dictionary",
        "array" => "list",
        other => other,
    }
}
