//! Reading tools and the choice among them.

use crate::conversation::{
    AllowedTool, CustomFormat, CustomTool, FunctionTool, HostedService, HostedTool, NamespaceTool,
    Tool, ToolChoice, ToolKind,
};
use crate::error::Result;
use crate::json::{Kind, Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::object::{Members, Unread, read_object, read_tag, set};
use crate::protocol::openai_responses::types::{SELF, qualified};
use crate::protocol::semantics::{Extras, NodeSemantics};
use crate::protocol::tool_words::{choice_of, form_of, mode_of};

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
    let mut extras = Extras::default();
    let tool = Decoding { reader, extras: &mut extras, unread, namespace };
    let known = match &*kind.to_str() {
        "function" => tool.function()?,
        "custom" => tool.custom()?,
        "namespace" => tool.space(start.checkpoint(), place)?,
        _ => None,
    };
    let semantics = NodeSemantics::at(place);
    if let Some(known) = known {
        return Ok(Tool::new(known).with_semantics(semantics.keeping(extras)));
    }
    *reader = start;
    let (service, json) = (service(&kind.to_str()), reader.raw()?);
    let hosted = ToolKind::Hosted(HostedTool { protocol: SELF, service, kind, json });
    Ok(Tool::new(hosted).with_semantics(semantics))
}

fn service(kind: &str) -> HostedService {
    match kind {
        "code_interpreter" => HostedService::CodeExecution,
        kind if kind.starts_with("web_search") => HostedService::WebSearch,
        _ => HostedService::Other,
    }
}

/// A tool in the reading, and the namespace that may hold it.
struct Decoding<'r, 'a> {
    reader: &'r mut Reader<'a>,
    extras: &'r mut Extras<'a>,
    unread: Unread,
    namespace: Option<&'r str>,
}

impl<'a> Decoding<'_, 'a> {
    fn function(self) -> Result<Option<ToolKind<'a>>> {
        let (mut name, mut description, mut parameters) = (None, None, None);
        let (mut strict, mut output_schema) = (None, None);
        self.unread.read(self.reader, "", self.extras, |key, reader| match key {
            "type" => reader.skip(),
            "name" => set(&mut name, reader.string()),
            "description" => set(&mut description, reader.string()),
            "parameters" => set(&mut parameters, reader.raw()),
            "strict" => set(&mut strict, reader.boolean()),
            "output_schema" => set(&mut output_schema, reader.raw()),
            _ => Ok(()),
        })?;
        Ok(name.map(|name| {
            let name = named(name, self.namespace);
            ToolKind::Function(FunctionTool {
                name,
                description,
                parameters,
                strict,
                output_schema,
            })
        }))
    }

    fn custom(self) -> Result<Option<ToolKind<'a>>> {
        let (mut name, mut description, mut format) = (None, None, None);
        self.unread.read(self.reader, "", self.extras, |key, reader| {
            match (key, reader.kind()?) {
                ("type", _) => reader.skip(),
                ("name", _) => set(&mut name, reader.string()),
                ("description", _) => set(&mut description, reader.string()),
                ("format", Kind::Object) => {
                    let start = reader.checkpoint();
                    format = decode_custom_format(reader)?;
                    if format.is_none() {
                        *reader.reader = start;
                    }
                    Ok(())
                }
                _ => Ok(()),
            }
        })?;
        Ok(name.map(|name| {
            let name = named(name, self.namespace);
            ToolKind::Custom(CustomTool { name, description, format })
        }))
    }

    /// Reads a namespace from its `start`: its tools are named by it, wherever its own name stands.
    fn space(self, start: Reader<'a>, place: Place) -> Result<Option<ToolKind<'a>>> {
        *self.reader = start;
        let Some(own) = self.reader.peek_tag("name")? else { return Ok(None) };
        let own = own.to_str();
        let (mut name, mut description, mut tools) = (None, None, None);
        read_object(self.reader, "", self.extras, |key, reader| match key {
            "type" => reader.skip(),
            "name" => set(&mut name, reader.string()),
            "description" => set(&mut description, reader.string()),
            "tools" => set(&mut tools, decode_tools(reader, place, Some(&own))),
            _ => Ok(()),
        })?;
        let (Some(name), Some(tools)) = (name, tools) else { return Ok(None) };
        Ok(Some(ToolKind::Namespace(NamespaceTool { name, description, tools })))
    }
}

/// The name of a tool that a namespace may hold.
fn named<'a>(name: Text<'a>, namespace: Option<&str>) -> Text<'a> {
    match namespace {
        Some(namespace) => qualified(namespace, name),
        None => name,
    }
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

/// Reads `tool_choice`. A choice that only this protocol has is kept whole.
pub(super) fn decode_choice<'a>(reader: &mut Reader<'a>) -> Result<ToolChoice<'a>> {
    let start = reader.checkpoint();
    let json = reader.raw()?;
    let known = match json.kind() {
        Kind::String => json.reader().string().ok().and_then(|word| choice_of(&word.to_str())),
        Kind::Object => choice(start)?,
        Kind::Null | Kind::Boolean | Kind::Number | Kind::Array => None,
    };
    Ok(known.unwrap_or(ToolChoice::Other { protocol: SELF, json }))
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
