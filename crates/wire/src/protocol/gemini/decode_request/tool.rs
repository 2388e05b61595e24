//! Reading tools: functions and hosted services, several to an object.

use crate::conversation::FunctionTool;
use crate::conversation::HostedService;
use crate::conversation::HostedTool;
use crate::conversation::Tool;
use crate::conversation::ToolKind;
use crate::error::Error;
use crate::error::ErrorKind;
use crate::error::Result;
use crate::json::Json;
use crate::json::Kind;
use crate::json::Reader;
use crate::json::Text;
use crate::place::Place;
use crate::place::Step;
use crate::protocol::gemini::types::DECLARATIONS_ONE;
use crate::protocol::gemini::types::GEMINI;
use crate::protocol::gemini::types::JSON_SCHEMA;
use crate::protocol::gemini::types::OPENS_TOOL;
use crate::protocol::gemini::types::RESPONSE_JSON_SCHEMA;
use crate::protocol::gemini::types::Shape;
use crate::protocol::gemini::types::TOOL_NAMES;
use crate::protocol::gemini::types::TOOL_SCOPE;
use crate::protocol::gemini::types::TOOLS_JSON_SCHEMA;
use crate::protocol::gemini::types::TOOLS_ONE;
use crate::protocol::gemini::types::WHOLE_TOOL;
use crate::protocol::gemini::types::camel;
use crate::protocol::gemini::types::is_respelled;
use crate::protocol::object::Member;
use crate::protocol::object::read_object;
use crate::protocol::semantics::Extras;
use crate::protocol::semantics::NodeSemantics;

impl<'a> super::Draft<'a> {
    pub(super) fn tools(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        if reader.kind()? == Kind::Object {
            self.shape = self.shape.with(TOOLS_ONE);
            self.request.tools = tool_object(reader, Place::default().step(Step::Tools))?;
        } else {
            self.tool_list(reader)?;
        }
        if self.request.tools.is_empty() {
            self.semantics.state_tools_empty();
        }
        if self.request.tools.iter().any(|tool| tool.semantics().has_shape(JSON_SCHEMA)) {
            self.shape = self.shape.with(TOOLS_JSON_SCHEMA);
        }
        Ok(())
    }

    fn tool_list(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        reader.array(|index, reader| {
            let place = Place::default().element(Step::Tools, index);
            let tools = tool_object(reader, place)?;
            match self.request.tools.is_empty() {
                true => self.request.tools = tools,
                false => self.request.tools.extend(tools),
            }
            Ok(())
        })
    }
}

/// Reads one object of the list, which may hold functions and hosted tools side by side.
fn tool_object<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Vec<Tool<'a>>> {
    let mut start = reader.checkpoint();
    let mut extras = Extras::default();
    let mut tools: Vec<Tool<'a>> = Vec::new();
    read_object(reader, TOOL_SCOPE, &mut extras, |key, reader, _| {
        let mut shape = Shape::default();
        if camel(TOOL_NAMES, key, &mut shape) == "functionDeclarations" {
            let mut ahead = reader.checkpoint();
            let before = tools.len();
            declarations(&mut ahead, place, shape, &mut tools)?;
            if tools.len() == before {
                return Ok(Member::Unknown);
            }
            *reader = ahead;
        } else {
            tools.push(hosted(key, place, reader.raw()?));
        }
        Ok(Member::Read)
    })?;
    match tools.first_mut() {
        Some(first) => {
            first.semantics.add_shape(OPENS_TOOL);
            first.semantics.keep(extras);
        }
        None => tools.push(whole(place, start.raw()?)),
    }
    Ok(tools)
}

/// An object in which no tool is: kept as it is.
fn whole<'a>(place: Place, json: Json<'a>) -> Tool<'a> {
    let service = HostedService::Other;
    let kind = Text::default();
    let tool = HostedTool { protocol: GEMINI, service, kind, json };
    let semantics = NodeSemantics::at(place).shaped(OPENS_TOOL.with(WHOLE_TOOL));
    Tool::new(ToolKind::Hosted(tool)).with_semantics(semantics)
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
    let tool = HostedTool { protocol: GEMINI, service, kind, json };
    let place = step.map_or(place, |step| place.step(step));
    Tool::new(ToolKind::Hosted(tool)).with_semantics(NodeSemantics::at(place))
}

/// Reads the list of functions and adds them to `tools`.
fn declarations<'a>(
    reader: &mut Reader<'a>,
    place: Place,
    shape: Shape,
    tools: &mut Vec<Tool<'a>>,
) -> Result<()> {
    let step = match shape == Shape::default() {
        true => Step::FunctionDeclarations,
        false => Step::FunctionDeclarationsSnake,
    };
    if reader.kind()? == Kind::Object {
        let shape = shape.with(DECLARATIONS_ONE).with(Shape::RESPELLED);
        tools.push(function(reader, place.step(step), shape)?);
        return Ok(());
    }
    reader.array(|index, reader| {
        tools.push(function(reader, place.element(step, index), shape)?);
        Ok(())
    })
}

fn function<'a>(reader: &mut Reader<'a>, place: Place, mut shape: Shape) -> Result<Tool<'a>> {
    let mut extras = Extras::default();
    let (mut name, mut description) = (None, None);
    let (mut parameters, mut output_schema) = (None, None);
    read_object(reader, "", &mut extras, |key, reader, _| {
        match camel(TOOL_NAMES, key, &mut shape) {
            "name" => name = Some(reader.string()?),
            "description" => description = Some(reader.string()?),
            "parameters" if parameters.is_none() => parameters = Some(reader.raw()?),
            "parametersJsonSchema" if parameters.is_none() => {
                parameters = Some(reader.raw()?);
                shape = shape.with(JSON_SCHEMA);
            }
            "response" if output_schema.is_none() => output_schema = Some(reader.raw()?),
            "responseJsonSchema" if output_schema.is_none() => {
                output_schema = Some(reader.raw()?);
                shape = shape.with(RESPONSE_JSON_SCHEMA);
            }
            _ => return Ok(Member::Unknown),
        }
        Ok(Member::Read)
    })?;
    let name = name.ok_or_else(|| Error::new(ErrorKind::Missing, "expected `name`"))?;
    if !shape.has(JSON_SCHEMA) || is_respelled(TOOL_NAMES, shape) {
        shape = shape.with(Shape::RESPELLED);
    }
    let mut semantics = NodeSemantics::at(place).shaped(shape);
    semantics.keep(extras);
    let function = FunctionTool { name, description, parameters, strict: None, output_schema };
    Ok(Tool::new(ToolKind::Function(function)).with_semantics(semantics))
}
