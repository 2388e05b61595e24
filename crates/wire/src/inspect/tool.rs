//! Tools and how the model may choose among them.

use super::{Show, show, show_names, tagged};
use crate::conversation::{
    AllowedMode, AllowedTool, CustomFormat, CustomTool, FunctionTool, HostedService, HostedTool,
    NamespaceTool, Tool, ToolChoice, ToolKind,
};
use crate::json::Writer;

show! {
    Tool { kind, semantics }
    FunctionTool { name, description, parameters, strict, output_schema }
    CustomTool { name, description, format }
    HostedTool { protocol, service, kind, json }
    NamespaceTool { name, description, tools }
    AllowedTool { name, json }
}

show_names!(HostedService, AllowedMode);

impl Show for ToolKind<'_> {
    fn member(&self, writer: &mut Writer, _key: &str) {
        match self {
            ToolKind::Function(tool) => tagged(writer, "function", tool),
            ToolKind::Custom(tool) => tagged(writer, "custom", tool),
            ToolKind::Hosted(tool) => tagged(writer, "hosted", tool),
            ToolKind::Namespace(tool) => tagged(writer, "namespace", tool),
        }
    }
}

impl Show for CustomFormat<'_> {
    fn show(&self, writer: &mut Writer) {
        match self {
            CustomFormat::Text => writer.value("text"),
            CustomFormat::Grammar { definition, syntax } => writer.object(|writer| {
                writer.field("syntax", syntax);
                writer.field("definition", definition);
            }),
        }
    }
}

impl Show for ToolChoice<'_> {
    fn members(&self, writer: &mut Writer) {
        match self {
            ToolChoice::Auto => writer.field("type", "auto"),
            ToolChoice::None => writer.field("type", "none"),
            ToolChoice::Required => writer.field("type", "required"),
            ToolChoice::Named { name, form } => {
                writer.field("type", "named");
                writer.field("name", name);
                form.member(writer, "form");
            }
            ToolChoice::Allowed { mode, tools } => {
                writer.field("type", "allowed");
                mode.member(writer, "mode");
                tools.member(writer, "tools");
            }
            ToolChoice::Other { protocol, json } => {
                writer.field("type", "other");
                protocol.member(writer, "protocol");
                writer.field("json", json);
            }
        }
    }
}
