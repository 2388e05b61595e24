//! How many tokens a request has, where nobody counts them: its words, and what providers put around them.

mod text;

use sabir_wire::Protocol;
use sabir_wire::conversation::{
    Arguments, Content, CustomFormat, Media, Message, OutputFormat, Part, Request, ResultOutput,
    Source, Tool, ToolKind,
};
use sabir_wire::json::{Json, Text};

/// What begins the answer.
const ANSWER_TOKENS: u64 = 3;
/// What is put around a message, its role included.
const MESSAGE_TOKENS: u64 = 4;
/// What is put around a call.
const CALL_TOKENS: u64 = 6;
/// What tells the model that it has tools at all, and what is put around each.
const TOOLS_TOKENS: u64 = 35;
const TOOL_TOKENS: u64 = 42;
/// An image of a usual size in full detail. Sounds and documents depend on what is in them, which nobody looks at.
const MEDIA_TOKENS: u64 = 765;
/// Of a body that cannot be read only the length is known.
const BYTES_PER_TOKEN: usize = 4;

/// The tokens of a request as it would be sent to a provider of the protocol.
///
/// The figures are OpenAI's. Over 52 Chat requests of which the provider told its count, the estimate was 5 % off on
/// average and 16 % at worst. A token for every four bytes of the body was 80 % off on average, since in a short request
/// most bytes are names of fields.
pub(super) fn tokens(protocol: Protocol, body: &[u8]) -> u64 {
    match protocol.decode_request(body) {
        Ok(exchange) => of_request(exchange.request()),
        Err(_) => body.len().div_ceil(BYTES_PER_TOKEN) as u64,
    }
}

fn of_request(request: &Request<'_>) -> u64 {
    let tools = match &*request.tools {
        [] => 0,
        tools => TOOLS_TOKENS + tools.iter().map(of_tool).sum::<u64>(),
    };
    ANSWER_TOKENS
        + request.messages.iter().map(of_message).sum::<u64>()
        + tools
        + of_format(&request.output)
}

fn of_message(message: &Message<'_>) -> u64 {
    let name = message.name.as_ref().map_or(0, |name| 1 + of_text(name));
    MESSAGE_TOKENS + name + of_parts(&message.parts)
}

fn of_parts(parts: &[Part<'_>]) -> u64 {
    parts.iter().map(|part| of_content(part.content())).sum()
}

fn of_content(content: &Content<'_>) -> u64 {
    match content {
        Content::Text(text) | Content::Refusal(text) => of_text(text),
        Content::Media(media) => of_media(media),
        Content::ToolCall(call) => {
            let arguments = match &call.arguments {
                Arguments::Json(json) => of_json(json),
                Arguments::Text(text) => of_text(text),
            };
            CALL_TOKENS + of_text(&call.name) + arguments
        }
        Content::ToolResult(result) => {
            let response = match &result.output {
                ResultOutput::Parts(_) => 0,
                ResultOutput::Object { response, .. } => of_json(response),
            };
            response + of_parts(result.output.parts())
        }
        Content::Reasoning(reasoning) => reasoning.texts.iter().map(of_text).sum(),
        Content::Opaque(opaque) => of_json(&opaque.json),
    }
}

fn of_media(media: &Media<'_>) -> u64 {
    match &media.source {
        Source::Text { text, .. } => of_text(text),
        Source::Base64 { .. } | Source::Url { .. } | Source::File { .. } => MEDIA_TOKENS,
    }
}

fn of_tool(tool: &Tool<'_>) -> u64 {
    let own = match &tool.kind {
        ToolKind::Function(tool) => {
            of_text(&tool.name)
                + of_optional(tool.description.as_ref())
                + tool.parameters.as_ref().map_or(0, of_json)
        }
        ToolKind::Custom(tool) => {
            let format = match &tool.format {
                Some(CustomFormat::Grammar { definition, .. }) => of_text(definition),
                Some(CustomFormat::Text) | None => 0,
            };
            of_text(&tool.name) + of_optional(tool.description.as_ref()) + format
        }
        ToolKind::Hosted(tool) => of_json(&tool.json),
        ToolKind::Namespace(namespace) => {
            of_text(&namespace.name)
                + of_optional(namespace.description.as_ref())
                + namespace.tools.iter().map(of_tool).sum::<u64>()
        }
    };
    TOOL_TOKENS + own
}

/// A schema for the answer is shown to the model in fewer words than it is sent in.
fn of_format(output: &OutputFormat<'_>) -> u64 {
    match output {
        OutputFormat::JsonSchema(format) => {
            let schema = format.schema.as_ref().map_or(0, of_json);
            schema * 3 / 4
                + of_optional(format.name.as_ref())
                + of_optional(format.description.as_ref())
        }
        OutputFormat::Unset | OutputFormat::Text | OutputFormat::JsonObject => 0,
    }
}

fn of_optional(text: Option<&Text<'_>>) -> u64 {
    text.map_or(0, of_text)
}

fn of_text(text: &Text<'_>) -> u64 {
    text::tokens(&text.to_str())
}

fn of_json(json: &Json<'_>) -> u64 {
    text::tokens(&json.compact())
}
