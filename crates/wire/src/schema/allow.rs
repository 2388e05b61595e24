//! What each language allows. Everything that is not listed here is rewritten or left out.

use super::SchemaLanguage;
use crate::LossKind;

/// What stands under a keyword, by its position alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Schema,
    Schemas,
    /// One schema, or in draft-07 a list of them.
    SchemaOrSchemas,
    /// Schemas by names that are not keywords.
    Map,
    /// Anything but a schema.
    Plain,
}

pub(super) fn shape(keyword: &str) -> Shape {
    match keyword {
        "additionalItems" | "additionalProperties" => Shape::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Shape::Schemas,
        "items" => Shape::SchemaOrSchemas,
        "$defs" | "definitions" | "properties" => Shape::Map,
        _ => Shape::Plain,
    }
}

pub(super) fn allows(language: SchemaLanguage, keyword: &str) -> bool {
    match language {
        SchemaLanguage::JsonSchema => true,
        SchemaLanguage::OpenaiStrict => OPENAI_STRICT.contains(&keyword),
        SchemaLanguage::AnthropicStrict => ANTHROPIC_STRICT.contains(&keyword),
        SchemaLanguage::GeminiJsonSchema => GEMINI_JSON_SCHEMA.contains(&keyword),
        SchemaLanguage::GeminiSchema => GEMINI_SCHEMA.contains(&keyword),
    }
}

pub(super) fn allows_format(language: SchemaLanguage, format: &str) -> bool {
    match language {
        SchemaLanguage::JsonSchema | SchemaLanguage::GeminiJsonSchema => true,
        SchemaLanguage::OpenaiStrict => COMMON_FORMATS.contains(&format),
        SchemaLanguage::AnthropicStrict => format == "uri" || COMMON_FORMATS.contains(&format),
        SchemaLanguage::GeminiSchema => GEMINI_FORMATS.contains(&format),
    }
}

/// Whether a keyword only describes a value and rules none out.
pub(super) fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword) || keyword.starts_with("x-")
}

/// What leaving a keyword out is.
pub(super) fn loss_of(keyword: &str) -> LossKind {
    if is_annotation(keyword) { LossKind::Implied } else { LossKind::Dropped }
}

/// Whether a limit that Anthropic refuses can be written in the description.
pub(super) fn is_notable(keyword: &str) -> bool {
    NOTABLE.contains(&keyword)
}

/// Whether values of `kind`, a lower-case type, are what `keyword` applies to.
pub(super) fn concerns(keyword: &str, kind: &str) -> bool {
    match keyword {
        "minLength" | "maxLength" | "pattern" => kind == "string",
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            matches!(kind, "integer" | "number")
        }
        "items" | "prefixItems" | "minItems" | "maxItems" => kind == "array",
        "properties" | "required" | "minProperties" | "maxProperties" | "propertyOrdering" => {
            kind == "object"
        }
        "format" => matches!(kind, "string" | "integer" | "number"),
        _ => true,
    }
}

pub(super) const TYPES: [&str; 7] =
    ["array", "boolean", "integer", "null", "number", "object", "string"];

#[rustfmt::skip]
const OPENAI_STRICT: &[&str] = &[
    "$defs", "$ref", "additionalProperties", "anyOf", "const", "description", "enum",
    "exclusiveMaximum", "exclusiveMinimum", "format", "items", "maxItems", "maximum", "minItems",
    "minimum", "multipleOf", "pattern", "properties", "required", "title", "type",
];

#[rustfmt::skip]
const ANTHROPIC_STRICT: &[&str] = &[
    "$defs", "$ref", "additionalProperties", "allOf", "anyOf", "const", "default", "description",
    "enum", "format", "items", "minItems", "properties", "required", "title", "type",
];

#[rustfmt::skip]
const GEMINI_JSON_SCHEMA: &[&str] = &[
    "$anchor", "$defs", "$id", "$ref", "additionalProperties", "anyOf", "description", "enum",
    "format", "items", "maxItems", "maximum", "minItems", "minimum", "oneOf", "prefixItems",
    "properties", "propertyOrdering", "required", "title", "type",
];

#[rustfmt::skip]
const GEMINI_SCHEMA: &[&str] = &[
    "anyOf", "default", "description", "enum", "example", "format", "items", "maxItems",
    "maxLength", "maxProperties", "maximum", "minItems", "minLength", "minProperties", "minimum",
    "nullable", "pattern", "properties", "propertyOrdering", "required", "title", "type",
];

#[rustfmt::skip]
const COMMON_FORMATS: &[&str] = &[
    "date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid",
];

/// For strings the first two; the others only tell the width of numbers.
const GEMINI_FORMATS: &[&str] = &["date-time", "enum", "double", "float", "int32", "int64"];

#[rustfmt::skip]
const ANNOTATIONS: &[&str] = &[
    "$anchor", "$comment", "$id", "$schema", "$vocabulary", "default", "deprecated", "description",
    "example", "examples", "id", "propertyOrdering", "readOnly", "title", "writeOnly",
];

#[rustfmt::skip]
const NOTABLE: &[&str] = &[
    "exclusiveMaximum", "exclusiveMinimum", "maxItems", "maxLength", "maxProperties", "maximum",
    "minItems", "minLength", "minProperties", "minimum", "multipleOf", "pattern", "uniqueItems",
];
