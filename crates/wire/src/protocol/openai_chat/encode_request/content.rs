//! Writing parts of content.

use crate::conversation::{Content, Media, MediaKind, Part, Source};
use crate::json::{Text, Writer};
use crate::loss::LossKind;
use crate::protocol::data_url::DATA_URL;
use crate::protocol::object::Object;
use crate::protocol::openai_chat::types::{SELF, UNNAMED_FILE};
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::{Extra, NodeSemantics};
use crate::protocol::{Field, data_url, media_type};

/// The text of a part that is written as nothing but text, so that a string can stand for it.
pub(in super::super) fn bare_text<'p>(
    part: &'p Part<'_>,
    reporter: &mut Reporter<'_>,
) -> Option<&'p Text<'p>> {
    let semantics = part.semantics();
    if semantics.cache().is_some() || reporter.own_extras(semantics, "").is_some() {
        return None;
    }
    match part.content() {
        Content::Text(text) => Some(text),
        Content::Media(media) if let Source::Text { text, .. } = &media.source => {
            report_as_text(semantics, reporter);
            Some(text)
        }
        _ => None,
    }
}

pub(super) fn report_as_text(semantics: &NodeSemantics<'_>, reporter: &mut Reporter<'_>) {
    reporter.approximated(semantics, "a plain-text document is sent as text");
}

/// Writes one element of a list `content`.
pub(in super::super) fn write_part(
    writer: &mut Writer,
    part: &Part<'_>,
    reporter: &mut Reporter<'_>,
) {
    let mut piece = Piece { writer, semantics: part.semantics(), reporter };
    match part.content() {
        Content::Text(text) => piece.write("text", |writer| writer.value(text)),
        Content::Refusal(text) => piece.write("refusal", |writer| writer.value(text)),
        Content::Media(media) => match media.kind {
            MediaKind::Image => piece.write_image(media),
            MediaKind::Audio => piece.write_audio(media),
            MediaKind::Document => piece.write_document(media),
            // The walk over the request has reported it.
            MediaKind::Video => {}
        },
        Content::Reasoning(reasoning) => {
            piece.write("thinking", |writer| write_thinking(writer, &reasoning.texts));
        }
        Content::Opaque(opaque) if opaque.protocol == SELF => piece.writer.value(&opaque.json),
        // Calls and results have fields and messages of their own.
        Content::Opaque(_) | Content::ToolCall(_) | Content::ToolResult(_) => {}
    }
}

/// A part in the making.
struct Piece<'w, 'p, 'r> {
    writer: &'w mut Writer,
    semantics: &'p NodeSemantics<'p>,
    reporter: &'w mut Reporter<'r>,
}

impl<'p> Piece<'_, 'p, '_> {
    /// Writes a part whose payload stands under the name of its type, with what rides on it.
    fn write(&mut self, kind: &'static str, payload: impl FnOnce(&mut Writer)) {
        let extras = self.reporter.own_extras(self.semantics, "");
        let mut object = Object::open(self.writer, extras);
        object.word("type", kind);
        payload(object.key(kind));
        match self.semantics.cache() {
            None => {}
            Some(marker) if self.reporter.shares_vendor() => object.field(marker.key, &marker.json),
            Some(marker) => {
                object.key("prompt_cache_breakpoint").object(|it| it.word("mode", "explicit"));
                if marker.ttl.is_some() {
                    let (at, reason) =
                        (self.semantics.place(), "Chat has other times to keep a prompt cached");
                    let ttl = format!("/{}/ttl", marker.key);
                    self.reporter.below(at, &ttl, LossKind::Approximated, reason);
                }
            }
        }
        object.close();
    }

    /// The same with an object as the payload.
    fn write_object(&mut self, kind: &'static str, members: impl FnOnce(&mut Object<'_, '_>)) {
        let extras = self.reporter.own_extras(self.semantics, kind);
        self.write(kind, |writer| {
            let mut object = Object::open(writer, extras);
            members(&mut object);
            object.close();
        });
    }

    /// The first of this protocol's own extras in an object of the part.
    fn extra(&self, scope: &'static str) -> Option<&'p Extra<'p>> {
        let (extras, scope) = self.reporter.own_extras(self.semantics, scope)?;
        extras.within(scope).next()
    }

    /// The payload of this protocol's own that is not spelled the usual way.
    fn kept(&self) -> Option<Text<'p>> {
        self.extra(DATA_URL).map(|kept| Text::plain(&*kept.key))
    }

    /// Puts a data URL together, unless it came in another spelling.
    fn data_url(&self, mime: Option<&Text<'_>>, data: &Text<'_>) -> Text<'p> {
        self.kept().unwrap_or_else(|| {
            let spelled = if self.reporter.is_same() { Text::to_str } else { media_type::proper };
            let mime = mime.map_or("application/octet-stream".into(), spelled);
            data_url::in_base64(&mime, data)
        })
    }

    fn write_image(&mut self, media: &Media<'_>) {
        let Media { kind: _, source, detail, name } = media;
        let url = match source {
            Source::Base64 { mime, data } => self.data_url(mime.as_ref(), data),
            Source::Url { url, .. } => url.reborrow(),
            // Nobody comes here with them: see `is_sayable`.
            Source::Text { .. } | Source::File { .. } => return,
        };
        if name.is_some() {
            let reason = "Chat has no names of images";
            self.reporter.dropped((self.semantics, Field::MediaName), reason);
        }
        self.write_object("image_url", |inner| {
            inner.field("url", &url);
            inner.optional("detail", detail.as_ref());
        });
    }

    fn write_audio(&mut self, media: &Media<'_>) {
        let (mime, data) = match &media.source {
            Source::Base64 { mime, data } => (mime, self.kept().unwrap_or_else(|| data.reborrow())),
            Source::Url { mime, url } => (mime, url.reborrow()),
            // Nobody comes here with others: see `is_sayable`.
            Source::Text { .. } | Source::File { .. } => return,
        };
        let format = mime.as_ref().map(audio_format);
        if format.as_ref().map(media_type::of_audio) != mime.as_ref().map(Text::reborrow) {
            let reason = "Chat names audio by its format, not by a MIME type";
            self.reporter.renamed(self.semantics.place(), reason);
        }
        // The servers that tell the format by the sound itself take it as a string alone.
        if self.reporter.is_same() && format.is_none() && self.extra("input_audio").is_none() {
            return self.write("input_audio", |writer| writer.value(&data));
        }
        self.write_object("input_audio", |inner| {
            inner.field("data", &data);
            inner.optional("format", format.as_ref());
        });
    }

    fn write_document(&mut self, media: &Media<'_>) {
        let Media { kind: _, source, detail: _, name } = media;
        let (key, value) = match source {
            Source::Base64 { mime, data } => ("file_data", self.data_url(mime.as_ref(), data)),
            Source::Text { .. } if let Some(url) = self.kept() => ("file_data", url),
            Source::File { id, .. } if self.reporter.shares_vendor() => ("file_id", id.reborrow()),
            Source::Url { url, .. } if self.reporter.is_same() => ("file_data", url.reborrow()),
            // Nobody comes here with them: see `is_sayable`.
            Source::File { .. } | Source::Url { .. } => return,
            Source::Text { text, .. } => {
                report_as_text(self.semantics, self.reporter);
                return self.write("text", |writer| writer.value(text));
            }
        };
        let is_unnamed = name.is_none() && key == "file_data" && !self.reporter.is_same();
        if is_unnamed {
            let reason = "Chat wants a name for every file";
            self.reporter.synthesised((self.semantics, Field::MediaName), reason);
        }
        let made_up = is_unnamed.then_some(Text::literal(UNNAMED_FILE));
        self.write_object("file", |inner| {
            inner.field(key, &value);
            inner.optional("filename", name.as_ref().or(made_up.as_ref()));
        });
    }
}

/// Writes reasoning as the chunk of content that some servers give and take.
pub(in super::super) fn write_thinking(writer: &mut Writer, texts: &[Text<'_>]) {
    writer.array(|writer| {
        for text in texts {
            writer.object(|object| {
                object.word("type", "text");
                object.field("text", text);
            });
        }
    });
}

fn audio_format(mime: &Text<'_>) -> Text<'static> {
    let mime = mime.to_str();
    match mime.strip_prefix("audio/").unwrap_or(&mime) {
        "mpeg" => Text::literal("mp3"),
        "x-wav" | "wave" => Text::literal("wav"),
        format => Text::plain(format.to_owned()),
    }
}

/// Whether Chat has a way to send the media; what it has none for is reported, video by the walk over the request.
pub(super) fn is_sayable(part: &Part<'_>, media: &Media<'_>, reporter: &mut Reporter<'_>) -> bool {
    let is_ours = reporter.shares_vendor();
    let (kind, reason) = match (media.kind, &media.source) {
        _ if reporter.is_same() => return true,
        (MediaKind::Video, _) => return false,
        _ if reporter.is_unreadable(part.semantics().place(), media) => return false,
        (MediaKind::Document | MediaKind::Image, Source::File { .. }) if !is_ours => {
            (LossKind::Withheld, "a file id is only valid for its vendor")
        }
        (MediaKind::Image, Source::File { .. } | Source::Text { .. }) => {
            (LossKind::Dropped, "Chat has no images by file id")
        }
        (MediaKind::Audio, Source::Url { .. } | Source::File { .. } | Source::Text { .. }) => {
            (LossKind::Dropped, "Chat takes audio only as data in the body")
        }
        (MediaKind::Document, Source::Url { .. }) => {
            (LossKind::Dropped, "Chat takes no files by URL")
        }
        (MediaKind::Document | MediaKind::Image | MediaKind::Audio, _) => return true,
    };
    reporter.lose(part, kind, reason);
    false
}
