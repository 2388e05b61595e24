//! What is made of arguments that are not what their schema says.

use serde_json::{Value, json};

use crate::govern::arguments::{Checked, Schema, check};

fn schema() -> Value {
    json!({"type": "object", "required": ["path"], "additionalProperties": false, "properties": {
        "path": {"type": "string"},
        "lines": {"type": "integer"},
        "deep": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "number"}},
        "at": {"$ref": "#/$defs/at"},
    }, "$defs": {"at": {"type": "object", "properties": {"x": {"type": "number"}}}}})
}

#[track_caller]
fn check_repaired(text: &str, expected: &Value) {
    match check(text, &Schema::of(Some(&schema().to_string()))) {
        Checked::Repaired(repaired) => {
            assert_eq!(serde_json::from_str::<Value>(&repaired).unwrap(), *expected, "{text}");
        }
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn what_the_schema_says_is_left_alone() {
    for text in
        [r#"{"path":"a"}"#, " {\"path\": \"a\", \"lines\": 3 } ", r#"{"path":"a","tags":[1]}"#]
    {
        assert_eq!(check(text, &Schema::of(Some(&schema().to_string()))), Checked::Fits, "{text}");
    }
    assert_eq!(check("", &Schema::of(None)), Checked::Fits);
    assert_eq!(check("{}", &Schema::of(Some("{}"))), Checked::Fits);
}

#[test]
fn slips_of_spelling_are_mended() {
    check_repaired(r#"{"path":"a",}"#, &json!({"path": "a"}));
    check_repaired("```json\n{\"path\":\"a\"}\n```", &json!({"path": "a"}));
    check_repaired("{'path': 'it\\'s', 'deep': True}", &json!({"path": "it's", "deep": true}));
    check_repaired(r#"{"path":"a","tags":[1,2,],}"#, &json!({"path": "a", "tags": [1, 2]}));
    check_repaired(r#"{path: "a"}"#, &json!({"path": "a"}));
    check_repaired("{\"path\":\"two\nlines\"}", &json!({"path": "two\nlines"}));
}

#[test]
fn what_was_cut_off_is_closed() {
    check_repaired(
        r#"{"path":"a","at":{"x":1"#.trim_end_matches('1'),
        &json!({"path": "a", "at": {}}),
    );
    check_repaired(r#"{"path":"a b"#, &json!({"path": "a b"}));
    check_repaired(r#"{"path":"a","tags":[1,"#, &json!({"path": "a", "tags": [1]}));
    check_repaired(r#"{"path":"a","deep""#, &json!({"path": "a"}));
}

#[test]
fn values_of_another_type_are_read_as_the_schema_has_them() {
    check_repaired(
        r#"{"path":7,"lines":"12","deep":"true","tags":["1.5"],"at":{"x":"2"}}"#,
        &json!({"path": "7", "lines": 12, "deep": true, "tags": [1.5], "at": {"x": 2}}),
    );
    check_repaired(r#"{"path":"a","tags":"[1]"}"#, &json!({"path": "a", "tags": [1]}));
    check_repaired(r#""{\"path\":\"a\"}""#, &json!({"path": "a"}));
}

#[test]
fn a_type_may_be_one_of_several_or_stand_elsewhere() {
    let schema = json!({"type": "object", "properties": {
        "lines": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "deep": {"oneOf": [{"$ref": "#/$defs/flag"}, {"type": "null"}]},
        "at": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/at"}]},
        "any": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    }, "$defs": {"flag": {"$ref": "#/$defs/boolean"}, "boolean": {"type": "boolean"},
        "at": {"type": "object", "required": ["x"], "properties": {"x": {"type": "number"}}}}});
    let schema = Schema::of(Some(&schema.to_string()));
    let spelled = r#"{"lines":"12","deep":"false","at":{"x":"2"},"any":"3"}"#;
    let meant = r#"{"lines":12,"deep":false,"at":{"x":2},"any":"3"}"#;
    assert_eq!(check(spelled, &schema), Checked::Repaired(meant.to_owned()));
    let absent = check(r#"{"lines":"None","at":"null"}"#, &schema);
    assert_eq!(absent, Checked::Repaired(r#"{"lines":null,"at":null}"#.to_owned()));
    assert!(matches!(check(r#"{"lines":"many"}"#, &schema), Checked::Wrong(_)));
}

#[test]
fn what_cannot_be_mended_without_guessing_is_wrong() {
    for text in [
        r#"{"path":"a","lines":"many"}"#,
        "{}",
        "[]",
        "look!",
        r#"{"path":"a","lines":1.5}"#,
        r#"{"path":"a"} and more"#,
        r#"{"path":"a","lines":12"#,
    ] {
        let checked = check(text, &Schema::of(Some(&schema().to_string())));
        assert!(matches!(checked, Checked::Wrong(_)), "{text}: {checked:?}");
    }
}

#[test]
fn reasons_quote_no_content() {
    let text = r#"{"path":"secret words","lines":"secret"}"#;
    let Checked::Wrong(reason) = check(text, &Schema::of(Some(&schema().to_string()))) else {
        panic!()
    };
    assert!(!reason.contains("secret"), "{reason}");
    assert!(reason.contains("lines"), "{reason}");
}

#[test]
fn schemas_that_would_take_long_are_not_used() {
    let mut definitions = serde_json::Map::new();
    for level in 0..40 {
        let below = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(format!("d{level}"), json!({"allOf": [below, below]}));
    }
    definitions.insert("d40".to_owned(), json!({"type": "object"}));
    let doubling = json!({"$ref": "#/$defs/d0", "$defs": definitions});
    for schema in [
        doubling,
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"$ref": "https://example.org/schema"}),
        json!(true),
        json!({"type": 7}),
    ] {
        assert_eq!(
            check(r#"{"a":1}"#, &Schema::of(Some(&schema.to_string()))),
            Checked::Fits,
            "{schema}"
        );
    }
}

/// A tree whose nodes have a name and trees below them.
fn tree() -> Value {
    json!({"type": "object", "required": ["node"], "properties": {"node": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "size": {"type": "integer"},
            "below": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}}})
}

#[test]
fn schemas_that_refer_to_themselves_are_enforced_as_deep_as_there_is_room() {
    let schema = Schema::of(Some(&tree().to_string()));
    let nested = |leaf: Value, depth: usize| {
        let below = |leaf, _| json!({"name": "n", "below": [leaf]});
        json!({"node": (0..depth).fold(leaf, below)}).to_string()
    };
    for depth in [0, 1, 3, 8] {
        let fine = nested(json!({"name": "leaf", "size": 3}), depth);
        assert_eq!(check(&fine, &schema), Checked::Fits, "{fine}");
        let nameless = nested(json!({"size": 3}), depth);
        assert!(matches!(check(&nameless, &schema), Checked::Wrong(_)), "{nameless}");
        let spelled = nested(json!({"name": "leaf", "size": "3"}), depth);
        assert_eq!(check(&spelled, &schema), Checked::Repaired(fine), "{spelled}");
    }
    let deep = nested(json!({"size": 3}), 60);
    assert_eq!(check(&deep, &schema), Checked::Fits, "deeper than anybody looks");
}

#[test]
fn a_property_may_be_called_as_a_word_of_the_language() {
    let names = ["definitions", "$defs", "$id", "default", "enum", "$ref"];
    let count = json!({"$ref": "#/$defs/count"});
    let mut properties: serde_json::Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), count.clone())).collect();
    properties.insert("next".to_owned(), json!({"$ref": "#"}));
    let schema = json!({"type": "object", "properties": properties, "additionalProperties": false,
        "$defs": {"count": {"type": "integer"}}});
    let schema = Schema::of(Some(&schema.to_string()));
    for name in names {
        let fine = json!({"next": {name: 5}}).to_string();
        assert_eq!(check(&fine, &schema), Checked::Fits, "{name}");
        let spelled = json!({"next": {name: "5"}}).to_string();
        assert_eq!(check(&spelled, &schema), Checked::Repaired(fine), "{name}");
        let wrong = json!({"next": {name: "five"}}).to_string();
        assert!(matches!(check(&wrong, &schema), Checked::Wrong(_)), "{name}");
    }
}

#[test]
fn a_schema_that_branches_into_itself_takes_bounded_time() {
    let again = json!({"$ref": "#"});
    let branch = |size: u32| json!({"properties": {"x": again, "y": again, "n": {"const": size}}});
    let schema = json!({"type": "object", "anyOf": (0..8).map(branch).collect::<Vec<_>>()});
    let schema = Schema::of(Some(&schema.to_string()));
    let value = (0..100).fold(json!({"n": 9}), |below, _| json!({"x": below, "y": {"n": 9}}));
    assert!(matches!(check(&value.to_string(), &schema), Checked::Wrong(_)));
}

#[test]
fn a_pattern_that_backtracks_takes_no_longer_than_its_text() {
    let schema =
        json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}});
    let text = json!({"a": format!("{}!", "a".repeat(50_000))}).to_string();
    assert!(matches!(check(&text, &Schema::of(Some(&schema.to_string()))), Checked::Wrong(_)));
}

/// What a check takes at most on a machine that has better to do.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

#[test]
fn many_patterns_take_bounded_time() {
    let begun = std::time::Instant::now();
    let pattern = |number: usize| {
        (
            format!("p{number}"),
            json!({"type": "string", "pattern": format!("^\\w{{1,{}}}$", 60 + number % 9)}),
        )
    };
    for count in [90, 3_000] {
        let properties: serde_json::Map<_, _> = (0..count).map(pattern).collect();
        let schema = json!({"type": "object", "properties": properties});
        let schema = Schema::of(Some(&schema.to_string()));
        check(r#"{"p1":"a"}"#, &schema);
    }
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    let few = json!({"type": "object", "properties": {"p": {"type": "string", "pattern": "^\\w{1,64}$"}}});
    let few = Schema::of(Some(&few.to_string()));
    assert!(matches!(check(r#"{"p":"a b"}"#, &few), Checked::Wrong(_)));
}

#[test]
fn many_choices_for_many_values_take_bounded_time() {
    let one = |number: usize| json!({"type": "object", "properties": {"k": {"const": number}}});
    let items = json!({"oneOf": (0..1_200).map(one).collect::<Vec<_>>()});
    let schema =
        json!({"type": "object", "properties": {"list": {"type": "array", "items": items}}});
    let schema = Schema::of(Some(&schema.to_string()));
    let text = format!(r#"{{"list":[{}{{}}]}}"#, r#"{"k":1199},"#.repeat(100_000));
    let begun = std::time::Instant::now();
    check(&text, &schema);
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    let few = json!({"list": [{"k": 3}, {"k": -1}]}).to_string();
    assert!(matches!(check(&few, &schema), Checked::Wrong(_)));
}

#[test]
fn deep_nesting_ends() {
    let text = format!("{{\"path\":{}", "[".repeat(100_000));
    assert!(matches!(check(&text, &Schema::of(Some(&schema().to_string()))), Checked::Wrong(_)));
}
