//! Writing parts of content.

use crate::conversation::Content;
use crate::conversation::Media;
use crate::conversation::MediaKind;
use crate::conversation::Part;
use crate::conversation::Reasoning;
use crate::conversation::Source;
use crate::json::Text;
use crate::json::Writer;
use crate::loss::LossKind;
use crate::protocol::Field;
use crate::protocol::Protocol;
use crate::protocol::losing::Losing;
use crate::protocol::media_type;
use crate::protocol::object::Object;
use crate::protocol::openai_chat::decode_request::content::DATA_URL;
use crate::protocol::openai_chat::decode_request::content::audio_type;
use crate::protocol::openai_chat::types::UNNAMED_FILE;
use crate::protocol::semantics::Extras;
use crate::protocol::semantics::NodeSemantics;

/// The extras of a node, if they are this protocol's own.
pub(in crate::protocol::openai_chat) fn own_extras<'e>(
    losing: &Losing<'_>,
    semantics: &'e NodeSemantics<'e>,
) -> Option<&'e Extras<'e>> {
    semantics.extras().filter(|_| losing.is_same())
}

/// The text of a part that is written as nothing but text, so that a string can stand for it.
pub(in crate::protocol::openai_chat) fn bare_text<'p>(
    part: &'p Part<'_>,
    losing: &mut Losing<'_>,
) -> Option<&'p Text<'p>> {
    let semantics = part.semantics();
    if semantics.cache().is_some() || own_extras(losing, semantics).is_some() {
        return None;
    }
    match part.content() {
        Content::Text(text) => Some(text),
        Content::Media(media) if let Source::Text { text, .. } = &media.source => {
            report_as_text(semantics, losing);
            Some(text)
        }
        _ => None,
    }
}

pub(super) fn report_as_text(semantics: &NodeSemantics<'_>, losing: &mut Losing<'_>) {
    let reason = "a plain-text document is sent as text";
    losing.node(semantics.place(), LossKind::Approximated, reason);
}

/// Writes one element of a list `content`.
pub(in crate::protocol::openai_chat) fn write_part(
    writer: &mut Writer,
    part: &Part<'_>,
    losing: &mut Losing<'_>,
) {
    let semantics = part.semantics();
    match part.content() {
        Content::Text(text) => write_simple(writer, ("text", text), semantics, losing),
        Content::Refusal(text) => write_simple(writer, ("refusal", text), semantics, losing),
        Content::Media(media) => write_media(writer, media, semantics, losing),
        Content::Reasoning(reasoning) => write_thinking(writer, reasoning, semantics, losing),
        Content::Opaque(opaque) => {
            if opaque.protocol == Protocol::OpenaiChat {
                writer.value(&opaque.json);
            }
        }
        // Calls and results have fields and messages of their own.
        Content::ToolCall(_) | Content::ToolResult(_) => {}
    }
}

fn write_simple(
    writer: &mut Writer,
    (name, text): (&'static str, &Text<'_>),
    semantics: &NodeSemantics<'_>,
    losing: &mut Losing<'_>,
) {
    let mut object = open(writer, name, semantics, losing);
    object.field(name, text);
    close(object, semantics, losing);
}

fn open<'w, 'e>(
    writer: &'w mut Writer,
    kind: &str,
    semantics: &'e NodeSemantics<'e>,
    losing: &Losing<'_>,
) -> Object<'w, 'e> {
    let extras = own_extras(losing, semantics).map(|extras| (extras, ""));
    let mut object = Object::open(writer, extras);
    object.field("type", kind);
    object
}

fn close(mut object: Object<'_, '_>, semantics: &NodeSemantics<'_>, losing: &mut Losing<'_>) {
    if let Some(marker) = semantics.cache() {
        if losing.shares_vendor() {
            object.field(marker.key, &marker.json);
        } else {
            object.key("prompt_cache_breakpoint").object(|it| it.word("mode", "explicit"));
            if marker.ttl.is_some() {
                losing.below(
                    semantics.place(),
                    &format!("/{}/ttl", marker.key),
                    LossKind::Approximated,
                    "Chat has other times to keep a prompt cached",
                );
            }
        }
    }
    object.close();
}

fn write_media(
    writer: &mut Writer,
    media: &Media<'_>,
    semantics: &NodeSemantics<'_>,
    losing: &mut Losing<'_>,
) {
    match media.kind {
        MediaKind::Image => write_image(writer, media, semantics, losing),
        MediaKind::Audio => write_audio(writer, media, semantics, losing),
        MediaKind::Document => write_document(writer, media, semantics, losing),
        // The walk over the request has reported it.
        MediaKind::Video => {}
    }
}

/// Writes a part whose payload is an object under the name of its type.
fn write_object(
    writer: &mut Writer,
    kind: &'static str,
    (semantics, losing): (&NodeSemantics<'_>, &mut Losing<'_>),
    members: impl FnOnce(&mut Object<'_, '_>, &mut Losing<'_>),
) {
    let mut object = open(writer, kind, semantics, losing);
    let extras = own_extras(losing, semantics).map(|extras| (extras, kind));
    let mut inner = Object::open(object.key(kind), extras);
    members(&mut inner, losing);
    inner.close();
    close(object, semantics, losing);
}

fn write_image(
    writer: &mut Writer,
    media: &Media<'_>,
    semantics: &NodeSemantics<'_>,
    losing: &mut Losing<'_>,
) {
    let Media { kind: _, source, detail, name } = media;
    let url = match source {
        Source::Base64 { mime, data } => data_url(mime.as_ref(), data, semantics, losing),
        Source::Url { url, .. } => url.reborrow(),
        // Nobody comes here with them: see `is_sayable`.
        Source::Text { .. } | Source::File { .. } => return,
    };
    if name.is_some() {
        let reason = "Chat has no names of images";
        losing.field(semantics.place(), Field::MediaName, LossKind::Dropped, reason);
    }
    write_object(writer, "image_url", (semantics, losing), |inner, _| {
        inner.field("url", &url);
        inner.optional("detail", detail.as_ref());
    });
}

/// The payload of this protocol's own that is not spelled the usual way.
fn kept<'e>(semantics: &'e NodeSemantics<'e>, losing: &Losing<'_>) -> Option<Text<'e>> {
    let kept = own_extras(losing, semantics)?.within(DATA_URL).next()?;
    Some(Text::plain(&*kept.key))
}

/// Puts a data URL together, unless it came in another spelling.
fn data_url<'t>(
    mime: Option<&Text<'_>>,
    data: &Text<'_>,
    semantics: &'t NodeSemantics<'t>,
    losing: &Losing<'_>,
) -> Text<'t> {
    kept(semantics, losing).unwrap_or_else(|| {
        let spelled = if losing.is_same() { Text::to_str } else { media_type::proper };
        let mime = mime.map_or("application/octet-stream".into(), spelled);
        let mut url = Text::plain(format!("data:{mime};base64,"));
        url.push(data);
        url
    })
}

fn write_audio(
    writer: &mut Writer,
    media: &Media<'_>,
    semantics: &NodeSemantics<'_>,
    losing: &mut Losing<'_>,
) {
    let (mime, data) = match &media.source {
        Source::Base64 { mime, data } => {
            (mime, kept(semantics, losing).unwrap_or_else(|| data.reborrow()))
        }
        Source::Url { mime, url } => (mime, url.reborrow()),
        // Nobody comes here with others: see `is_sayable`.
        Source::Text { .. } | Source::File { .. } => return,
    };
    let format = mime.as_ref().map(audio_format);
    if format.as_ref().map(|format| audio_type(format)) != mime.as_ref().map(Text::reborrow) {
        losing.node(semantics.place(), LossKind::Renamed, "Chat names sound by its format");
    }
    write_object(writer, "input_audio", (semantics, losing), |inner, _| {
        inner.field("data", &data);
        inner.optional("format", format.as_ref());
    });
}

fn audio_format(mime: &Text<'_>) -> String {
    let mime = mime.to_str();
    match mime.strip_prefix("audio/").unwrap_or(&mime) {
        "mpeg" => "mp3".to_owned(),
        "x-wav" | "wave" => "wav".to_owned(),
        format => format.to_owned(),
    }
}

/// Whether Chat has a way to send the media; what it has none for is reported, video by the walk over the request.
pub(super) fn is_sayable(part: &Part<'_>, media: &Media<'_>, losing: &mut Losing<'_>) -> bool {
    let is_ours = losing.shares_vendor();
    let (kind, reason) = match (media.kind, &media.source) {
        _ if losing.is_same() => return true,
        (MediaKind::Video, _) => return false,
        (MediaKind::Document | MediaKind::Image, Source::File { .. }) if !is_ours => {
            (LossKind::Withheld, "a file that only its vendor holds")
        }
        (MediaKind::Image, Source::File { .. } | Source::Text { .. }) => {
            (LossKind::Dropped, "Chat has no images by file id")
        }
        (MediaKind::Audio, Source::Url { .. } | Source::File { .. } | Source::Text { .. }) => {
            (LossKind::Dropped, "Chat takes sound only as bytes in the body")
        }
        (MediaKind::Document, Source::Url { .. }) => {
            (LossKind::Dropped, "Chat takes no files by URL")
        }
        (MediaKind::Document | MediaKind::Image | MediaKind::Audio, _) => return true,
    };
    losing.node(part.semantics().place(), kind, reason);
    false
}

fn write_document(
    writer: &mut Writer,
    media: &Media<'_>,
    semantics: &NodeSemantics<'_>,
    losing: &mut Losing<'_>,
) {
    let Media { kind: _, source, detail: _, name } = media;
    let place = semantics.place();
    let (key, value) = match source {
        Source::Base64 { mime, data } => {
            ("file_data", data_url(mime.as_ref(), data, semantics, losing))
        }
        Source::Text { .. } if let Some(url) = kept(semantics, losing) => ("file_data", url),
        Source::File { id, .. } if losing.shares_vendor() => ("file_id", id.reborrow()),
        Source::Url { url, .. } if losing.is_same() => ("file_data", url.reborrow()),
        // Nobody comes here with them: see `is_sayable`.
        Source::File { .. } | Source::Url { .. } => return,
        Source::Text { text, .. } => {
            report_as_text(semantics, losing);
            return write_simple(writer, ("text", text), semantics, losing);
        }
    };
    write_object(writer, "file", (semantics, losing), |inner, losing| {
        inner.field(key, &value);
        match name {
            Some(name) => inner.field("filename", name),
            None if losing.is_same() || key == "file_id" => {}
            None => {
                inner.field("filename", UNNAMED_FILE);
                let reason = "Chat wants a name for every file";
                losing.field(place, Field::MediaName, LossKind::Synthesised, reason);
            }
        }
    });
}

/// Writes reasoning as the chunk of content that some servers give and take.
fn write_thinking(
    writer: &mut Writer,
    reasoning: &Reasoning<'_>,
    semantics: &NodeSemantics<'_>,
    losing: &mut Losing<'_>,
) {
    let mut object = open(writer, "thinking", semantics, losing);
    object.key("thinking").array(|writer| {
        for text in &reasoning.texts {
            writer.object(|object| {
                object.word("type", "text");
                object.field("text", text);
            });
        }
    });
    close(object, semantics, losing);
}
