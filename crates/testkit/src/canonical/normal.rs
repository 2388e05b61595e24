//! One form for values that protocols spell differently.

use sabir_wire::json::{Json, Number, Text};
use serde_json::{Map, Value, json};

pub(super) fn text(text: &Text<'_>) -> Value {
    Value::from(&*text.to_str())
}

pub(super) fn number(number: &Number<'_>) -> Value {
    match (number.as_whole(), number.as_f64()) {
        (Some(whole), _) => json!(whole),
        (None, Some(value)) => json!(value),
        (None, None) => Value::from(number.as_str()),
    }
}

pub(super) fn json(json: &Json<'_>) -> Value {
    serde_json::from_str(json.as_str()).unwrap_or_default()
}

/// JSON that stands in a string is that JSON.
pub(super) fn parsed(value: Value) -> Value {
    match &value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            serde_json::from_str(text).unwrap_or(value)
        }
        _ => value,
    }
}

/// JSON in which null and what is empty are something, as they are to a tool.
pub(super) fn solid(value: Value) -> Value {
    match value {
        Value::Null => Value::from("\0null"),
        Value::String(text) if text.is_empty() => Value::from("\0empty"),
        Value::Array(list) if list.is_empty() => Value::from("\0[]"),
        Value::Object(object) if object.is_empty() => Value::from("\0{}"),
        Value::Array(list) => list.into_iter().map(solid).collect(),
        Value::Object(object) => {
            object.into_iter().map(|(name, value)| (name, solid(value))).collect()
        }
        value => value,
    }
}

/// A media type: its essence in lower case, by its registered name.
pub(super) fn mime(mime: &Text<'_>) -> Value {
    let mime = mime.to_str().to_lowercase();
    let essence = mime.split(';').next().unwrap_or_default().trim();
    Value::from(match essence {
        "image/jpg" => "image/jpeg",
        essence => essence,
    })
}

/// Base64 in its standard alphabet, without padding.
pub(super) fn base64(data: &Text<'_>) -> Value {
    let standard = |letter: char| match letter {
        '-' => '+',
        '_' => '/',
        letter => letter,
    };
    let data = data.to_str();
    let kept = data.chars().filter(|it| !it.is_whitespace() && *it != '=');
    Value::from(kept.map(standard).collect::<String>())
}

/// A JSON Schema in the spelling of the standard: OpenAPI's capital types and `nullable` are those of JSON Schema.
pub(super) fn schema(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut plain = Map::new();
            for (key, value) in object {
                plain.insert(key.clone(), keyword(key, value));
            }
            nullable(&mut plain);
            Value::Object(plain)
        }
        other => other.clone(),
    }
}

fn keyword(key: &str, value: &Value) -> Value {
    match (key, value) {
        ("type", Value::String(word)) => Value::from(word.to_lowercase()),
        ("type", Value::Number(number)) => numbered(number.as_u64()),
        ("type", Value::Array(words)) if words.len() == 1 => keyword(key, &words[0]),
        ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(members)) => {
            let members = members.iter().map(|(name, inner)| (name.clone(), schema(inner)));
            Value::Object(members.collect())
        }
        ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
            schemas.iter().map(schema).collect()
        }
        ("items" | "additionalProperties" | "not", Value::Object(_)) => schema(value),
        _ => value.clone(),
    }
}

/// A type of OpenAPI by its number, which Protocol Buffers take too.
fn numbered(number: Option<u64>) -> Value {
    let words = ["", "string", "number", "integer", "boolean", "array", "object", "null"];
    let word = number.and_then(|number| words.get(usize::try_from(number).ok()?));
    Value::from(*word.unwrap_or(&""))
}

fn nullable(schema: &mut Map<String, Value>) {
    if schema.get("nullable") == Some(&Value::Bool(true))
        && let Some(Value::String(word)) = schema.get("type").cloned()
    {
        schema.remove("nullable");
        schema.insert("type".to_owned(), json!([word, "null"]));
        // A choice that may be null lists it.
        if let Some(Value::Array(choices)) = schema.get_mut("enum")
            && !choices.contains(&Value::Null)
        {
            choices.push(Value::Null);
        }
    }
    if schema.get("nullable") == Some(&Value::Bool(true))
        && let Some(Value::Array(choices)) = schema.get_mut("anyOf")
    {
        choices.push(json!({"type": "null"}));
        schema.remove("nullable");
    }
}

/// Whether a value says nothing.
pub(super) fn is_void(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.iter().all(is_void),
        Value::Object(object) => object.values().all(is_void),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

pub(super) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => match (one.as_u64(), other.as_u64()) {
            (Some(one), Some(other)) => one == other,
            _ => one.as_f64() == other.as_f64(),
        },
        (Value::Object(one), Value::Object(other)) => {
            let is_same = |(key, value): (&String, &Value)| match other.get(key) {
                Some(other) => same(value, other),
                None => false,
            };
            one.len() == other.len() && one.iter().all(is_same)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (one, other) => one == other || is_void(one) && is_void(other),
    }
}

/// A service tier by one of its names: vendors have several for the same queue.
pub(super) fn tier(tier: &str) -> Value {
    match tier {
        "default" | "standard" | "standard_only" | "on_demand" => Value::from("standard"),
        // Whatever the account is set to, which is so unless something else is asked for.
        "auto" => Value::Null,
        word => Value::from(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_a_double_cannot_tell_apart_are_not_the_same() {
        assert!(same(&json!(3), &json!(3.0)));
        assert!(!same(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992_u64)));
    }

    #[test]
    fn what_is_empty_is_something_to_a_tool() {
        assert!(!same(&solid(json!({"port": ""})), &solid(json!({}))));
        assert!(!same(&solid(json!({"port": ""})), &solid(json!({"port": null}))));
    }
}
