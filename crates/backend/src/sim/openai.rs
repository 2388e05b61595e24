//! What the two OpenAI APIs share: keys, headers, errors, models and
//! log probabilities.

use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use super::problem::Problem;
use super::shape::{Violation, What};
use super::{chunk, shape};

/// The only time that these APIs know.
pub(super) const CREATED_S: u64 = 1_767_225_600;

const MODELS: [&str; 3] = ["sim", "gpt-5.6", "gpt-4.1"];

pub(super) fn admit(headers: &HeaderMap) -> Result<(), Problem> {
    let value = headers.get(http::header::AUTHORIZATION).and_then(|it| it.to_str().ok());
    let key = value.and_then(|it| it.strip_prefix("Bearer ")).map(str::trim).unwrap_or_default();
    match key {
        "" => Err(Problem::new(
            401,
            "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
        )),
        "invalid" => {
            Err(Problem::new(401, "Incorrect API key provided: invalid.").coded("invalid_api_key"))
        }
        _ => Ok(()),
    }
}

pub(super) fn headers(request_id: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("openai-organization", "sabir-sim"),
        ("openai-processing-ms", "1"),
        ("openai-version", "2020-10-01"),
        ("x-ratelimit-limit-requests", "10000"),
        ("x-ratelimit-limit-tokens", "30000000"),
        ("x-ratelimit-remaining-requests", "9999"),
        ("x-ratelimit-remaining-tokens", "29999999"),
        ("x-ratelimit-reset-requests", "6ms"),
        ("x-ratelimit-reset-tokens", "0s"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(value) = HeaderValue::from_str(request_id) {
        headers.insert("x-request-id", value);
    }
    headers
}

pub(super) fn error(problem: &Problem) -> Value {
    let (kind, code) = class(problem.status);
    let message = &problem.message;
    json!({"error": {
        "message": message, "type": kind, "param": problem.param, "code": problem.code.or(code),
    }})
}

fn class(status: u16) -> (&'static str, Option<&'static str>) {
    match status {
        400 | 413 | 415 | 422 => ("invalid_request_error", None),
        401 => ("invalid_request_error", None),
        403 => ("permission_error", None),
        404 => ("invalid_request_error", None),
        429 => ("requests", Some("rate_limit_exceeded")),
        503 | 529 => ("service_unavailable_error", Some("server_is_overloaded")),
        _ => ("server_error", Some("server_error")),
    }
}

pub(super) fn unreadable() -> Problem {
    Problem::invalid(
        "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)",
    )
}

pub(super) fn no_such_url(method: &http::Method, path: &str) -> Problem {
    Problem::new(404, format!("Invalid URL ({method} {path})"))
}

/// A violation in OpenAI's words.
pub(super) fn violation(violation: &Violation) -> Problem {
    let place = shape::bracketed(&violation.path);
    let (message, code) = match &violation.what {
        What::Unknown => (format!("Unknown parameter: '{place}'."), "unknown_parameter"),
        What::Missing => {
            (format!("Missing required parameter: '{place}'."), "missing_required_parameter")
        }
        What::Type { expected, found } => (
            format!(
                "Invalid type for '{place}': expected {}, but got {} instead.",
                with_article(expected),
                with_article(found)
            ),
            "invalid_type",
        ),
        What::Word { expected, found } => (
            format!("Invalid value: '{found}'. Supported values are: {}.", listed(expected)),
            "invalid_value",
        ),
        What::Below { minimum, found } => (
            format!(
                "Invalid '{place}': integer below minimum value. Expected a value >= {minimum}, but got {found} instead."
            ),
            "integer_below_min_value",
        ),
        What::Above { maximum, found } => (
            format!(
                "Invalid '{place}': integer above maximum value. Expected a value <= {maximum}, but got {found} instead."
            ),
            "integer_above_max_value",
        ),
    };
    Problem::invalid(message).at(place).coded(code)
}

fn with_article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "array" | "object" | "integer" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first, second] => format!("{first} and {second}"),
        [rest @ .., last] => format!("{}, and {last}", rest.join(", ")),
    }
}

pub(super) fn models() -> Value {
    json!({"object": "list", "data": MODELS.map(model)})
}

pub(super) fn model(id: &str) -> Value {
    json!({"id": id, "object": "model", "created": CREATED_S, "owned_by": "sabir-sim"})
}

/// The rules of the parameters of every function: an object with properties at the root, items in every list.
pub(super) fn check_parameters(schema: &Value, name: &str, param: String) -> Result<(), Problem> {
    let Some(object) = schema.as_object().filter(|it| !it.is_empty()) else { return Ok(()) };
    let reason = if schema["type"] != "object" {
        let kind = &schema["type"];
        format!("schema must be a JSON Schema of 'type: \"object\"', got 'type: {kind}'.")
    } else if !object.contains_key("properties") {
        "In context=(), object schema missing properties.".to_owned()
    } else if lacks_items(schema) {
        "In context=(), array schema missing items.".to_owned()
    } else {
        return Ok(());
    };
    let message = format!("Invalid schema for function '{name}': {reason}");
    Err(Problem::invalid(message).at(param).coded("invalid_function_parameters"))
}

fn lacks_items(schema: &Value) -> bool {
    let Some(object) = schema.as_object() else { return false };
    let kinds = object.get("type");
    let is_list = kinds == Some(&json!("array"))
        || kinds.and_then(Value::as_array).is_some_and(|it| it.contains(&json!("array")));
    is_list && !object.contains_key("items") || below(object).into_iter().any(lacks_items)
}

/// The rules of strict schemas: closed objects, every property required, an object at the root.
pub(super) fn check_strict(schema: &Value, place: &str) -> Result<(), Problem> {
    let refuse = |reason: &str| {
        Err(Problem::invalid(format!("Invalid schema for {place}: {reason}"))
            .coded("invalid_json_schema"))
    };
    if schema.get("type") != Some(&json!("object")) || schema.get("anyOf").is_some() {
        return refuse("schema must be a JSON Schema of 'type: \"object\"'.");
    }
    match strict_fault(schema) {
        Some(reason) => refuse(&reason),
        None => Ok(()),
    }
}

fn strict_fault(schema: &Value) -> Option<String> {
    let object = schema.as_object()?;
    const FORBIDDEN: [&str; 8] = [
        "allOf",
        "not",
        "if",
        "then",
        "else",
        "dependentRequired",
        "dependentSchemas",
        "patternProperties",
    ];
    if let Some(keyword) = FORBIDDEN.iter().find(|it| object.contains_key(**it)) {
        return Some(format!("In context=(), '{keyword}' is not permitted."));
    }
    let properties = object.get("properties").and_then(Value::as_object);
    if object.get("type") == Some(&json!("object")) || properties.is_some() {
        if properties.is_none() {
            return Some("In context=(), object schema missing properties.".to_owned());
        }
        if object.get("additionalProperties") != Some(&Value::Bool(false)) {
            return Some(
                "In context=(), 'additionalProperties' is required to be supplied and to be false."
                    .to_owned(),
            );
        }
        let required = object.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|it| it.contains(&json!(name)));
        let missing = properties.into_iter().flatten().find(|(name, _)| !is_required(name));
        if let Some((name, _)) = missing {
            return Some(format!(
                "In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing '{name}'."
            ));
        }
    }
    below(object).into_iter().find_map(strict_fault)
}

/// The schemas inside a schema.
fn below(object: &serde_json::Map<String, Value>) -> Vec<&Value> {
    let mut out = Vec::new();
    for key in ["properties", "$defs", "definitions"] {
        out.extend(
            object.get(key).and_then(Value::as_object).into_iter().flat_map(|it| it.values()),
        );
    }
    for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        out.extend(object.get(key).and_then(Value::as_array).into_iter().flatten());
    }
    out.extend(object.get("items"));
    out
}

/// Whether a model of this name reasons and therefore refuses sampling parameters.
pub(super) fn reasons(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let is_o = name.starts_with('o') && name[1..].starts_with(|it: char| it.is_ascii_digit());
    is_o || name.starts_with("gpt-5") && !name.starts_with("gpt-5-chat")
}

/// The minor version of a `gpt-5.N` model.
pub(super) fn minor_of_gpt_5(model: &str) -> Option<u32> {
    let name = model.rsplit('/').next().unwrap_or(model);
    let digits: String =
        name.strip_prefix("gpt-5.")?.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The probabilities of a text's deltas, each beside so many others.
pub(super) fn logprobs(text: &str, others: u64) -> Vec<Value> {
    chunk::deltas(text).iter().map(|token| logprob(token, others)).collect()
}

fn logprob(token: &str, others: u64) -> Value {
    let one = |token: &str, logprob: f64| json!({"token": token, "logprob": logprob, "bytes": token.as_bytes()});
    let mut out = one(token, -0.125);
    let top = (0..others).map(|rank| match rank {
        0 => one(token, -0.125),
        _ => one(&format!("{token}{rank}"), -2.0 - rank as f64),
    });
    out["top_logprobs"] = top.collect();
    out
}
