//! Values that satisfy a JSON Schema: required members only, first choices, smallest legal numbers.

use serde_json::{Map, Value, json};

const DEPTH_MAX: usize = 32;

/// A value for a schema; free strings hold `word`.
pub(super) fn sample(schema: &Value, word: &str) -> Value {
    Sampler { root: schema, word }.value(schema, 0)
}

struct Sampler<'a> {
    root: &'a Value,
    word: &'a str,
}

impl Sampler<'_> {
    fn value(&self, schema: &Value, depth: usize) -> Value {
        let Some(object) = schema.as_object().filter(|_| depth < DEPTH_MAX) else {
            return if schema == &Value::Bool(true) { json!({}) } else { Value::Null };
        };
        if let Some(target) = object.get("$ref").and_then(Value::as_str) {
            return self.value(&self.resolve(target), depth + 1);
        }
        if let Some(fixed) = object.get("const") {
            return fixed.clone();
        }
        if let Some(first) = object.get("enum").and_then(|it| it.get(0)) {
            return self.spelled(object, first);
        }
        if let Some(all) = object.get("allOf").and_then(Value::as_array) {
            return self.value(&self.merged(object, all), depth + 1);
        }
        match ["anyOf", "oneOf"].iter().find_map(|key| object.get(*key)?.as_array()) {
            Some(choices) => self.choice(object, choices, depth),
            None => self.typed(object, depth),
        }
    }

    /// Gemini's schemas spell the words of a numeric enumeration as strings.
    fn spelled(&self, schema: &Map<String, Value>, first: &Value) -> Value {
        let is_number = matches!(kind_of(schema).as_str(), "integer" | "number");
        match first.as_str().filter(|_| is_number) {
            Some(text) => serde_json::from_str(text).unwrap_or_else(|_| first.clone()),
            None => first.clone(),
        }
    }

    fn choice(&self, schema: &Map<String, Value>, choices: &[Value], depth: usize) -> Value {
        let is_null = |choice: &&Value| choice.get("type") == Some(&json!("null"));
        let Some(choice) = choices.iter().find(|it| !is_null(it)).or(choices.first()) else {
            return Value::Null;
        };
        let mut siblings = schema.clone();
        siblings.remove("anyOf");
        siblings.remove("oneOf");
        let mut chosen = match choice.get("$ref").and_then(Value::as_str) {
            Some(target) => self.resolve(target),
            None => choice.clone(),
        };
        if let Some(object) = chosen.as_object_mut() {
            merge(object, &siblings);
        }
        self.value(&chosen, depth + 1)
    }

    fn merged(&self, schema: &Map<String, Value>, all: &[Value]) -> Value {
        let mut out = schema.clone();
        out.remove("allOf");
        for part in all {
            let part = match part.get("$ref").and_then(Value::as_str) {
                Some(target) => self.resolve(target),
                None => part.clone(),
            };
            if let Some(part) = part.as_object() {
                merge(&mut out, part);
            }
        }
        Value::Object(out)
    }

    fn resolve(&self, target: &str) -> Value {
        let pointer = target.strip_prefix('#').unwrap_or(target);
        self.root.pointer(pointer).cloned().unwrap_or(Value::Null)
    }

    fn typed(&self, schema: &Map<String, Value>, depth: usize) -> Value {
        match kind_of(schema).as_str() {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "integer" => json!(number(schema).ceil() as i64),
            "number" => decimal(number(schema)),
            "boolean" => json!(true),
            "null" => Value::Null,
            _ => Value::String(self.text(schema)),
        }
    }

    fn object(&self, schema: &Map<String, Value>, depth: usize) -> Value {
        let mut out = Map::new();
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            let Some(name) = name.as_str() else { continue };
            let member = schema.get("properties").and_then(|it| it.get(name));
            out.insert(name.to_owned(), member.map_or(json!({}), |it| self.value(it, depth + 1)));
        }
        Value::Object(out)
    }

    fn array(&self, schema: &Map<String, Value>, depth: usize) -> Value {
        let fixed = schema.get("prefixItems").and_then(Value::as_array);
        let mut out: Vec<Value> =
            fixed.into_iter().flatten().map(|it| self.value(it, depth + 1)).collect();
        let wanted = whole(schema, "minItems").unwrap_or(1).min(64) as usize;
        let most = whole(schema, "maxItems").map_or(usize::MAX, |it| it as usize);
        if let Some(items) = schema.get("items").filter(|_| depth + 1 < DEPTH_MAX) {
            while out.len() < wanted.min(most) {
                out.push(self.value(items, depth + 1));
            }
        }
        Value::Array(out)
    }

    fn text(&self, schema: &Map<String, Value>) -> String {
        let mut text = match schema.get("format").and_then(Value::as_str) {
            Some("date-time") => "2026-01-02T03:04:05Z".to_owned(),
            Some("date") => "2026-01-02".to_owned(),
            Some("time") => "03:04:05Z".to_owned(),
            Some("duration") => "PT1M".to_owned(),
            Some("email") => "someone@example.com".to_owned(),
            Some("hostname") => "example.com".to_owned(),
            Some("uri" | "url") => "https://example.com/".to_owned(),
            Some("uuid") => "00000000-0000-4000-8000-000000000000".to_owned(),
            Some("ipv4") => "192.0.2.1".to_owned(),
            Some("ipv6") => "2001:db8::1".to_owned(),
            _ => self.word.to_owned(),
        };
        let least = whole(schema, "minLength").unwrap_or(0).min(4096) as usize;
        let most = whole(schema, "maxLength").map_or(usize::MAX, |it| it as usize);
        while text.chars().count() < least {
            text.push('x');
        }
        text.chars().take(most).collect()
    }
}

fn merge(into: &mut Map<String, Value>, from: &Map<String, Value>) {
    for (key, value) in from {
        match (into.get_mut(key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
            (Some(Value::Array(old)), Value::Array(new)) if key == "required" => {
                old.extend(new.iter().cloned());
            }
            (Some(_), _) => {}
            (None, _) => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}

/// The type to make: the first that is not null, in lower case; objects and arrays are known by their members too.
fn kind_of(schema: &Map<String, Value>) -> String {
    let named = match schema.get("type") {
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null")
        }
        Some(Value::String(kind)) => kind,
        _ if schema.contains_key("properties") => "object",
        _ if schema.contains_key("items") => "array",
        _ => "string",
    };
    named.to_ascii_lowercase()
}

fn whole(schema: &Map<String, Value>, key: &str) -> Option<u64> {
    let value = schema.get(key)?;
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// The smallest legal number that is not below one where one is legal.
fn number(schema: &Map<String, Value>) -> f64 {
    let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
    let step = limit("multipleOf").unwrap_or(1.0);
    let mut number = limit("minimum").unwrap_or(step);
    if let Some(above) = limit("exclusiveMinimum") {
        number = number.max(above + step);
    }
    number = (number / step).ceil() * step;
    number = limit("maximum").map_or(number, |most| number.min(most));
    limit("exclusiveMaximum")
        .map_or(number, |most| if number < most { number } else { most - step })
}

fn decimal(number: f64) -> Value {
    if number.fract() == 0.0 { json!(number as i64) } else { json!(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_satisfy_their_schema() {
        for (schema, expected) in [
            (json!({}), json!("word")),
            (json!(true), json!({})),
            (json!({"const": 5}), json!(5)),
            (json!({"type": ["null", "integer"]}), json!(1)),
            (json!({"type": "INTEGER", "format": "enum", "enum": ["3", "4"]}), json!(3)),
            (json!({"type": "integer", "exclusiveMinimum": 4, "multipleOf": 5}), json!(10)),
            (json!({"type": "number", "maximum": 0.5}), json!(0.5)),
            (json!({"type": "string", "minLength": 6, "maxLength": 6}), json!("wordxx")),
            (json!({"type": "string", "maxLength": 2}), json!("wo")),
            (json!({"type": "string", "format": "date"}), json!("2026-01-02")),
            (
                json!({"type": "array", "items": {"type": "boolean"}, "minItems": 2}),
                json!([true, true]),
            ),
            (
                json!({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "null"}]}),
                json!([1, null]),
            ),
            (json!({"anyOf": [{"type": "null"}, {"type": "boolean"}]}), json!(true)),
            (
                json!({"allOf": [
                    {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
                    {"properties": {"b": {"type": "boolean"}}, "required": ["b"]},
                ]}),
                json!({"a": 1, "b": true}),
            ),
            (
                json!({
                    "$ref": "#/$defs/node",
                    "$defs": {"node": {
                        "type": "object", "required": ["next"],
                        "properties": {"next": {"anyOf": [{"type": "null"}, {"type": "integer"}]}},
                    }},
                }),
                json!({"next": 1}),
            ),
        ] {
            assert_eq!(sample(&schema, "word"), expected, "{schema}");
        }
    }

    #[test]
    fn endless_schemas_end() {
        let schema = json!({
            "$ref": "#/$defs/n",
            "$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "required": ["n"]}},
        });
        assert!(sample(&schema, "word").is_object());
        assert_eq!(sample(&json!({"$ref": "#"}), "word"), Value::Null);
    }
}
