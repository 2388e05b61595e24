//! Reading the settings that are objects: the shape of the answer's text, and reasoning.

use crate::conversation::{OutputFormat, Request, ThinkingShow};
use crate::error::Result;
use crate::json::{Kind, Reader};
use crate::protocol::object::{Member, read_object};
use crate::protocol::semantics::{Extras, Semantics};

pub(super) fn decode_text<'a>(
    reader: &mut Reader<'a>,
    request: &mut Request<'a>,
    extras: &mut Extras<'a>,
) -> Result<()> {
    read_object(reader, "text", extras, |key, reader, extras| {
        match key {
            "verbosity" => request.verbosity = Some(reader.string()?),
            "format" => return decode_format(reader, &mut request.output, extras),
            _ => return Ok(Member::Unknown),
        }
        Ok(Member::Read)
    })
}

/// A format of unknown type stands unread and becomes an extra.
fn decode_format<'a>(
    reader: &mut Reader<'a>,
    output: &mut OutputFormat<'a>,
    extras: &mut Extras<'a>,
) -> Result<Member> {
    let kind = reader.peek_tag("type")?.unwrap_or_default();
    *output = match &*kind.to_str() {
        "text" => OutputFormat::Text,
        "json_object" => OutputFormat::JsonObject,
        "json_schema" => OutputFormat::JsonSchema(Box::default()),
        _ => return Ok(Member::Unknown),
    };
    read_object(reader, "text/format", extras, |key, reader, _| {
        match (key, &mut *output) {
            ("type", _) => reader.skip()?,
            ("name", OutputFormat::JsonSchema(it)) => it.name = Some(reader.string()?),
            ("description", OutputFormat::JsonSchema(it)) => {
                it.description = Some(reader.string()?);
            }
            ("schema", OutputFormat::JsonSchema(it)) => it.schema = Some(reader.raw()?),
            ("strict", OutputFormat::JsonSchema(it)) => it.strict = Some(reader.boolean()?),
            _ => return Ok(Member::Unknown),
        }
        Ok(Member::Read)
    })?;
    Ok(Member::Read)
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
                return Ok(Member::Read);
            }
            ("summary", Kind::String) => {
                request.thinking.show = Some(ThinkingShow::Shown(Some(reader.string()?)));
                return Ok(Member::Read);
            }
            ("context", _) => "reasoning/context",
            ("generate_summary", _) => "reasoning/generate_summary",
            ("mode", _) => "reasoning/mode",
            _ => return Ok(Member::Unknown),
        };
        // The path is declared, so it is taken.
        let _ = semantics.responses_mut().take(path, reader.raw()?);
        Ok(Member::Read)
    })
}
