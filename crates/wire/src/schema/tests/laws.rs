//! Laws that hold for every schema: a translation settles, keeps to its list and hides nothing.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::allow::Shape;
use super::super::read::Reading;
use super::super::translate::in_full;
use super::super::{SchemaLanguage, SchemaLoss, allow, is_supported, plain, translate};
use crate::json::Json;

const TARGETS: [SchemaLanguage; 4] = [
    SchemaLanguage::OpenaiStrict,
    SchemaLanguage::AnthropicStrict,
    SchemaLanguage::GeminiJsonSchema,
    SchemaLanguage::GeminiSchema,
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_translation_settles_and_keeps_to_the_list(schema in document()) {
        let text = schema.to_string();
        let input = Json::parse(&text).unwrap();
        for language in TARGETS {
            let once = translate(&input, SchemaLanguage::JsonSchema, language);
            let twice = translate(&once.json, language, language);
            prop_assert_eq!(&twice.losses, &[], "{:?}: {}", language, once.json.as_str());
            prop_assert_eq!(twice.json.as_str(), once.json.as_str());
            prop_assert!(is_supported(&once.json, language));
            let output = serde_json::from_str(once.json.as_str()).unwrap();
            prop_assert_eq!(strangers(&output, language), Vec::<String>::new());
        }
    }

    #[test]
    fn a_translation_between_any_two_dialects_settles(schema in document()) {
        let text = schema.to_string();
        let input = Json::parse(&text).unwrap();
        for from in TARGETS {
            let first = translate(&input, SchemaLanguage::JsonSchema, from).json;
            for to in TARGETS {
                let second = translate(&first, from, to).json;
                let third = translate(&second, to, to);
                prop_assert_eq!(&third.losses, &[], "{:?} {:?}: {}", from, to, second.as_str());
            }
        }
    }

    #[test]
    fn the_short_way_leads_where_the_long_one_does(schema in document()) {
        let text = schema.to_string();
        let input = Json::parse(&text).unwrap();
        for from in [SchemaLanguage::JsonSchema, SchemaLanguage::GeminiSchema] {
            for to in TARGETS.into_iter().chain([SchemaLanguage::JsonSchema]) {
                // What a translation wrote is more often plain than what it read.
                for input in [translate(&input, SchemaLanguage::JsonSchema, to).json, input.clone()] {
                    let reading = Reading::of(from, to);
                    let Some(short) = plain::translate(&input, reading, to) else { continue };
                    let long = in_full(&input, reading, to);
                    prop_assert_eq!(&long.losses, &[], "{:?} {:?}: {}", from, to, input.as_str());
                    prop_assert!(long.json.same_value(&short), "{:?}: {}", to, input.as_str());
                }
            }
        }
    }

    #[test]
    fn a_round_trip_differs_only_where_a_loss_is_on_record(schema in document()) {
        let text = schema.to_string();
        let input = Json::parse(&text).unwrap();
        for language in TARGETS {
            let there = translate(&input, SchemaLanguage::JsonSchema, language);
            let back = translate(&there.json, language, SchemaLanguage::JsonSchema);
            let output = serde_json::from_str(back.json.as_str()).unwrap();
            let mut hidden = Vec::new();
            differences(&schema, &output, "", &mut hidden);
            hidden.retain(|pointer| !is_on_record(pointer, &there.losses));
            prop_assert_eq!(
                hidden, Vec::<String>::new(), "{:?}: {} became {}", language, text, back.json.as_str(),
            );
        }
    }

    #[test]
    fn a_schema_without_losses_comes_back_as_it_was(schema in document()) {
        let text = serde_json::to_string_pretty(&schema).unwrap();
        let input = Json::parse(&text).unwrap();
        for language in [SchemaLanguage::JsonSchema, SchemaLanguage::OpenaiStrict, SchemaLanguage::GeminiJsonSchema] {
            let translated = translate(&input, SchemaLanguage::JsonSchema, language);
            if translated.losses.is_empty() {
                prop_assert_eq!(translated.json.as_str(), &text);
                prop_assert!(translated.json.input_reader().is_some());
            }
        }
    }
}

/// The keywords that are not on the list of a language.
fn strangers(schema: &Value, language: SchemaLanguage) -> Vec<String> {
    let Value::Object(keywords) = schema else { return Vec::new() };
    let mut found = Vec::new();
    for (name, value) in keywords {
        if !allow::allows(language, name) {
            found.push(name.clone());
        }
        let below: Vec<&Value> = match (allow::shape(name), value) {
            (Shape::Plain, _) => Vec::new(),
            (Shape::Map, Value::Object(map)) => map.values().collect(),
            (_, Value::Array(schemas)) => schemas.iter().collect(),
            (_, schema) => vec![schema],
        };
        found.extend(below.into_iter().flat_map(|schema| strangers(schema, language)));
    }
    found
}

fn differences(one: &Value, two: &Value, at: &str, found: &mut Vec<String>) {
    match (one, two) {
        (Value::Object(left), Value::Object(right)) => {
            for name in left.keys().chain(right.keys().filter(|name| !left.contains_key(*name))) {
                let at = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                match (left.get(name), right.get(name)) {
                    (Some(left), Some(right)) => differences(left, right, &at, found),
                    _ => found.push(at),
                }
            }
        }
        (Value::Array(left), Value::Array(right))
            if left.len() == right.len() && left.iter().chain(right).any(Value::is_object) =>
        {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                differences(left, right, &format!("{at}/{index}"), found);
            }
        }
        (left, right) if left == right => {}
        _ => found.push(at.to_owned()),
    }
}

/// A loss covers what stands at or below it, and its neighbours in the same schema; where schemas
/// were merged, it covers everything below the neighbours too.
fn is_on_record(pointer: &str, losses: &[SchemaLoss]) -> bool {
    losses.iter().any(|loss| {
        let (schema, keyword) = loss.pointer.rsplit_once('/').unwrap_or_default();
        let is_merged =
            matches!(keyword, "allOf" | "anyOf" | "oneOf" | "$ref") && is_below(pointer, schema);
        let is_moved = keyword == "definitions" && is_below(pointer, "/$defs");
        let is_beside = pointer.rsplit_once('/').is_some_and(|(parent, _)| parent == schema);
        is_below(pointer, &loss.pointer) || is_merged || is_moved || is_beside
    })
}

fn is_below(pointer: &str, ancestor: &str) -> bool {
    pointer.strip_prefix(ancestor).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A schema with definitions, some of which lead to themselves.
fn document() -> impl Strategy<Value = Value> {
    (schema(), schema(), schema()).prop_map(|(mut root, one, two)| {
        if let Value::Object(keywords) = &mut root {
            keywords.insert("$defs".to_owned(), json!({ "one": one }));
            keywords.insert("definitions".to_owned(), json!({ "two": two }));
        }
        root
    })
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        6 => plain_keywords().prop_map(Value::Object),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(json!({})),
        1 => reference(),
        1 => Just(json!({ "type": "null" })),
        1 => prop::sample::select(vec![json!(null), json!(5), json!([]), json!("x")]),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        (plain_keywords(), prop::collection::vec(nesting_keyword(inner), 0..4)).prop_map(
            |(mut keywords, nesting)| {
                keywords.extend(nesting);
                Value::Object(keywords)
            },
        )
    })
}

fn reference() -> impl Strategy<Value = Value> {
    let target = prop::sample::select(vec![
        "#",
        "#/$defs/one",
        "#/definitions/two",
        "#/properties/a",
        "#/$defs/none",
        "https://a.b/c",
        "#/%24defs/one",
        "#anchor",
    ]);
    (target, any::<bool>()).prop_map(|(target, is_described)| match is_described {
        true => json!({ "$ref": target, "description": "told" }),
        false => json!({ "$ref": target }),
    })
}

fn nesting_keyword(
    inner: impl Strategy<Value = Value> + Clone,
) -> impl Strategy<Value = (String, Value)> {
    let name = prop::sample::select(vec!["a", "b", "type", "$ref", "x/y"]);
    let map = prop::collection::vec((name, inner.clone()), 0..4).prop_map(|members| {
        Value::Object(members.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect())
    });
    let list = prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from);
    let one = prop::sample::select(vec![
        "items",
        "additionalProperties",
        "not",
        "if",
        "then",
        "contains",
        "additionalItems",
    ]);
    let many = prop::sample::select(vec!["anyOf", "oneOf", "allOf", "prefixItems", "items"]);
    let maps = prop::sample::select(vec!["properties", "properties", "patternProperties"]);
    prop_oneof![
        3 => (maps, map),
        2 => (one, inner),
        3 => (many, list),
    ]
    .prop_map(|(name, value)| (name.to_owned(), value))
}

fn plain_keywords() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec(plain_keyword(), 0..5).prop_map(|keywords| {
        keywords.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    })
}

fn plain_keyword() -> impl Strategy<Value = (&'static str, Value)> {
    prop_oneof![
        6 => types().prop_map(|value| ("type", value)),
        2 => prop::collection::vec(prop::sample::select(vec!["a", "b", "type", "z"]), 0..3)
            .prop_map(|names| ("required", json!(names))),
        2 => prop::collection::vec(scalar(), 0..4).prop_map(|values| ("enum", json!(values))),
        1 => scalar().prop_map(|value| ("const", value)),
        2 => prop::sample::select(vec!["uri", "date-time", "enum", "int32", "email"])
            .prop_map(|format| ("format", json!(format))),
        3 => (prop::sample::select(LIMITS), 0..3_u8).prop_map(|(name, limit)| (name, json!(limit))),
        2 => (prop::sample::select(WORDS), scalar()),
        1 => any::<bool>().prop_map(|truth| ("nullable", json!(truth))),
        1 => any::<bool>().prop_map(|truth| ("additionalProperties", json!(truth))),
    ]
}

fn types() -> impl Strategy<Value = Value> {
    let name = || prop::sample::select(allow::TYPES.to_vec());
    prop_oneof![
        6 => name().prop_map(Value::from),
        3 => prop::collection::vec(name(), 0..4).prop_map(|names| json!(names)),
        1 => prop::sample::select(vec![json!("STRING"), json!("any"), json!(["Object", "x"]), json!(1)]),
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(false),
        json!(1),
        json!(2.5),
        json!(""),
        json!("a"),
        json!("b\"\n"),
        json!([1]),
        json!({ "a": 1 }),
    ])
}

#[rustfmt::skip]
const LIMITS: &[&str] = &[
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
];

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "$schema", "$comment", "$id", "$anchor", "title", "description", "default", "examples",
    "example", "pattern", "x-order", "unknown", "deprecated", "propertyOrdering", "required",
    "properties", "anyOf", "items",
];
