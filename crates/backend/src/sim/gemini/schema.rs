//! Gemini's `Schema`, a part of OpenAPI 3.0: what it knows, and what it demands of objects, arrays and enumerations.

use serde_json::{Map, Value};

use crate::sim::problem::Problem;

const KNOWN: [&str; 24] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "any_of",
    "property_ordering",
];

const TYPES: [&str; 7] = ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];

/// Whether objects may be declared without properties, as newer models let them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EmptyObjects {
    Refused,
    Accepted,
}

pub(super) fn check(schema: &Value, empty: EmptyObjects, place: &str) -> Result<(), Problem> {
    let Some(object) = schema.as_object() else {
        return Err(Problem::invalid(format!(
            "Invalid value at '{place}' (type.googleapis.com/google.ai.generativelanguage.v1beta.Schema)"
        )));
    };
    known(object, place)?;
    let kind = kind(object, place)?;
    let is_empty = object.get("properties").and_then(Value::as_object).is_some_and(Map::is_empty);
    if kind == "OBJECT" && is_empty && empty == EmptyObjects::Refused {
        let message = format!(
            "* GenerateContentRequest.{place}.properties: should be non-empty for OBJECT type\n"
        );
        return Err(Problem::invalid(message));
    }
    members(object, &kind, place)?;
    for (name, inner) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
        check(inner, empty, &format!("{place}.properties[{name}]"))?;
    }
    for (index, inner) in
        object.get("anyOf").and_then(Value::as_array).into_iter().flatten().enumerate()
    {
        check(inner, empty, &format!("{place}.any_of[{index}]"))?;
    }
    object.get("items").map_or(Ok(()), |items| check(items, empty, &format!("{place}.items")))
}

fn known(object: &Map<String, Value>, place: &str) -> Result<(), Problem> {
    let unknown = object.iter().find(|(name, value)| {
        let is_closed = *name == "additionalProperties" && **value == Value::Bool(false);
        !KNOWN.contains(&name.as_str()) && !is_closed
    });
    match unknown {
        Some((name, _)) => Err(Problem::invalid(format!("Invalid JSON payload received. Unknown name \"{name}\" at '{place}': Cannot find field.")).at(place)),
        None => Ok(()),
    }
}

fn kind(object: &Map<String, Value>, place: &str) -> Result<String, Problem> {
    let kind = match object.get("type") {
        None => String::new(),
        Some(Value::String(kind)) => kind.to_ascii_uppercase(),
        Some(_) => {
            return Err(Problem::invalid(format!(
                "Proto field is not repeating, cannot start list. At '{place}.type'"
            )));
        }
    };
    if kind.is_empty() || TYPES.contains(&kind.as_str()) {
        return Ok(kind);
    }
    Err(Problem::invalid(format!(
        "Invalid value at '{place}.type' (type.googleapis.com/google.ai.generativelanguage.v1beta.Type), \"{kind}\""
    )))
}

fn members(object: &Map<String, Value>, kind: &str, place: &str) -> Result<(), Problem> {
    let refuse = |member: &str, reason: &str| {
        Err(Problem::invalid(format!("* GenerateContentRequest.{place}.{member}: {reason}\n")))
    };
    let properties = object.get("properties").and_then(Value::as_object);
    if kind == "ARRAY" && !object.contains_key("items") {
        return refuse("items", "missing field.");
    }
    for name in object.get("required").and_then(Value::as_array).into_iter().flatten() {
        let is_there =
            name.as_str().zip(properties).is_some_and(|(name, all)| all.contains_key(name));
        if !is_there {
            return refuse("required[0]", "property is not defined");
        }
    }
    for word in object.get("enum").and_then(Value::as_array).into_iter().flatten() {
        match word.as_str() {
            None => {
                return Err(Problem::invalid(format!(
                    "Invalid value at '{place}.enum[0]' (TYPE_STRING), {word}"
                )));
            }
            Some("") => return refuse("enum[0]", "cannot be empty"),
            Some(_) => {}
        }
    }
    if kind == "STRING" {
        let format = object.get("format").and_then(Value::as_str);
        if format.is_some_and(|it| !matches!(it, "enum" | "date-time")) {
            return refuse("format", "only 'enum' and 'date-time' are supported for STRING type");
        }
    }
    Ok(())
}
