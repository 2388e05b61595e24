//! Reading tools and the choice among them.

use crate::conversation::{
    AllowedTool, CustomFormat, CustomTool, FunctionTool, HostedService, HostedTool, NamespaceTool,
    Tool, ToolChoice, ToolKind,
};
use crate::error::Result;
use crate::json::{Json, Kind, Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::object::{Members, Unread, read_object, read_tag, set};
use crate::protocol::openai_responses::types::{SELF, qualified};
use crate::protocol::semantics::{Extras, NodeSemantics};
use crate::protocol::tool_words::{form_of, mode_of};

/// Reads a list of tools, which a namespace may hold.
pub(super) fn decode_tools<'a>(
    reader: &mut Reader<'a>,
    place: Place,
    namespace: Option<&str>,
) -> Result<Vec<Tool<'a>>> {
    reader.list(|index, reader| decode_tool(reader, place.element(Step::Tools, index), namespace))
}

/// Reads one tool. What is no tool of the client, or lacks what its type needs, is kept whole.
fn decode_tool<'a>(
    reader: &mut Reader<'a>,
    place: Place,
    namespace: Option<&str>,
) -> Result<Tool<'a>> {
    let start = reader.checkpoint();
    let (kind, unread) = read_tag(reader, "type")?;
    let kind = kind.unwrap_or_default();
    let tool = match &*kind.to_str() {
        "function" => decode_function(reader, unread, (place, namespace))?,
        "custom" => decode_custom(reader, unread, (place, namespace))?,
        "namespace" => {
            *reader = start.checkpoint();
            decode_namespace(reader, place)?
        }
        _ => None,
    };
    match tool {
        Some(tool) => Ok(tool),
        None => {
            *reader = start;
            let json = reader.raw()?;
            let service = service(&kind.to_str());
            let hosted = HostedTool { protocol: SELF, service, kind, json };
            let tool = Tool::new(ToolKind::Hosted(hosted));
            Ok(tool.with_semantics(NodeSemantics::at(place)))
        }
    }
}

fn service(kind: &str) -> HostedService {
    match kind {
        "code_interpreter" => HostedService::CodeExecution,
        kind if kind.starts_with("web_search") => HostedService::WebSearch,
        _ => HostedService::Other,
    }
}

/// The name of a tool that a namespace may hold.
fn named<'a>(name: Text<'a>, namespace: Option<&str>) -> Text<'a> {
    match namespace {
        Some(namespace) => qualified(namespace, name),
        None => name,
    }
}

fn decode_function<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    (place, namespace): (Place, Option<&str>),
) -> Result<Option<Tool<'a>>> {
    let mut name = None;
    let (mut description, mut parameters, mut strict, mut output_schema) = (None, None, None, None);
    let mut extras = Extras::default();
    unread.read(reader, "", &mut extras, |key, reader| {
        match key {
            "type" => reader.skip()?,
            "name" => name = Some(named(reader.string()?, namespace)),
            "description" => description = Some(reader.string()?),
            "parameters" => parameters = Some(reader.raw()?),
            "strict" => strict = Some(reader.boolean()?),
            "output_schema" => output_schema = Some(reader.raw()?),
            _ => {}
        }
        Ok(())
    })?;
    let Some(name) = name else { return Ok(None) };
    let tool = FunctionTool { name, description, parameters, strict, output_schema };
    Ok(Some(with_extras(ToolKind::Function(tool), place, extras)))
}

fn with_extras<'a>(kind: ToolKind<'a>, place: Place, extras: Extras<'a>) -> Tool<'a> {
    Tool::new(kind).with_semantics(NodeSemantics::at(place).keeping(extras))
}

fn decode_custom<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    (place, namespace): (Place, Option<&str>),
) -> Result<Option<Tool<'a>>> {
    let (mut name, mut description, mut format) = (None, None, None);
    let mut extras = Extras::default();
    unread.read(reader, "", &mut extras, |key, reader| {
        match (key, reader.kind()?) {
            ("type", _) => reader.skip()?,
            ("name", _) => name = Some(named(reader.string()?, namespace)),
            ("description", _) => description = Some(reader.string()?),
            ("format", Kind::Object) => {
                let start = reader.checkpoint();
                format = decode_custom_format(reader)?;
                if format.is_none() {
                    *reader.reader = start;
                    return Ok(());
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    let Some(name) = name else { return Ok(None) };
    let tool = CustomTool { name, description, format };
    Ok(Some(with_extras(ToolKind::Custom(tool), place, extras)))
}

fn decode_custom_format<'a>(reader: &mut Members<'_, 'a>) -> Result<Option<CustomFormat<'a>>> {
    let kind = reader.peek_tag("type")?.unwrap_or_default();
    let is_grammar = kind == *"grammar";
    if !is_grammar && kind != *"text" {
        return Ok(None);
    }
    let (mut definition, mut syntax) = (None, None);
    let mut own = Extras::default();
    read_object(reader, "format", &mut own, |key, reader| match key {
        "type" => reader.skip(),
        "definition" if is_grammar => set(&mut definition, reader.string()),
        "syntax" if is_grammar => set(&mut syntax, reader.string()),
        _ => Ok(()),
    })?;
    let format = match (is_grammar, definition, syntax) {
        (false, ..) => CustomFormat::Text,
        (true, Some(definition), Some(syntax)) => CustomFormat::Grammar { definition, syntax },
        (true, ..) => return Ok(None),
    };
    reader.extras.update(own);
    Ok(Some(format))
}

fn decode_namespace<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Option<Tool<'a>>> {
    let Some(own) = reader.peek_tag("name")? else { return Ok(None) };
    let own = own.to_str();
    let (mut name, mut description, mut tools) = (None, None, None);
    let mut extras = Extras::default();
    read_object(reader, "", &mut extras, |key, reader| match key {
        "type" => reader.skip(),
        "name" => set(&mut name, reader.string()),
        "description" => set(&mut description, reader.string()),
        "tools" => set(&mut tools, decode_tools(reader, place, Some(&own))),
        _ => Ok(()),
    })?;
    let (Some(name), Some(tools)) = (name, tools) else { return Ok(None) };
    let tool = NamespaceTool { name, description, tools };
    Ok(Some(with_extras(ToolKind::Namespace(tool), place, extras)))
}

/// Reads `tool_choice`. A choice that only this protocol has is kept whole.
pub(super) fn decode_choice<'a>(reader: &mut Reader<'a>) -> Result<ToolChoice<'a>> {
    let start = reader.checkpoint();
    let json = reader.raw()?;
    let known = match json.kind() {
        Kind::String => word(&json),
        Kind::Object => choice(start)?,
        Kind::Null | Kind::Boolean | Kind::Number | Kind::Array => None,
    };
    Ok(known.unwrap_or(ToolChoice::Other { protocol: SELF, json }))
}

fn word<'a>(json: &Json<'_>) -> Option<ToolChoice<'a>> {
    match &*json.reader().string().ok()?.to_str() {
        "auto" => Some(ToolChoice::Auto),
        "none" => Some(ToolChoice::None),
        "required" => Some(ToolChoice::Required),
        _ => None,
    }
}

/// The choice that an object is; none if it has anything that a canonical choice could not give back.
fn choice<'a>(mut reader: Reader<'a>) -> Result<Option<ToolChoice<'a>>> {
    let (mut kind, mut name, mut mode, mut tools) = (None, None, None, None);
    let mut is_plain = true;
    reader.object(|key, reader| match (&*key, reader.kind()?) {
        ("type", Kind::String) => set(&mut kind, reader.string()),
        ("name", Kind::String) => set(&mut name, reader.string()),
        ("mode", Kind::String) => set(&mut mode, reader.string()),
        ("tools", Kind::Array) => set(&mut tools, allowed(reader)),
        _ => {
            is_plain = false;
            reader.skip()
        }
    })?;
    let Some(kind) = kind.filter(|_| is_plain) else { return Ok(None) };
    let mode = mode.as_ref().map(Text::to_str);
    let kind = kind.to_str();
    Ok(match (name, mode, tools) {
        (Some(name), None, None) => form_of(&kind).map(|form| ToolChoice::Named { name, form }),
        (None, Some(mode), Some(tools)) if kind == "allowed_tools" => {
            mode_of(&mode).map(|mode| ToolChoice::Allowed { mode, tools })
        }
        _ => None,
    })
}

fn allowed<'a>(reader: &mut Reader<'a>) -> Result<Vec<AllowedTool<'a>>> {
    reader.list(|_, reader| {
        let name = match reader.kind()? {
            Kind::Object => reader.peek_tag("name")?,
            _ => None,
        };
        Ok(AllowedTool { name, json: Some(reader.raw()?) })
    })
}
