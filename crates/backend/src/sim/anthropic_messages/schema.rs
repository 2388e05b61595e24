//! The part of JSON Schema that Anthropic's structured output takes.

use serde_json::{Map, Value};

use crate::sim::problem::Problem;

const REFUSED: [&str; 24] = [
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "uniqueItems",
    "contains",
    "prefixItems",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
    "minContains",
];

const FORMATS: [&str; 10] =
    ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

pub(super) fn check(schema: &Value, place: &str) -> Result<(), Problem> {
    let checker = Checker { root: schema, place };
    checker.schema(schema, &mut Vec::new())
}

struct Checker<'a> {
    root: &'a Value,
    place: &'a str,
}

impl<'a> Checker<'a> {
    fn refuse(&self, reason: impl std::fmt::Display) -> Result<(), Problem> {
        Err(Problem::invalid(format!("{}: Invalid schema: {reason}", self.place)))
    }

    fn schema(&self, schema: &'a Value, way: &mut Vec<&'a str>) -> Result<(), Problem> {
        let Some(object) = schema.as_object() else {
            return self.refuse("Schema must be an object");
        };
        if let Some(target) = object.get("$ref").and_then(Value::as_str) {
            return self.reference(object, target, way);
        }
        if let Some(keyword) = REFUSED.iter().find(|it| object.contains_key(**it)) {
            return self.refuse(format!(
                "For '{}' type, property '{keyword}' is not supported",
                object.get("type").and_then(Value::as_str).unwrap_or("any")
            ));
        }
        if object.get("minItems").and_then(Value::as_u64).is_some_and(|it| it > 1) {
            return self
                .refuse("For 'array' type, 'minItems' values other than 0 or 1 are not supported");
        }
        let format = object.get("format").and_then(Value::as_str);
        if format.is_some_and(|it| !FORMATS.contains(&it)) {
            return self.refuse("For 'string' type, 'format' value is not supported");
        }
        if is_object(object) && object.get("additionalProperties") != Some(&Value::Bool(false)) {
            return self.refuse(
                "For 'object' type, 'additionalProperties' must be explicitly set to false",
            );
        }
        self.below(object, way)
    }

    fn reference(
        &self,
        object: &'a Map<String, Value>,
        target: &'a str,
        way: &mut Vec<&'a str>,
    ) -> Result<(), Problem> {
        if object.keys().any(|key| !matches!(key.as_str(), "$ref" | "$defs" | "definitions")) {
            return self.refuse("a '$ref' may not have siblings");
        }
        if way.contains(&target) {
            return self.refuse("Circular reference detected in schema definitions. Self-referencing or mutually-referencing definitions are not supported.");
        }
        let Some(found) = target.strip_prefix('#').and_then(|it| self.root.pointer(it)) else {
            return self.refuse(format!("'{target}' cannot be resolved"));
        };
        way.push(target);
        self.schema(found, way)?;
        way.pop();
        Ok(())
    }

    fn below(&self, object: &'a Map<String, Value>, way: &mut Vec<&'a str>) -> Result<(), Problem> {
        for key in ["properties", "$defs", "definitions"] {
            for (_, schema) in object.get(key).and_then(Value::as_object).into_iter().flatten() {
                self.schema(schema, way)?;
            }
        }
        for key in ["anyOf", "allOf"] {
            for schema in object.get(key).and_then(Value::as_array).into_iter().flatten() {
                self.schema(schema, way)?;
            }
        }
        object.get("items").map_or(Ok(()), |items| self.schema(items, way))
    }
}

fn is_object(object: &Map<String, Value>) -> bool {
    match object.get("type") {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        _ => object.contains_key("properties"),
    }
}
