//! Reading the settings that are objects: the shape of the answer's text, and reasoning.

use crate::conversation::{OutputFormat, ThinkingShow};
use crate::error::Result;
use crate::json::Kind;
use crate::protocol::object::{Members, set};
use crate::protocol::openai_responses::decode_request::Decoding;

impl<'a> Decoding<'a> {
    pub(super) fn text(&mut self, reader: &mut Members<'_, 'a>) -> Result<()> {
        reader.inside("text", |key, reader| match key {
            "verbosity" => set(&mut self.request.verbosity, reader.string()),
            "format" => decode_format(reader, &mut self.request.output),
            _ => Ok(()),
        })
    }

    pub(super) fn reasoning(&mut self, reader: &mut Members<'_, 'a>) -> Result<()> {
        let thinking = &mut self.request.thinking;
        reader.inside("reasoning", |key, reader| {
            let path = match (key, reader.kind()?) {
                ("effort", _) => return set(&mut thinking.effort, reader.string()),
                ("summary", Kind::String) => {
                    let shown = reader.string().map(|word| ThinkingShow::Shown(Some(word)));
                    return set(&mut thinking.show, shown);
                }
                ("context", _) => "reasoning/context",
                ("generate_summary", _) => "reasoning/generate_summary",
                ("mode", _) => "reasoning/mode",
                _ => return Ok(()),
            };
            // The path is declared, so it is taken.
            let _ = self.semantics.responses_mut().take(path, reader.raw()?);
            Ok(())
        })
    }
}

/// A format of unknown type stands unread and becomes an extra.
fn decode_format<'a>(reader: &mut Members<'_, 'a>, output: &mut OutputFormat<'a>) -> Result<()> {
    let kind = reader.peek_tag("type")?.unwrap_or_default();
    *output = match &*kind.to_str() {
        "text" => OutputFormat::Text,
        "json_object" => OutputFormat::JsonObject,
        "json_schema" => OutputFormat::JsonSchema(Box::default()),
        _ => return Ok(()),
    };
    reader.inside("text/format", |key, reader| match (key, &mut *output) {
        ("type", _) => reader.skip(),
        ("name", OutputFormat::JsonSchema(it)) => set(&mut it.name, reader.string()),
        ("description", OutputFormat::JsonSchema(it)) => set(&mut it.description, reader.string()),
        ("schema", OutputFormat::JsonSchema(it)) => set(&mut it.schema, reader.raw()),
        ("strict", OutputFormat::JsonSchema(it)) => set(&mut it.strict, reader.boolean()),
        _ => Ok(()),
    })
}
