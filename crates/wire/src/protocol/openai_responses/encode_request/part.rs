//! Writing the parts of a message's content or of a tool's output.

use crate::base64;
use crate::conversation::{Content, Media, MediaKind, Part, Source};
use crate::json::{Json, Text, Writer};
use crate::loss::LossKind;
use crate::protocol::object::Object;
use crate::protocol::openai_responses::types::SELF;
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::words::is_wordless;
use crate::protocol::{CacheMarker, Citation, Field, Protocol, data_url, media_type};

/// Who says a part, which decides how its text is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Side {
    Input,
    Output,
}

/// Whether a part can stand on a side; what the walk over the request has reported anyway cannot.
pub(in super::super) fn is_writable(
    reporter: &mut Reporter<'_>,
    part: &Part<'_>,
    side: Side,
) -> bool {
    match (part.content(), side) {
        (Content::Text(_) | Content::Refusal(_), _) => true,
        (Content::Opaque(opaque), _) => opaque.protocol == SELF,
        (Content::Media(_), _) if reporter.is_same() => true,
        (Content::Media(_), Side::Output) => {
            reporter.dropped(part, "the assistant's messages hold text alone");
            false
        }
        (Content::Media(media), Side::Input) => takes(reporter, part, media),
        (Content::ToolCall(_) | Content::ToolResult(_) | Content::Reasoning(_), _) => false,
    }
}

fn takes(reporter: &mut Reporter<'_>, part: &Part<'_>, media: &Media<'_>) -> bool {
    if let Source::File { .. } = media.source
        && !reporter.shares_vendor()
    {
        reporter.dropped(part, "the file is held by another vendor");
        return false;
    }
    if is_wordless(part) {
        reporter.wordless(part, media);
        return false;
    }
    match media.kind {
        MediaKind::Image | MediaKind::Document => true,
        MediaKind::Audio | MediaKind::Video => false,
    }
}

/// Writes a part that [`is_writable`].
pub(in super::super) fn write_part(
    writer: &mut Writer,
    reporter: &mut Reporter<'_>,
    part: &Part<'_>,
    side: Side,
) {
    let semantics = part.semantics();
    match part.content() {
        Content::Text(text) => write_text(writer, reporter, (text, semantics), side),
        Content::Refusal(text) => {
            let mut object = Object::open(writer, reporter.own_extras(semantics, ""));
            object.word("type", "refusal");
            object.field("refusal", text);
            if reporter.is_same() {
                write_cache_marker(&mut object, reporter, semantics);
            }
            object.close();
        }
        Content::Media(media) => write_media(writer, reporter, media, semantics),
        Content::Opaque(opaque) => writer.value(&opaque.json),
        Content::ToolCall(_) | Content::ToolResult(_) | Content::Reasoning(_) => {}
    }
}

/// Writes a text with its notes.
pub(in super::super) fn write_text(
    writer: &mut Writer,
    reporter: &mut Reporter<'_>,
    (text, semantics): (&Text<'_>, &NodeSemantics<'_>),
    side: Side,
) {
    let mut object = Object::open(writer, reporter.own_extras(semantics, ""));
    let is_output = side == Side::Output;
    object.word("type", if is_output { "output_text" } else { "input_text" });
    object.field("text", text);
    let cites = !semantics.citations().is_empty();
    if is_output || (cites && reporter.is_same()) {
        write_citations(&mut object, reporter, (text, semantics));
    } else if cites {
        reporter.citations(
            semantics,
            LossKind::Dropped,
            "Responses takes citations only from the assistant",
        );
    }
    if let Some(logprobs) = semantics.logprobs() {
        write_logprobs(object.key("logprobs"), reporter.source(), &logprobs.entries());
    }
    if reporter.is_same() || side == Side::Input {
        write_cache_marker(&mut object, reporter, semantics);
    }
    object.close();
}

/// Writes log probabilities; a token without bytes has an empty list of them here, where Chat says null.
pub(in super::super) fn write_logprobs(writer: &mut Writer, source: Protocol, logprobs: &Json<'_>) {
    let compact = logprobs.compact();
    // Inside a string the quotes would be escaped, so that only the key itself is met.
    if source == SELF || !compact.contains(r#""bytes":null"#) {
        return writer.value(logprobs);
    }
    match Json::parse(compact.replace(r#""bytes":null"#, r#""bytes":[]"#)) {
        Ok(filled) => writer.value(&filled),
        Err(_) => writer.value(logprobs),
    }
}

fn write_citations(
    object: &mut Object<'_, '_>,
    reporter: &mut Reporter<'_>,
    (text, semantics): (&Text<'_>, &NodeSemantics<'_>),
) {
    let is_cited = semantics.citations().iter().any(cites_all);
    let chars = if is_cited { text.to_str().chars().count() as u64 } else { 0 };
    let mut loss = None;
    object.key("annotations").array(|writer| {
        for citation in semantics.citations() {
            let written = write_citation(writer, citation, chars);
            loss = match (written, citation.protocol()) {
                (false, _) => Some((LossKind::Dropped, "Responses has no citations without a URL")),
                (true, source) if (source.conventions().is_plain_citation)(citation) => loss,
                (true, _) => {
                    loss.or(Some((LossKind::Approximated, "URL, title and range are carried")))
                }
            };
        }
    });
    if let Some((kind, reason)) = loss {
        reporter.citations(semantics, kind, reason);
    }
}

/// Whether a citation covers all of its text, so that it can be emitted when the text is complete.
pub(in super::super) fn cites_all(citation: &Citation<'_>) -> bool {
    citation.protocol() != SELF && citation.span().is_none()
}

/// How long the text of a part is, in characters.
pub(in super::super) fn chars_of(part: &Part<'_>) -> u64 {
    match part.content() {
        Content::Text(text) => text.to_str().chars().count() as u64,
        _ => 0,
    }
}

/// Writes a citation of a text of so many characters as an annotation; false if there is no annotation that says the same.
pub(in super::super) fn write_citation(
    writer: &mut Writer,
    citation: &Citation<'_>,
    chars: u64,
) -> bool {
    if citation.protocol() == SELF {
        writer.value(citation.json());
        return true;
    }
    let Some(url) = citation.url() else { return false };
    let (start, end) = citation.span().unwrap_or((0, chars));
    writer.object(|writer| {
        writer.word("type", "url_citation");
        writer.field("start_index", &start);
        writer.field("end_index", &end);
        writer.field("url", url);
        match citation.title() {
            Some(title) => writer.field("title", title),
            None => writer.word("title", ""),
        }
    });
    true
}

fn write_cache_marker(
    object: &mut Object<'_, '_>,
    reporter: &mut Reporter<'_>,
    semantics: &NodeSemantics<'_>,
) {
    let Some(marker) = semantics.cache() else { return };
    // Clients of Chat may use Anthropic's marker as well, which is none of this vendor.
    // Fixture `request/cache/cache-control-of-chat-clients`.
    if marker.key == CacheMarker::OPENAI {
        return object.field(CacheMarker::OPENAI, &marker.json);
    }
    object.key(CacheMarker::OPENAI).object(|writer| writer.word("mode", "explicit"));
    if marker.ttl.is_some() {
        let reason = "the lifetime of a cache marker is the vendor's own";
        reporter.marker(semantics.place(), marker, LossKind::Approximated, reason);
    }
}

fn write_media(
    writer: &mut Writer,
    reporter: &mut Reporter<'_>,
    media: &Media<'_>,
    semantics: &NodeSemantics<'_>,
) {
    let Media { kind, source, detail, name } = media;
    if !source.mime().is_none_or(media_type::is_proper) {
        reporter.renamed(semantics, "Responses writes data in one form");
    }
    let mut object = Object::open(writer, reporter.own_extras(semantics, ""));
    match kind {
        MediaKind::Image | MediaKind::Video => {
            object.word("type", "input_image");
            write_source(&mut object, source, ("image_url", "image_url"));
            // The type asks for a detail, and this is what leaving it out means.
            object.field("detail", detail.as_ref().unwrap_or(&Text::literal("auto")));
            if name.is_some() {
                let reason = "Responses has no names of images";
                reporter.dropped((semantics, Field::MediaName), reason);
            }
        }
        MediaKind::Document => {
            object.word("type", "input_file");
            write_file_name(&mut object, reporter, media, semantics);
            write_source(&mut object, source, ("file_url", "file_data"));
            object.optional("detail", detail.as_ref());
        }
        MediaKind::Audio => {
            object.word("type", "input_audio");
            write_audio(object.key("input_audio"), reporter, media, semantics);
        }
    }
    write_cache_marker(&mut object, reporter, semantics);
    object.close();
}

/// Data needs a file name; one is made up from the type of the data where the input has none. A file that stands
/// elsewhere has a name there, and the vendor refuses another beside its address or id.
fn write_file_name(
    object: &mut Object<'_, '_>,
    reporter: &mut Reporter<'_>,
    media: &Media<'_>,
    semantics: &NodeSemantics<'_>,
) {
    let is_data = matches!(media.source, Source::Base64 { .. } | Source::Text { .. });
    match &media.name {
        Some(name) if reporter.is_same() || is_data => object.field("filename", name),
        Some(_) => {
            let reason = "a file that is not sent along keeps the name that it has where it is";
            reporter.dropped((semantics, Field::MediaName), reason);
        }
        None if reporter.is_same() || !is_data => {}
        None => {
            let mime = media.source.mime().map(Text::to_str).unwrap_or_default();
            let ending = match &*mime {
                "application/pdf" => "pdf",
                "text/plain" => "txt",
                other => other.rsplit('/').next().filter(|it| !it.is_empty()).unwrap_or("bin"),
            };
            object.field("filename", &format!("file.{ending}"));
            let reason = "files sent as data need a name";
            reporter.synthesised((semantics, Field::MediaName), reason);
        }
    }
}

/// Writes where a medium is, under the key for addresses or the one for data.
fn write_source(
    object: &mut Object<'_, '_>,
    source: &Source<'_>,
    (address, data_key): (&'static str, &'static str),
) {
    match source {
        Source::Base64 { mime, data } => {
            let mime = mime.as_ref().map_or("application/octet-stream".into(), media_type::proper);
            object.field(data_key, &data_url::in_base64(&mime, data));
        }
        Source::Text { mime, text } => {
            let mime = mime.as_ref().map_or("text/plain".into(), Text::to_str);
            let data = Text::plain(base64::encode(text.to_str().as_bytes()));
            object.field(data_key, &data_url::in_base64(&mime, &data));
        }
        Source::Url { url, .. } => object.field(address, url),
        Source::File { id, .. } => object.field("file_id", id),
    }
}

fn write_audio(
    writer: &mut Writer,
    reporter: &Reporter<'_>,
    media: &Media<'_>,
    own: &NodeSemantics<'_>,
) {
    let mut object = Object::open(writer, reporter.own_extras(own, "input_audio"));
    if let Source::Base64 { mime, data } = &media.source {
        object.field("data", data);
        let mime = mime.as_ref().map(Text::to_str);
        object.optional("format", mime.as_deref().and_then(|mime| mime.rsplit('/').next()));
    }
    object.close();
}
