//! Reading tools: functions and hosted services, several to an object.

use crate::conversation::{FunctionTool, HostedService, HostedTool, Tool, ToolKind};
use crate::error::Result;
use crate::json::{Json, Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::gemini::types::name::{TOOL_NAMES, camel};
use crate::protocol::gemini::types::{PARAMETERS_JSON_SCHEMA, RESPONSE_JSON_SCHEMA, SELF, Shape};
use crate::protocol::object::{read_object, set};
use crate::protocol::semantics::{Extras, NodeSemantics};

use super::part::missing;
use super::read_each;

impl<'a> super::Draft<'a> {
    pub(super) fn tools(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        let tools = &mut self.request.tools;
        read_each(reader, Place::default(), Step::Tools, |reader, place| {
            tool_object(reader, place, tools)
        })?;
        if self.request.tools.is_empty() {
            self.semantics.state_tools_empty();
        }
        Ok(())
    }
}

/// Reads one object of the list, which may hold functions and hosted tools side by side.
fn tool_object<'a>(reader: &mut Reader<'a>, place: Place, tools: &mut Vec<Tool<'a>>) -> Result<()> {
    // Every member is a tool, or null.
    read_object(reader, "", &mut Extras::default(), |key, reader| match key {
        "functionDeclarations" | "function_declarations" => {
            let is_camel = key == "functionDeclarations";
            let camel = is_camel.then_some(Step::FunctionDeclarations);
            let step = camel.unwrap_or(Step::FunctionDeclarationsSnake);
            read_each(reader, place, step, |reader, place| {
                tools.push(function(reader, place)?);
                Ok(())
            })
        }
        _ => {
            tools.push(hosted(key, place, reader.raw()?));
            Ok(())
        }
    })
}

fn hosted<'a>(key: &str, place: Place, json: Json<'a>) -> Tool<'a> {
    let (service, step) = match key {
        "googleSearch" => (HostedService::WebSearch, Some(Step::GoogleSearch)),
        "googleSearchRetrieval" => (HostedService::WebSearch, Some(Step::GoogleSearchRetrieval)),
        "urlContext" => (HostedService::WebFetch, Some(Step::UrlContext)),
        "codeExecution" => (HostedService::CodeExecution, Some(Step::CodeExecution)),
        "fileSearch" => (HostedService::Other, Some(Step::FileSearch)),
        "googleMaps" => (HostedService::Other, Some(Step::GoogleMaps)),
        "google_search" | "google_search_retrieval" => (HostedService::WebSearch, None),
        "url_context" => (HostedService::WebFetch, None),
        "code_execution" => (HostedService::CodeExecution, None),
        _ => (HostedService::Other, None),
    };
    let kind = Text::plain(key.to_owned());
    let tool = HostedTool { protocol: SELF, service, kind, json };
    let place = step.map_or(place, |step| place.step(step));
    Tool::new(ToolKind::Hosted(tool)).with_semantics(NodeSemantics::at(place))
}

fn function<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Tool<'a>> {
    let mut shape = Shape::default();
    let mut extras = Extras::default();
    let (mut name, mut description) = (None, None);
    let (mut parameters, mut output_schema) = (None, None);
    read_object(reader, "", &mut extras, |key, reader| match camel(TOOL_NAMES, key, &mut shape) {
        "name" => set(&mut name, reader.string()),
        "description" => set(&mut description, reader.string()),
        "parameters" if parameters.is_none() => set(&mut parameters, reader.raw()),
        "parametersJsonSchema" if parameters.is_none() => {
            parameters = Some(reader.raw()?);
            shape = shape.with(PARAMETERS_JSON_SCHEMA);
            Ok(())
        }
        "response" if output_schema.is_none() => set(&mut output_schema, reader.raw()),
        "responseJsonSchema" if output_schema.is_none() => {
            output_schema = Some(reader.raw()?);
            shape = shape.with(RESPONSE_JSON_SCHEMA);
            Ok(())
        }
        _ => Ok(()),
    })?;
    let name = name.ok_or_else(|| missing("name"))?;
    let semantics = NodeSemantics::at(place).shaped(shape).keeping(extras);
    let function = FunctionTool { name, description, parameters, strict: None, output_schema };
    Ok(Tool::new(ToolKind::Function(function)).with_semantics(semantics))
}
