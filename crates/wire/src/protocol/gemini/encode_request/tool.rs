//! Writing tools: functions together, hosted tools each in an object of its own.

use crate::conversation::{CustomTool, FunctionTool, HostedService, Tool, ToolKind};
use crate::json::{Json, Kind, Writer};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::gemini::types::{PARAMETERS_JSON_SCHEMA, RESPONSE_JSON_SCHEMA, SELF};
use crate::protocol::hosted::Settings;
use crate::protocol::namespaces::Spaced;
use crate::protocol::object::Object;
use crate::protocol::{Field, namespaces, schema_language};
use crate::schema::{SchemaLanguage, SchemaLoss, translate};
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
        let tools = &self.decoded.request.tools;
        let mut functions = Vec::new();
        for tool in tools {
            self.flatten(Spaced { tool, namespace: None }, &mut functions);
        }
        if !functions.is_empty() {
            writer.object(|object| {
                object.array_field("functionDeclarations", |list| {
                    for spaced in &functions {
                        match &spaced.tool.kind {
                            ToolKind::Function(function) => self.function(list, *spaced, function),
                            ToolKind::Custom(custom) => self.custom(list, *spaced, custom),
                            ToolKind::Hosted(_) | ToolKind::Namespace(_) => {}
                        }
                    }
                });
            });
        }
        let beside = functions.is_empty() || self.target.family.hosted_with_function_tools;
        for tool in tools {
            let ToolKind::Hosted(hosted) = &tool.kind else { continue };
            // The vendor's own tool of that sort, or why it cannot be offered.
            let counterpart = match hosted.service {
                _ if hosted.protocol == SELF => {
                    writer.object(|object| object.field(&hosted.kind.to_str(), &hosted.json));
                    continue;
                }
                HostedService::Other => Err("the vendor has no such tool"),
                _ if !beside => Err("the model takes no hosted tools beside functions"),
                HostedService::WebSearch => Ok("googleSearch"),
                HostedService::WebFetch => Ok("urlContext"),
                HostedService::CodeExecution => Ok("codeExecution"),
            };
            match counterpart {
                Ok(key) => {
                    writer.object(|object| object.field(key, &Json::literal("{}")));
                    let place = tool.semantics().place();
                    Settings::of(hosted).report_rest(place, &mut self.reporter);
                    self.mixes_tools |= !functions.is_empty();
                }
                Err(reason) => self.reporter.dropped((tool, Field::HostedTool), reason),
            }
        }
    }

    /// Collects the functions of a tool, those of a namespace one by one.
    fn flatten<'t>(&mut self, spaced: Spaced<'t>, functions: &mut Vec<Spaced<'t>>) {
        match &spaced.tool.kind {
            ToolKind::Function(_) | ToolKind::Custom(_) => functions.push(spaced),
            ToolKind::Namespace(inner) => {
                namespaces::report_description(&mut self.reporter, (spaced.tool, inner));
                for tool in &inner.tools {
                    self.flatten(Spaced { tool, namespace: Some(inner) }, functions);
                }
            }
            ToolKind::Hosted(_) => {}
        }
    }

    fn function(&mut self, writer: &mut Writer, spaced: Spaced<'_>, function: &FunctionTool<'_>) {
        let tool = spaced.tool;
        let FunctionTool { name, description, parameters, strict, output_schema } = function;
        let extras = tool.semantics().extras().filter(|_| self.is_same());
        let mut object = Object::open(writer, extras.map(|extras| (extras, "")));
        object.field("name", &self.known_name(name, (tool, Field::ToolName)));
        object.optional("description", spaced.description(description.as_ref()).as_ref());
        let keys = [("parameters", "parametersJsonSchema"), ("response", "responseJsonSchema")];
        let schemas = [
            (PARAMETERS_JSON_SCHEMA, Field::ToolParameters, parameters),
            (RESPONSE_JSON_SCHEMA, Field::ToolOutputSchema, output_schema),
        ];
        for ((key, key_of_json_schema), (shape, field, schema)) in keys.into_iter().zip(schemas) {
            // The key names the schema language: its own, or the one that the model takes.
            let is_json_schema = match self.is_same() {
                true => tool.semantics().has_shape(shape),
                false => self.language() == SchemaLanguage::GeminiJsonSchema,
            };
            let schema = schema.as_ref().and_then(|schema| self.schema(tool, field, schema));
            object.optional(if is_json_schema { key_of_json_schema } else { key }, schema.as_ref());
        }
        object.close();
        if *strict == Some(true) {
            self.reporter.approximated((tool, Field::ToolStrict), "arguments are not checked");
        }
    }

    fn custom(&mut self, writer: &mut Writer, spaced: Spaced<'_>, custom: &CustomTool<'_>) {
        let tool = spaced.tool;
        writer.begin_object();
        writer.field("name", &self.known_name(&custom.name, (tool, Field::ToolName)));
        writer.optional("description", spaced.description(custom.description.as_ref()).as_ref());
        match self.language() {
            SchemaLanguage::GeminiJsonSchema => {
                writer.field("parametersJsonSchema", &CUSTOM_PARAMETERS)
            }
            _ => writer.field("parameters", &CUSTOM_SCHEMA),
        }
        writer.end_object();
    }

    /// A tool's schema in the language that the model takes; none if it says that there is nothing to give.
    fn schema<'s>(
        &mut self,
        tool: &Tool<'_>,
        field: Field,
        schema: &'s Json<'_>,
    ) -> Option<Json<'s>> {
        let from = schema_language::of_parameters(self.reporter.source(), tool);
        let schema = self.translated((tool.semantics().place(), field), schema, from);
        let needless = self.language() == SchemaLanguage::GeminiSchema && is_empty(&schema);
        (self.is_same() || !needless).then_some(schema)
    }

    /// The schema of a field in the language that the model takes. A schema of this protocol is in one of its own.
    pub(super) fn translated<'s>(
        &mut self,
        (place, field): (Place, Field),
        schema: &'s Json<'_>,
        from: SchemaLanguage,
    ) -> Json<'s> {
        if self.is_same() {
            return schema.reborrow();
        }
        let schema = schema.reborrow();
        let translated = translate(&schema, from, self.language());
        let base = self.reporter.source().pointer(field, self.decoded.semantics().spelling());
        for SchemaLoss { pointer, kind, reason } in translated.losses {
            self.reporter.below(place, &format!("{base}{pointer}"), kind, reason);
            let (parent, keyword) = pointer.rsplit_once('/').unwrap_or(("", &pointer));
            if BECOME_OTHERS.contains(&keyword) {
                let reason = "replaced by keywords that the model supports";
                self.reporter.below(place, &format!("{base}{parent}"), LossKind::Renamed, reason);
            }
        }
        translated.json
    }

    /// The schema language that the model takes.
    pub(super) fn language(&self) -> SchemaLanguage {
        match self.target.family.gemini_schema {
            GeminiSchema::Either => SchemaLanguage::GeminiJsonSchema,
            GeminiSchema::SchemaOnly => SchemaLanguage::GeminiSchema,
        }
    }
}

/// Whether a schema describes an object without properties, which the older schema language refuses.
/// Fixture `request/tools/tools-without-parameters`.
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
