//! Parts and what they hold.

use super::{Show, show, show_names, tagged};
use crate::conversation::{
    Arguments, CallForm, Content, Media, MediaKind, Opaque, Part, Parts, Reasoning, ReasoningForm,
    ResultOutput, Source, ToolCall, ToolResult,
};
use crate::json::Writer;

show! {
    Part { content, semantics }
    Media { kind, source, detail, name }
    ToolCall { id, name, form, arguments }
    ToolResult { call_id, name, form, is_error, output }
    Reasoning { form, texts }
    Opaque { protocol, kind, json }
}

show_names!(MediaKind, CallForm, ReasoningForm);

impl Show for Content<'_> {
    fn members(&self, writer: &mut Writer) {
        match self {
            Content::Text(text) => {
                writer.field("type", "text");
                writer.field("text", text);
            }
            Content::Refusal(text) => {
                writer.field("type", "refusal");
                writer.field("text", text);
            }
            Content::Media(media) => tagged(writer, "media", media),
            Content::ToolCall(call) => tagged(writer, "toolCall", call),
            Content::ToolResult(result) => tagged(writer, "toolResult", result),
            Content::Reasoning(reasoning) => tagged(writer, "reasoning", reasoning),
            Content::Opaque(opaque) => tagged(writer, "opaque", opaque),
        }
    }

    fn member(&self, writer: &mut Writer, _key: &str) {
        self.members(writer);
    }
}

impl Show for Parts<'_> {
    fn show(&self, writer: &mut Writer) {
        writer.array(|writer| self.iter().for_each(|part| part.show(writer)));
    }
}

impl Show for Source<'_> {
    fn members(&self, writer: &mut Writer) {
        let (key, value) = match self {
            Source::Base64 { mime: _, data } => ("base64", data),
            Source::Text { mime: _, text } => ("text", text),
            Source::Url { mime: _, url } => ("url", url),
            Source::File { mime: _, id } => ("file", id),
        };
        writer.optional("mime", self.mime());
        writer.field(key, value);
    }
}

impl Show for Arguments<'_> {
    fn member(&self, writer: &mut Writer, _key: &str) {
        match self {
            Arguments::Json(json) => writer.field("arguments", json),
            Arguments::Text(text) => writer.field("argumentsText", text),
        }
    }
}

impl Show for ResultOutput<'_> {
    fn member(&self, writer: &mut Writer, _key: &str) {
        match self {
            ResultOutput::Parts(parts) => parts.member(writer, "parts"),
            ResultOutput::Object { response, parts } => {
                writer.field("response", response);
                parts.member(writer, "parts");
            }
        }
    }
}
