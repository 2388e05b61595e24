//! Reading the settings that are objects: the shape of the answer's text, and reasoning.

use crate::conversation::{OutputFormat, Request, ThinkingShow};
use crate::error::Result;
use crate::json::{Kind, Reader};
use crate::protocol::object::read_object;
use crate::protocol::semantics::{Extras, Semantics};

pub(super) fn decode_text<'a>(
    reader: &mut Reader<'a>,
    request: &mut Request<'a>,
    extras: &mut Extras<'a>,
) -> Result<()> {
    read_object(reader, "text", extras, |key, reader, extras| match key {
        "verbosity" => reader.fill(&mut request.verbosity),
        "format" => decode_format(reader, &mut request.output, extras),
        _ => Ok(()),
    })
}

/// A format of unknown type stands unread and becomes an extra.
fn decode_format<'a>(
    reader: &mut Reader<'a>,
    output: &mut OutputFormat<'a>,
    extras: &mut Extras<'a>,
) -> Result<()> {
    let kind = reader.peek_tag("type")?.unwrap_or_default();
    *output = match &*kind.to_str() {
        "text" => OutputFormat::Text,
        "json_object" => OutputFormat::JsonObject,
        "json_schema" => OutputFormat::JsonSchema(Box::default()),
        _ => return Ok(()),
    };
    read_object(reader, "text/format", extras, |key, reader, _| match (key, &mut *output) {
        ("type", _) => reader.skip(),
        ("name", OutputFormat::JsonSchema(it)) => reader.fill(&mut it.name),
        ("description", OutputFormat::JsonSchema(it)) => reader.fill(&mut it.description),
        ("schema", OutputFormat::JsonSchema(it)) => reader.fill(&mut it.schema),
        ("strict", OutputFormat::JsonSchema(it)) => reader.fill(&mut it.strict),
        _ => Ok(()),
    })?;
    Ok(())
}

pub(super) fn decode_reasoning<'a>(
    reader: &mut Reader<'a>,
    request: &mut Request<'a>,
    semantics: &mut Semantics<'a>,
    extras: &mut Extras<'a>,
) -> Result<()> {
    read_object(reader, "reasoning", extras, |key, reader, _| {
        let path = match (key, reader.kind()?) {
            ("effort", _) => {
                request.thinking.effort = Some(reader.string()?);
                return Ok(());
            }
            ("summary", Kind::String) => {
                request.thinking.show = Some(ThinkingShow::Shown(Some(reader.string()?)));
                return Ok(());
            }
            ("context", _) => "reasoning/context",
            ("generate_summary", _) => "reasoning/generate_summary",
            ("mode", _) => "reasoning/mode",
            _ => return Ok(()),
        };
        // The path is declared, so it is taken.
        let _ = semantics.responses_mut().take(path, reader.raw()?);
        Ok(())
    })
}
