//! Requests: the conversation, then what was meant beside it.

use std::collections::HashSet;

use super::{Show, show, show_names, tagged};
use crate::conversation::{
    CacheOptions, Content, Message, OutputFormat, OutputSchema, Part, Request, Role, Sampling,
    Thinking, ThinkingMode, ThinkingShow, Tool, ToolKind, ToolResult,
};
use crate::diagnostics::{Diagnostics, MissingField};
use crate::json::{Text, Writer};
use crate::protocol::{DecodedRequest, NodeSemantics};

impl Show for DecodedRequest<'_> {
    fn members(&self, writer: &mut Writer) {
        self.protocol().member(writer, "protocol");
        self.request().member(writer, "request");
        writer.object_field("semantics", |writer| show_semantics(self, writer));
        Diagnostics::of(self).member(writer, "diagnostics");
    }
}

impl Show for Diagnostics {
    fn members(&self, writer: &mut Writer) {
        let Diagnostics { missing_fields, provider_metadata } = self;
        missing_fields.member(writer, "missingFields");
        writer.object_field("providerMetadata", |writer| {
            provider_metadata.iter().for_each(|(name, value)| writer.field(name, value));
        });
    }
}

impl Show for MissingField {
    fn members(&self, writer: &mut Writer) {
        let MissingField { pointer, reason } = self;
        writer.field("pointer", *pointer);
        writer.field("reason", *reason);
    }
}

/// What was meant beside the conversation; what stands on single nodes is gathered here once more.
fn show_semantics(decoded: &DecodedRequest<'_>, writer: &mut Writer) {
    let nodes = nodes(decoded.request());
    writer.object_field("system", |writer| {
        writer.field("textBlocks", &system_texts(decoded.request()));
    });
    writer.array_field("reasoning", |writer| {
        nodes.iter().for_each(|node| node.show_artefact(writer))
    });
    writer.array_field("cache", |writer| {
        nodes.iter().for_each(|node| node.show_cache_marker(writer))
    });
    decoded.semantics().show_members(&foreign_results(decoded.request()), writer);
}

/// Results of calls that the request does not hold: those of an answer that it goes on from.
fn foreign_results<'r, 'a>(request: &'r Request<'a>) -> Vec<&'r ToolResult<'a>> {
    let parts = || request.messages.iter().flat_map(|message| &message.parts);
    let ids = parts().filter_map(|part| part.tool_call()?.id.as_ref());
    let calls: HashSet<&Text<'a>> = ids.collect();
    let results = parts().filter_map(|part| match &part.content {
        Content::ToolResult(result) => Some(&**result),
        _ => None,
    });
    results.filter(|result| !result.call_id.as_ref().is_some_and(|id| calls.contains(id))).collect()
}

/// The texts that stand before the first turn, block by block.
fn system_texts<'r, 'a>(request: &'r Request<'a>) -> Vec<&'r Text<'a>> {
    let leading = request.messages.iter().take_while(|message| message.role.instructs());
    let texts = leading.flat_map(|message| &message.parts).filter_map(|part| match &part.content {
        Content::Text(text) => Some(text),
        _ => None,
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

show! {
    Request {
        model, stream, messages, tools, tool_choice, parallel_tool_calls, max_output_tokens,
        sampling, stop, output, verbosity, thinking, safety_identifier, user, metadata,
        service_tier, store, cache
    }
    Message { role, name, semantics, parts }
    Sampling {
        temperature, top_p, top_k, seed, presence_penalty, frequency_penalty, candidates,
        logprobs, top_logprobs
    }
    OutputSchema { name, description, schema, strict }
    Thinking { mode, effort, budget, show }
    CacheOptions { key, options, retention }
}

show_names!(Role, ThinkingMode);

impl Show for OutputFormat<'_> {
    fn members(&self, writer: &mut Writer) {
        match self {
            OutputFormat::Unset => {}
            OutputFormat::Text => writer.field("type", "text"),
            OutputFormat::JsonObject => writer.field("type", "jsonObject"),
            OutputFormat::JsonSchema(schema) => tagged(writer, "jsonSchema", schema),
        }
    }
}

impl Show for ThinkingShow<'_> {
    fn member(&self, writer: &mut Writer, _key: &str) {
        match self {
            ThinkingShow::Hidden => writer.field("shown", &false),
            ThinkingShow::Shown(None) => writer.field("shown", &true),
            ThinkingShow::Shown(Some(word)) => writer.field("shown", word),
        }
    }
}
