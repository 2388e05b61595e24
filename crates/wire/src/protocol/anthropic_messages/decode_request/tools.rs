//! Reading tools: the client's own have a schema, the vendor's a dated type.

use super::blocks::{missing, read_cache_marker};
use crate::conversation::{FunctionTool, HostedService, HostedTool, Tool, ToolKind};
use crate::error::Result;
use crate::json::{Kind, Reader};
use crate::place::Place;
use crate::protocol::anthropic_messages::types::SELF;
use crate::protocol::object::{Unread, read_tag, set};
use crate::protocol::semantics::{Extras, NodeSemantics};

pub(super) fn read_tool<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Tool<'a>> {
    let mut start = reader.checkpoint();
    let mut ahead = reader.checkpoint();
    // Most tools leave their type out, and in search of it the whole of them would be passed.
    if ahead.enter_by_tag("type").is_none()
        && let Ok((tool, false)) = read_function(&mut ahead, Unread::All, place)
    {
        *reader = ahead;
        return Ok(tool);
    }
    match read_tag(reader, "type")? {
        (Some(kind), _) if kind != "custom" => {
            let service = service_of(&kind.to_str());
            let hosted = HostedTool { protocol: SELF, service, kind, json: start.raw()? };
            *reader = start;
            Ok(Tool::new(ToolKind::Hosted(hosted)).with_semantics(NodeSemantics::at(place)))
        }
        (_, unread) => read_function(reader, unread, place).map(|(tool, _)| tool),
    }
}

/// Reads a tool of the client, and whether it says of what type it is.
fn read_function<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    place: Place,
) -> Result<(Tool<'a>, bool)> {
    let (mut name, mut description, mut parameters, mut strict) = (None, None, None, None);
    let mut is_typed = false;
    let mut semantics = NodeSemantics::at(place);
    let mut extras = Extras::default();
    unread.read(reader, "", &mut extras, |key, reader| match key {
        "type" => {
            is_typed = true;
            reader.skip()
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
    Ok((Tool::new(ToolKind::Function(function)).with_semantics(semantics), is_typed))
}

/// The service of a type, which has a date behind its name.
fn service_of(kind: &str) -> HostedService {
    const SERVICES: [(&str, HostedService); 3] = [
        ("web_search_", HostedService::WebSearch),
        ("web_fetch_", HostedService::WebFetch),
        ("code_execution_", HostedService::CodeExecution),
    ];
    let known = SERVICES.into_iter().find(|(name, _)| kind.starts_with(name));
    known.map_or(HostedService::Other, |(_, service)| service)
}
