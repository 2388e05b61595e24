//! Values of the wrong type that say what is meant: numbers and booleans as strings, strings as numbers, lists as their JSON.

use serde_json::Value;

use super::schema::local;

/// Makes a value what its schema says, where one type stands for another and nothing has to be guessed.
pub(super) fn towards(value: Value, schema: &Value) -> Value {
    converted(value, schema, schema)
}

fn converted(value: Value, schema: &Value, root: &Value) -> Value {
    let Some(schema) = resolved(schema, root) else { return value };
    match retyped(value, schema) {
        Value::Object(members) => {
            let property = |key: &str| schema.get("properties")?.get(key);
            let convert = |(key, value): (String, Value)| {
                let below = property(&key).or_else(|| schema.get("additionalProperties"));
                let value = match below {
                    Some(below) => converted(value, below, root),
                    None => value,
                };
                (key, value)
            };
            Value::Object(members.into_iter().map(convert).collect())
        }
        Value::Array(elements) => match schema.get("items") {
            Some(items) => {
                elements.into_iter().map(|element| converted(element, items, root)).collect()
            }
            None => Value::Array(elements),
        },
        other => other,
    }
}

/// The schema that a reference leads to; one step, as the schemas of tools have it.
fn resolved<'s>(schema: &'s Value, root: &'s Value) -> Option<&'s Value> {
    match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => local(reference, root),
        None => Some(schema),
    }
}

fn retyped(value: Value, schema: &Value) -> Value {
    let names = |name: &str| match schema.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        _ => false,
    };
    match &value {
        Value::String(text) if !names("string") => parsed(text, names).unwrap_or(value),
        Value::Number(number) if names("string") && !names("number") && !names("integer") => {
            Value::String(number.to_string())
        }
        Value::Bool(is_true) if names("string") && !names("boolean") => {
            Value::String(is_true.to_string())
        }
        _ => value,
    }
}

/// The value that a string spells, if it is of a type that is wanted.
fn parsed(text: &str, names: impl Fn(&str) -> bool) -> Option<Value> {
    let text = match text.trim() {
        "True" => "true",
        "False" => "false",
        "None" => "null",
        text => text,
    };
    let value: Value = serde_json::from_str(text).ok()?;
    let is_wanted = match &value {
        Value::Null => names("null"),
        Value::Bool(_) => names("boolean"),
        Value::Number(number) => names("number") || names("integer") && is_whole(number),
        Value::String(_) => false,
        Value::Array(_) => names("array"),
        Value::Object(_) => names("object"),
    };
    is_wanted.then_some(value)
}

fn is_whole(number: &serde_json::Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|it| it.fract() == 0.0)
}
