//! What is stated of tools.

use sabir_wire::conversation::{CustomFormat, HostedService, HostedTool, Tool, ToolKind};
use sabir_wire::protocol::{DecodedRequest, Field};
use serde_json::{Value, json};

use super::{Fact, Node, normal, part};

pub(super) fn of_tools(tools: &[Tool<'_>], decoded: &DecodedRequest<'_>) -> Vec<Node> {
    tools.iter().flat_map(|tool| of_tool(tool, decoded)).collect()
}

fn of_tool(tool: &Tool<'_>, decoded: &DecodedRequest<'_>) -> Vec<Node> {
    let place = tool.semantics().place().to_string();
    let at = |field: Field| decoded.pointer(Some(tool.semantics()), field);
    let or_null = |text: &Option<sabir_wire::json::Text<'_>>| {
        text.as_ref().map(normal::text).unwrap_or_default()
    };
    let mut node = match &tool.kind {
        ToolKind::Function(function) => {
            let schema = |json: &Option<sabir_wire::json::Json<'_>>| {
                json.as_ref().map(|it| normal::schema(&normal::json(it))).unwrap_or_default()
            };
            Node::new("function", place)
                .with("name", normal::text(&function.name), at(Field::ToolName))
                .with("description", or_null(&function.description), at(Field::ToolDescription))
                .with("parameters", object(schema(&function.parameters)), at(Field::ToolParameters))
                .with("strict", function.strict, at(Field::ToolStrict))
                .with("output schema", schema(&function.output_schema), at(Field::ToolOutputSchema))
        }
        ToolKind::Custom(custom) => Node::new("custom", place)
            .with("name", normal::text(&custom.name), at(Field::ToolName))
            .with("description", or_null(&custom.description), at(Field::ToolDescription))
            .with("format", custom.format.as_ref().map(format), at(Field::CustomFormat)),
        ToolKind::Hosted(hosted) => hosted_tool(hosted, place),
        ToolKind::Namespace(namespace) => {
            let head = Node::new("namespace", place.clone())
                .with("name", normal::text(&namespace.name), format!("{place}/name"))
                .with(
                    "description",
                    or_null(&namespace.description),
                    format!("{place}/description"),
                );
            let mut nodes = vec![head];
            nodes.extend(of_tools(&namespace.tools, decoded));
            return nodes;
        }
    };
    node.facts.extend(part::semantics(decoded.protocol(), tool.semantics(), &at));
    vec![node]
}

/// The schema of arguments, which are an object whether it says so or not.
fn object(mut schema: Value) -> Value {
    if let Some(schema) = schema.as_object_mut() {
        schema.entry("type").or_insert_with(|| Value::from("object"));
    }
    schema
}

fn format(format: &CustomFormat<'_>) -> Value {
    match format {
        CustomFormat::Text => Value::Null,
        CustomFormat::Grammar { definition, syntax } => {
            json!([normal::text(syntax), normal::text(definition)])
        }
    }
}

/// A hosted tool by what it does, with every setting that it states.
fn hosted_tool(hosted: &HostedTool<'_>, place: String) -> Node {
    let sort = match hosted.service {
        HostedService::WebSearch => "web search".to_owned(),
        HostedService::WebFetch => "web fetch".to_owned(),
        HostedService::CodeExecution => "code execution".to_owned(),
        HostedService::Other => format!("{} {}", hosted.protocol.as_str(), hosted.kind.to_str()),
    };
    let mut node = Node::new(sort, place.clone());
    let base = match hosted.json.as_str().starts_with('{') {
        true => normal::json(&hosted.json),
        false => Value::Null,
    };
    settings(&base, &place, &mut node);
    node
}

/// The name of a setting that vendors spell differently.
fn setting(key: &str) -> String {
    match &*key.to_lowercase().replace('_', "") {
        "excludedomains" => "blockeddomains".to_owned(),
        name => name.to_owned(),
    }
}

/// The settings of a hosted tool by their own names, whatever objects they stand in.
fn settings(value: &Value, pointer: &str, node: &mut Node) {
    let Value::Object(object) = value else { return };
    for (key, value) in object.iter().filter(|(key, _)| *key != "type" && *key != "name") {
        let below = format!("{pointer}/{key}");
        match value {
            Value::Object(_) => settings(value, &below, node),
            value => {
                let name = setting(key);
                // Objects of a tool that nobody knows may have settings of one name.
                let numbered = format!("{name} ");
                let is_namesake =
                    |fact: &&Fact| fact.name == name || fact.name.starts_with(&numbered);
                let namesakes = node.facts.iter().filter(is_namesake).count();
                let name = if namesakes > 0 { format!("{name} {namesakes}") } else { name };
                node.facts.push(Fact::new(name, value.clone(), below));
            }
        }
    }
}
