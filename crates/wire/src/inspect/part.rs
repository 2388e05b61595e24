//! Parts and what they hold.

use super::Show;
use super::list;
use crate::conversation::Arguments;
use crate::conversation::CallForm;
use crate::conversation::Content;
use crate::conversation::Media;
use crate::conversation::MediaKind;
use crate::conversation::Opaque;
use crate::conversation::Part;
use crate::conversation::Reasoning;
use crate::conversation::ReasoningForm;
use crate::conversation::ResultOutput;
use crate::conversation::Source;
use crate::conversation::ToolCall;
use crate::conversation::ToolResult;
use crate::json::Text;
use crate::json::Writer;

impl Show for Part<'_> {
    fn show(&self, writer: &mut Writer) {
        let Part { content, semantics } = self;
        writer.object(|writer| {
            show_content(content, writer);
            semantics.show_members(writer);
        });
    }
}

/// Writes the members that tell what sort of content it is and what it says.
pub(super) fn show_content(content: &Content<'_>, writer: &mut Writer) {
    match content {
        Content::Text(text) => {
            writer.field("type", "text");
            writer.field("text", text);
        }
        Content::Refusal(text) => {
            writer.field("type", "refusal");
            writer.field("text", text);
        }
        Content::Media(media) => show_media(media, writer),
        Content::ToolCall(call) => show_call(call, writer),
        Content::ToolResult(result) => show_result(result, writer),
        Content::Reasoning(reasoning) => show_reasoning(reasoning, writer),
        Content::Opaque(opaque) => show_opaque(opaque, writer),
    }
}

fn show_media(media: &Media<'_>, writer: &mut Writer) {
    let Media { kind, source, detail, name } = media;
    writer.field("type", "media");
    writer.field("kind", media_word(*kind));
    writer.key("source");
    writer.object(|writer| show_source(source, writer));
    writer.optional("detail", detail.as_ref());
    writer.optional("name", name.as_ref());
}

fn media_word(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Image => "image",
        MediaKind::Audio => "audio",
        MediaKind::Video => "video",
        MediaKind::Document => "document",
    }
}

fn show_source(source: &Source<'_>, writer: &mut Writer) {
    let mut member = |key: &str, mime: &Option<Text<'_>>, value: &Text<'_>| {
        writer.optional("mime", mime.as_ref());
        writer.field(key, value);
    };
    match source {
        Source::Base64 { mime, data } => member("base64", mime, data),
        Source::Text { mime, text } => member("text", mime, text),
        Source::Url { mime, url } => member("url", mime, url),
        Source::File { mime, id } => member("file", mime, id),
    }
}

fn show_call(call: &ToolCall<'_>, writer: &mut Writer) {
    let ToolCall { id, name, arguments, form } = call;
    writer.field("type", "toolCall");
    writer.optional("id", id.as_ref());
    writer.field("name", name);
    writer.field("form", form_word(*form));
    match arguments {
        Arguments::Json(json) => writer.field("arguments", json),
        Arguments::Text(text) => writer.field("argumentsText", text),
    }
}

pub(super) fn form_word(form: CallForm) -> &'static str {
    match form {
        CallForm::Function => "function",
        CallForm::Custom => "custom",
    }
}

fn show_result(result: &ToolResult<'_>, writer: &mut Writer) {
    let ToolResult { call_id, name, output, is_error, form } = result;
    writer.field("type", "toolResult");
    writer.optional("callId", call_id.as_ref());
    writer.optional("name", name.as_ref());
    writer.field("form", form_word(*form));
    writer.optional("isError", is_error.as_ref());
    match output {
        ResultOutput::Parts(parts) => list(writer, "parts", parts),
        ResultOutput::Object { response, parts } => {
            writer.field("response", response);
            list(writer, "parts", parts);
        }
    }
}

fn show_reasoning(reasoning: &Reasoning<'_>, writer: &mut Writer) {
    let Reasoning { form, texts } = reasoning;
    writer.field("type", "reasoning");
    writer.field("form", reasoning_word(*form));
    writer.field("texts", texts);
}

pub(super) fn reasoning_word(form: ReasoningForm) -> &'static str {
    match form {
        ReasoningForm::Raw => "raw",
        ReasoningForm::Summary => "summary",
        ReasoningForm::Redacted => "redacted",
    }
}

fn show_opaque(opaque: &Opaque<'_>, writer: &mut Writer) {
    let Opaque { protocol, kind, json } = opaque;
    writer.field("type", "opaque");
    writer.field("protocol", protocol.as_str());
    writer.field("kind", kind);
    writer.field("json", json);
}
