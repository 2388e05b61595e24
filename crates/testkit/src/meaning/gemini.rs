//! The one spelling of bodies of Gemini, which has several for the same: the vendor's parser is that of Protocol Buffers.

use serde_json::{Map, Value, json};

/// A body with every name and value in the spelling that the vendor writes.
pub(super) fn canonical(key: Option<&str>, value: &Value) -> Value {
    let value = match (key, value) {
        // What stands there is the user's, with names of its own.
        (Some(key), _) if is_opaque(key) => return value.clone(),
        (_, Value::Object(object)) => Value::Object(canonical_object(key, object)),
        (_, Value::Array(list)) => list.iter().map(|element| canonical(None, element)).collect(),
        _ => value.clone(),
    };
    match (key, value) {
        (Some("tools"), value) => merged(as_list(value)),
        (Some("contents" | "parts" | "functionDeclarations"), value) => as_list(value).into(),
        (Some("mode"), Value::Number(number)) => {
            let word = number.as_u64().and_then(|number| MODES.get(number as usize));
            word.map_or(Value::Number(number), |word| (*word).into())
        }
        // The examples of the documentation have it in lower case.
        (Some("thinkingLevel"), Value::String(level)) => level.to_ascii_uppercase().into(),
        (Some("data"), Value::String(data)) => standard(&data).into(),
        (Some(key), Value::String(text)) if NUMBERS.contains(&key) => {
            serde_json::from_str(&text).unwrap_or(Value::String(text))
        }
        (_, value) => value,
    }
}

fn canonical_object(key: Option<&str>, object: &Map<String, Value>) -> Map<String, Value> {
    let member = |(name, value): (&String, &Value)| {
        let name = camel(name);
        let value = canonical(Some(&name), value);
        (name, value)
    };
    let mut object: Map<String, Value> = object.iter().map(member).collect();
    // The content of an answer is the model's, whether or not it says so.
    if key == Some("content") && object.get("role") == Some(&json!("model")) {
        object.remove("role");
    }
    object
}

fn is_opaque(key: &str) -> bool {
    key == "args" || key == "response" || key == "labels" || key == "parameters" || is_schema(key)
}

fn is_schema(key: &str) -> bool {
    key == "responseSchema" || key.ends_with("JsonSchema")
}

/// One object is taken for a list of one.
fn as_list(value: Value) -> Vec<Value> {
    match value {
        Value::Array(list) => list,
        Value::Null => Vec::new(),
        one => vec![one],
    }
}

/// The functions of all tools together, then the hosted tools one by one: how many objects they stand in says nothing.
fn merged(tools: Vec<Value>) -> Value {
    let (mut functions, mut hosted) = (Vec::new(), Vec::new());
    for (name, value) in tools.into_iter().flat_map(|tool| match tool {
        Value::Object(tool) => tool,
        _ => Map::new(),
    }) {
        match name.as_str() {
            "functionDeclarations" => functions.extend(as_list(value)),
            _ if value.is_null() => {}
            _ => hosted.push(json!({ name: value })),
        }
    }
    if !functions.is_empty() {
        hosted.insert(0, json!({"functionDeclarations": functions}));
    }
    hosted.into()
}

/// Bytes in the standard alphabet with padding, which may also come in the URL-safe one and without.
fn standard(data: &str) -> String {
    let mut standard = data.replace('-', "+").replace('_', "/");
    standard.truncate(standard.trim_end_matches('=').len());
    standard
}

fn camel(name: &str) -> String {
    let names = SNAKE_NAMES.iter().find(|snake| **snake == name);
    let Some(snake) = names else { return name.to_owned() };
    let mut words = snake.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |all, word| all + &word[..1].to_ascii_uppercase() + &word[1..])
}

/// The modes of function calling by the numbers of their enumeration.
const MODES: [&str; 5] = ["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"];

/// Numbers, which may be stated in strings.
const NUMBERS: [&str; 10] = [
    "temperature",
    "topP",
    "topK",
    "seed",
    "presencePenalty",
    "frequencyPenalty",
    "candidateCount",
    "logprobs",
    "maxOutputTokens",
    "thinkingBudget",
];

/// Names that are read in snake_case too.
const SNAKE_NAMES: [&str; 30] = [
    "system_instruction",
    "tool_config",
    "generation_config",
    "service_tier",
    "function_calling_config",
    "allowed_function_names",
    "thinking_config",
    "include_thoughts",
    "thinking_budget",
    "thinking_level",
    "top_p",
    "top_k",
    "candidate_count",
    "max_output_tokens",
    "stop_sequences",
    "presence_penalty",
    "frequency_penalty",
    "response_logprobs",
    "response_mime_type",
    "response_schema",
    "response_json_schema",
    "inline_data",
    "mime_type",
    "file_data",
    "file_uri",
    "function_call",
    "function_response",
    "thought_signature",
    "function_declarations",
    "parameters_json_schema",
];
