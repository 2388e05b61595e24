//! Writing content blocks. Requests, answers and streams share them.

use crate::conversation::Arguments;
use crate::conversation::CallForm;
use crate::conversation::Content;
use crate::conversation::Media;
use crate::conversation::MediaKind;
use crate::conversation::Part;
use crate::conversation::Reasoning;
use crate::conversation::ReasoningForm;
use crate::conversation::ResultOutput;
use crate::conversation::Source;
use crate::conversation::ToolCall;
use crate::conversation::ToolResult;
use crate::json::Text;
use crate::json::Writer;
use crate::loss::LossKind;
use crate::protocol::ArtefactKind;
use crate::protocol::anthropic_messages::types::CONTENT_BLOCKS;
use crate::protocol::anthropic_messages::types::CONTENT_SOURCE;
use crate::protocol::anthropic_messages::types::EMPTY_CITATIONS;
use crate::protocol::anthropic_messages::types::EMPTY_SIGNATURE;
use crate::protocol::anthropic_messages::types::HERE;
use crate::protocol::anthropic_messages::types::NO_CONTENT;
use crate::protocol::anthropic_messages::types::NO_INPUT;
use crate::protocol::anthropic_messages::types::SEARCH_RESULT;
use crate::protocol::anthropic_messages::types::STRING;
use crate::protocol::arguments;
use crate::protocol::arguments::Change;
use crate::protocol::object::Object;
use crate::protocol::semantics::NodeSemantics;

/// A block in the making: what rides on it besides its content.
#[derive(Clone, Copy)]
pub(in crate::protocol::anthropic_messages) enum Block<'n> {
    /// It came in this protocol, and what it had comes back.
    Own(&'n NodeSemantics<'n>),
    /// It came in another.
    Foreign(Mark),
}

/// Whether the prompt may be cached up to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::protocol::anthropic_messages) enum Mark {
    Cached,
    Plain,
}

/// The id and the name under which a call is written.
pub(in crate::protocol::anthropic_messages) struct CallWords<'t> {
    pub(in crate::protocol::anthropic_messages) id: Option<Text<'t>>,
    pub(in crate::protocol::anthropic_messages) name: Text<'t>,
}

impl<'n> Block<'n> {
    fn open<'w>(&self, writer: &'w mut Writer, kind: &'static str) -> Object<'w, 'n> {
        let extras = match self {
            Self::Own(semantics) => semantics.extras().map(|extras| (extras, "")),
            Self::Foreign(_) => None,
        };
        let mut object = Object::open(writer, extras);
        object.word("type", kind);
        object
    }

    fn close(&self, mut object: Object<'_, '_>) {
        match self {
            Self::Own(semantics) => {
                object.optional("cache_control", semantics.cache().map(|marker| &marker.json));
            }
            Self::Foreign(Mark::Cached) => {
                object.key("cache_control").object(|marker| marker.word("type", "ephemeral"));
            }
            Self::Foreign(Mark::Plain) => {}
        }
        object.close();
    }

    pub(in crate::protocol::anthropic_messages) fn text(
        self,
        writer: &mut Writer,
        text: &Text<'_>,
    ) {
        let mut object = self.open(writer, "text");
        object.field("text", text);
        if let Self::Own(semantics) = self {
            write_citations(&mut object, semantics);
        }
        self.close(object);
    }

    pub(in crate::protocol::anthropic_messages) fn tool_use(
        self,
        writer: &mut Writer,
        words: &CallWords<'_>,
        call: &ToolCall<'_>,
    ) -> Change {
        let mut object = self.open(writer, "tool_use");
        object.optional("id", words.id.as_ref());
        object.field("name", &words.name);
        let change = match (self, &call.arguments) {
            (Self::Own(semantics), Arguments::Json(_)) if semantics.has_shape(NO_INPUT) => None,
            (Self::Own(_), Arguments::Json(json)) => {
                object.field("input", json);
                None
            }
            _ => arguments::write_object(object.key("input"), call),
        };
        self.close(object);
        change
    }

    /// Writes a tool result; `content` writes the field of that name, if there is any.
    pub(in crate::protocol::anthropic_messages) fn tool_result(
        self,
        writer: &mut Writer,
        call_id: Option<&Text<'_>>,
        is_error: Option<bool>,
        content: impl FnOnce(&mut Object<'_, '_>),
    ) {
        let mut object = self.open(writer, "tool_result");
        object.optional("tool_use_id", call_id);
        content(&mut object);
        object.optional("is_error", is_error.as_ref());
        self.close(object);
    }

    /// Writes an image or a document; `source` writes the object of that name.
    pub(in crate::protocol::anthropic_messages) fn media(
        self,
        writer: &mut Writer,
        kind: &'static str,
        title: Option<&Text<'_>>,
        source: impl FnOnce(&mut Writer),
    ) {
        let mut object = self.open(writer, kind);
        source(object.key("source"));
        object.optional("title", title);
        self.close(object);
    }

    pub(in crate::protocol::anthropic_messages) fn thinking(
        self,
        writer: &mut Writer,
        thinking: &Text<'_>,
        signature: Option<&Text<'_>>,
    ) {
        let mut object = self.open(writer, "thinking");
        object.field("thinking", thinking);
        object.optional("signature", signature);
        self.close(object);
    }

    pub(in crate::protocol::anthropic_messages) fn redacted(
        self,
        writer: &mut Writer,
        data: &Text<'_>,
    ) {
        let mut object = self.open(writer, "redacted_thinking");
        object.field("data", data);
        self.close(object);
    }
}

fn write_citations(object: &mut Object<'_, '_>, semantics: &NodeSemantics<'_>) {
    let mut own = semantics.citations().iter().filter(|it| it.protocol() == HERE).peekable();
    if own.peek().is_some() || semantics.has_shape(EMPTY_CITATIONS) {
        object.key("citations").array(|list| own.for_each(|it| list.value(it.json())));
    }
}

/// Writes a part that came in this protocol, or that was put among such parts.
pub(in crate::protocol::anthropic_messages) fn write_own(
    writer: &mut Writer,
    part: &Part<'_>,
    words: impl FnOnce(&ToolCall<'_>) -> Option<Text<'static>>,
) {
    let block = Block::Own(part.semantics());
    match part.content() {
        Content::Text(text) | Content::Refusal(text) => block.text(writer, text),
        Content::Media(media) => write_own_media(writer, media, part.semantics()),
        Content::ToolCall(call) => {
            let name = words(call).unwrap_or_else(|| call.name.clone().into_owned());
            let id = call.id.as_ref().map(Text::reborrow);
            block.tool_use(writer, &CallWords { id, name }, call);
        }
        Content::ToolResult(result) => write_own_result(writer, result, part.semantics()),
        Content::Reasoning(reasoning) => {
            write_reasoning(writer, reasoning, part.semantics(), block)
        }
        Content::Opaque(opaque) => writer.value(&opaque.json),
    }
}

fn write_own_media(writer: &mut Writer, media: &Media<'_>, semantics: &NodeSemantics<'_>) {
    if semantics.has_shape(SEARCH_RESULT) {
        let block = Block::Own(semantics);
        let mut object = block.open(writer, "search_result");
        object.optional("title", media.name.as_ref());
        return block.close(object);
    }
    let kind = match media.kind {
        MediaKind::Image => "image",
        MediaKind::Audio | MediaKind::Video | MediaKind::Document => "document",
    };
    Block::Own(semantics).media(writer, kind, media.name.as_ref(), |writer| {
        let extras = semantics.extras().map(|extras| (extras, "source"));
        let mut object = Object::open(writer, extras);
        let (kind, key, data) = match &media.source {
            Source::Base64 { data, .. } => ("base64", "data", data),
            Source::Text { text, .. } if semantics.has_shape(CONTENT_SOURCE) => {
                ("content", "content", text)
            }
            Source::Text { text, .. } => ("text", "data", text),
            Source::Url { url, .. } => ("url", "url", url),
            Source::File { id, .. } => ("file", "file_id", id),
        };
        object.field("type", kind);
        object.optional("media_type", media.source.mime());
        // A list of blocks comes back from among the extras.
        if !semantics.has_shape(CONTENT_BLOCKS) {
            object.field(key, data);
        }
        object.close();
    });
}

fn write_own_result(writer: &mut Writer, result: &ToolResult<'_>, semantics: &NodeSemantics<'_>) {
    let block = Block::Own(semantics);
    block.tool_result(writer, result.call_id.as_ref(), result.is_error, |object| {
        match &result.output {
            ResultOutput::Object { response, .. } => object.field("content", &response.to_text()),
            ResultOutput::Parts(parts) if parts.is_empty() && semantics.has_shape(NO_CONTENT) => {}
            ResultOutput::Parts(parts) => write_own_content(object, parts, semantics),
        }
    });
}

/// Writes the content of a message or a result in the shape it had.
pub(super) fn write_own_content(
    object: &mut Object<'_, '_>,
    parts: &[Part<'_>],
    semantics: &NodeSemantics<'_>,
) {
    match parts {
        [part] if is_string(semantics, part) => object.optional("content", as_string(part)),
        _ => object.key("content").array(|list| {
            parts.iter().for_each(|part| write_own(list, part, |_| None));
        }),
    }
}

/// Whether the only part of a node stood as a string and still can.
pub(super) fn is_string(semantics: &NodeSemantics<'_>, part: &Part<'_>) -> bool {
    semantics.has_shape(STRING) && as_string(part).is_some()
}

/// The text of a part that says nothing else, so that it may stand as a string.
pub(super) fn as_string<'p>(part: &'p Part<'p>) -> Option<&'p Text<'p>> {
    let semantics = part.semantics();
    let is_bare = semantics.cache().is_none()
        && semantics.extras().is_none()
        && semantics.citations().is_empty();
    match part.content() {
        Content::Text(text) if is_bare => Some(text),
        _ => None,
    }
}

/// Writes thinking with the artefact that rides on it, in the form in which this protocol's clients hand it back.
pub(in crate::protocol::anthropic_messages) fn write_reasoning(
    writer: &mut Writer,
    reasoning: &Reasoning<'_>,
    semantics: &NodeSemantics<'_>,
    block: Block<'_>,
) {
    let carried = semantics.artefact().map(|artefact| artefact.carried_in(HERE));
    if is_sealed(reasoning, semantics) {
        return block.redacted(writer, &carried.unwrap_or_default());
    }
    let text = joined(&reasoning.texts);
    let needs_signature = match block {
        Block::Own(semantics) => semantics.has_shape(EMPTY_SIGNATURE),
        Block::Foreign(_) => true,
    };
    let signature = carried.or_else(|| needs_signature.then(Text::default));
    block.thinking(writer, &text, signature.as_ref());
}

/// Whether thinking has nothing to show but a ciphertext.
pub(in crate::protocol::anthropic_messages) fn is_sealed(
    reasoning: &Reasoning<'_>,
    semantics: &NodeSemantics<'_>,
) -> bool {
    let is_cipher = |kind| kind == ArtefactKind::Ciphertext;
    reasoning.form == ReasoningForm::Redacted
        || reasoning.texts.iter().all(Text::is_empty)
            && semantics.artefact().is_some_and(|artefact| is_cipher(artefact.kind()))
}

/// The pieces of a thought as one text.
pub(in crate::protocol::anthropic_messages) fn joined<'t>(texts: &'t [Text<'_>]) -> Text<'t> {
    let Some((first, rest)) = texts.split_first() else { return Text::default() };
    let mut text = first.reborrow();
    for piece in rest {
        text.push(&Text::plain("\n\n"));
        text.push(piece);
    }
    text
}

/// What became of arguments that say nothing: they are an empty object.
pub(in crate::protocol::anthropic_messages) fn emptied(call: &ToolCall<'_>) -> Change {
    let Arguments::Text(text) = &call.arguments else { return None };
    let is_object =
        text.json_body().starts_with('{') || text.to_str().trim_start().starts_with('{');
    let says_nothing = call.form == CallForm::Function && !is_object;
    says_nothing.then_some((LossKind::Implied, "no arguments are an empty object"))
}
