//! Values of the wrong type that say what is meant: numbers and booleans as strings, strings as numbers, lists as their JSON.

use serde_json::Value;

use super::schema::local;

/// Makes a value what its schema says, where one type stands for another and nothing has to be guessed.
pub(super) fn towards(value: Value, schema: &Value) -> Value {
    converted(value, schema, schema)
}

fn converted(value: Value, schema: &Value, root: &Value) -> Value {
    let choices = choices(schema, root);
    let names = |name: &str| choices.iter().any(|it| names(it, name));
    match retyped(value, names) {
        Value::Object(members) => {
            let schema = of_type(&choices, "object");
            let property = |key: &str| schema?.get("properties")?.get(key);
            let convert = |(key, value): (String, Value)| {
                let below = property(&key).or_else(|| schema?.get("additionalProperties"));
                let value = match below {
                    Some(below) => converted(value, below, root),
                    None => value,
                };
                (key, value)
            };
            Value::Object(members.into_iter().map(convert).collect())
        }
        Value::Array(elements) => match of_type(&choices, "array").and_then(|it| it.get("items")) {
            Some(items) => {
                elements.into_iter().map(|element| converted(element, items, root)).collect()
            }
            None => Value::Array(elements),
        },
        other => other,
    }
}

/// How many steps lead from a schema to what it says of types, each a reference or a choice.
const STEPS_MAX: usize = 4;

/// How many alternatives are looked at.
const CHOICES_MAX: usize = 16;

/// The schema and those among which it leaves the choice, as languages spell a type that may be absent.
fn choices<'s>(schema: &'s Value, root: &'s Value) -> Vec<&'s Value> {
    let mut found = Vec::new();
    gather(schema, root, STEPS_MAX, &mut found);
    found
}

fn gather<'s>(schema: &'s Value, root: &'s Value, steps: usize, found: &mut Vec<&'s Value>) {
    let Some(steps) = steps.checked_sub(1).filter(|_| found.len() < CHOICES_MAX) else { return };
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return local(reference, root).into_iter().for_each(|it| gather(it, root, steps, found));
    }
    found.push(schema);
    let lists = ["anyOf", "oneOf"].into_iter().filter_map(|it| schema.get(it)?.as_array());
    lists.flatten().take(CHOICES_MAX).for_each(|it| gather(it, root, steps, found));
}

/// The first choice that is of a type; without one the schema itself, which may say nothing of types.
fn of_type<'s>(choices: &[&'s Value], name: &str) -> Option<&'s Value> {
    let named = choices.iter().find(|it| names(it, name));
    named.or_else(|| choices.first()).copied()
}

fn names(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        _ => false,
    }
}

fn retyped(value: Value, names: impl Fn(&str) -> bool) -> Value {
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
