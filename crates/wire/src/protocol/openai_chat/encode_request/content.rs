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
use crate::protocol::openai_chat::types::shape;
use crate::protocol::semantics::Extras;
use crate::protocol::semantics::NodeSemantics;

/// The extras of a node, if they are this protocol's own.
pub(in crate::protocol::openai_chat) fn own_extras<'e>(
    losing: &Losing<'_>,
    semantics: &'e NodeSemantics<'e>,
) -> Option<&'e Extras<'e>> {
    semantics.extras().filter(|_| losing.is_same())
}

/// Whether a part is nothing but text, so that a string can stand for it.
pub(in crate::protocol::openai_chat) fn is_bare_text(part: &Part<'_>, losing: &Losing<'_>) -> bool {
    let semantics = part.semantics();
    matches!(part.content(), Content::Text(_))
        && semantics.cache().is_none()
        && own_extras(losing, semantics).is_none()
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
            let cache_control = semantics.has_shape(shape::CACHE_CONTROL) && losing.is_same();
            let key = if cache_control { "cache_control" } else { "prompt_cache_breakpoint" };
            object.field(key, &marker.json);
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

fn write_image(
    writer: &mut Writer,
    media: &Media<'_>,
    semantics: &NodeSemantics<'_>,
    losing: &mut Losing<'_>,
) {
    let Media { kind: _, source, detail, name } = media;
    let url = match source {
        Source::Base64 { .. } | Source::Text { .. } if is_whole_url(semantics, losing) => {
            data_url(None, &Text::default(), semantics, losing)
        }
        Source::Base64 { data, .. } if losing.is_same() && semantics.has_shape(shape::RAW_DATA) => {
            data.reborrow()
        }
        Source::Base64 { mime, data } => data_url(mime.as_ref(), data, semantics, losing),
        Source::Url { url, .. } => url.reborrow(),
        // Nobody comes here with them: see `is_sayable`.
        Source::Text { .. } | Source::File { .. } => return,
    };
    if name.is_some() {
        let reason = "Chat has no names of images";
        losing.field(semantics.place(), Field::MediaName, LossKind::Dropped, reason);
    }
    let mut object = open(writer, "image_url", semantics, losing);
    if semantics.has_shape(shape::BARE) && detail.is_none() {
        object.field("image_url", &url);
    } else {
        let extras = own_extras(losing, semantics).map(|extras| (extras, "image_url"));
        let mut inner = Object::open(object.key("image_url"), extras);
        inner.field("url", &url);
        inner.optional("detail", detail.as_ref());
        inner.close();
    }
    close(object, semantics, losing);
}

/// Whether the extras hold a data URL of this protocol's own that is not base64.
fn is_whole_url(semantics: &NodeSemantics<'_>, losing: &Losing<'_>) -> bool {
    losing.is_same() && semantics.has_shape(shape::WHOLE_URL)
}

/// Puts a data URL together; an unusual prefix of this protocol's own comes back.
fn data_url<'t>(
    mime: Option<&Text<'_>>,
    data: &Text<'_>,
    semantics: &NodeSemantics<'_>,
    losing: &mut Losing<'_>,
) -> Text<'t> {
    let kept = own_extras(losing, semantics)
        .and_then(|extras| extras.within(DATA_URL).next())
        .map(|extra| extra.key.to_string());
    let prefix = kept.unwrap_or_else(|| {
        let spelled = if losing.is_same() { Text::to_str } else { media_type::proper };
        let mime = mime.map_or("application/octet-stream".into(), spelled);
        format!("data:{mime};base64,")
    });
    let mut url = Text::plain(prefix);
    url.push(data);
    url
}

fn write_audio(
    writer: &mut Writer,
    media: &Media<'_>,
    semantics: &NodeSemantics<'_>,
    losing: &mut Losing<'_>,
) {
    let (mime, data) = match &media.source {
        Source::Base64 { mime, data } => (mime, own_prefix(data, semantics, losing)),
        Source::Url { mime, url } => (mime, url.reborrow()),
        // Nobody comes here with others: see `is_sayable`.
        Source::Text { .. } | Source::File { .. } => return,
    };
    let is_stated = !is_whole_url(semantics, losing);
    let format = mime.as_ref().filter(|_| is_stated).map(audio_format);
    if is_stated
        && format.as_ref().map(|format| audio_type(format)) != mime.as_ref().map(Text::reborrow)
    {
        losing.node(semantics.place(), LossKind::Renamed, "Chat names sound by its format");
    }
    let mut object = open(writer, "input_audio", semantics, losing);
    if semantics.has_shape(shape::BARE) {
        object.field("input_audio", &data);
    } else {
        let extras = own_extras(losing, semantics).map(|extras| (extras, "input_audio"));
        let mut inner = Object::open(object.key("input_audio"), extras);
        inner.field("data", &data);
        inner.optional("format", format.as_ref());
        inner.close();
    }
    close(object, semantics, losing);
}

/// The data behind the prefix of a data URL that came with it.
fn own_prefix<'t>(
    data: &'t Text<'_>,
    semantics: &NodeSemantics<'_>,
    losing: &Losing<'_>,
) -> Text<'t> {
    let kept = own_extras(losing, semantics).and_then(|extras| extras.within(DATA_URL).next());
    match kept {
        Some(prefix) => {
            let mut url = Text::plain(prefix.key.to_string());
            url.push(data);
            url
        }
        None => data.reborrow(),
    }
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
        Source::Base64 { .. } | Source::Text { .. } if is_whole_url(semantics, losing) => {
            ("file_data", data_url(None, &Text::default(), semantics, losing))
        }
        Source::Base64 { data, .. } if semantics.has_shape(shape::RAW_DATA) => {
            ("file_data", data.reborrow())
        }
        Source::Base64 { mime, data } => {
            ("file_data", data_url(mime.as_ref(), data, semantics, losing))
        }
        Source::File { id, .. } if losing.shares_vendor() => ("file_id", id.reborrow()),
        Source::Url { url, .. } if losing.is_same() => ("file_data", url.reborrow()),
        // Nobody comes here with them: see `is_sayable`.
        Source::File { .. } | Source::Url { .. } => return,
        Source::Text { text, .. } => {
            losing.node(place, LossKind::Approximated, "a plain-text document is sent as text");
            return write_simple(writer, ("text", text), semantics, losing);
        }
    };
    let mut object = open(writer, "file", semantics, losing);
    let extras = own_extras(losing, semantics).map(|extras| (extras, "file"));
    let mut inner = Object::open(object.key("file"), extras);
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
    inner.close();
    close(object, semantics, losing);
}

/// Writes reasoning as the chunk of content that some servers give and take.
fn write_thinking(
    writer: &mut Writer,
    reasoning: &Reasoning<'_>,
    semantics: &NodeSemantics<'_>,
    losing: &mut Losing<'_>,
) {
    let mut object = open(writer, "thinking", semantics, losing);
    match reasoning.texts.as_slice() {
        [text] if semantics.has_shape(shape::BARE) => object.field("thinking", text),
        texts => object.key("thinking").array(|writer| {
            for text in texts {
                writer.object(|object| {
                    object.word("type", "text");
                    object.field("text", text);
                });
            }
        }),
    }
    close(object, semantics, losing);
}
