//! Tools and how the model may choose among them.

use super::Show;
use super::list;
use super::part::form_word;
use crate::conversation::AllowedMode;
use crate::conversation::AllowedTool;
use crate::conversation::CustomFormat;
use crate::conversation::CustomTool;
use crate::conversation::FunctionTool;
use crate::conversation::HostedService;
use crate::conversation::HostedTool;
use crate::conversation::NamespaceTool;
use crate::conversation::Tool;
use crate::conversation::ToolChoice;
use crate::conversation::ToolKind;
use crate::json::Writer;

impl Show for Tool<'_> {
    fn show(&self, writer: &mut Writer) {
        let Tool { kind, semantics } = self;
        writer.object(|writer| {
            match kind {
                ToolKind::Function(tool) => show_function(tool, writer),
                ToolKind::Custom(tool) => show_custom(tool, writer),
                ToolKind::Hosted(tool) => show_hosted(tool, writer),
                ToolKind::Namespace(tool) => show_namespace(tool, writer),
            }
            semantics.show_members(writer);
        });
    }
}

fn show_function(tool: &FunctionTool<'_>, writer: &mut Writer) {
    let FunctionTool { name, description, parameters, strict, output_schema } = tool;
    writer.field("type", "function");
    writer.field("name", name);
    writer.optional("description", description.as_ref());
    writer.optional("parameters", parameters.as_ref());
    writer.optional("strict", strict.as_ref());
    writer.optional("outputSchema", output_schema.as_ref());
}

fn show_custom(tool: &CustomTool<'_>, writer: &mut Writer) {
    let CustomTool { name, description, format } = tool;
    writer.field("type", "custom");
    writer.field("name", name);
    writer.optional("description", description.as_ref());
    match format {
        None => {}
        Some(CustomFormat::Text) => writer.field("format", "text"),
        Some(CustomFormat::Grammar { definition, syntax }) => {
            writer.key("format");
            writer.object(|writer| {
                writer.field("syntax", syntax);
                writer.field("definition", definition);
            });
        }
    }
}

fn show_hosted(tool: &HostedTool<'_>, writer: &mut Writer) {
    let HostedTool { protocol, service, kind, json } = tool;
    writer.field("type", "hosted");
    writer.field("protocol", protocol.as_str());
    writer.field("service", service_word(*service));
    writer.field("kind", kind);
    writer.field("json", json);
}

fn service_word(service: HostedService) -> &'static str {
    match service {
        HostedService::WebSearch => "webSearch",
        HostedService::WebFetch => "webFetch",
        HostedService::CodeExecution => "codeExecution",
        HostedService::Other => "other",
    }
}

fn show_namespace(tool: &NamespaceTool<'_>, writer: &mut Writer) {
    let NamespaceTool { name, description, tools } = tool;
    writer.field("type", "namespace");
    writer.field("name", name);
    writer.optional("description", description.as_ref());
    list(writer, "tools", tools);
}

impl Show for ToolChoice<'_> {
    fn show(&self, writer: &mut Writer) {
        writer.object(|writer| match self {
            ToolChoice::Auto => writer.field("type", "auto"),
            ToolChoice::None => writer.field("type", "none"),
            ToolChoice::Required => writer.field("type", "required"),
            ToolChoice::Named { name, form } => {
                writer.field("type", "named");
                writer.field("name", name);
                writer.field("form", form_word(*form));
            }
            ToolChoice::Allowed { mode, tools } => {
                writer.field("type", "allowed");
                writer.field("mode", mode_word(*mode));
                list(writer, "tools", tools);
            }
            ToolChoice::Other { protocol, json } => {
                writer.field("type", "other");
                writer.field("protocol", protocol.as_str());
                writer.field("json", json);
            }
        });
    }
}

fn mode_word(mode: AllowedMode) -> &'static str {
    match mode {
        AllowedMode::Auto => "auto",
        AllowedMode::Required => "required",
    }
}

impl Show for AllowedTool<'_> {
    fn show(&self, writer: &mut Writer) {
        let AllowedTool { name, json } = self;
        writer.object(|writer| {
            writer.optional("name", name.as_ref());
            writer.optional("json", json.as_ref());
        });
    }
}
