//! Reading the objects that steer an answer. One that sets nothing we know is kept whole.

use std::borrow::Cow;

use crate::conversation::{
    CallForm, OutputFormat, OutputSchema, Request, ThinkingMode, ThinkingShow, ToolChoice,
};
use crate::error::Result;
use crate::json::{Kind, Reader};
use crate::protocol::anthropic_messages::AnthropicSemantics;
use crate::protocol::anthropic_messages::types::SELF;
use crate::protocol::object::{Member, read_object};
use crate::protocol::semantics::Extras;

/// Keeps the value that comes next under its own key.
fn keep_whole<'a>(
    scope: &'static str,
    key: &'static str,
    reader: &mut Reader<'a>,
    extras: &mut Extras<'a>,
) -> Result<()> {
    let json = reader.raw()?;
    extras.keep(scope, Cow::Borrowed(key), json);
    Ok(())
}

pub(super) fn tool_choice<'a>(
    request: &mut Request<'a>,
    reader: &mut Reader<'a>,
    extras: &mut Extras<'a>,
) -> Result<()> {
    let kind = reader.peek_tag("type")?.unwrap_or_default();
    let name = if kind == "tool" { reader.peek_tag("name")? } else { None };
    let choice = match (&*kind.to_str(), name) {
        ("auto", _) => ToolChoice::Auto,
        ("any", _) => ToolChoice::Required,
        ("none", _) => ToolChoice::None,
        ("tool", Some(name)) => ToolChoice::Named { name, form: CallForm::Function },
        _ => {
            let json = reader.raw()?;
            request.tool_choice = Some(ToolChoice::Other { protocol: SELF, json });
            return Ok(());
        }
    };
    let is_named = matches!(choice, ToolChoice::Named { .. });
    request.tool_choice = Some(choice);
    read_object(reader, "tool_choice", extras, |key, reader, _| {
        match key {
            "type" => reader.skip()?,
            "name" if is_named => reader.skip()?,
            "disable_parallel_tool_use" => request.parallel_tool_calls = Some(!reader.boolean()?),
            _ => return Ok(Member::Unknown),
        }
        Ok(Member::Read)
    })
}

pub(super) fn thinking<'a>(
    request: &mut Request<'a>,
    reader: &mut Reader<'a>,
    extras: &mut Extras<'a>,
) -> Result<()> {
    let kind = reader.peek_tag("type")?.unwrap_or_default();
    let mode = match &*kind.to_str() {
        "enabled" => ThinkingMode::Enabled,
        "adaptive" => ThinkingMode::Adaptive,
        "between_tools" => ThinkingMode::BetweenTools,
        "disabled" => ThinkingMode::Disabled,
        _ => return keep_whole("", "thinking", reader, extras),
    };
    let thinking = &mut request.thinking;
    thinking.mode = Some(mode);
    read_object(reader, "thinking", extras, |key, reader, _| {
        match key {
            "type" => reader.skip()?,
            "budget_tokens" => thinking.budget = Some(reader.number()?),
            "display" => {
                let word = reader.string()?;
                thinking.show = Some(match &*word.to_str() {
                    "omitted" => ThinkingShow::Hidden,
                    _ => ThinkingShow::Shown(Some(word)),
                });
            }
            _ => return Ok(Member::Unknown),
        }
        Ok(Member::Read)
    })
}

pub(super) fn metadata<'a>(
    request: &mut Request<'a>,
    reader: &mut Reader<'a>,
    extras: &mut Extras<'a>,
) -> Result<()> {
    if reader.peek_tag("user_id")?.is_none() {
        return keep_whole("", "metadata", reader, extras);
    }
    read_object(reader, "metadata", extras, |key, reader, _| {
        if key != "user_id" {
            return Ok(Member::Unknown);
        }
        request.safety_identifier = Some(reader.string()?);
        Ok(Member::Read)
    })
}

pub(super) fn output_config<'a>(
    request: &mut Request<'a>,
    namespace: &mut AnthropicSemantics<'a>,
    reader: &mut Reader<'a>,
    extras: &mut Extras<'a>,
) -> Result<()> {
    let mut ahead = reader.checkpoint();
    let mut inner = Extras::default();
    let mut has_known = false;
    read_object(&mut ahead, "output_config", &mut inner, |key, reader, inner| {
        match key {
            "effort" => request.thinking.effort = Some(reader.string()?),
            "format" if is_schema(reader) => {
                request.output = read_format(reader, "output_config/format", inner)?;
            }
            "task_budget" => {
                let json = reader.raw()?;
                // The path is declared, so the namespace takes it.
                let _ = namespace.take("output_config/task_budget", json);
            }
            _ => return Ok(Member::Unknown),
        }
        has_known = true;
        Ok(Member::Read)
    })?;
    if !has_known {
        return keep_whole("", "output_config", reader, extras);
    }
    *reader = ahead;
    extras.update(inner);
    Ok(())
}

/// Reads the output format where it stood in beta.
pub(super) fn output_format<'a>(
    request: &mut Request<'a>,
    reader: &mut Reader<'a>,
    extras: &mut Extras<'a>,
) -> Result<()> {
    if !is_schema(reader) {
        return keep_whole("", "output_format", reader, extras);
    }
    request.output = read_format(reader, "output_format", extras)?;
    Ok(())
}

fn is_schema(reader: &Reader<'_>) -> bool {
    matches!(reader.peek_tag("type"), Ok(Some(kind)) if kind == "json_schema")
}

fn read_format<'a>(
    reader: &mut Reader<'a>,
    scope: &'static str,
    extras: &mut Extras<'a>,
) -> Result<OutputFormat<'a>> {
    let mut schema = OutputSchema::default();
    read_object(reader, scope, extras, |key, reader, _| {
        match key {
            "type" => reader.skip()?,
            "schema" if reader.kind()? == Kind::Object => schema.schema = Some(reader.raw()?),
            _ => return Ok(Member::Unknown),
        }
        Ok(Member::Read)
    })?;
    Ok(OutputFormat::JsonSchema(Box::new(schema)))
}
