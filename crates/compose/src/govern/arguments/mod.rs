//! The arguments of a call: whether they are what their schema says, and if not, what was most likely meant.

mod coerce;
mod lenient;
mod schema;
mod unroll;

use serde_json::Value;

pub(super) use schema::Schema;

/// What was found of arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Checked {
    /// They are what the schema says.
    Fits,
    /// They are not, and so spelled they would be.
    Repaired(String),
    /// They are not, for this reason.
    Wrong(String),
}

/// Holds the text of arguments against their schema.
pub(super) fn check(text: &str, schema: &Schema) -> Checked {
    let strict = match text.trim().is_empty() {
        true => Some(Value::Object(serde_json::Map::new())),
        false => serde_json::from_str::<Value>(text).ok(),
    };
    let Some(value) = strict else {
        return match lenient::parse(text).and_then(|value| fitting(value, schema)) {
            Some(value) => Checked::Repaired(value.to_string()),
            None => Checked::Wrong("they are not JSON".to_owned()),
        };
    };
    match schema.validate(&value) {
        Ok(()) => Checked::Fits,
        Err(reason) => match fitting(value, schema) {
            Some(value) => Checked::Repaired(value.to_string()),
            None => Checked::Wrong(reason),
        },
    }
}

/// The value as the schema wants it, if it can be had without guessing.
fn fitting(value: Value, schema: &Schema) -> Option<Value> {
    if schema.validate(&value).is_ok() {
        return Some(value);
    }
    let value = coerce::towards(unwrapped(value), schema.json());
    schema.validate(&value).is_ok().then_some(value)
}

/// Some models send the object as a string that holds it.
fn unwrapped(value: Value) -> Value {
    match &value {
        Value::String(text) => match serde_json::from_str(text) {
            Ok(inner @ Value::Object(_)) => inner,
            _ => value,
        },
        _ => value,
    }
}
