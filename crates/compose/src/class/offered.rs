//! How long the tools are that a request offers: a model reads them with the conversation.

use sabir_wire::conversation::{CustomFormat, Tool, ToolKind};
use sabir_wire::json::Text;

/// The bytes of a tool that a model reads: its name and description, its schema or grammar.
pub fn tool_bytes(tool: &Tool<'_>) -> usize {
    let described = |name: &Text<'_>, description: Option<&Text<'_>>| {
        name.len_hint() + description.map_or(0, Text::len_hint)
    };
    match &tool.kind {
        ToolKind::Function(tool) => {
            described(&tool.name, tool.description.as_ref())
                + tool.parameters.as_ref().map_or(0, |it| it.as_str().len())
        }
        ToolKind::Custom(tool) => {
            let format = match &tool.format {
                Some(CustomFormat::Grammar { definition, .. }) => definition.len_hint(),
                Some(CustomFormat::Text) | None => 0,
            };
            described(&tool.name, tool.description.as_ref()) + format
        }
        ToolKind::Hosted(tool) => tool.json.as_str().len(),
        ToolKind::Namespace(namespace) => {
            described(&namespace.name, namespace.description.as_ref())
                + namespace.tools.iter().map(tool_bytes).sum::<usize>()
        }
    }
}
