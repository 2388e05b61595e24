//! JSON Schema from one language to another, by lists of what each language allows.
//!
//! Whatever a language does not allow is rewritten or left out, and every such step is on record.

mod allow;
mod choices;
mod combine;
mod fit;
mod gemini;
mod openai;
mod plain;
mod pointer;
mod read;
mod refs;
mod strict;
#[cfg(test)]
mod tests;
mod translate;
mod tree;

pub use openai::{Strictness, complete_tool};
pub use translate::{is_supported, root_is_object, translate};

use std::ops::Range;

use crate::LossKind;
use crate::json::Json;

/// A language in which schemas are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchemaLanguage {
    /// Any JSON Schema from draft-07 to 2020-12: tools of OpenAI without `strict`, and of Anthropic.
    JsonSchema,
    /// `strict: true` of OpenAI, in tools and in response formats.
    OpenaiStrict,
    /// The output format of Anthropic and its strict tools.
    AnthropicStrict,
    /// `parametersJsonSchema` and `responseJsonSchema` of Gemini.
    GeminiJsonSchema,
    /// `parameters` and `responseSchema` of Gemini, a subset of OpenAPI.
    GeminiSchema,
}

/// A schema in the language that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a loss that nobody reads is a silent loss"]
pub struct Translated<'a> {
    pub json: Json<'a>,
    pub losses: Vec<SchemaLoss>,
}

/// One thing in a schema that did not come through as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaLoss {
    /// JSON pointer from the root of the input schema.
    pub pointer: String,
    pub kind: LossKind,
    pub reason: &'static str,
}

impl<'a> Translated<'a> {
    fn unchanged(schema: &Json<'a>) -> Self {
        Self { json: schema.clone(), losses: Vec::new() }
    }
}

/// The text of a schema with other pieces in some places, which stand in their order.
fn edited(text: &str, edits: &[(Range<usize>, &'static str)]) -> Json<'static> {
    let mut whole = String::with_capacity(text.len() + edits.len() * 32);
    let mut start = 0;
    for (place, piece) in edits {
        whole.push_str(&text[start..place.start]);
        whole.push_str(piece);
        start = place.end;
    }
    whole.push_str(&text[start..]);
    Json::trusted(whole.into())
}

/// How deep the JSON of a schema that is rewritten may nest; the rest is for the values in it.
const LEVELS_MAX: usize = 96;

/// How many references may lead to one another.
const REFERENCE_DEPTH_MAX: usize = 64;

/// How much may be copied in place of references, in schemas and keywords.
const COPIES_MAX: usize = 20_000;

/// How much may be looked through to merge schemas into one another, in 64 names or bytes.
const MERGES_MAX: usize = 100_000;

/// How long a schema may be that is taken apart. No provider takes one of nearly that length, and taken apart it is many
/// times as large.
const REWRITTEN_BYTES_MAX: usize = 256 * 1024;

/// How often a schema is fitted until it stays as it is.
const ROUNDS_MAX: usize = 8;

/// How many bytes are read in search of schemas in places that no language knows.
const SCAN_BYTES_MAX: usize = 64 * 1024 * 1024;
