//! One table for each behaviour: what goes in, for whom, what comes out, and what is on record.

use super::super::SchemaLanguage::{
    AnthropicStrict, GeminiJsonSchema, GeminiSchema, JsonSchema, OpenaiStrict,
};
use super::super::{SchemaLanguage, is_supported, root_is_object, translate};
use crate::json::Json;

#[track_caller]
pub(super) fn check(input: &str, to: SchemaLanguage, expected: &str, losses: &[&str]) {
    check_from(input, JsonSchema, to, expected, losses);
}

#[track_caller]
fn check_from(
    input: &str,
    from: SchemaLanguage,
    to: SchemaLanguage,
    expected: &str,
    losses: &[&str],
) {
    let input = Json::parse(input).unwrap();
    let translated = translate(&input, from, to);
    assert_eq!(translated.json.as_str(), expected);
    let found = translated.losses.iter().map(|loss| format!("{} {}", loss.kind, loss.pointer));
    assert_eq!(found.collect::<Vec<_>>(), losses);
}

#[test]
fn references_are_copied_where_there_are_none() {
    let input = r##"{"type":"object","properties":{"p":{"$ref":"#/$defs/P"}},"$defs":{"P":{"type":"string"}}}"##;
    check(
        input,
        GeminiSchema,
        r#"{"type":"OBJECT","properties":{"p":{"type":"STRING"}}}"#,
        &["renamed /$defs", "renamed /properties/p/$ref"],
    );
    check(input, GeminiJsonSchema, input, &[]);
}

#[test]
fn references_into_any_place_are_found() {
    check(
        r##"{"properties":{"a":{"type":"string"},"b":{"$ref":"#/properties/a"},"c":{"$ref":"#/components/schemas/C%20c"}},"components":{"schemas":{"C c":{"type":"integer"}}}}"##,
        GeminiSchema,
        r#"{"properties":{"a":{"type":"STRING"},"b":{"type":"STRING"},"c":{"type":"INTEGER"}},"type":"OBJECT"}"#,
        &[
            "dropped /components",
            "synthesised /type",
            "renamed /properties/b/$ref",
            "renamed /properties/c/$ref",
        ],
    );
}

#[test]
fn references_to_nothing_are_cut() {
    for reference in ["https://example.com/x", "#/$defs/none", "#anchor", "#/%zz"] {
        let input = format!(r#"{{"$ref":"{reference}","description":"d"}}"#);
        check(&input, GeminiSchema, r#"{"description":"d"}"#, &["dropped /$ref"]);
    }
}

#[test]
fn what_stands_beside_a_reference_is_merged_with_a_copy() {
    let definitions = r#""$defs":{"P":{"type":"string","description":"of P"}}"#;
    check(
        &format!(r##"{{"anyOf":[{{"$ref":"#/$defs/P","description":"here"}}],{definitions}}}"##),
        AnthropicStrict,
        &format!(r#"{{"anyOf":[{{"description":"here","type":"string"}}],{definitions}}}"#),
        &["renamed /anyOf/0/$ref", "implied /$defs/P/description"],
    );
}

#[test]
fn recursion_is_cut_where_it_is_refused() {
    let input = r##"{"$ref":"#/$defs/N","$defs":{"N":{"type":"object","properties":{"next":{"$ref":"#/$defs/N"}},"required":["next"],"additionalProperties":false}}}"##;
    check(
        input,
        GeminiSchema,
        r#"{"type":"OBJECT","properties":{"next":{"type":"OBJECT"}},"required":["next"]}"#,
        &[
            "renamed /$ref",
            "renamed /$defs",
            "implied /$defs/N/additionalProperties",
            "approximated /$defs/N/properties/next/$ref",
        ],
    );
    check(
        input,
        AnthropicStrict,
        r#"{"$defs":{"N":{"type":"object","properties":{"next":{"type":"object","additionalProperties":false}},"required":["next"],"additionalProperties":false}},"type":"object","properties":{"next":{"type":"object","additionalProperties":false}},"required":["next"],"additionalProperties":false}"#,
        &[
            "renamed /$ref",
            "approximated /$defs/N/properties/next/$ref",
            "approximated /$defs/N/properties/next",
        ],
    );
    check(
        input,
        GeminiJsonSchema,
        r##"{"$ref":"#/$defs/N","$defs":{"N":{"type":"object","properties":{"next":{"type":"object"}},"required":["next"],"additionalProperties":false}}}"##,
        &["approximated /$defs/N/properties/next/$ref"],
    );
}

#[test]
fn a_schema_that_is_used_twice_is_not_within_itself() {
    check(
        r##"{"allOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"}],"$defs":{"A":{"minProperties":1},"B":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}}}"##,
        GeminiSchema,
        r#"{"minProperties":1,"type":"OBJECT","properties":{"a":{"minProperties":1}}}"#,
        &[
            "renamed /allOf",
            "renamed /allOf/0/$ref",
            "renamed /allOf/1/$ref",
            "renamed /$defs",
            "renamed /$defs/B/properties/a/$ref",
        ],
    );
}

#[test]
fn recursion_stays_where_it_is_taken() {
    let optional = r##"{"type":"object","properties":{"next":{"$ref":"#"}}}"##;
    check(optional, GeminiJsonSchema, optional, &[]);
    let strict = r##"{"type":"object","properties":{"next":{"$ref":"#"}},"required":["next"],"additionalProperties":false}"##;
    check(strict, OpenaiStrict, strict, &[]);
}

#[test]
fn null_becomes_nullable_and_comes_back() {
    for (input, there, losses, back) in [
        (
            r#"{"type":["string","null"]}"#,
            r#"{"type":"STRING","nullable":true}"#,
            "renamed /type",
            r#"{"type":["string","null"]}"#,
        ),
        (
            r#"{"anyOf":[{"type":"integer","minimum":1},{"type":"null"}],"description":"d"}"#,
            r#"{"description":"d","type":"INTEGER","minimum":1,"nullable":true}"#,
            "renamed /anyOf",
            r#"{"description":"d","type":["integer","null"],"minimum":1}"#,
        ),
        (
            r#"{"anyOf":[{"type":"integer"},{"type":"string"},{"type":"null"}]}"#,
            r#"{"anyOf":[{"type":"INTEGER"},{"type":"STRING"}],"nullable":true}"#,
            "renamed /anyOf",
            r#"{"anyOf":[{"type":"integer"},{"type":"string"},{"type":"null"}]}"#,
        ),
    ] {
        check(input, GeminiSchema, there, &[losses]);
        check_from(there, GeminiSchema, JsonSchema, back, &["renamed /nullable"]);
    }
    check(
        r#"{"type":["string","null"],"enum":["a",null]}"#,
        GeminiSchema,
        r#"{"type":"STRING","enum":["a"],"nullable":true}"#,
        &["renamed /type", "renamed /enum"],
    );
    check(r#"{"type":"null"}"#, GeminiSchema, r#"{"type":"NULL"}"#, &[]);
}

#[test]
fn several_types_become_branches() {
    check(
        r#"{"type":["string","integer"],"minLength":2,"minimum":3,"description":"d"}"#,
        GeminiSchema,
        r#"{"description":"d","anyOf":[{"type":"STRING","minLength":2},{"type":"INTEGER","minimum":3}]}"#,
        &["renamed /type"],
    );
}

#[test]
fn nothing_but_a_description_stands_beside_any_of() {
    check(
        r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}],"title":"t"}"#,
        GeminiSchema,
        r#"{"anyOf":[{"required":["a"],"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"STRING"}}},{"required":["b"],"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"STRING"}}}]}"#,
        &["implied /title", "renamed /anyOf"],
    );
}

#[test]
fn choices_of_numbers_become_choices_of_strings() {
    check(
        r#"{"type":"integer","enum":[1,2.50],"minimum":0}"#,
        GeminiSchema,
        r#"{"type":"STRING","enum":["1","2.50"],"format":"enum"}"#,
        &["approximated /enum", "implied /minimum", "approximated /type"],
    );
    check(
        r#"{"type":"boolean","enum":[true]}"#,
        GeminiSchema,
        r#"{"type":"STRING","enum":["true"],"format":"enum"}"#,
        &["approximated /enum", "approximated /type"],
    );
    check(r#"{"enum":[1,2]}"#, GeminiJsonSchema, r#"{"enum":[1,2]}"#, &[]);
    check(r#"{"enum":[1,true]}"#, GeminiJsonSchema, r#"{"enum":[1]}"#, &["dropped /enum"]);
}

#[test]
fn the_empty_string_is_no_choice_for_gemini() {
    let input = r#"{"type":"string","enum":["","a"]}"#;
    check(input, GeminiSchema, r#"{"type":"STRING","enum":["a"]}"#, &["dropped /enum"]);
    check(input, GeminiJsonSchema, r#"{"type":"string","enum":["a"]}"#, &["dropped /enum"]);
    check(input, AnthropicStrict, input, &[]);
}

#[test]
fn formats_are_those_of_the_dialect() {
    let uri = r#"{"type":"string","format":"uri"}"#;
    check(uri, AnthropicStrict, uri, &[]);
    check(uri, GeminiJsonSchema, uri, &[]);
    check(uri, OpenaiStrict, r#"{"type":"string"}"#, &["dropped /format"]);
    check(uri, GeminiSchema, r#"{"type":"STRING"}"#, &["dropped /format"]);
    let time = r#"{"type":"string","format":"date-time"}"#;
    check(time, GeminiSchema, r#"{"type":"STRING","format":"date-time"}"#, &[]);
    let other = r#"{"type":"string","format":"regex"}"#;
    check(other, AnthropicStrict, r#"{"type":"string"}"#, &["dropped /format"]);
}

#[test]
fn further_properties_are_refused_or_not_spoken_of() {
    let map = r#"{"type":"object","additionalProperties":{"type":"string"}}"#;
    let closed = r#"{"type":"object","additionalProperties":false}"#;
    check(map, GeminiSchema, r#"{"type":"OBJECT"}"#, &["dropped /additionalProperties"]);
    check(closed, GeminiSchema, r#"{"type":"OBJECT"}"#, &["implied /additionalProperties"]);
    check(map, GeminiJsonSchema, map, &[]);
    check(map, AnthropicStrict, closed, &["approximated /additionalProperties"]);
    check(r#"{"type":"object"}"#, AnthropicStrict, closed, &["approximated "]);
    check(closed, AnthropicStrict, closed, &[]);
}

#[test]
fn a_strict_object_of_openai_lists_its_properties() {
    let closed = r#"{"type":"object","additionalProperties":false,"properties":{}}"#;
    let added = ["approximated ", "synthesised /properties"];
    check(r#"{"type":"object"}"#, OpenaiStrict, closed, &added);
    check(r#"{"type":"object","additionalProperties":false}"#, OpenaiStrict, closed, &added[1..]);
    check(closed, OpenaiStrict, closed, &[]);
}

#[test]
fn an_empty_list_of_properties_is_left_out_for_gemini() {
    let input = r#"{"type":"object","properties":{}}"#;
    check(input, GeminiSchema, r#"{"type":"OBJECT"}"#, &["implied /properties"]);
    check(input, GeminiJsonSchema, input, &[]);
}

#[test]
fn lists_describe_their_items() {
    check(
        r#"{"type":"array"}"#,
        GeminiSchema,
        r#"{"type":"ARRAY","items":{"type":"STRING"}}"#,
        &["synthesised /items"],
    );
    check(
        r#"{"type":"array","items":[{"type":"string"},{"type":"number"}],"additionalItems":false}"#,
        GeminiSchema,
        r#"{"type":"ARRAY","items":{"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]}}"#,
        &[
            "renamed /items",
            "renamed /additionalItems",
            "approximated /items",
            "approximated /additionalItems",
        ],
    );
    let tuple = r#"{"type":"array","prefixItems":[{"type":"string"}]}"#;
    check(tuple, GeminiJsonSchema, tuple, &[]);
}

#[test]
fn constants_choices_and_parts_are_said_in_other_words() {
    check(
        r#"{"const":"a"}"#,
        GeminiSchema,
        r#"{"enum":["a"],"type":"STRING"}"#,
        &["renamed /const", "synthesised /type"],
    );
    check(r#"{"const":1}"#, GeminiJsonSchema, r#"{"enum":[1]}"#, &["renamed /const"]);
    check(
        r#"{"oneOf":[{"type":"string"},{"type":"integer"}]}"#,
        AnthropicStrict,
        r#"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#,
        &["renamed /oneOf"],
    );
    check(
        r#"{"oneOf":[{"type":"number"},{"type":"integer"}]}"#,
        OpenaiStrict,
        r#"{"anyOf":[{"type":"number"},{"type":"integer"}]}"#,
        &["approximated /oneOf"],
    );
    let open = r#"{"oneOf":[{"type":"number"}]}"#;
    check(open, GeminiJsonSchema, open, &[]);
    check(
        r#"{"allOf":[{"type":["integer","null"],"minimum":1},{"type":"number","minimum":2}]}"#,
        GeminiJsonSchema,
        r#"{"type":"integer","minimum":2}"#,
        &["renamed /allOf"],
    );
    let kept = r#"{"allOf":[{"type":"string"}]}"#;
    check(kept, AnthropicStrict, kept, &[]);
}

#[test]
fn a_tag_makes_branches_exclusive() {
    let branch = |tag: &str| {
        format!(
            r#"{{"type":"object","properties":{{"kind":{{"const":"{tag}"}}}},"required":["kind"],"additionalProperties":false}}"#
        )
    };
    let branches = format!("[{},{}]", branch("a"), branch("b"));
    check(
        &format!(r#"{{"oneOf":{branches}}}"#),
        OpenaiStrict,
        &format!(r#"{{"anyOf":{branches}}}"#),
        &["renamed /oneOf"],
    );
}

#[test]
fn closed_objects_are_merged_before_they_contradict_each_other() {
    check(
        r##"{"allOf":[{"$ref":"#/$defs/A"},{"properties":{"b":{"type":"string"}}}],"$defs":{"A":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}}}"##,
        AnthropicStrict,
        r#"{"$defs":{"A":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}},"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"additionalProperties":false}"#,
        &["renamed /allOf", "renamed /allOf/0/$ref"],
    );
}

#[test]
fn whether_the_root_is_an_object_is_told() {
    assert!(root_is_object(&Json::literal(r#"{"type":"object"}"#)));
    assert!(root_is_object(&Json::literal(r#"{"properties":{},"type":"OBJECT"}"#)));
    for other in [r#"{"anyOf":[{"type":"object"}]}"#, r#"{"type":"array"}"#, "{}", "true", "[]"] {
        assert!(!root_is_object(&Json::literal(other)));
    }
}

#[test]
fn properties_named_like_keywords_are_left_alone() {
    let properties = r#"{"type":{"type":"string"},"$ref":{"type":"string"},"format":{"type":"string"},"$schema":{"type":"string"},"not":{"type":"string"}}"#;
    let input = format!(
        r#"{{"type":"object","properties":{properties},"required":["type","$ref","format","$schema","not"],"additionalProperties":false}}"#
    );
    for language in [OpenaiStrict, AnthropicStrict, GeminiJsonSchema] {
        check(&input, language, &input, &[]);
    }
    check(
        &format!(r#"{{"type":"object","properties":{properties}}}"#),
        GeminiSchema,
        &format!(r#"{{"type":"object","properties":{properties}}}"#)
            .replace(r#""type":"object""#, r#""type":"OBJECT""#)
            .replace(r#""type":"string""#, r#""type":"STRING""#),
        &[],
    );
}

#[test]
fn values_are_not_taken_for_schemas() {
    let input = r#"{"type":"object","default":{"$ref":"x","additionalProperties":1},"example":{"const":1},"properties":{"a":{"type":"string"}}}"#;
    check(
        input,
        GeminiSchema,
        r#"{"type":"OBJECT","default":{"$ref":"x","additionalProperties":1},"example":{"const":1},"properties":{"a":{"type":"STRING"}}}"#,
        &[],
    );
}

#[test]
fn optional_properties_are_required_and_may_be_null() {
    check(
        r##"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"},"c":{"enum":["x"]},"d":{"$ref":"#/$defs/D"},"e":{"const":1},"f":{"type":["string","null"]}},"required":["a"],"additionalProperties":false,"$defs":{"D":{"type":"string"}}}"##,
        OpenaiStrict,
        r##"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["integer","null"]},"c":{"enum":["x",null]},"d":{"anyOf":[{"$ref":"#/$defs/D"},{"type":"null"}]},"e":{"enum":[1,null]},"f":{"type":["string","null"]}},"required":["a","b","c","d","e","f"],"additionalProperties":false,"$defs":{"D":{"type":"string"}}}"##,
        &[
            "approximated /properties/b",
            "approximated /properties/c",
            "approximated /properties/d",
            "approximated /properties/e",
            "approximated /properties/f",
            "synthesised /required",
        ],
    );
}

#[test]
fn definitions_of_draft_07_move_to_defs() {
    let input = r##"{"items":{"$ref":"#/definitions/P"},"type":"array","definitions":{"P":{"type":"string"}}}"##;
    let moved =
        r##"{"items":{"$ref":"#/$defs/P"},"type":"array","$defs":{"P":{"type":"string"}}}"##;
    for language in [OpenaiStrict, AnthropicStrict, GeminiJsonSchema] {
        check(input, language, moved, &["renamed /definitions", "renamed /items/$ref"]);
    }
    check(input, JsonSchema, input, &[]);
}

#[test]
fn boolean_schemas_become_empty_ones() {
    for language in [OpenaiStrict, AnthropicStrict, GeminiJsonSchema, GeminiSchema] {
        check("true", language, "{}", &["renamed "]);
        check("false", language, "{}", &["dropped "]);
        check(r#"{"anyOf":[true]}"#, language, r#"{"anyOf":[{}]}"#, &["renamed /anyOf/0"]);
    }
}

#[test]
fn limits_that_anthropic_refuses_are_told_in_the_description() {
    check(
        r#"{"type":"integer","description":"How many.","minimum":1,"maximum":1.0e2}"#,
        AnthropicStrict,
        r#"{"type":"integer","description":"How many. (minimum 1, maximum 1.0e2)"}"#,
        &["approximated /minimum", "approximated /maximum"],
    );
    check(
        r#"{"type":"string","pattern":"^\"a"}"#,
        AnthropicStrict,
        r#"{"type":"string","description":"(pattern ^\"a)"}"#,
        &["approximated /pattern"],
    );
    let one = r#"{"type":"array","minItems":1}"#;
    check(one, AnthropicStrict, one, &[]);
}

#[test]
fn required_names_only_what_exists() {
    check(
        r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"]}"#,
        GeminiSchema,
        r#"{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["a"]}"#,
        &["dropped /required"],
    );
}

#[test]
fn annotations_matter_less_than_limits() {
    check(
        r#"{"$schema":"s","$comment":"c","examples":[1],"x-order":1,"default":1,"title":"t","not":{},"unheard":1}"#,
        OpenaiStrict,
        r#"{"title":"t"}"#,
        &[
            "implied /$schema",
            "implied /$comment",
            "implied /examples",
            "implied /x-order",
            "implied /default",
            "dropped /not",
            "dropped /unheard",
        ],
    );
}

#[test]
fn schemas_of_gemini_become_json_schema() {
    check_from(
        r#"{"type":"OBJECT","properties":{"n":{"type":"ARRAY","items":{"type":"STRING"},"minItems":"2","nullable":true}},"propertyOrdering":["n"],"example":{}}"#,
        GeminiSchema,
        JsonSchema,
        r#"{"type":"object","properties":{"n":{"type":["array","null"],"items":{"type":"string"},"minItems":2}},"propertyOrdering":["n"],"example":{}}"#,
        &["renamed /properties/n/nullable", "renamed /properties/n/minItems"],
    );
    check_from(r#"{"type":"STRING"}"#, GeminiSchema, OpenaiStrict, r#"{"type":"string"}"#, &[]);
}

#[test]
fn gemini_takes_types_in_either_case() {
    for json in [r#"{"type":"string"}"#, r#"{ "type" : "STRING", "nullable": true }"#] {
        assert!(is_supported(&Json::literal(json), GeminiSchema));
    }
    for json in [r#"{"type":["string"]}"#, r#"{"const":1}"#, r#"{"type":"array"}"#, "true"] {
        assert!(!is_supported(&Json::literal(json), GeminiSchema));
    }
}
