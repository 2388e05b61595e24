//! JSON Schemas as tools and structured outputs have them, from plain to all the keywords there are.

use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy};
use proptest::prop_oneof;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::generate::object::{Object, list, object, typed};
use crate::generate::text::{any_json, count, flag, number, one_of, text};

/// The schema of an object, as every protocol wants it at the root.
pub fn schema() -> BoxedStrategy<Value> {
    prop_oneof![
        1 => Just(json!({"type": "object", "properties": {}})),
        1 => Just(json!({"type": "object"})),
        1 => recursive(),
        8 => object_of(node()).prop_map(with_dialect),
    ]
    .boxed()
}

/// A schema in which every property is required and none is added, as strict modes want it.
pub(super) fn strict_schema() -> BoxedStrategy<Value> {
    vec((select(PROPERTIES), leaf()), 1..4)
        .prop_map(|properties| {
            let properties: serde_json::Map<String, Value> =
                properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
            let required: Vec<&String> = properties.keys().collect();
            json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            })
        })
        .boxed()
}

/// A schema of Google's own dialect.
pub(super) fn google_schema() -> BoxedStrategy<Value> {
    let leaf = object()
        .with("type", one_of(&["STRING", "NUMBER", "INTEGER", "BOOLEAN", "string"]))
        .maybe("description", text())
        .rarely("nullable", flag())
        .rarely("enum", list(text(), 1..3))
        .rarely("format", one_of(&["enum", "date-time", "int32"]))
        .closed();
    vec((select(PROPERTIES), leaf), 1..4)
        .prop_map(|properties| {
            let properties: serde_json::Map<String, Value> =
                properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
            let order: Vec<&String> = properties.keys().collect();
            json!({"type": "OBJECT", "properties": properties, "propertyOrdering": order})
        })
        .boxed()
}

const PROPERTIES: &[&str] = &["city", "days", "unit", "$filter", "ünïcode", "a/b~c"];

fn with_dialect(mut schema: Value) -> Value {
    let properties = schema["properties"].as_object().map_or(0, serde_json::Map::len);
    if properties.is_multiple_of(2) {
        schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    }
    schema
}

fn recursive() -> BoxedStrategy<Value> {
    Just(json!({
        "type": "object",
        "$defs": {"node": {"type": "object", "properties": {
            "name": {"type": "string"},
            "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}
        }}},
        "properties": {"head": {"$ref": "#/$defs/node"}}
    }))
    .boxed()
}

fn node() -> BoxedStrategy<Value> {
    leaf()
        .prop_recursive(3, 12, 3, |inner| {
            prop_oneof![object_of(inner.clone()), array_of(inner.clone()), combined(inner),]
        })
        .boxed()
}

fn object_of(inner: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let properties = vec((select(PROPERTIES), inner), 0..3).prop_map(|properties| {
        properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect::<Value>()
    });
    typed("object")
        .with("properties", properties)
        .maybe("required", list(one_of(PROPERTIES), 0..2))
        .maybe("additionalProperties", prop_oneof![flag(), Just(json!({"type": "string"}))])
        .rarely("patternProperties", Just(json!({"^x": {"type": "integer"}})))
        .rarely("minProperties", count())
        .maybe("description", text())
        .open()
}

fn array_of(inner: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    typed("array")
        .maybe("items", inner.clone())
        .rarely("prefixItems", list(inner, 1..3))
        .rarely("minItems", count())
        .rarely("uniqueItems", flag())
        .closed()
}

fn combined(inner: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let branches = list(inner, 1..3);
    prop_oneof![
        object().with("anyOf", branches.clone()).maybe("description", text()).closed(),
        object().with("oneOf", branches.clone()).closed(),
        object().with("allOf", branches).closed(),
        object().with("not", leaf()).closed(),
    ]
    .boxed()
}

fn leaf() -> BoxedStrategy<Value> {
    prop_oneof![
        4 => described(typed("string")
            .rarely("format", one_of(&["date-time", "email", "uri", "made-up"]))
            .rarely("pattern", Just(json!("^[a-z\\/]+$")))
            .rarely("minLength", count())
            .rarely("enum", list(text(), 1..4))),
        2 => described(typed("integer").rarely("minimum", number()).rarely("multipleOf", count())),
        2 => described(typed("number").rarely("exclusiveMaximum", number())),
        1 => described(typed("boolean").rarely("const", flag())),
        1 => described(object().with("type", Just(json!(["string", "null"])))),
        1 => described(object().with("enum", list(any_json(), 1..3))),
        1 => Just(json!({})).boxed(),
        1 => flag(),
    ]
    .boxed()
}

fn described(schema: Object) -> BoxedStrategy<Value> {
    schema
        .maybe("description", text())
        .rarely("title", text())
        .rarely("default", any_json())
        .rarely("examples", list(any_json(), 0..2))
        .open()
}
