//! Reading the options of a request that have several spellings.

use crate::conversation::{
    HostedService, HostedTool, OutputFormat, OutputSchema, ThinkingMode, ThinkingShow, Tool,
    ToolKind,
};
use crate::error::Result;
use crate::json::{Json, Kind, Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::object::{Members, put, read_object, set};
use crate::protocol::openai_chat::decode_request::{Decoding, tools};
use crate::protocol::openai_chat::types::{SELF, request_shape};
use crate::protocol::semantics::NodeSemantics;

impl<'a> Decoding<'a> {
    /// Reads `stop`: a string, or a list of them.
    pub(super) fn stop(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        if reader.kind()? != Kind::String {
            return put(&mut self.request.stop, reader.list(|_, reader| reader.string()));
        }
        self.semantics.add_shape(request_shape::STOP_STRING);
        self.request.stop = vec![reader.string()?];
        Ok(())
    }

    /// Reads `response_format`; a type that this version does not know stays unread.
    pub(super) fn format(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        let output = &mut self.request.output;
        *output = match reader.peek_tag("type")?.as_ref().map(Text::to_str).as_deref() {
            Some("text") => OutputFormat::Text,
            Some("json_object") => OutputFormat::JsonObject,
            Some("json_schema") => OutputFormat::JsonSchema(Box::default()),
            _ => return Ok(()),
        };
        let extras = self.semantics.extras_mut();
        read_object(reader, "response_format", extras, |key, reader| match (key, &mut *output) {
            ("type", _) => reader.skip(),
            ("json_schema", OutputFormat::JsonSchema(schema)) => read_schema(reader, schema),
            _ => Ok(()),
        })
    }

    /// Reads a field that says the same as a newer one; false if the newer one was there too, or it is of another shape.
    pub(super) fn later(&mut self, name: &'static str, json: &Json<'a>) -> Result<bool> {
        let Some(mut reader) = json.input_reader() else { return Ok(true) };
        let reader = &mut reader;
        let (request, semantics) = (&mut self.request, &mut self.semantics);
        match name {
            "max_tokens" if request.max_output_tokens.is_none() => {
                request.max_output_tokens = Some(reader.number()?);
            }
            "functions" if request.tools.is_empty() && !semantics.tools_stated_empty() => {
                semantics.add_shape(request_shape::FUNCTIONS);
                self.tools(reader, Step::Functions)?;
            }
            "function_call" if request.tool_choice.is_none() => {
                request.tool_choice = tools::read_function_choice(reader)?;
                if request.tool_choice.is_none() {
                    return Ok(false);
                }
                semantics.add_shape(request_shape::FUNCTION_CALL);
            }
            "random_seed" if request.sampling.seed.is_none() => {
                request.sampling.seed = Some(reader.number()?);
                semantics.add_shape(request_shape::RANDOM_SEED);
            }
            "reasoning" if request.thinking.effort.is_none() => return self.reasoning(reader),
            "thinking" => return self.switch(reader),
            "web_search_options" => request.tools.push(web_search(json.clone())),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads `reasoning: {effort, max_tokens, exclude}`; another shape stays as it is.
    fn reasoning(&mut self, reader: &mut Reader<'a>) -> Result<bool> {
        if reader.kind()? != Kind::Object {
            return Ok(false);
        }
        let thinking = &mut self.request.thinking;
        read_object(reader, "reasoning", self.semantics.extras_mut(), |key, reader| {
            match (key, reader.kind()?) {
                ("effort", Kind::String) => set(&mut thinking.effort, reader.string()),
                ("max_tokens", Kind::Number) => set(&mut thinking.budget, reader.number()),
                ("exclude", Kind::Boolean) => {
                    let is_hidden = reader.boolean()?;
                    let shown = ThinkingShow::Shown(None);
                    thinking.show = Some(if is_hidden { ThinkingShow::Hidden } else { shown });
                    Ok(())
                }
                _ => Ok(()),
            }
        })?;
        self.semantics.add_shape(request_shape::REASONING_OBJECT);
        Ok(true)
    }

    /// Reads `thinking: {type: enabled | disabled}`; another type stays as it is.
    fn switch(&mut self, reader: &mut Reader<'a>) -> Result<bool> {
        if reader.kind()? != Kind::Object {
            return Ok(false);
        }
        let mode = match reader.peek_tag("type")?.as_ref().map(Text::to_str).as_deref() {
            Some("enabled") => ThinkingMode::Enabled,
            Some("disabled") => ThinkingMode::Disabled,
            _ => return Ok(false),
        };
        self.request.thinking.mode = Some(mode);
        read_object(reader, "thinking", self.semantics.extras_mut(), |key, reader| match key {
            "type" => reader.skip(),
            _ => Ok(()),
        })?;
        self.semantics.add_shape(request_shape::THINKING_SWITCH);
        Ok(true)
    }
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
