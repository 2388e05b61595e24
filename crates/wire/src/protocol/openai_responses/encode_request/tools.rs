//! Writing tools and the choice among them.

use crate::conversation::{
    AllowedMode, AllowedTool, CallForm, CustomFormat, CustomTool, FunctionTool, HostedService,
    HostedTool, NamespaceTool, Tool, ToolChoice, ToolKind,
};
use crate::json::{Json, Text, Writer};
use crate::place::Place;
use crate::protocol::calls::Calls;
use crate::protocol::hosted::{Setting, Settings, write_location};
use crate::protocol::object::Object;
use crate::protocol::openai_responses::types::{SELF, unqualified};
use crate::protocol::reporter::Reporter;
use crate::protocol::schema_language::{completed_parameters, fitted};
use crate::protocol::tool_words::{form_of, form_word, mode_word};
use crate::protocol::{Field, schema_language};

/// Writes the tools of a request, and knows the names that the target takes.
pub(super) struct Tools<'t, 'r> {
    pub(super) reporter: &'t mut Reporter<'r>,
    pub(super) calls: &'t Calls<'t>,
    /// The namespace that the tools stand in.
    pub(super) namespace: Option<&'t str>,
}

impl Tools<'_, '_> {
    /// Writes the elements of a list of tools.
    pub(super) fn list(&mut self, writer: &mut Writer, tools: &[Tool<'_>]) {
        for tool in tools {
            match &tool.kind {
                ToolKind::Function(function) => self.function(writer, tool, function),
                ToolKind::Custom(custom) => self.custom(writer, tool, custom),
                ToolKind::Hosted(hosted) => self.hosted(writer, hosted, tool.semantics().place()),
                ToolKind::Namespace(space) => self.namespace(writer, tool, space),
            }
        }
    }

    /// The name that the target takes, reported if it is not the client's own.
    fn name<'n>(&'n mut self, name: &'n Text<'_>, place: Place) -> Text<'n> {
        if let Some(namespace) = self.namespace {
            return unqualified(namespace, name);
        }
        let taken = self.calls.name(name);
        if taken != *name {
            let reason = "the name has characters that the target refuses";
            self.reporter.renamed((place, Field::ToolName), reason);
        }
        taken
    }

    fn function(&mut self, writer: &mut Writer, tool: &Tool<'_>, function: &FunctionTool<'_>) {
        let FunctionTool { name, description, parameters, strict, output_schema } = function;
        let (same, source) = (self.reporter.is_same(), self.reporter.source());
        let place = tool.semantics().place();
        let mut object = Object::open(writer, self.reporter.own_extras(tool.semantics(), ""));
        object.word("type", "function");
        object.field("name", &self.name(name, place));
        object.optional("description", description.as_ref());
        match parameters {
            Some(schema) => {
                let schema = (schema, schema_language::of_parameters(source, tool), *strict);
                let at = (place, Field::ToolParameters);
                let fitted = fitted(self.reporter, schema, at, |pointer| pointer);
                let parameters = completed_parameters(self.reporter, fitted, *strict, place);
                object.field("parameters", &parameters);
            }
            // The field must be there, and null says that the tool takes nothing.
            // Fixture `request/tools/tools-without-parameters`.
            None => object.key("parameters").null(),
        }
        match strict {
            Some(strict) => object.field("strict", strict),
            // Left out, it means "strict if possible", which no other protocol means by leaving it out.
            None if !same => object.field("strict", &false),
            None => {}
        }
        if let Some(schema) = output_schema {
            let schema = (schema, schema_language::of_results(source, tool), None);
            let at = (place, Field::ToolOutputSchema);
            object.field("output_schema", &fitted(self.reporter, schema, at, |pointer| pointer));
        }
        object.close();
    }

    fn custom(&mut self, writer: &mut Writer, tool: &Tool<'_>, custom: &CustomTool<'_>) {
        let CustomTool { name, description, format } = custom;
        let semantics = tool.semantics();
        let mut object = Object::open(writer, self.reporter.own_extras(semantics, ""));
        object.word("type", "custom");
        object.field("name", &self.name(name, semantics.place()));
        object.optional("description", description.as_ref());
        if let Some(format) = format {
            let extras = self.reporter.own_extras(semantics, "format");
            let mut inner = Object::open(object.key("format"), extras);
            match format {
                CustomFormat::Text => inner.word("type", "text"),
                CustomFormat::Grammar { definition, syntax } => {
                    inner.word("type", "grammar");
                    inner.field("definition", definition);
                    inner.field("syntax", syntax);
                }
            }
            inner.close();
        }
        object.close();
    }

    fn hosted(&mut self, writer: &mut Writer, tool: &HostedTool<'_>, place: Place) {
        let HostedTool { protocol, service, kind: _, json } = tool;
        if *protocol == SELF {
            return writer.value(json);
        }
        let mut settings = Settings::of(tool);
        match service {
            HostedService::WebSearch => write_search(writer, &mut settings),
            HostedService::CodeExecution => writer.value(&Json::literal(
                r#"{"type":"code_interpreter","container":{"type":"auto"}}"#,
            )),
            HostedService::WebFetch | HostedService::Other => {
                return self.reporter.dropped(place, "Responses has no such hosted tool");
            }
        }
        settings.report_rest(place, self.reporter);
    }

    fn namespace(&mut self, writer: &mut Writer, tool: &Tool<'_>, space: &NamespaceTool<'_>) {
        let NamespaceTool { name, description, tools } = space;
        let mut object = Object::open(writer, self.reporter.own_extras(tool.semantics(), ""));
        object.word("type", "namespace");
        object.field("name", name);
        object.optional("description", description.as_ref());
        let (reporter, calls, namespace) = (&mut *self.reporter, self.calls, name.to_str());
        let mut inside = Tools { reporter, calls, namespace: Some(&namespace) };
        object.key("tools").array(|writer| inside.list(writer, tools));
        object.close();
    }

    /// Writes the choice, unless it is none that this protocol has.
    pub(super) fn choice(&mut self, object: &mut Object<'_, '_>, choice: &ToolChoice<'_>) {
        match choice {
            ToolChoice::Auto => object.word("tool_choice", "auto"),
            ToolChoice::None => object.word("tool_choice", "none"),
            ToolChoice::Required => object.word("tool_choice", "required"),
            ToolChoice::Named { name, form } => {
                write_named(object.key("tool_choice"), &self.calls.name(name), *form);
            }
            ToolChoice::Allowed { mode, tools } => {
                object.key("tool_choice").object(|writer| self.allowed(writer, *mode, tools));
            }
            ToolChoice::Other { protocol, json } if *protocol == SELF => {
                object.field("tool_choice", json);
            }
            ToolChoice::Other { .. } => {
                let reason = "the choice of a hosted tool stays with its vendor";
                self.reporter.dropped(Field::ToolChoice, reason);
            }
        }
    }

    fn allowed(&mut self, writer: &mut Writer, mode: AllowedMode, tools: &[AllowedTool<'_>]) {
        writer.word("type", "allowed_tools");
        writer.word("mode", mode_word(mode));
        writer.array_field("tools", |writer| {
            for AllowedTool { name, json } in tools {
                match (name, json) {
                    (_, Some(json)) if self.reporter.is_same() => writer.value(json),
                    (Some(name), json) => {
                        let form = allowed_form(json.as_ref());
                        write_named(writer, &self.calls.name(name), form);
                    }
                    (None, _) => {
                        let reason = "the choice names a tool of another vendor";
                        self.reporter.dropped(Field::ToolChoice, reason);
                    }
                }
            }
        });
    }
}

/// Whether the vendor hosts a tool of that sort.
pub(super) fn hosts(tool: &HostedTool<'_>) -> bool {
    match tool.service {
        HostedService::WebSearch | HostedService::CodeExecution => true,
        HostedService::WebFetch | HostedService::Other => tool.protocol == SELF,
    }
}

fn write_search(writer: &mut Writer, settings: &mut Settings<'_>) {
    let domains = settings.take(Setting::AllowedDomains);
    let size = settings.take(Setting::ContextSize);
    let location = settings.take(Setting::UserLocation);
    writer.object(|writer| {
        writer.word("type", "web_search");
        if let Some(domains) = &domains {
            writer.object_field("filters", |writer| writer.field("allowed_domains", domains));
        }
        writer.optional("search_context_size", size.as_ref());
        if let Some(location) = &location {
            writer.object_field("user_location", |writer| {
                writer.word("type", "approximate");
                write_location(writer, location);
            });
        }
    });
}

fn allowed_form(json: Option<&Json<'_>>) -> CallForm {
    let form = |json: &Json<'_>| form_of(&json.reader().peek_tag("type").ok()??.to_str());
    json.and_then(form).unwrap_or_default()
}

fn write_named(writer: &mut Writer, name: &Text<'_>, form: CallForm) {
    writer.object(|writer| {
        writer.word("type", form_word(form));
        writer.field("name", name);
    });
}
