//! Reading the options of a request that have several spellings.

use std::borrow::Cow;

use crate::conversation::{
    HostedService, HostedTool, OutputFormat, OutputSchema, Request, ThinkingMode, ThinkingShow,
    Tool, ToolKind,
};
use crate::error::Result;
use crate::json::{Json, Kind, Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::object::{Members, read_object, set};
use crate::protocol::openai_chat::decode_request::tools;
use crate::protocol::openai_chat::types::{SELF, request_shape};
use crate::protocol::semantics::{NodeSemantics, Semantics};

/// Reads `stop`: a string, or a list of them.
pub(super) fn read_stop<'a>(
    reader: &mut Reader<'a>,
    semantics: &mut Semantics<'a>,
) -> Result<Vec<Text<'a>>> {
    if reader.kind()? == Kind::String {
        semantics.add_shape(request_shape::STOP_STRING);
        return Ok(vec![reader.string()?]);
    }
    reader.list(|_, reader| reader.string())
}

/// Reads `response_format`; a type that this version does not know stays unread.
pub(super) fn read_format<'a>(
    reader: &mut Reader<'a>,
    request: &mut Request<'a>,
    semantics: &mut Semantics<'a>,
) -> Result<()> {
    let format = match reader.peek_tag("type")?.as_ref().map(Text::to_str).as_deref() {
        Some("text") => OutputFormat::Text,
        Some("json_object") => OutputFormat::JsonObject,
        Some("json_schema") => OutputFormat::JsonSchema(Box::default()),
        _ => return Ok(()),
    };
    request.output = format;
    let output = &mut request.output;
    read_object(reader, "response_format", semantics.extras_mut(), |key, reader| {
        match (key, &mut *output) {
            ("type", _) => reader.skip(),
            ("json_schema", OutputFormat::JsonSchema(schema)) => read_schema(reader, schema),
            _ => Ok(()),
        }
    })
}

fn read_schema<'a>(reader: &mut Members<'_, 'a>, schema: &mut OutputSchema<'a>) -> Result<()> {
    reader.inside("response_format/json_schema", |key, reader| match key {
        "name" => set(&mut schema.name, reader.string()),
        "description" => set(&mut schema.description, reader.string()),
        "schema" => set(&mut schema.schema, reader.raw()),
        "strict" => set(&mut schema.strict, reader.boolean()),
        _ => Ok(()),
    })
}

/// Reads a field that says the same as a newer one, unless the newer one was there too.
pub(super) fn read_later<'a>(
    name: &'static str,
    json: Json<'a>,
    request: &mut Request<'a>,
    semantics: &mut Semantics<'a>,
) -> Result<()> {
    let Some(mut reader) = json.input_reader() else { return Ok(()) };
    let read = match name {
        "max_tokens" if request.max_output_tokens.is_none() => {
            reader.number().map(|limit| request.max_output_tokens.replace(limit).is_none())
        }
        "functions" if request.tools.is_empty() && !semantics.tools_stated_empty() => {
            read_functions(&mut reader, request, semantics).map(|()| true)
        }
        "function_call" if request.tool_choice.is_none() => {
            read_function_call(&mut reader, request, semantics)
        }
        "random_seed" if request.sampling.seed.is_none() => {
            semantics.add_shape(request_shape::RANDOM_SEED);
            reader.number().map(|seed| request.sampling.seed.replace(seed).is_none())
        }
        "reasoning" if request.thinking.effort.is_none() => {
            read_reasoning(&mut reader, request, semantics)
        }
        "thinking" => read_switch(&mut reader, request, semantics),
        "web_search_options" => {
            request.tools.push(web_search(json.clone()));
            Ok(true)
        }
        _ => Ok(false),
    };
    if !read.map_err(|error| error.under_key(name))? {
        semantics.extras_mut().keep("", Cow::Borrowed(name), json);
    }
    Ok(())
}

fn read_functions<'a>(
    reader: &mut Reader<'a>,
    request: &mut Request<'a>,
    semantics: &mut Semantics<'a>,
) -> Result<()> {
    request.tools = tools::read_functions(reader, semantics)?;
    semantics.add_shape(request_shape::FUNCTIONS);
    Ok(())
}

fn read_function_call<'a>(
    reader: &mut Reader<'a>,
    request: &mut Request<'a>,
    semantics: &mut Semantics<'a>,
) -> Result<bool> {
    request.tool_choice = tools::read_function_choice(reader)?;
    if request.tool_choice.is_some() {
        semantics.add_shape(request_shape::FUNCTION_CALL);
    }
    Ok(request.tool_choice.is_some())
}

/// Reads `reasoning: {effort, max_tokens, exclude}`; another shape stays as it is.
fn read_reasoning<'a>(
    reader: &mut Reader<'a>,
    request: &mut Request<'a>,
    semantics: &mut Semantics<'a>,
) -> Result<bool> {
    if reader.kind()? != Kind::Object {
        return Ok(false);
    }
    let thinking = &mut request.thinking;
    read_object(reader, "reasoning", semantics.extras_mut(), |key, reader| {
        match (key, reader.kind()?) {
            ("effort", Kind::String) => set(&mut thinking.effort, reader.string()),
            ("max_tokens", Kind::Number) => set(&mut thinking.budget, reader.number()),
            ("exclude", Kind::Boolean) => {
                let exclude = reader.boolean()?;
                thinking.show =
                    Some(if exclude { ThinkingShow::Hidden } else { ThinkingShow::Shown(None) });
                Ok(())
            }
            _ => Ok(()),
        }
    })?;
    semantics.add_shape(request_shape::REASONING_OBJECT);
    Ok(true)
}

/// Reads `thinking: {type: enabled | disabled}`; another type stays as it is.
fn read_switch<'a>(
    reader: &mut Reader<'a>,
    request: &mut Request<'a>,
    semantics: &mut Semantics<'a>,
) -> Result<bool> {
    if reader.kind()? != Kind::Object {
        return Ok(false);
    }
    let mode = match reader.peek_tag("type")?.as_ref().map(Text::to_str).as_deref() {
        Some("enabled") => ThinkingMode::Enabled,
        Some("disabled") => ThinkingMode::Disabled,
        _ => return Ok(false),
    };
    request.thinking.mode = Some(mode);
    read_object(reader, "thinking", semantics.extras_mut(), |key, reader| match key {
        "type" => reader.skip(),
        _ => Ok(()),
    })?;
    semantics.add_shape(request_shape::THINKING_SWITCH);
    Ok(true)
}

fn web_search(json: Json<'_>) -> Tool<'_> {
    let tool = HostedTool {
        protocol: SELF,
        service: HostedService::WebSearch,
        kind: Text::literal("web_search_options"),
        json,
    };
    let place = Place::default().step(Step::WebSearchOptions);
    Tool::new(ToolKind::Hosted(tool)).with_semantics(NodeSemantics::at(place))
}
