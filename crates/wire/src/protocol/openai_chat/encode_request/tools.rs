//! Writing tools and the choice among them.

use crate::conversation::AllowedMode;
use crate::conversation::AllowedTool;
use crate::conversation::CallForm;
use crate::conversation::CustomFormat;
use crate::conversation::CustomTool;
use crate::conversation::FunctionTool;
use crate::conversation::HostedService;
use crate::conversation::NamespaceTool;
use crate::conversation::Request;
use crate::conversation::Tool;
use crate::conversation::ToolChoice;
use crate::conversation::ToolKind;
use crate::json::Text;
use crate::json::Writer;
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::Field;
use crate::protocol::calls::Calls;
use crate::protocol::choosing::Offer;
use crate::protocol::dialect;
use crate::protocol::hosted::Setting;
use crate::protocol::hosted::Settings;
use crate::protocol::hosted::write_location;
use crate::protocol::losing::Losing;
use crate::protocol::namespaces;
use crate::protocol::namespaces::Spaced;
use crate::protocol::object::Object;
use crate::protocol::openai_chat::encode_request::schema;
use crate::protocol::openai_chat::types::request_shape;
use crate::protocol::openai_chat::types::shape;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::semantics::Semantics;
use crate::target::ForcedToolChoice;
use crate::target::Target;

const WEB_SEARCH: &str = "web_search_options";

/// Writes the tools of this protocol's own request.
pub(super) fn write_same(
    object: &mut Object<'_, '_>,
    request: &Request<'_>,
    semantics: &Semantics<'_>,
) {
    let (search, tools): (Vec<&Tool<'_>>, Vec<&Tool<'_>>) =
        request.tools.iter().partition(|tool| is_search_option(tool));
    let legacy = semantics.has_shape(request_shape::FUNCTIONS);
    if !tools.is_empty() || semantics.tools_stated_empty() {
        object.key(if legacy { "functions" } else { "tools" }).array(|writer| {
            for tool in tools {
                match (&tool.kind, legacy) {
                    (ToolKind::Function(function), true) => {
                        write_function(writer, function, &function.name, (tool.semantics(), ""));
                    }
                    _ => write_same_tool(writer, tool),
                }
            }
        });
    }
    for tool in search {
        if let ToolKind::Hosted(hosted) = &tool.kind {
            object.field(WEB_SEARCH, &hosted.json);
        }
    }
    write_same_choice(object, request, semantics);
    object.optional("parallel_tool_calls", request.parallel_tool_calls.as_ref());
}

fn is_search_option(tool: &Tool<'_>) -> bool {
    matches!(&tool.kind, ToolKind::Hosted(hosted) if hosted.kind == WEB_SEARCH)
}

fn write_same_tool(writer: &mut Writer, tool: &Tool<'_>) {
    let semantics = tool.semantics();
    let extras = semantics.extras().map(|extras| (extras, ""));
    match &tool.kind {
        ToolKind::Function(function) => {
            let mut object = Object::open(writer, extras);
            if !semantics.has_shape(shape::OWN_WORD) {
                object.word("type", "function");
            }
            let inner = (semantics, "function");
            write_function(object.key("function"), function, &function.name, inner);
            object.close();
        }
        ToolKind::Custom(custom) => {
            let mut object = Object::open(writer, extras);
            object.word("type", "custom");
            write_custom(object.key("custom"), custom, &custom.name, semantics);
            object.close();
        }
        ToolKind::Hosted(hosted) => writer.value(&hosted.json),
        ToolKind::Namespace(namespace) => {
            namespace.tools.iter().for_each(|tool| write_same_tool(writer, tool));
        }
    }
}

fn write_function(
    writer: &mut Writer,
    function: &FunctionTool<'_>,
    name: &Text<'_>,
    (semantics, scope): (&NodeSemantics<'_>, &'static str),
) {
    let FunctionTool { name: _, description, parameters, strict, output_schema: _ } = function;
    let mut object = Object::open(writer, semantics.extras().map(|extras| (extras, scope)));
    object.field("name", name);
    object.optional("description", description.as_ref());
    object.optional("parameters", parameters.as_ref());
    object.optional("strict", strict.as_ref());
    object.close();
}

fn write_custom(
    writer: &mut Writer,
    custom: &CustomTool<'_>,
    name: &Text<'_>,
    semantics: &NodeSemantics<'_>,
) {
    let CustomTool { name: _, description, format } = custom;
    let mut object = Object::open(writer, semantics.extras().map(|extras| (extras, "custom")));
    object.field("name", name);
    object.optional("description", description.as_ref());
    match format {
        None => {}
        Some(CustomFormat::Text) => object.key("format").object(|it| it.word("type", "text")),
        Some(CustomFormat::Grammar { definition, syntax }) => object.key("format").object(|it| {
            it.word("type", "grammar");
            it.key("grammar");
            it.object(|it| {
                it.field("definition", definition);
                it.field("syntax", syntax);
            });
        }),
    }
    object.close();
}

fn write_same_choice(
    object: &mut Object<'_, '_>,
    request: &Request<'_>,
    semantics: &Semantics<'_>,
) {
    let Some(choice) = &request.tool_choice else { return };
    let legacy = semantics.has_shape(request_shape::FUNCTION_CALL);
    if legacy {
        return match choice {
            ToolChoice::None => object.word("function_call", "none"),
            ToolChoice::Named { name, form: _ } => {
                object.key("function_call").object(|it| it.field("name", name));
            }
            ToolChoice::Auto
            | ToolChoice::Required
            | ToolChoice::Allowed { .. }
            | ToolChoice::Other { .. } => object.word("function_call", "auto"),
        };
    }
    let required = match semantics.has_shape(request_shape::CHOICE_ANY) {
        true => "any",
        false => "required",
    };
    let writer = object.key("tool_choice");
    match choice {
        ToolChoice::Auto => writer.value("auto"),
        ToolChoice::None => writer.value("none"),
        ToolChoice::Required => writer.value(required),
        ToolChoice::Named { name, form: _ }
            if semantics.has_shape(request_shape::CHOICE_UNTYPED) =>
        {
            writer.object(|it| {
                it.key("function");
                it.object(|it| it.field("name", name));
            });
        }
        ToolChoice::Named { name, form } => write_named(writer, name, *form),
        ToolChoice::Allowed { mode, tools } => write_allowed(writer, *mode, |writer| {
            for tool in tools {
                write_allowed_tool(writer, tool);
            }
        }),
        ToolChoice::Other { protocol: _, json } => writer.value(json),
    }
}

fn write_named(writer: &mut Writer, name: &Text<'_>, form: CallForm) {
    let kind = match form {
        CallForm::Function => "function",
        CallForm::Custom => "custom",
    };
    writer.object(|it| {
        it.field("type", kind);
        it.key(kind);
        it.object(|it| it.field("name", name));
    });
}

fn write_allowed(writer: &mut Writer, mode: AllowedMode, tools: impl FnOnce(&mut Writer)) {
    let mode = match mode {
        AllowedMode::Auto => "auto",
        AllowedMode::Required => "required",
    };
    writer.object(|it| {
        it.word("type", "allowed_tools");
        it.key("allowed_tools");
        it.object(|it| {
            it.field("mode", mode);
            it.key("tools");
            it.array(tools);
        });
    });
}

fn write_allowed_tool(writer: &mut Writer, tool: &AllowedTool<'_>) {
    match tool {
        AllowedTool { name: _, json: Some(json) } => writer.value(json),
        AllowedTool { name: Some(name), json: None } => {
            write_named(writer, name, CallForm::Function);
        }
        AllowedTool { name: None, json: None } => {}
    }
}

/// The tools of another protocol's request, written for one target.
pub(super) struct Tools<'t, 'r> {
    pub(super) calls: &'t Calls<'t>,
    pub(super) target: &'t Target,
    pub(super) losing: &'t mut Losing<'r>,
}

/// Whether a request ended up with tools that the client runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HasTools {
    Yes,
    No,
}

impl<'t> Tools<'t, '_> {
    pub(super) fn write(mut self, object: &mut Object<'_, '_>, request: &Request<'_>) -> HasTools {
        let mut flat = Vec::with_capacity(request.tools.len());
        request.tools.iter().for_each(|tool| self.flatten(tool, None, &mut flat));
        let has_tools = !flat.is_empty() && self.takes_tools(&flat);
        if has_tools {
            object.key("tools").array(|writer| {
                flat.iter().for_each(|tool| self.write_tool(writer, *tool));
            });
        }
        self.write_search(object, request);
        // Web search is an option of the request and cannot be chosen.
        let offer = match has_tools {
            true => Offer::of(request, |_| false),
            false => Offer::default(),
        };
        if let Some(choice) = offer.choice(request, self.losing) {
            self.write_choice(object, &choice);
        }
        if has_tools {
            self.write_parallel(object, request);
            return HasTools::Yes;
        }
        if request.parallel_tool_calls.is_some() {
            let (field, reason) = (Field::ParallelToolCalls, "there is no tool to call");
            self.losing.field(Place::default(), field, LossKind::Implied, reason);
        }
        HasTools::No
    }

    fn takes_tools(&mut self, tools: &[Spaced<'_>]) -> bool {
        let takes = self.target.family.tools && self.target.dialect.tools;
        if !takes {
            for Spaced { tool, namespace: _ } in tools {
                let place = tool.semantics().place();
                self.losing.node(place, LossKind::Dropped, "the server takes no tools");
            }
        }
        takes
    }

    /// The tools that the client runs, out of their namespaces.
    fn flatten<'r>(
        &mut self,
        tool: &'r Tool<'r>,
        namespace: Option<&'r NamespaceTool<'r>>,
        flat: &mut Vec<Spaced<'r>>,
    ) {
        match &tool.kind {
            ToolKind::Function(_) | ToolKind::Custom(_) => flat.push(Spaced { tool, namespace }),
            ToolKind::Hosted(_) => {}
            ToolKind::Namespace(inner) => {
                let place = tool.semantics().place();
                self.losing.node(place, LossKind::Renamed, "Chat has no namespaces of tools");
                namespaces::report_description(self.losing, (tool, inner));
                inner.tools.iter().for_each(|tool| self.flatten(tool, Some(inner), flat));
            }
        }
    }

    fn write_tool(&mut self, writer: &mut Writer, spaced: Spaced<'_>) {
        let tool = spaced.tool;
        let place = tool.semantics().place();
        let blank = NodeSemantics::default();
        match &tool.kind {
            ToolKind::Function(function) => {
                let name = self.name(&function.name, place);
                let strict = self.strict(function, place);
                let language = dialect::of_parameters(self.losing.source(), tool);
                let parameters = function.parameters.as_ref().map(|it| {
                    schema::translated_parameters((it, language), strict, place, self.losing)
                });
                let description = spaced.description(function.description.as_ref());
                let function = FunctionTool {
                    name: Text::default(),
                    description,
                    parameters,
                    strict,
                    output_schema: None,
                };
                writer.object(|it| {
                    it.word("type", "function");
                    it.key("function");
                    write_function(it, &function, &name, (&blank, ""));
                });
            }
            ToolKind::Custom(custom) => {
                let name = self.name(&custom.name, place);
                writer.object(|it| {
                    it.word("type", "custom");
                    it.key("custom");
                    let description = spaced.description(custom.description.as_ref());
                    let custom = CustomTool { description, ..custom.clone() };
                    write_custom(it, &custom, &name, &blank);
                });
            }
            ToolKind::Hosted(_) | ToolKind::Namespace(_) => {}
        }
    }

    fn strict(&mut self, function: &FunctionTool<'_>, place: Place) -> Option<bool> {
        if function.strict == Some(true) && !self.target.dialect.strict_tools {
            let reason = "the server does not hold models to schemas";
            self.losing.field(place, Field::ToolStrict, LossKind::Dropped, reason);
            return None;
        }
        if function.strict.is_none() && self.losing.source().conventions().strict_by_default {
            let reason = "Chat holds models to schemas only where a tool says so";
            self.losing.field(place, Field::ToolStrict, LossKind::Synthesised, reason);
        }
        function.strict
    }

    fn name<'n>(&mut self, name: &'n Text<'_>, place: Place) -> Text<'n>
    where
        't: 'n,
    {
        if self.calls.renames(name) {
            let reason = "the server does not take such names of tools";
            self.losing.field(place, Field::ToolName, LossKind::Renamed, reason);
        }
        self.calls.name(name)
    }

    /// Writes `web_search_options` for a hosted web search, and reports the other hosted tools.
    fn write_search(&mut self, object: &mut Object<'_, '_>, request: &Request<'_>) {
        let searches = request.model.as_ref().is_some_and(|it| it.to_str().contains("search"));
        let mut possible = searches || self.target.family.name == "unknown";
        for tool in &request.tools {
            let ToolKind::Hosted(hosted) = &tool.kind else { continue };
            let place = tool.semantics().place();
            if hosted.service != HostedService::WebSearch || !possible {
                self.losing.node(place, LossKind::Dropped, "the server has no such tool");
                continue;
            }
            possible = false;
            let mut settings = Settings::of(hosted);
            write_search_options(object.key(WEB_SEARCH), &mut settings);
            settings.report_rest(place, self.losing);
        }
    }

    fn write_choice(&mut self, object: &mut Object<'_, '_>, choice: &ToolChoice<'_>) {
        let root = Place::default();
        let forced = matches!(choice, ToolChoice::Required | ToolChoice::Named { .. });
        if forced && self.target.family.forced_tool_choice == ForcedToolChoice::Never {
            object.word("tool_choice", "auto");
            let reason = "the model cannot be made to call a tool";
            return self.losing.field(root, Field::ToolChoice, LossKind::Approximated, reason);
        }
        match choice {
            ToolChoice::Auto => object.word("tool_choice", "auto"),
            ToolChoice::None => object.word("tool_choice", "none"),
            ToolChoice::Required => {
                object.field("tool_choice", self.target.dialect.forced_tool_choice);
            }
            ToolChoice::Named { name, form } => {
                let name = self.calls.name(name);
                write_named(object.key("tool_choice"), &name, *form);
            }
            ToolChoice::Allowed { mode, tools } => {
                write_allowed(object.key("tool_choice"), *mode, |writer| {
                    for name in tools.iter().filter_map(|tool| tool.name.as_ref()) {
                        write_named(writer, &self.calls.name(name), CallForm::Function);
                    }
                });
                if tools.iter().any(|tool| tool.name.is_none()) {
                    let reason = "hosted tools cannot be chosen";
                    self.losing.field(root, Field::ToolChoice, LossKind::Approximated, reason);
                }
            }
            ToolChoice::Other { .. } => {
                let reason = "Chat has no such choice";
                self.losing.field(root, Field::ToolChoice, LossKind::Dropped, reason);
            }
        }
    }

    fn write_parallel(&mut self, object: &mut Object<'_, '_>, request: &Request<'_>) {
        let Some(parallel) = request.parallel_tool_calls else { return };
        if self.target.dialect.parallel_tool_calls {
            return object.field("parallel_tool_calls", &parallel);
        }
        let reason = "the server does not take it";
        self.losing.field(Place::default(), Field::ParallelToolCalls, LossKind::Dropped, reason);
    }
}

/// Writes what another protocol's web search has in common with this one's.
fn write_search_options(writer: &mut Writer, settings: &mut Settings<'_>) {
    let size = settings.take(Setting::ContextSize);
    let location = settings.take(Setting::UserLocation);
    writer.object(|it| {
        it.optional("search_context_size", size.as_ref());
        if let Some(location) = &location {
            it.key("user_location");
            it.object(|it| {
                it.word("type", "approximate");
                it.key("approximate");
                it.object(|it| write_location(it, location));
            });
        }
    });
}
