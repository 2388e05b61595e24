//! Values by what is in them: their strings, and the places at which two differ.

use serde_json::Value;

use super::normal;

/// Whether a value has strings, and a text holds them all.
pub(super) fn is_within(value: &Value, text: &str) -> bool {
    let strings = strings(value);
    !strings.concat().is_empty() && strings.iter().all(|it| text.contains(it))
}

/// All strings in a value.
pub(super) fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(list) => list.iter().flat_map(strings).collect(),
        Value::Object(object) => object.values().flat_map(strings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// The innermost places at which two values differ.
pub(super) fn leaves(
    before: &Value,
    after: &Value,
    pointer: &str,
    found: &mut Vec<(String, Value, Value)>,
) {
    if normal::same(before, after) {
        return;
    }
    let below = |key: &str| format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
    match (before, after) {
        (Value::Object(one), Value::Object(other)) => {
            let added = other.keys().filter(|key| !one.contains_key(*key));
            for key in one.keys().chain(added) {
                let [one, other] = [one, other].map(|it| it.get(key).unwrap_or(&Value::Null));
                leaves(one, other, &below(key), found);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                leaves(one, other, &below(&index.to_string()), found);
            }
        }
        _ => found.push((pointer.to_owned(), before.clone(), after.clone())),
    }
}
