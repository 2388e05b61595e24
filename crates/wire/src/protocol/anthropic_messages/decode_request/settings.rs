//! Reading the objects that steer an answer. One that sets nothing we know is kept whole.

use crate::conversation::{
    CallForm, OutputFormat, OutputSchema, Request, ThinkingMode, ThinkingShow, ToolChoice,
};
use crate::error::Result;
use crate::json::{Kind, Reader};
use crate::protocol::anthropic_messages::AnthropicSemantics;
use crate::protocol::anthropic_messages::types::SELF;
use crate::protocol::object::{Members, read_object, set};
use crate::protocol::semantics::Extras;

pub(super) fn tool_choice<'a>(
    request: &mut Request<'a>,
    reader: &mut Members<'_, 'a>,
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
    reader.inside("tool_choice", |key, reader| match key {
        "type" => reader.skip(),
        "name" if is_named => reader.skip(),
        "disable_parallel_tool_use" => {
            set(&mut request.parallel_tool_calls, reader.boolean().map(|is_off| !is_off))
        }
        _ => Ok(()),
    })
}

pub(super) fn thinking<'a>(request: &mut Request<'a>, reader: &mut Members<'_, 'a>) -> Result<()> {
    let kind = reader.peek_tag("type")?.unwrap_or_default();
    let mode = match &*kind.to_str() {
        "enabled" => ThinkingMode::Enabled,
        "adaptive" => ThinkingMode::Adaptive,
        "between_tools" => ThinkingMode::BetweenTools,
        "disabled" => ThinkingMode::Disabled,
        _ => return Ok(()),
    };
    let thinking = &mut request.thinking;
    thinking.mode = Some(mode);
    reader.inside("thinking", |key, reader| match key {
        "type" => reader.skip(),
        "budget_tokens" => set(&mut thinking.budget, reader.number()),
        "display" => {
            let word = reader.string()?;
            thinking.show = Some(match &*word.to_str() {
                "omitted" => ThinkingShow::Hidden,
                _ => ThinkingShow::Shown(Some(word)),
            });
            Ok(())
        }
        _ => Ok(()),
    })
}

pub(super) fn metadata<'a>(request: &mut Request<'a>, reader: &mut Members<'_, 'a>) -> Result<()> {
    if reader.peek_tag("user_id")?.is_none() {
        return Ok(());
    }
    reader.inside("metadata", |key, reader| match key {
        "user_id" => set(&mut request.safety_identifier, reader.string()),
        _ => Ok(()),
    })
}

pub(super) fn output_config<'a>(
    request: &mut Request<'a>,
    namespace: &mut AnthropicSemantics<'a>,
    reader: &mut Members<'_, 'a>,
) -> Result<()> {
    let mut ahead = reader.checkpoint();
    let mut inner = Extras::default();
    let mut has_known = false;
    read_object(&mut ahead, "output_config", &mut inner, |key, reader| {
        match key {
            "effort" => request.thinking.effort = Some(reader.string()?),
            "format" if is_schema(reader) => {
                request.output = read_format(reader, "output_config/format")?;
            }
            "task_budget" => {
                let json = reader.raw()?;
                // The path is declared, so the namespace takes it.
                let _ = namespace.take("output_config/task_budget", json);
            }
            _ => return Ok(()),
        }
        has_known = true;
        Ok(())
    })?;
    if !has_known {
        return Ok(());
    }
    *reader.reader = ahead;
    reader.extras.update(inner);
    Ok(())
}

pub(super) fn is_schema(reader: &Reader<'_>) -> bool {
    matches!(reader.peek_tag("type"), Ok(Some(kind)) if kind == "json_schema")
}

pub(super) fn read_format<'a>(
    reader: &mut Members<'_, 'a>,
    scope: &'static str,
) -> Result<OutputFormat<'a>> {
    let mut schema = OutputSchema::default();
    reader.inside(scope, |key, reader| match key {
        "type" => reader.skip(),
        "schema" if reader.kind()? == Kind::Object => set(&mut schema.schema, reader.raw()),
        _ => Ok(()),
    })?;
    Ok(OutputFormat::JsonSchema(Box::new(schema)))
}
