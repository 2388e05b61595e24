//! Writing tools: functions together, hosted tools each in an object of its own.

use crate::conversation::CustomTool;
use crate::conversation::FunctionTool;
use crate::conversation::HostedService;
use crate::conversation::HostedTool;
use crate::conversation::NamespaceTool;
use crate::conversation::Tool;
use crate::conversation::ToolKind;
use crate::json::Json;
use crate::json::Kind;
use crate::json::Text;
use crate::json::Writer;
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::Field;
use crate::protocol::dialect;
use crate::protocol::hosted::Settings;

use crate::protocol::gemini::types::DECLARATIONS_ONE;
use crate::protocol::gemini::types::JSON_SCHEMA;
use crate::protocol::gemini::types::OPENS_TOOL;
use crate::protocol::gemini::types::RESPONSE_JSON_SCHEMA;
use crate::protocol::gemini::types::Shape;
use crate::protocol::gemini::types::TOOL_NAMES;
use crate::protocol::gemini::types::TOOL_SCOPE;
use crate::protocol::gemini::types::WHOLE_TOOL;
use crate::protocol::gemini::types::spelled;
use crate::protocol::namespaces;
use crate::protocol::namespaces::Spaced;
use crate::protocol::object::Object;
use crate::schema::Dialect;
use crate::schema::SchemaLoss;
use crate::schema::translate;
use crate::target::GeminiSchema;

use super::Scribe;

/// What a custom tool takes once it is a function.
const CUSTOM_PARAMETERS: Json<'static> = Json::literal(
    r#"{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}"#,
);

/// A schema in the language of `parameters`.
const CUSTOM_SCHEMA: Json<'static> = Json::literal(
    r#"{"type":"OBJECT","properties":{"input":{"type":"STRING"}},"required":["input"]}"#,
);

/// Keywords whose meaning moves to others beside them.
const BECOME_OTHERS: [&str; 6] = ["$ref", "allOf", "const", "definitions", "oneOf", "prefixItems"];

impl<'x> Scribe<'x, '_> {
    /// Writes the elements of the list of tools, as far as they can be offered.
    pub(super) fn tools(&mut self, writer: &mut Writer) {
        match self.is_same() {
            true => self.same_tools(writer),
            false => self.foreign_tools(writer),
        }
    }

    /// Writes the objects of the list as they were, each from its first tool to the next one's.
    fn same_tools(&mut self, writer: &mut Writer) {
        let tools = &self.exchange.request.tools;
        let mut rest = tools.as_slice();
        while let [first, others @ ..] = rest {
            let opens = |tool: &Tool<'_>| tool.semantics().has_shape(OPENS_TOOL);
            let length = 1 + others.iter().take_while(|tool| !opens(tool)).count();
            let (group, later) = rest.split_at(length);
            rest = later;
            self.same_tool(writer, first, group);
        }
    }

    fn same_tool(&mut self, writer: &mut Writer, first: &'x Tool<'x>, group: &'x [Tool<'x>]) {
        if let (true, ToolKind::Hosted(hosted)) =
            (first.semantics().has_shape(WHOLE_TOOL), &first.kind)
        {
            return writer.value(&hosted.json);
        }
        let extras = first.semantics().extras().map(|extras| (extras, TOOL_SCOPE));
        let mut object = Object::open(writer, extras);
        let functions: Vec<&Tool<'_>> = group.iter().filter(|tool| is_function(tool)).collect();
        if let Some(function) = functions.first() {
            let shape = function.semantics().shape();
            let list = object.key(spelled(TOOL_NAMES, "functionDeclarations", shape));
            match (&*functions, shape.has(DECLARATIONS_ONE)) {
                ([function], true) => {
                    self.declaration(list, Spaced { tool: function, namespace: None })
                }
                (functions, _) => {
                    list.begin_array();
                    functions.iter().for_each(|tool| {
                        self.declaration(list, Spaced { tool, namespace: None });
                    });
                    list.end_array();
                }
            }
        }
        for tool in group {
            if let ToolKind::Hosted(hosted) = &tool.kind {
                object.named(&hosted.kind.to_str(), &hosted.json);
            }
        }
        object.close();
    }

    fn foreign_tools(&mut self, writer: &mut Writer) {
        let tools = &self.exchange.request.tools;
        let mut functions = Vec::new();
        tools.iter().for_each(|tool| self.flatten(tool, None, &mut functions));
        if !functions.is_empty() {
            writer.begin_object();
            writer.literal_key("functionDeclarations");
            writer.begin_array();
            functions.iter().for_each(|tool| self.declaration(writer, *tool));
            writer.end_array();
            writer.end_object();
        }
        let beside = functions.is_empty() || self.target.family.hosted_with_function_tools;
        for tool in tools {
            if let ToolKind::Hosted(hosted) = &tool.kind {
                let is_offered = self.hosted(writer, tool, hosted, beside);
                self.mixes_tools |= is_offered && !functions.is_empty();
            }
        }
    }

    /// Offers the vendor's own tool of that sort; false if there is none that can be offered.
    fn hosted(
        &mut self,
        writer: &mut Writer,
        tool: &Tool<'_>,
        hosted: &HostedTool<'_>,
        beside: bool,
    ) -> bool {
        let place = tool.semantics().place();
        let key = match hosted.service {
            HostedService::WebSearch => "googleSearch",
            HostedService::WebFetch => "urlContext",
            HostedService::CodeExecution => "codeExecution",
            HostedService::Other => {
                let reason = "the vendor has no such tool";
                self.losing.field(place, Field::HostedTool, LossKind::Dropped, reason);
                return false;
            }
        };
        if !beside {
            let reason = "the model takes no hosted tools beside functions";
            self.losing.field(place, Field::HostedTool, LossKind::Dropped, reason);
            return false;
        }
        writer.object(|object| object.field(key, &Json::literal("{}")));
        Settings::of(hosted).report_rest(place, &mut self.losing);
        true
    }

    /// Collects the functions of a tool, those of a namespace one by one.
    fn flatten<'t>(
        &mut self,
        tool: &'t Tool<'t>,
        namespace: Option<&'t NamespaceTool<'t>>,
        functions: &mut Vec<Spaced<'t>>,
    ) {
        match &tool.kind {
            ToolKind::Function(_) | ToolKind::Custom(_) => {
                functions.push(Spaced { tool, namespace });
            }
            ToolKind::Namespace(inner) => {
                namespaces::report_description(&mut self.losing, (tool, inner));
                inner.tools.iter().for_each(|tool| self.flatten(tool, Some(inner), functions));
            }
            ToolKind::Hosted(_) => {}
        }
    }

    fn declaration(&mut self, writer: &mut Writer, spaced: Spaced<'_>) {
        match &spaced.tool.kind {
            ToolKind::Function(function) => self.function(writer, spaced, function),
            ToolKind::Custom(custom) => self.custom(writer, spaced, custom),
            ToolKind::Hosted(_) | ToolKind::Namespace(_) => {}
        }
    }

    fn function(&mut self, writer: &mut Writer, spaced: Spaced<'_>, function: &FunctionTool<'_>) {
        let tool = spaced.tool;
        let FunctionTool { name, description, parameters, strict, output_schema } = function;
        let same = self.is_same();
        let shape = self.tool_shape(tool);
        let extras = tool.semantics().extras().filter(|_| same).map(|extras| (extras, ""));
        let mut object = Object::open(writer, extras);
        object.field("name", &self.offered(tool, name));
        object.optional("description", spaced.description(description.as_ref()).as_ref());
        if let Some(parameters) = parameters {
            let key = if shape.has(JSON_SCHEMA) { "parametersJsonSchema" } else { "parameters" };
            let schema = self.schema(tool, Field::ToolParameters, parameters);
            if let Some(schema) = schema {
                object.field(spelled(TOOL_NAMES, key, shape), &schema);
            }
        }
        if let Some(schema) = output_schema {
            let json = shape.has(RESPONSE_JSON_SCHEMA);
            let key = if json { "responseJsonSchema" } else { "response" };
            if let Some(schema) = self.schema(tool, Field::ToolOutputSchema, schema) {
                object.field(spelled(TOOL_NAMES, key, shape), &schema);
            }
        }
        object.close();
        self.strict(tool, *strict);
    }

    fn custom(&mut self, writer: &mut Writer, spaced: Spaced<'_>, custom: &CustomTool<'_>) {
        let tool = spaced.tool;
        let shape = self.tool_shape(tool);
        writer.begin_object();
        writer.field("name", &self.offered(tool, &custom.name));
        writer.optional("description", spaced.description(custom.description.as_ref()).as_ref());
        match shape.has(JSON_SCHEMA) {
            true => writer.field("parametersJsonSchema", &CUSTOM_PARAMETERS),
            false => writer.field("parameters", &CUSTOM_SCHEMA),
        }
        writer.end_object();
    }

    /// The spelling of a tool: its own, or that of the schema language that the model takes.
    fn tool_shape(&self, tool: &Tool<'_>) -> Shape {
        match (self.is_same(), self.target.family.gemini_schema) {
            (true, _) => tool.semantics().shape(),
            (false, GeminiSchema::Either) => JSON_SCHEMA.with(RESPONSE_JSON_SCHEMA),
            (false, GeminiSchema::SchemaOnly) => Shape::default(),
        }
    }

    /// The name under which a tool is offered.
    fn offered<'t>(&mut self, tool: &Tool<'_>, name: &'t Text<'_>) -> Text<'t>
    where
        'x: 't,
    {
        let offered = self.tool_name(name);
        if offered != *name {
            let reason = "the name does not fit the vendor's alphabet";
            let place = tool.semantics().place();
            self.losing.field(place, Field::ToolName, LossKind::Renamed, reason);
        }
        offered
    }

    fn strict(&mut self, tool: &Tool<'_>, strict: Option<bool>) {
        if strict == Some(true) {
            let (place, reason) = (tool.semantics().place(), "arguments are not checked");
            self.losing.field(place, Field::ToolStrict, LossKind::Approximated, reason);
        }
    }

    /// A tool's schema in the language that the model takes; none if it says that there is nothing to give.
    fn schema<'s>(
        &mut self,
        tool: &Tool<'_>,
        field: Field,
        schema: &'s Json<'_>,
    ) -> Option<Json<'s>> {
        if self.is_same() {
            return Some(schema.reborrow());
        }
        let from = dialect::of_parameters(self.losing.source(), tool);
        let schema = schema.reborrow();
        let translated = translate(&schema, from, self.dialect());
        let base = self.losing.source().pointer(field, self.exchange.semantics().spelling());
        self.report_schema(tool.semantics().place(), base, translated.losses);
        let needless = self.dialect() == Dialect::GeminiSchema && is_empty(&translated.json);
        (!needless).then_some(translated.json)
    }

    /// Reports what a translation did to the schema that stands at `base` below `place`.
    pub(super) fn report_schema(&mut self, place: Place, base: &str, losses: Vec<SchemaLoss>) {
        for SchemaLoss { pointer, kind, reason } in losses {
            self.losing.below(place, &format!("{base}{pointer}"), kind, reason);
            let (parent, keyword) = pointer.rsplit_once('/').unwrap_or(("", &pointer));
            if BECOME_OTHERS.contains(&keyword) {
                let reason = "replaced by keywords that the model supports";
                self.losing.below(place, &format!("{base}{parent}"), LossKind::Renamed, reason);
            }
        }
    }

    /// The schema language that the model takes.
    pub(super) fn dialect(&self) -> Dialect {
        match self.target.family.gemini_schema {
            GeminiSchema::Either => Dialect::GeminiJsonSchema,
            GeminiSchema::SchemaOnly => Dialect::GeminiSchema,
        }
    }
}

/// Whether a schema describes an object without properties, which the older schema language refuses.
fn is_empty(schema: &Json<'_>) -> bool {
    let mut empty = true;
    let read = schema.reader().object(|key, reader| match (&*key, reader.kind()?) {
        ("properties", Kind::Object) => reader.object(|_, reader| {
            empty = false;
            reader.skip()
        }),
        ("anyOf", _) => {
            empty = false;
            reader.skip()
        }
        _ => reader.skip(),
    });
    empty && read.is_ok()
}

fn is_function(tool: &Tool<'_>) -> bool {
    matches!(tool.kind, ToolKind::Function(_) | ToolKind::Custom(_))
}
