//! Writing the parts of a content, in requests and answers alike.

use std::borrow::Cow;

use crate::conversation::{Arguments, Content, Media, MediaKind, Part, Source, ToolCall};
use crate::json::{Json, Text, Writer};
use crate::protocol::arguments::Change;
use crate::protocol::gemini::decode_request::partial::{is_in_pieces, kept_pieces, rejoined};
use crate::protocol::gemini::types::{
    CALL_PIECES_KEPT, PIECE_KEY, RESOLUTIONS, SELF, THOUGHT_TRUE,
};
use crate::protocol::object::Object;
use crate::protocol::semantics::Extras;
use crate::protocol::{arguments, media_type};

/// How one part is written: what it wears here that is not its own content.
#[derive(Default)]
pub(in super::super) struct Pen<'t> {
    /// Whether the part came in this protocol, so that its extras come back.
    pub same: bool,
    /// Whether a part says how closely it is to be looked at.
    pub media_detail: bool,
    pub signature: Option<Text<'t>>,
    /// The name of the tool that is called.
    pub name: Option<Text<'t>>,
    /// The id of the call.
    pub id: Option<Text<'t>>,
    /// Whether the pieces are written in which calls came, in place of the calls.
    pub pieces: bool,
}

/// Whether the pieces that are kept make up the calls of a message: where one of these was edited or is gone, all are written whole.
/// `is_written` says whether a call of the first name is written by the second.
pub(in super::super) fn pieces_make_calls<'p>(
    parts: impl Iterator<Item = &'p Part<'p>> + Clone,
    is_written: impl Fn(&Text<'_>, &Text<'_>) -> bool,
) -> bool {
    if parts.clone().all(|part| kept_pieces(part).next().is_none()) {
        return false;
    }
    let calls = parts.clone().filter(|part| is_in_pieces(part));
    let mut calls = calls.filter_map(|part| match part.content() {
        Content::ToolCall(call) => Some(call),
        _ => None,
    });
    let are_theirs = rejoined(parts).iter().all(|joined| {
        calls.next().is_some_and(|call| {
            joined.id == call.id
                && is_written(&call.name, &joined.name)
                && written_arguments(&joined.arguments) == written_arguments(&call.arguments)
        })
    });
    are_theirs && calls.next().is_none()
}

/// Arguments to the letter, whether they are JSON or came as its text.
pub(super) fn written_arguments<'t>(arguments: &'t Arguments<'_>) -> Cow<'t, str> {
    match arguments {
        Arguments::Json(json) => json.as_str().into(),
        Arguments::Text(text) => text.to_str(),
    }
}

impl Pen<'_> {
    pub(super) fn extras<'p>(
        &self,
        part: &'p Part<'p>,
        scope: &'static str,
    ) -> Option<(&'p Extras<'p>, &'static str)> {
        if self.same { part.semantics().extras().map(|extras| (extras, scope)) } else { None }
    }
}

/// Writes a part that is not a tool's result, and says what that did to the arguments of a call.
pub(in super::super) fn write_part(writer: &mut Writer, part: &Part<'_>, pen: &Pen<'_>) -> Change {
    let writes_pieces = pen.same && pen.pieces;
    if writes_pieces {
        kept_pieces(part).for_each(|piece| writer.value(piece));
    }
    match part.content() {
        Content::ToolCall(_) if writes_pieces && is_in_pieces(part) => {}
        Content::Text(text) | Content::Refusal(text) => write_text(writer, part, text, pen),
        // Thoughts are one part, since only this protocol's own pieces are parts.
        Content::Reasoning(thought) => {
            let text = Text::joined(thought.texts.iter(), PIECE_BREAK).unwrap_or_default();
            write_text(writer, part, &text, pen);
        }
        Content::Media(media) => write_media(writer, part, media, pen),
        Content::ToolCall(call) => return write_call(writer, part, call, pen),
        Content::Opaque(opaque) if opaque.protocol == SELF => writer.value(&opaque.json),
        Content::Opaque(_) | Content::ToolResult(_) => {}
    }
    None
}

fn write_text(writer: &mut Writer, part: &Part<'_>, text: &Text<'_>, pen: &Pen<'_>) {
    let mut object = Object::open(writer, pen.extras(part, ""));
    object.field("text", text);
    modifiers(&mut object, part, pen);
    object.close();
}

/// What stands between two pieces of thoughts.
pub(in super::super) const PIECE_BREAK: &str = "\n\n";

/// The words of a part that is nothing else.
pub(in super::super) fn text_of<'t>(part: &'t Part<'_>) -> Option<&'t Text<'t>> {
    match part.content() {
        Content::Text(text) | Content::Refusal(text) => Some(text),
        _ => None,
    }
}

/// Writes the notes on a part's data.
pub(super) fn modifiers(object: &mut Object<'_, '_>, part: &Part<'_>, pen: &Pen<'_>) {
    let is_thought = matches!(part.content(), Content::Reasoning(_));
    if is_thought || pen.same && part.semantics().has_shape(THOUGHT_TRUE) {
        object.field("thought", &true);
    }
    object.optional("thoughtSignature", pen.signature.as_ref());
}

/// Writes media: bytes of the body as `inlineData`, addresses as `fileData`, plain text as text.
fn write_media(writer: &mut Writer, part: &Part<'_>, media: &Media<'_>, pen: &Pen<'_>) {
    let mut object = Object::open(writer, pen.extras(part, ""));
    let (key, inner, data) = match &media.source {
        Source::Base64 { data, .. } => ("inlineData", "data", data),
        Source::Url { url, .. } => ("fileData", "fileUri", url),
        Source::File { id, .. } => ("fileData", "fileUri", id),
        Source::Text { text, .. } => {
            object.field("text", text);
            return object.close();
        }
    };
    let mut inside = Object::open(object.key(key), pen.extras(part, key));
    match pen.same {
        true => inside.optional("mimeType", media.source.mime()),
        false => inside.field("mimeType", &mime_of(media)),
    }
    inside.field(inner, data);
    inside.close();
    let is_written = match pen.same {
        // What the part itself states of it comes back with its extras.
        true => part.semantics().extras().is_none(),
        false => pen.media_detail,
    };
    let level = media.detail.as_ref().filter(|_| is_written).and_then(resolution);
    if let Some(level) = level {
        object.key("mediaResolution").object(|it| it.word("level", level));
    }
    modifiers(&mut object, part, pen);
    object.close();
}

/// The level of media resolution that an image's detail amounts to.
pub(super) fn resolution(detail: &Text<'_>) -> Option<&'static str> {
    let (_, level) = RESOLUTIONS.into_iter().find(|(known, _)| *detail == *known)?;
    Some(level)
}

/// The declared type, or a guess by the address and the kind, since the vendor demands one. Fixture `request/media/image-urls`.
fn mime_of<'m>(media: &'m Media<'_>) -> Text<'m> {
    match media.source.mime() {
        Some(mime) => Text::plain(media_type::proper(mime)),
        None => Text::literal(guess(media)),
    }
}

fn guess(media: &Media<'_>) -> &'static str {
    // A document may be anything that can be read.
    let (family, default) = match media.kind {
        MediaKind::Image => ("image/", "image/jpeg"),
        MediaKind::Audio => ("audio/", "audio/wav"),
        MediaKind::Video => ("video/", "video/mp4"),
        MediaKind::Document => ("", "application/pdf"),
    };
    let is_likely = matches!(media.kind, MediaKind::Image | MediaKind::Document);
    let known = match &media.source {
        Source::Url { url, .. } => {
            let mut names = media.name.iter().chain([url]);
            let known = names.find_map(|name| media_type::of_name(&name.to_str()));
            known.filter(|mime| mime.starts_with(family))
        }
        Source::Base64 { data, .. } if is_likely => media_type::of_data(&data.to_str()),
        Source::Base64 { .. } | Source::Text { .. } | Source::File { .. } => None,
    };
    known.unwrap_or(default)
}

fn write_call(writer: &mut Writer, part: &Part<'_>, call: &ToolCall<'_>, pen: &Pen<'_>) -> Change {
    let mut object = Object::open(writer, pen.extras(part, ""));
    let key = "functionCall";
    let mut inside = Object::open(object.key(key), pen.extras(part, key));
    inside.optional("id", pen.id.as_ref());
    inside.field("name", pen.name.as_ref().unwrap_or(&call.name));
    let change = write_arguments(inside.key("args"), call, pen);
    if part.semantics().has_shape(CALL_PIECES_KEPT) {
        // Those of other calls have been written, and a null is its own.
        inside.only_null(PIECE_KEY);
    }
    inside.close();
    modifiers(&mut object, part, pen);
    object.close();
    change
}

/// Arguments of this protocol are written as they were, objects or not.
fn write_arguments(writer: &mut Writer, call: &ToolCall<'_>, pen: &Pen<'_>) -> Change {
    let json = match &call.arguments {
        _ if !pen.same => None,
        Arguments::Json(json) => Some(json.reborrow()),
        Arguments::Text(text) => Json::parse_text(text).ok(),
    };
    let Some(json) = json else { return arguments::write_object(writer, call) };
    writer.value(&json);
    None
}
