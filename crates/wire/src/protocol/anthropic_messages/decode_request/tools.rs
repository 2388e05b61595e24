//! Reading tools: the client's own have a schema, the vendor's a dated type.

use super::blocks::{missing, read_cache_marker};
use crate::conversation::{FunctionTool, HostedService, HostedTool, Tool, ToolKind};
use crate::error::Result;
use crate::json::{Kind, Reader, Text};
use crate::place::Place;
use crate::protocol::anthropic_messages::types::SELF;
use crate::protocol::object::{Unread, read_tag, set};
use crate::protocol::semantics::{Extras, NodeSemantics};

pub(super) fn read_tool<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Tool<'a>> {
    let mut start = reader.checkpoint();
    let mut ahead = reader.checkpoint();
    // Most tools leave their type out, and in search of it the whole of them would be passed.
    if ahead.enter_by_tag("type").is_none()
        && let Ok((tool, Typed::No)) = read_function(&mut ahead, Unread::All, place)
    {
        *reader = ahead;
        return Ok(tool);
    }
    match read_tag(reader, "type")? {
        (Some(kind), _) if kind != "custom" => {
            let tool = read_hosted(&mut start, place, kind)?;
            *reader = start;
            Ok(tool)
        }
        (_, unread) => read_function(reader, unread, place).map(|(tool, _)| tool),
    }
}

/// Whether a tool says of what type it is.
enum Typed {
    Yes,
    No,
}

fn read_function<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    place: Place,
) -> Result<(Tool<'a>, Typed)> {
    let (mut name, mut description, mut parameters, mut strict) = (None, None, None, None);
    let mut typed = Typed::No;
    let mut semantics = NodeSemantics::at(place);
    let mut extras = Extras::default();
    unread.read(reader, "", &mut extras, |key, reader| match key {
        "type" => {
            reader.skip()?;
            typed = Typed::Yes;
            Ok(())
        }
        "name" => set(&mut name, reader.string()),
        "description" => set(&mut description, reader.string()),
        "input_schema" => set(&mut parameters, reader.raw()),
        "strict" => set(&mut strict, reader.boolean()),
        "cache_control" if reader.kind()? == Kind::Object => {
            semantics.set_cache(read_cache_marker(reader)?);
            Ok(())
        }
        _ => Ok(()),
    })?;
    semantics.keep(extras);
    let name = name.ok_or_else(|| missing("name"))?;
    let function = FunctionTool { name, description, parameters, strict, output_schema: None };
    Ok((Tool::new(ToolKind::Function(function)).with_semantics(semantics), typed))
}

fn read_hosted<'a>(reader: &mut Reader<'a>, place: Place, kind: Text<'a>) -> Result<Tool<'a>> {
    let service = service_of(&kind.to_str());
    let hosted = HostedTool { protocol: SELF, service, kind, json: reader.raw()? };
    Ok(Tool::new(ToolKind::Hosted(hosted)).with_semantics(NodeSemantics::at(place)))
}

fn service_of(kind: &str) -> HostedService {
    let is = |name: &str| kind.strip_prefix(name).is_some_and(|date| date.starts_with('_'));
    if is("web_search") {
        HostedService::WebSearch
    } else if is("web_fetch") {
        HostedService::WebFetch
    } else if is("code_execution") {
        HostedService::CodeExecution
    } else {
        HostedService::Other
    }
}
