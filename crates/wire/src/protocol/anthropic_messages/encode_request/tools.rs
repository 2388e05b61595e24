//! Writing tools, and how the model may choose among them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::caching::write_marker;
use super::{Encoding, schemas};
use crate::conversation::{
    AllowedMode, CustomFormat, CustomTool, FunctionTool, HostedService, HostedTool, Tool,
    ToolChoice, ToolKind,
};
use crate::json::{Json, Text, Writer};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::anthropic_messages::types::SELF;
use crate::protocol::calls::calls;
use crate::protocol::choosing::Offer;
use crate::protocol::hosted::{Setting, Settings, write_location};
use crate::protocol::namespaces::Spaced;
use crate::protocol::object::{IsWritten, Object};
use crate::protocol::{Field, namespaces, schema_language};
use crate::schema::SchemaLanguage;
use crate::target::ForcedToolChoice;

/// The arguments of a tool that takes free text.
const CUSTOM_SCHEMA: Json<'static> = Json::literal(
    r#"{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}"#,
);

/// The arguments of a tool of which nothing is known but its name.
const ANY_SCHEMA: Json<'static> = Json::literal(r#"{"type":"object"}"#);

fn write_plain(
    writer: &mut Writer,
    name: &Text<'_>,
    description: Option<&Text<'_>>,
    schema: &Json<'_>,
) {
    writer.object(|object| {
        object.field("name", name);
        object.optional("description", description);
        object.field("input_schema", schema);
    });
}

impl<'r> Encoding<'r, '_> {
    /// Writes the tools that the choice allows, or stand-ins for those that the history has called.
    pub(super) fn write_tools(&mut self, body: &mut Object<'_, '_>) {
        let request = self.request;
        let list = body.list_unless_empty("tools", |list| {
            for (index, tool) in request.tools.iter().enumerate() {
                self.is_last_tool = index + 1 == request.tools.len();
                self.write_tool(list, Spaced { tool, namespace: None });
            }
        });
        self.has_tools = list == IsWritten::Yes;
        if !self.has_tools && !self.is_own() && calls(request).next().is_some() {
            self.write_stand_ins(body);
        }
    }

    fn write_tool(&mut self, list: &mut Writer, spaced: Spaced<'r>) {
        let tool = spaced.tool;
        match &tool.kind {
            ToolKind::Function(function) => {
                if let Some(name) = self.tool_name(spaced, &function.name) {
                    self.write_function(list, spaced, function, &name);
                }
            }
            ToolKind::Custom(custom) => {
                if let Some(name) = self.tool_name(spaced, &custom.name) {
                    self.write_custom(list, spaced, custom, &name);
                }
            }
            ToolKind::Hosted(hosted) => {
                self.write_hosted(list, tool.semantics().place(), hosted);
            }
            ToolKind::Namespace(inner) => {
                self.reporter.renamed(tool, "namespaces are flattened");
                namespaces::report_description(&mut self.reporter, (tool, inner));
                for tool in &inner.tools {
                    self.write_tool(list, Spaced { tool, namespace: Some(inner) });
                }
            }
        }
    }

    /// The name under which a tool is declared; a namespace tells apart what would be the same. None if the choice does not
    /// allow the tool, which is not declared then.
    fn tool_name(&mut self, spaced: Spaced<'r>, own: &'r Text<'r>) -> Option<Cow<'r, str>> {
        let Spaced { tool, namespace } = spaced;
        if self.allowed.as_ref().is_some_and(|names| !names.contains(own)) {
            self.reporter.approximated(tool, "only the allowed tools are declared");
            return None;
        }
        let mut name = self.calls.name(own).into_str();
        if let (Some(namespace), true) = (namespace, self.used_names.contains(&name)) {
            name = format!("{}_{name}", namespace.name.to_str()).into();
        }
        if *own != *name {
            self.reporter.renamed((tool, Field::ToolName), ALIAS);
        }
        self.used_names.insert(name.clone());
        Some(name)
    }

    fn write_function(
        &mut self,
        list: &mut Writer,
        spaced: Spaced<'_>,
        function: &FunctionTool<'_>,
        name: &str,
    ) {
        let semantics = spaced.tool.semantics();
        let is_strict = function.strict == Some(true);
        let (schema, is_strict, extras, cache) = match self.own {
            Some(_) => {
                let (extras, cache) = (semantics.extras(), semantics.cache());
                (function.parameters.clone(), is_strict, extras, cache)
            }
            None => {
                let is_strict = is_strict && self.target.family.schema_output;
                (Some(self.schema(spaced.tool, function, is_strict)), is_strict, None, None)
            }
        };
        let mut object = Object::open(list, extras.map(|extras| (extras, "")));
        object.field("name", name);
        let description = spaced.description(function.description.as_ref());
        object.optional("description", description.as_ref());
        object.optional("input_schema", schema.as_ref());
        object.optional("strict", is_strict.then_some(&true));
        object.optional("cache_control", cache.map(|marker| &marker.json));
        if self.caching.is_in_blocks() && self.is_last_tool && spaced.namespace.is_none() {
            write_marker(&mut object);
        }
        object.close();
    }

    /// The schema of a function as the target takes it, with what it loses reported.
    fn schema<'f>(
        &mut self,
        tool: &Tool<'_>,
        function: &FunctionTool<'f>,
        is_strict: bool,
    ) -> Json<'f> {
        let place = tool.semantics().place();
        if function.strict == Some(true) && !is_strict {
            self.reporter.dropped((place, Field::ToolStrict), "the model has no strict tools");
        }
        if function.strict.is_none() && self.reporter.source().conventions().strict_by_default {
            let reason = "Messages enforces schemas only for tools marked strict";
            self.reporter.synthesised((place, Field::ToolStrict), reason);
        }
        let Some(parameters) = &function.parameters else {
            self.reporter.synthesised((place, Field::ToolParameters), "a schema is required");
            return schemas::NO_ARGUMENTS;
        };
        let language = schema_language::of_parameters(self.reporter.source(), tool);
        let at = schemas::At { place, field: Field::ToolParameters, language };
        let to =
            if is_strict { SchemaLanguage::AnthropicStrict } else { SchemaLanguage::JsonSchema };
        let schema = schemas::translate(parameters, to, at, &mut self.reporter);
        schemas::with_object_root(schema, at, &mut self.reporter)
    }

    fn write_custom(
        &mut self,
        list: &mut Writer,
        spaced: Spaced<'_>,
        custom: &CustomTool<'_>,
        name: &str,
    ) {
        let reason = "free text is sent as the only argument of a function";
        self.reporter.approximated(spaced.tool, reason);
        let mut description = spaced.description(custom.description.as_ref());
        if let Some(CustomFormat::Grammar { definition, syntax }) = &custom.format {
            let grammar = format!(
                "\n\nThe input must match this {} grammar:\n{}",
                syntax.to_str(),
                definition.to_str()
            );
            description.get_or_insert_default().push(&Text::plain(grammar));
        }
        write_plain(list, &Text::plain(name), description.as_ref(), &CUSTOM_SCHEMA);
    }

    fn write_hosted(&mut self, list: &mut Writer, place: Place, hosted: &HostedTool<'_>) {
        let (kind, name) = match hosted.service {
            _ if hosted.protocol == SELF => return list.value(&hosted.json),
            HostedService::WebSearch => ("web_search_20250305", "web_search"),
            HostedService::WebFetch => ("web_fetch_20250910", "web_fetch"),
            HostedService::CodeExecution => ("code_execution_20250825", "code_execution"),
            HostedService::Other => {
                return self.reporter.dropped(place, "the vendor hosts no such tool");
            }
        };
        if !self.used_names.insert(name.into()) {
            return self.reporter.implied(place, "two tools of one vendor are one of the other's");
        }
        let mut settings = Settings::of(hosted);
        list.object(|object| {
            object.field("type", kind);
            object.field("name", name);
            if hosted.service == HostedService::WebSearch {
                write_search(object, &mut settings);
            }
        });
        settings.report_rest(place, &mut self.reporter);
    }

    /// Declares the tools that the history has called, since blocks of undeclared tools are refused.
    /// Fixture `request/tools/history-with-calls-but-no-tools`.
    fn write_stand_ins(&mut self, body: &mut Object<'_, '_>) {
        let reason = "tools that the history has called must be declared";
        self.reporter.synthesised(Field::ToolsStatedEmpty, reason);
        let reason = "a tool that is declared only for the history cannot be called";
        let kind = match self.request.tool_choice {
            None => LossKind::Synthesised,
            Some(_) => LossKind::Renamed,
        };
        self.reporter.lose(Field::ToolChoice, kind, reason);
        let mut seen = BTreeSet::new();
        body.key("tools").array(|list| {
            for name in calls(self.request).map(|call| self.calls.name(&call.name)) {
                if seen.insert(name.to_str().into_owned()) {
                    write_plain(list, &name, None, &ANY_SCHEMA);
                }
            }
        });
        body.key("tool_choice").object(|choice| choice.word("type", "none"));
    }

    /// Writes how the model may choose, as far as there is something to choose from.
    /// Fixture `request/tools/no-parallel-calls-needs-a-choice-object`.
    pub(super) fn write_tool_choice(&mut self, body: &mut Object<'_, '_>) {
        let request = self.request;
        if !self.has_tools && !self.is_own() {
            // A choice among nothing is none, which is reported.
            Offer::default().choice(request, &mut self.reporter);
            return self.report_parallel();
        }
        let is_serial = request.parallel_tool_calls == Some(false);
        if let Some(ToolChoice::Other { protocol: SELF, json }) = &request.tool_choice
            && self.is_own()
        {
            return body.field("tool_choice", json);
        }
        let (kind, name) = match self.choice() {
            Some(choice) => choice,
            None if is_serial => ("auto", None),
            None => return,
        };
        let takes_serial = self.is_own() || kind != "none";
        if !takes_serial {
            self.report_parallel();
        }
        let mut object = Object::open(body.key("tool_choice"), self.extras("tool_choice"));
        object.word("type", kind);
        object.optional("name", name.as_ref());
        object.optional("disable_parallel_tool_use", (is_serial && takes_serial).then_some(&true));
        object.close();
    }

    /// Reports how many calls may come at once where none can come.
    fn report_parallel(&mut self) {
        if self.request.parallel_tool_calls.is_some() {
            self.reporter.implied(Field::ParallelToolCalls, "there is no tool to call");
        }
    }

    /// The type of the choice that can be written and the tool that it names, with what it weakens reported.
    fn choice(&mut self) -> Option<(&'static str, Option<Text<'r>>)> {
        let (kind, name) = match self.request.tool_choice.as_ref()? {
            ToolChoice::Auto => ("auto", None),
            ToolChoice::None => ("none", None),
            ToolChoice::Required => ("any", None),
            ToolChoice::Named { name, form: _ } => {
                // What is declared is what is offered, so that only a name can be missing.
                if !self.is_own() {
                    Offer::of(self.request, |_| true).choice(self.request, &mut self.reporter)?;
                }
                ("tool", Some(self.calls.name(name)))
            }
            ToolChoice::Allowed { mode, tools: _ } => {
                let reason = "only the allowed tools are declared";
                self.reporter.approximated(Field::ToolChoice, reason);
                match mode {
                    AllowedMode::Auto => ("auto", None),
                    AllowedMode::Required => ("any", None),
                }
            }
            ToolChoice::Other { .. } => {
                self.reporter.dropped(Field::ToolChoice, "a choice that only its own protocol has");
                return None;
            }
        };
        if matches!(kind, "auto" | "none") || !self.refuses_force() {
            return Some((kind, name));
        }
        let reason = "the model cannot be made to call a tool while it thinks";
        self.reporter.approximated(Field::ToolChoice, reason);
        Some(("auto", None))
    }

    /// Models that think do not let themselves be forced. Fixture `request/thinking/forced-tool-with-thinking`.
    fn refuses_force(&self) -> bool {
        let refuses = match self.target.family.forced_tool_choice {
            ForcedToolChoice::Always => false,
            ForcedToolChoice::WithoutThinking => self.plan.thought.is_on(),
            ForcedToolChoice::Never => true,
        };
        refuses && !self.is_own()
    }
}

/// Writes what another vendor's web search has in common with this one. The domains are those that are allowed or those
/// that are not, never both. Fixture `request/hosted/settings-of-hosted-web-search`.
fn write_search(object: &mut Writer, settings: &mut Settings<'_>) {
    match settings.take(Setting::AllowedDomains) {
        Some(domains) => object.field("allowed_domains", &domains),
        None => object.optional("blocked_domains", settings.take(Setting::BlockedDomains).as_ref()),
    }
    object.optional("max_uses", settings.take(Setting::MaxUses).as_ref());
    if let Some(location) = settings.take(Setting::UserLocation) {
        object.object_field("user_location", |object| {
            object.word("type", "approximate");
            write_location(object, &location);
        });
    }
}

/// Why a name is spelled otherwise.
pub(super) const ALIAS: &str = "a name or an id of another alphabet or length";
