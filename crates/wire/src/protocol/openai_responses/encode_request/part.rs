//! Writing the parts of a message's content or of a tool's output.

use crate::base64;
use crate::conversation::{Content, Media, MediaKind, Part, Source};
use crate::json::{Json, Text, Writer};
use crate::loss::LossKind;
use crate::protocol::object::Object;
use crate::protocol::openai_responses::types::SELF;
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::{Extra, NodeSemantics};
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
        MediaKind::Image | MediaKind::Document => {
            !reporter.is_unreadable(part.semantics().place(), media)
        }
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
    let mut piece = Piece { reporter, semantics: part.semantics() };
    match part.content() {
        Content::Text(text) => piece.text(writer, text, side),
        Content::Refusal(text) => piece.refusal(writer, text),
        Content::Media(media) => piece.media(writer, media),
        Content::Opaque(opaque) => writer.value(&opaque.json),
        Content::ToolCall(_) | Content::ToolResult(_) | Content::Reasoning(_) => {}
    }
}

/// A part in the writing.
struct Piece<'p, 'r> {
    reporter: &'p mut Reporter<'r>,
    semantics: &'p NodeSemantics<'p>,
}

impl<'p> Piece<'p, '_> {
    fn open<'w>(&self, writer: &'w mut Writer, kind: &'static str) -> Object<'w, 'p> {
        let mut object = Object::open(writer, self.reporter.own_extras(self.semantics, ""));
        object.word("type", kind);
        object
    }

    /// Writes a text with its notes.
    fn text(&mut self, writer: &mut Writer, text: &Text<'_>, side: Side) {
        let is_output = side == Side::Output;
        let mut object = self.open(writer, if is_output { "output_text" } else { "input_text" });
        object.field("text", text);
        let cites = !self.semantics.citations().is_empty();
        if is_output || (cites && self.reporter.is_same()) {
            self.citations(&mut object, text);
        } else if cites {
            let reason = "Responses takes citations only from the assistant";
            self.reporter.citations(self.semantics, LossKind::Dropped, reason);
        }
        if let Some(logprobs) = self.semantics.logprobs() {
            let source = self.reporter.source();
            write_logprobs(object.key("logprobs"), source, &logprobs.entries());
        }
        if self.reporter.is_same() || side == Side::Input {
            self.cache_marker(&mut object);
        }
        object.close();
    }

    fn citations(&mut self, object: &mut Object<'_, '_>, text: &Text<'_>) {
        let is_cited = self.semantics.citations().iter().any(cites_all);
        let chars = if is_cited { text.to_str().chars().count() as u64 } else { 0 };
        let mut loss = None;
        object.key("annotations").array(|writer| {
            for citation in self.semantics.citations() {
                let written = write_citation(writer, citation, chars);
                let is_plain = citation.protocol().conventions().is_plain_citation;
                loss = match written {
                    false => Some((LossKind::Dropped, "Responses has no citations without a URL")),
                    true if is_plain(citation) => loss,
                    true => {
                        loss.or(Some((LossKind::Approximated, "URL, title and range are carried")))
                    }
                };
            }
        });
        if let Some((kind, reason)) = loss {
            self.reporter.citations(self.semantics, kind, reason);
        }
    }

    fn refusal(&mut self, writer: &mut Writer, text: &Text<'_>) {
        let mut object = self.open(writer, "refusal");
        object.field("refusal", text);
        if self.reporter.is_same() {
            self.cache_marker(&mut object);
        }
        object.close();
    }

    fn cache_marker(&mut self, object: &mut Object<'_, '_>) {
        let Some(marker) = self.semantics.cache() else { return };
        // Clients of Chat may use Anthropic's marker as well, which is none of this vendor.
        // Fixture `request/cache/cache-control-of-chat-clients`.
        if marker.key == CacheMarker::OPENAI {
            return object.field(CacheMarker::OPENAI, &marker.json);
        }
        object.key(CacheMarker::OPENAI).object(|writer| writer.word("mode", "explicit"));
        if marker.ttl.is_some() {
            let reason = "the lifetime of a cache marker is the vendor's own";
            let place = self.semantics.place();
            self.reporter.marker(place, marker, LossKind::Approximated, reason);
        }
    }

    fn media(&mut self, writer: &mut Writer, media: &Media<'_>) {
        let Media { kind, source, detail, name } = media;
        if !source.mime().is_none_or(media_type::is_proper) {
            self.reporter.renamed(self.semantics, "Responses writes data in one form");
        }
        let word = match kind {
            MediaKind::Image | MediaKind::Video => "input_image",
            MediaKind::Document => "input_file",
            MediaKind::Audio => "input_audio",
        };
        let own = self.reporter.own_extras(self.semantics, data_url::DATA_URL);
        let kept = own.and_then(|(extras, scope)| extras.within(scope).next());
        let mut object = self.open(writer, word);
        match kind {
            MediaKind::Image | MediaKind::Video => {
                write_source(&mut object, (source, kept), ("image_url", "image_url"));
                // The type asks for a detail, and this is what leaving it out means.
                object.field("detail", detail.as_ref().unwrap_or(&Text::literal("auto")));
                if name.is_some() {
                    let reason = "Responses has no names of images";
                    self.reporter.dropped((self.semantics, Field::MediaName), reason);
                }
            }
            MediaKind::Document => {
                self.file_name(&mut object, media);
                write_source(&mut object, (source, kept), ("file_url", "file_data"));
                object.optional("detail", detail.as_ref());
            }
            MediaKind::Audio => self.audio(object.key("input_audio"), source),
        }
        self.cache_marker(&mut object);
        object.close();
    }

    /// Data needs a file name; one is made up from the type of the data where the input has none. A file that stands
    /// elsewhere has a name there, and the vendor refuses another beside its address or id.
    fn file_name(&mut self, object: &mut Object<'_, '_>, media: &Media<'_>) {
        let is_data = matches!(media.source, Source::Base64 { .. } | Source::Text { .. });
        match &media.name {
            Some(name) if self.reporter.is_same() || is_data => object.field("filename", name),
            Some(_) => {
                let reason = "a file that is not sent along keeps the name that it has where it is";
                self.reporter.dropped((self.semantics, Field::MediaName), reason);
            }
            None if self.reporter.is_same() || !is_data => {}
            None => {
                let mime = media.source.mime().map(Text::to_str).unwrap_or_default();
                let ending = match &*mime {
                    "application/pdf" => "pdf",
                    "text/plain" => "txt",
                    other => other.rsplit('/').next().filter(|it| !it.is_empty()).unwrap_or("bin"),
                };
                object.field("filename", &format!("file.{ending}"));
                let reason = "files sent as data need a name";
                self.reporter.synthesised((self.semantics, Field::MediaName), reason);
            }
        }
    }

    fn audio(&self, writer: &mut Writer, source: &Source<'_>) {
        let extras = self.reporter.own_extras(self.semantics, "input_audio");
        let mut object = Object::open(writer, extras);
        if let Source::Base64 { mime, data } = source {
            object.field("data", data);
            let mime = mime.as_ref().map(Text::to_str);
            object.optional("format", mime.as_deref().and_then(|mime| mime.rsplit('/').next()));
        }
        object.close();
    }
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

/// Writes where a medium is, under the key for addresses or the one for data; data as they were spelled, if that was kept.
fn write_source(
    object: &mut Object<'_, '_>,
    (source, kept): (&Source<'_>, Option<&Extra<'_>>),
    (address, data_key): (&'static str, &'static str),
) {
    match source {
        Source::Base64 { .. } if let Some(kept) = kept => object.field(data_key, &*kept.key),
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
