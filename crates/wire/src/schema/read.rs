//! Any language as JSON Schema: types in lower case, and null as a type of its own.

use super::fit::Losses;
use super::pointer::Pointer;
use super::tree::{Keywords, Schema, Value};
use super::{SchemaLanguage, allow, strict, tree};
use crate::LossKind;
use crate::json::{Json, Kind};

/// How a schema is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// As JSON Schema, in which OpenAPI words are a slip.
    Json,
    /// As JSON Schema that Gemini has taken, types in upper case and all.
    GeminiJson,
    /// As a schema of Gemini that becomes JSON Schema.
    Gemini,
    /// As a schema of Gemini that stays one.
    GeminiKept,
}

impl Reading {
    pub(super) fn of(from: SchemaLanguage, to: SchemaLanguage) -> Self {
        match (from, to) {
            (SchemaLanguage::GeminiSchema, SchemaLanguage::GeminiSchema) => Self::GeminiKept,
            (SchemaLanguage::GeminiSchema, _) => Self::Gemini,
            (
                SchemaLanguage::GeminiJsonSchema,
                SchemaLanguage::JsonSchema
                | SchemaLanguage::OpenaiStrict
                | SchemaLanguage::AnthropicStrict,
            ) => Self::GeminiJson,
            _ => Self::Json,
        }
    }
}

/// Rewrites a schema and all below it.
pub(super) fn read(schema: &mut Schema<'_>, reading: Reading, losses: &mut Losses) {
    // Whether a branch accepts null is known once its types are read.
    schema.each_child(|child| read(child, reading, losses));
    let at = schema.at.clone();
    if let Some(keywords) = schema.keywords_mut() {
        lower_types(keywords, &at, reading, losses);
        if reading != Reading::GeminiKept {
            read_nullable(keywords, &at, reading, losses);
        }
        if reading == Reading::Gemini {
            read_counts(keywords, losses);
        }
        if reading == Reading::GeminiJson {
            leave_version(keywords, losses);
        }
    }
}

fn lower_types<'s>(
    keywords: &mut Keywords<'s>,
    at: &Pointer<'s>,
    reading: Reading,
    losses: &mut Losses,
) {
    let Some(keyword) = keywords.find("type") else { return };
    let place = keyword.at.clone();
    if matches!(reading, Reading::Gemini | Reading::GeminiKept)
        && let Value::Plain(json) = &keyword.value
        && let Some(name) = numbered_type(json)
    {
        return keywords.put_types(at, &[name.to_owned()]);
    }
    let stated = keywords.types().unwrap_or_default();
    let types = known_types(&stated);
    let is_sound =
        !types.is_empty() && types.len() == keywords.list("type").map_or(1, |list| list.len());
    if is_sound && types == stated {
        return;
    }
    if reading == Reading::GeminiJson && is_sound {
        losses.lose(&place, LossKind::Renamed, "types are in lower case");
    } else if reading == Reading::Json || !is_sound {
        losses.lose(&place, LossKind::Repaired, "not a type of JSON Schema");
    }
    if types.is_empty() {
        keywords.take("type");
    } else {
        keywords.put_types(at, &types);
    }
}

/// The type that Gemini's enumeration has under a number, which it takes in place of the word.
fn numbered_type(json: &Json<'_>) -> Option<&'static str> {
    const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];
    let number: usize = json.as_str().parse().ok()?;
    TYPES.get(number.checked_sub(1)?).copied()
}

/// The types among the names, in lower case and each once.
fn known_types(names: &[String]) -> Vec<String> {
    let mut types = Vec::new();
    for name in names.iter().map(|name| name.to_ascii_lowercase()) {
        if allow::TYPES.contains(&name.as_str()) && !types.contains(&name) {
            types.push(name);
        }
    }
    types
}

fn read_nullable<'s>(
    keywords: &mut Keywords<'s>,
    at: &Pointer<'s>,
    reading: Reading,
    losses: &mut Losses,
) {
    let Some(keyword) = keywords.take("nullable") else { return };
    let (kind, reason) = match reading {
        Reading::Gemini | Reading::GeminiKept => (LossKind::Renamed, "null is a type of its own"),
        Reading::Json | Reading::GeminiJson => {
            (LossKind::Repaired, "not a keyword of JSON Schema: read as in OpenAPI")
        }
    };
    losses.lose(&keyword.at, kind, reason);
    if matches!(&keyword.value, Value::Plain(json) if json.as_str() == "true") {
        strict::allow_null(keywords, at);
    }
}

/// Gemini reads every schema alike, whatever version it claims.
fn leave_version(keywords: &mut Keywords<'_>, losses: &mut Losses) {
    if let Some(keyword) = keywords.take("$schema") {
        losses.lose(&keyword.at, LossKind::Implied, "Gemini does not read the version of schemas");
    }
}

/// Gemini spells large integers as strings.
fn read_counts(keywords: &mut Keywords<'_>, losses: &mut Losses) {
    for keyword in &mut keywords.0 {
        let is_count = keyword.name.starts_with("min") || keyword.name.starts_with("max");
        let Value::Plain(json) = &mut keyword.value else { continue };
        if !is_count || json.kind() != Kind::String {
            continue;
        }
        let number = tree::as_string(json).and_then(|text| Json::parse(text).ok());
        if let Some(number) = number.filter(|number| number.kind() == Kind::Number) {
            *json = number;
            losses.lose(&keyword.at, LossKind::Renamed, "a number is not written as a string");
        }
    }
}
