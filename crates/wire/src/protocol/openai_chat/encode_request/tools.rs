//! Writing tools and the choice among them.

use std::borrow::Cow;

use crate::conversation::{
    AllowedTool, CallForm, CustomFormat, CustomTool, FunctionTool, HostedService, NamespaceTool,
    Request, Tool, ToolChoice, ToolKind,
};
use crate::json::{Text, Writer};
use crate::place::Place;
use crate::protocol::calls::Calls;
use crate::protocol::choosing::Offer;
use crate::protocol::hosted::{Setting, Settings, write_location};
use crate::protocol::namespaces::Spaced;
use crate::protocol::object::Object;
use crate::protocol::openai_chat::encode_request::schema;
use crate::protocol::openai_chat::types::{Shape, request_shape};
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::Semantics;
use crate::protocol::tool_words::{form_word, mode_word};
use crate::protocol::{Field, namespaces, schema_language};
use crate::target::{ForcedToolChoice, Target};

const WEB_SEARCH: &str = "web_search_options";

/// Writes the choice of before there were tools.
fn write_function_choice(object: &mut Object<'_, '_>, choice: &ToolChoice<'_>) {
    match choice {
        ToolChoice::None => object.word("function_call", "none"),
        ToolChoice::Named { name, form: _ } => {
            object.key("function_call").object(|it| it.field("name", name));
        }
        ToolChoice::Auto
        | ToolChoice::Required
        | ToolChoice::Allowed { .. }
        | ToolChoice::Other { .. } => object.word("function_call", "auto"),
    }
}

/// The tools of a request, written for one target.
pub(super) struct Tools<'t, 'r> {
    /// The names that the server takes; this protocol's own stay as they are.
    pub(super) calls: &'t Calls<'t>,
    pub(super) target: &'t Target,
    pub(super) reporter: &'t mut Reporter<'r>,
    /// What this protocol's own request meant besides.
    pub(super) own: Option<&'t Semantics<'t>>,
}

impl Tools<'_, '_> {
    /// Writes the tools and the choice among them; true if there may be some that the client runs.
    pub(super) fn write(mut self, object: &mut Object<'_, '_>, request: &Request<'_>) -> bool {
        let mut flat = Vec::with_capacity(request.tools.len());
        request.tools.iter().for_each(|tool| self.flatten(tool, None, &mut flat));
        let has_tools = !flat.is_empty() && self.takes_tools(&flat);
        if has_tools {
            let is_legacy = self.is_shaped(request_shape::FUNCTIONS);
            object.key(if is_legacy { "functions" } else { "tools" }).array(|writer| {
                flat.iter().for_each(|tool| self.write_tool(writer, *tool));
            });
        }
        self.write_search(object, request);
        let is_own = self.own.is_some();
        let choice = match is_own {
            true => request.tool_choice.as_ref().map(Cow::Borrowed),
            // Web search is an option of the request and cannot be chosen.
            false if has_tools => Offer::of(request, |_| false).choice(request, self.reporter),
            false => Offer::default().choice(request, self.reporter),
        };
        if let Some(choice) = choice {
            self.write_choice(object, &choice);
        }
        let field = Field::ParallelToolCalls;
        match &request.parallel_tool_calls {
            Some(_) if !is_own && !has_tools => {
                self.reporter.implied(field, "there is no tool to call");
            }
            Some(_) if !is_own && !self.target.dialect.parallel_tool_calls => {
                self.reporter.dropped(field, "the server does not take it");
            }
            parallel => object.optional("parallel_tool_calls", parallel.as_ref()),
        }
        is_own || has_tools
    }

    fn is_shaped(&self, shape: Shape) -> bool {
        self.own.is_some_and(|own| own.has_shape(shape))
    }

    fn takes_tools(&mut self, tools: &[Spaced<'_>]) -> bool {
        let takes = self.target.family.tools && self.target.dialect.tools || self.own.is_some();
        if !takes {
            for Spaced { tool, namespace: _ } in tools {
                self.reporter.dropped(tool, "the server takes no tools");
            }
        }
        takes
    }

    /// The tools that the client runs, out of their namespaces, and those of this protocol's own servers.
    fn flatten<'r>(
        &mut self,
        tool: &'r Tool<'r>,
        namespace: Option<&'r NamespaceTool<'r>>,
        flat: &mut Vec<Spaced<'r>>,
    ) {
        match &tool.kind {
            ToolKind::Hosted(hosted) if self.own.is_none() || hosted.kind == WEB_SEARCH => {}
            ToolKind::Function(_) | ToolKind::Custom(_) | ToolKind::Hosted(_) => {
                flat.push(Spaced { tool, namespace });
            }
            ToolKind::Namespace(inner) => {
                self.reporter.renamed(tool, "Chat has no namespaces of tools");
                namespaces::report_description(self.reporter, (tool, inner));
                inner.tools.iter().for_each(|tool| self.flatten(tool, Some(inner), flat));
            }
        }
    }

    fn write_tool(&mut self, writer: &mut Writer, spaced: Spaced<'_>) {
        let semantics = spaced.tool.semantics();
        let kind = match &spaced.tool.kind {
            ToolKind::Function(_) if self.is_shaped(request_shape::FUNCTIONS) => {
                return self.write_payload(writer, spaced, "");
            }
            ToolKind::Function(_) => "function",
            ToolKind::Custom(_) => "custom",
            ToolKind::Hosted(hosted) => return writer.value(&hosted.json),
            ToolKind::Namespace(_) => return,
        };
        let mut object = Object::open(writer, self.reporter.own_extras(semantics, ""));
        object.word("type", kind);
        self.write_payload(object.key(kind), spaced, kind);
        object.close();
    }

    /// Writes what a tool is, without its type; `scope` is where in the tool it stands.
    fn write_payload(&mut self, writer: &mut Writer, spaced: Spaced<'_>, scope: &'static str) {
        let (tool, semantics) = (spaced.tool, spaced.tool.semantics());
        let place = semantics.place();
        let mut object = Object::open(writer, self.reporter.own_extras(semantics, scope));
        match &tool.kind {
            ToolKind::Function(it) => {
                let FunctionTool { name, description, parameters, strict, output_schema: _ } = it;
                let strict = self.strict(*strict, place);
                let parameters = parameters.as_ref().map(|it| {
                    let language = schema_language::of_parameters(self.reporter.source(), tool);
                    let at = (place, Field::ToolParameters);
                    let fitted = schema::translated((it, language, strict), at, self.reporter);
                    schema_language::completed_parameters(self.reporter, fitted, strict, place)
                });
                object.field("name", &self.name(name, place));
                object.optional("description", spaced.description(description.as_ref()).as_ref());
                object.optional("parameters", parameters.as_ref());
                object.optional("strict", strict.as_ref());
            }
            ToolKind::Custom(CustomTool { name, description, format }) => {
                object.field("name", &self.name(name, place));
                object.optional("description", spaced.description(description.as_ref()).as_ref());
                format.iter().for_each(|format| write_format(object.key("format"), format));
            }
            ToolKind::Hosted(_) | ToolKind::Namespace(_) => {}
        }
        object.close();
    }

    fn strict(&mut self, strict: Option<bool>, place: Place) -> Option<bool> {
        let takes_strict = self.target.dialect.strict_tools || self.own.is_some();
        if strict == Some(true) && !takes_strict {
            self.reporter.dropped((place, Field::ToolStrict), "the server has no strict tools");
            return None;
        }
        if strict.is_none() && self.reporter.source().conventions().strict_by_default {
            let reason = "Chat enforces schemas only for tools marked strict";
            self.reporter.synthesised((place, Field::ToolStrict), reason);
        }
        strict
    }

    fn name<'n>(&'n mut self, name: &'n Text<'_>, place: Place) -> Text<'n> {
        if self.calls.renames(name) {
            let reason = "the server does not take such names of tools";
            self.reporter.renamed((place, Field::ToolName), reason);
        }
        self.calls.name(name)
    }

    /// Writes `web_search_options` for a hosted web search, and reports the other hosted tools.
    fn write_search(&mut self, object: &mut Object<'_, '_>, request: &Request<'_>) {
        if !request.tools.iter().any(|tool| matches!(tool.kind, ToolKind::Hosted(_))) {
            return;
        }
        let searches = request.model.as_ref().is_some_and(|it| it.to_str().contains("search"));
        let mut possible = searches || self.target.family.name == "unknown";
        for tool in &request.tools {
            let ToolKind::Hosted(hosted) = &tool.kind else { continue };
            let place = tool.semantics().place();
            if self.own.is_some() {
                if hosted.kind == WEB_SEARCH {
                    object.field(WEB_SEARCH, &hosted.json);
                }
                continue;
            }
            if hosted.service != HostedService::WebSearch || !possible {
                self.reporter.dropped(place, "the server has no such tool");
                continue;
            }
            possible = false;
            let mut settings = Settings::of(hosted);
            write_search_options(object.key(WEB_SEARCH), &mut settings);
            settings.report_rest(place, self.reporter);
        }
    }

    fn write_choice(&mut self, object: &mut Object<'_, '_>, choice: &ToolChoice<'_>) {
        if self.is_shaped(request_shape::FUNCTION_CALL) {
            return write_function_choice(object, choice);
        }
        let forced = matches!(choice, ToolChoice::Required | ToolChoice::Named { .. });
        let never = self.target.family.forced_tool_choice == ForcedToolChoice::Never;
        if forced && never && self.own.is_none() {
            object.word("tool_choice", "auto");
            let reason = "the model cannot be made to call a tool";
            return self.reporter.approximated(Field::ToolChoice, reason);
        }
        match choice {
            ToolChoice::Auto => object.word("tool_choice", "auto"),
            ToolChoice::None => object.word("tool_choice", "none"),
            ToolChoice::Required => {
                object.field("tool_choice", self.target.dialect.forced_tool_choice);
            }
            ToolChoice::Named { name, form } => {
                self.write_named(object.key("tool_choice"), name, *form);
            }
            ToolChoice::Allowed { mode, tools } => {
                write_nested(object.key("tool_choice"), "allowed_tools", |it| {
                    it.word("mode", mode_word(*mode));
                    it.array_field("tools", |writer| {
                        tools.iter().for_each(|tool| self.write_allowed_tool(writer, tool));
                    });
                });
                if tools.iter().any(|tool| tool.name.is_none()) {
                    let reason = "hosted tools cannot be chosen";
                    self.reporter.approximated(Field::ToolChoice, reason);
                }
            }
            ToolChoice::Other { json, .. } if self.own.is_some() => {
                object.field("tool_choice", json);
            }
            ToolChoice::Other { .. } => {
                self.reporter.dropped(Field::ToolChoice, "Chat has no such choice");
            }
        }
    }

    fn write_allowed_tool(&self, writer: &mut Writer, tool: &AllowedTool<'_>) {
        let AllowedTool { name, json } = tool;
        match (name, json.as_ref().filter(|_| self.own.is_some())) {
            (_, Some(json)) => writer.value(json),
            (Some(name), None) => self.write_named(writer, name, CallForm::Function),
            (None, None) => {}
        }
    }

    fn write_named(&self, writer: &mut Writer, name: &Text<'_>, form: CallForm) {
        write_nested(writer, form_word(form), |it| it.field("name", &self.calls.name(name)));
    }
}

fn write_format(writer: &mut Writer, format: &CustomFormat<'_>) {
    match format {
        CustomFormat::Text => writer.object(|it| it.word("type", "text")),
        CustomFormat::Grammar { definition, syntax } => write_nested(writer, "grammar", |it| {
            it.field("definition", definition);
            it.field("syntax", syntax);
        }),
    }
}

/// Writes an object whose members stand under the name of its type.
fn write_nested(writer: &mut Writer, kind: &'static str, members: impl FnOnce(&mut Writer)) {
    writer.object(|it| {
        it.word("type", kind);
        it.object_field(kind, members);
    });
}

/// Writes what another protocol's web search has in common with this one's.
fn write_search_options(writer: &mut Writer, settings: &mut Settings<'_>) {
    let size = settings.take(Setting::ContextSize);
    let location = settings.take(Setting::UserLocation);
    writer.object(|it| {
        it.optional("search_context_size", size.as_ref());
        if let Some(location) = &location {
            it.object_field("user_location", |it| {
                it.word("type", "approximate");
                it.object_field("approximate", |it| write_location(it, location));
            });
        }
    });
}
