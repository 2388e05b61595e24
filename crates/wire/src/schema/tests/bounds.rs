//! Input that is no schema, or one that grows or nests without end.

use super::super::SchemaLanguage::{
    AnthropicStrict, GeminiJsonSchema, GeminiSchema, JsonSchema, OpenaiStrict,
};
use super::super::{is_supported, translate};
use super::tables::check;
use crate::json::{DEPTH_MAX, Json};

#[test]
fn what_is_no_schema_is_mended_and_never_panics() {
    for input in ["null", "1", r#""x""#, "[]", "[{}]"] {
        check(input, JsonSchema, input, &[]);
        for language in [OpenaiStrict, AnthropicStrict, GeminiJsonSchema, GeminiSchema] {
            check(input, language, "{}", &["repaired "]);
        }
    }
    check(
        r#"{"type":"Object","properties":5,"required":true,"anyOf":[],"items":"x"}"#,
        AnthropicStrict,
        r#"{"type":"object","additionalProperties":false}"#,
        &[
            "repaired /type",
            "repaired /properties",
            "repaired /anyOf",
            "repaired /items",
            "approximated ",
            "repaired /required",
        ],
    );
}

#[test]
fn references_to_references_do_not_grow_without_end() {
    let mut definitions = String::new();
    for level in 0..40 {
        let next = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, level + 1);
        definitions +=
            &format!(r#""d{level}":{{"type":"object","properties":{{"a":{next},"b":{next}}}}},"#);
    }
    let bomb = format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{definitions}"d40":{{}}}}}}"##);
    let input = Json::parse(&bomb).unwrap();
    let translated = translate(&input, JsonSchema, GeminiSchema);
    assert!(translated.json.as_str().len() < 4_000_000);
    assert!(is_supported(&translated.json, GeminiSchema));
}

#[test]
fn many_parts_are_merged_without_loss() {
    let count = 3_000;
    let part = |index| format!(r#"{{"properties":{{"p{index}":{{}}}},"required":["p{index}"]}}"#);
    let parts: Vec<String> = (0..count).map(part).collect();
    let input =
        Json::parse(format!(r#"{{"type":"object","allOf":[{}]}}"#, parts.join(","))).unwrap();
    let translated = translate(&input, JsonSchema, GeminiSchema);
    let lost = |it: &&crate::schema::SchemaLoss| it.reason == "too much is merged into one schema";
    assert_eq!(translated.losses.iter().filter(lost).count(), 0);
    assert!(translated.json.as_str().contains(r#""p2999""#));
    assert!(is_supported(&translated.json, GeminiSchema));
}

#[test]
fn schemas_as_deep_as_json_may_be_are_cut_and_still_json() {
    for (open, close) in [(r#"{"items":"#, "}"), (r#"{"type":["array","string"],"items":"#, "}")] {
        let depth = DEPTH_MAX - 1;
        let deep = format!("{}{{}}{}", open.repeat(depth), close.repeat(depth));
        let input = Json::parse(&deep).unwrap();
        for language in [OpenaiStrict, AnthropicStrict, GeminiJsonSchema, GeminiSchema] {
            let translated = translate(&input, JsonSchema, language);
            assert!(Json::parse(translated.json.as_str()).is_ok());
            assert!(translated.losses.iter().any(|loss| loss.reason.contains("too deep")));
        }
    }
}

#[test]
fn long_chains_of_references_end() {
    let definitions = (0..3000).map(|at| format!(r##""d{at}":{{"$ref":"#/$defs/d{}"}}"##, at + 1));
    let definitions = definitions.collect::<Vec<_>>().join(",");
    let text = format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{definitions},"d3000":{{}}}}}}"##);
    let input = Json::parse(&text).unwrap();
    for language in [OpenaiStrict, AnthropicStrict, GeminiJsonSchema, GeminiSchema] {
        let translated = translate(&input, JsonSchema, language);
        assert!(is_supported(&translated.json, language), "{language:?}");
    }
}
