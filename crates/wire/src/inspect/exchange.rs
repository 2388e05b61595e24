//! Requests: the conversation, then what was meant beside it.

use super::Show;
use super::list;
use super::optional;
use crate::conversation::CacheOptions;
use crate::conversation::Content;
use crate::conversation::Message;
use crate::conversation::OutputFormat;
use crate::conversation::OutputSchema;
use crate::conversation::Part;
use crate::conversation::Request;
use crate::conversation::Role;
use crate::conversation::Sampling;
use crate::conversation::Thinking;
use crate::conversation::ThinkingMode;
use crate::conversation::ThinkingShow;
use crate::conversation::Tool;
use crate::conversation::ToolKind;
use crate::diagnostics::Diagnostics;
use crate::diagnostics::MissingField;
use crate::json::Text;
use crate::json::Writer;
use crate::protocol::Exchange;
use crate::protocol::NodeSemantics;

impl Show for Exchange<'_> {
    fn show(&self, writer: &mut Writer) {
        writer.object(|writer| {
            writer.field("protocol", self.protocol().as_str());
            writer.key("request");
            self.request().show(writer);
            writer.key("semantics");
            writer.object(|writer| show_semantics(self, writer));
            optional(writer, "diagnostics", Some(&Diagnostics::of(self)));
        });
    }
}

impl Show for Diagnostics {
    fn show(&self, writer: &mut Writer) {
        let Diagnostics { missing_fields, provider_metadata } = self;
        writer.object(|writer| {
            list(writer, "missingFields", missing_fields);
            writer.key("providerMetadata");
            writer.object(|writer| {
                provider_metadata.iter().for_each(|(name, value)| writer.field(name, value));
            });
        });
    }
}

impl Show for MissingField {
    fn show(&self, writer: &mut Writer) {
        let MissingField { pointer, reason } = self;
        writer.object(|writer| {
            writer.field("pointer", *pointer);
            writer.field("reason", *reason);
        });
    }
}

/// What was meant beside the conversation; what stands on single nodes is gathered here once more.
fn show_semantics(exchange: &Exchange<'_>, writer: &mut Writer) {
    let nodes = nodes(exchange.request());
    writer.key("system");
    writer.object(|writer| {
        writer.field("textBlocks", &system_texts(exchange.request()));
    });
    writer.key("reasoning");
    writer.array(|writer| nodes.iter().for_each(|node| node.show_artefact(writer)));
    writer.key("cache");
    writer.array(|writer| nodes.iter().for_each(|node| node.show_cache_marker(writer)));
    exchange.semantics().show_members(writer);
}

/// The texts that stand before the first turn, block by block.
fn system_texts<'r, 'a>(request: &'r Request<'a>) -> Vec<&'r Text<'a>> {
    let leading = request.messages.iter().take_while(|message| message.role.instructs());
    let texts = leading.flat_map(|message| &message.parts).filter_map(|part| match &part.content {
        Content::Text(text) => Some(text),
        Content::Media(_)
        | Content::ToolCall(_)
        | Content::ToolResult(_)
        | Content::Reasoning(_)
        | Content::Refusal(_)
        | Content::Opaque(_) => None,
    });
    texts.collect()
}

/// Every node of the request, in the order of reading.
fn nodes<'r, 'a>(request: &'r Request<'a>) -> Vec<&'r NodeSemantics<'a>> {
    let mut nodes = Vec::new();
    add_tools(&request.tools, &mut nodes);
    for message in &request.messages {
        nodes.push(&message.semantics);
        add_parts(&message.parts, &mut nodes);
    }
    nodes
}

fn add_tools<'r, 'a>(tools: &'r [Tool<'a>], nodes: &mut Vec<&'r NodeSemantics<'a>>) {
    for tool in tools {
        nodes.push(&tool.semantics);
        if let ToolKind::Namespace(namespace) = &tool.kind {
            add_tools(&namespace.tools, nodes);
        }
    }
}

fn add_parts<'r, 'a>(parts: &'r [Part<'a>], nodes: &mut Vec<&'r NodeSemantics<'a>>) {
    for part in parts {
        nodes.push(&part.semantics);
        if let Content::ToolResult(result) = &part.content {
            add_parts(result.output.parts(), nodes);
        }
    }
}

impl Show for Request<'_> {
    fn show(&self, writer: &mut Writer) {
        let Request {
            model,
            stream,
            messages,
            tools,
            tool_choice,
            parallel_tool_calls,
            max_output_tokens,
            sampling,
            stop,
            output,
            verbosity,
            thinking,
            safety_identifier,
            user,
            metadata,
            service_tier,
            store,
            cache,
        } = self;
        writer.object(|writer| {
            writer.optional("model", model.as_ref());
            writer.optional("stream", stream.as_ref());
            list(writer, "messages", messages);
            list(writer, "tools", tools);
            optional(writer, "toolChoice", tool_choice.as_ref());
            writer.optional("parallelToolCalls", parallel_tool_calls.as_ref());
            writer.optional("maxOutputTokens", max_output_tokens.as_ref());
            optional(writer, "sampling", Some(sampling));
            writer.field("stop", stop);
            optional(writer, "output", Some(output));
            writer.optional("verbosity", verbosity.as_ref());
            optional(writer, "thinking", Some(thinking));
            writer.optional("safetyIdentifier", safety_identifier.as_ref());
            writer.optional("user", user.as_ref());
            writer.optional("metadata", metadata.as_ref());
            writer.optional("serviceTier", service_tier.as_ref());
            writer.optional("store", store.as_ref());
            optional(writer, "cache", Some(cache));
        });
    }
}

impl Show for Message<'_> {
    fn show(&self, writer: &mut Writer) {
        let Message { role, parts, name, semantics } = self;
        writer.object(|writer| {
            writer.field("role", role_word(*role));
            writer.optional("name", name.as_ref());
            semantics.show_members(writer);
            list(writer, "parts", parts);
        });
    }
}

fn role_word(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::Developer => "developer",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

impl Show for Sampling<'_> {
    fn show(&self, writer: &mut Writer) {
        let Sampling {
            temperature,
            top_p,
            top_k,
            seed,
            presence_penalty,
            frequency_penalty,
            candidates,
            logprobs,
            top_logprobs,
        } = self;
        writer.object(|writer| {
            writer.optional("temperature", temperature.as_ref());
            writer.optional("topP", top_p.as_ref());
            writer.optional("topK", top_k.as_ref());
            writer.optional("seed", seed.as_ref());
            writer.optional("presencePenalty", presence_penalty.as_ref());
            writer.optional("frequencyPenalty", frequency_penalty.as_ref());
            writer.optional("candidates", candidates.as_ref());
            writer.optional("logprobs", logprobs.as_ref());
            writer.optional("topLogprobs", top_logprobs.as_ref());
        });
    }
}

impl Show for OutputFormat<'_> {
    fn show(&self, writer: &mut Writer) {
        writer.object(|writer| match self {
            OutputFormat::Unsaid => {}
            OutputFormat::Text => writer.field("type", "text"),
            OutputFormat::JsonObject => writer.field("type", "jsonObject"),
            OutputFormat::JsonSchema(schema) => {
                let OutputSchema { name, description, schema, strict } = &**schema;
                writer.field("type", "jsonSchema");
                writer.optional("name", name.as_ref());
                writer.optional("description", description.as_ref());
                writer.optional("schema", schema.as_ref());
                writer.optional("strict", strict.as_ref());
            }
        });
    }
}

impl Show for Thinking<'_> {
    fn show(&self, writer: &mut Writer) {
        let Thinking { mode, effort, budget, show } = self;
        writer.object(|writer| {
            writer.optional("mode", mode.map(thinking_word));
            writer.optional("effort", effort.as_ref());
            writer.optional("budget", budget.as_ref());
            match show {
                None => {}
                Some(ThinkingShow::Hidden) => writer.field("shown", &false),
                Some(ThinkingShow::Shown(None)) => writer.field("shown", &true),
                Some(ThinkingShow::Shown(Some(word))) => writer.field("shown", word),
            }
        });
    }
}

fn thinking_word(mode: ThinkingMode) -> &'static str {
    match mode {
        ThinkingMode::Enabled => "enabled",
        ThinkingMode::Adaptive => "adaptive",
        ThinkingMode::BetweenTools => "betweenTools",
        ThinkingMode::Disabled => "disabled",
    }
}

impl Show for CacheOptions<'_> {
    fn show(&self, writer: &mut Writer) {
        let CacheOptions { key, options, retention } = self;
        writer.object(|writer| {
            writer.optional("key", key.as_ref());
            writer.optional("options", options.as_ref());
            writer.optional("retention", retention.as_ref());
        });
    }
}
