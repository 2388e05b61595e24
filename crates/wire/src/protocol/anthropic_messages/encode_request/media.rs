//! Images and documents. Of those of another protocol the bytes decide what they are.

use super::blocks::Block;
use crate::base64;
use crate::conversation::{Media, MediaKind, Source};
use crate::json::{Text, Writer};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::Field;
use crate::protocol::anthropic_messages::types::{CONTENT_BLOCKS, CONTENT_SOURCE, SEARCH_RESULT};
use crate::protocol::object::Object;
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::NodeSemantics;
use crate::target::Family;

/// A file as it can be sent.
enum Sendable<'m> {
    Base64 { mime: &'static str, data: &'m Text<'m> },
    PlainText(Text<'m>),
    Url { kind: MediaKind, url: &'m Text<'m> },
}

impl Sendable<'_> {
    fn is_image(&self) -> bool {
        match self {
            Self::Base64 { mime, .. } => mime.starts_with("image/"),
            Self::PlainText(_) => false,
            Self::Url { kind, .. } => *kind == MediaKind::Image,
        }
    }
}

/// Whether a file can be sent, with what is lost of it reported.
pub(super) fn admits(
    media: &Media<'_>,
    place: Place,
    family: &Family,
    reporter: &mut Reporter<'_>,
) -> bool {
    if media.detail.as_ref().is_some_and(|detail| *detail != "auto") {
        reporter.dropped((place, Field::MediaDetail), "Messages has no detail levels for images");
    }
    if media.name.is_some() && media.kind != MediaKind::Document {
        reporter.dropped((place, Field::MediaName), "only documents have a title in Messages");
    }
    if matches!(media.source, Source::File { .. }) {
        reporter.withheld(place, "a file id is only valid for its vendor");
        return false;
    }
    if matches!(media.kind, MediaKind::Audio | MediaKind::Video) {
        // The walk over all that is set has reported these.
        return false;
    }
    if reporter.is_unreadable(place, media) {
        return false;
    }
    let sendable = sendable(media).filter(|it| match it {
        Sendable::PlainText(_) => true,
        it if it.is_image() => family.inputs.image,
        _ => family.inputs.pdf,
    });
    let sent = match &sendable {
        None => {
            reporter.dropped(place, "Messages does not take files of this type");
            return false;
        }
        Some(Sendable::PlainText(text)) if text.is_blank() => {
            reporter.repaired(place, "a document without text has no effect");
            return false;
        }
        Some(Sendable::PlainText(_)) => "text/plain",
        Some(Sendable::Base64 { mime, .. }) => *mime,
        Some(Sendable::Url { .. }) => return true,
    };
    let (kind, reason) = match media.source.mime().map(plain_type) {
        Some(declared) if declared == sent => return true,
        Some(_) if sent == "text/plain" => {
            (LossKind::Approximated, "Messages takes text documents as plain text")
        }
        Some(_) => (LossKind::Repaired, "the bytes are of another type than stated"),
        None => (LossKind::Synthesised, "the type is detected from the data"),
    };
    reporter.lose(place, kind, reason);
    true
}

/// Writes a file that was admitted.
pub(super) fn write(writer: &mut Writer, media: &Media<'_>, block: Block<'_>) {
    let Some(sendable) = sendable(media) else { return };
    let (kind, title) = match sendable.is_image() {
        true => ("image", None),
        false => ("document", media.name.as_ref()),
    };
    block.media(writer, kind, title, |writer| {
        writer.object(|source| match &sendable {
            Sendable::Base64 { mime, data } => write_base64(source, mime, data),
            Sendable::Url { url, .. } => {
                source.word("type", "url");
                source.field("url", *url);
            }
            Sendable::PlainText(text) => {
                source.word("type", "text");
                source.word("media_type", "text/plain");
                source.field("data", text);
            }
        });
    });
}

/// Writes a file that came in this protocol.
pub(super) fn write_own(writer: &mut Writer, media: &Media<'_>, semantics: &NodeSemantics<'_>) {
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

fn write_base64(source: &mut Writer, mime: &str, data: &Text<'_>) {
    source.field("type", "base64");
    source.field("media_type", mime);
    let text = data.to_str();
    // Gemini also takes the alphabet for URLs, which nobody else does.
    // Fixture `request/media/url-safe-base64-is-made-standard`.
    if text.contains(['-', '_']) {
        source.field("data", &text.replace('-', "+").replace('_', "/"));
    } else {
        source.field("data", data);
    }
}

fn sendable<'m>(media: &'m Media<'m>) -> Option<Sendable<'m>> {
    match (&media.source, media.kind) {
        (Source::File { .. }, _) | (_, MediaKind::Audio | MediaKind::Video) => None,
        (Source::Url { url, .. }, kind) => Some(Sendable::Url { kind, url }),
        (Source::Base64 { mime, data }, _) => sendable_bytes(mime.as_ref(), data),
        (Source::Text { text, .. }, MediaKind::Document) => {
            Some(Sendable::PlainText(text.reborrow()))
        }
        (Source::Text { .. }, MediaKind::Image) => None,
    }
}

fn sendable_bytes<'m>(mime: Option<&Text<'_>>, data: &'m Text<'m>) -> Option<Sendable<'m>> {
    let start = data.to_str();
    if let Some(mime) = type_of_bytes(&start) {
        return Some(Sendable::Base64 { mime, data });
    }
    let stated = plain_type(mime?);
    match STARTS.iter().find(|(_, mime)| *mime == stated) {
        Some((_, mime)) => Some(Sendable::Base64 { mime, data }),
        None if is_text(&stated) => {
            // Fixture `request/media/base64-in-lines`.
            let digits: String = start.split_ascii_whitespace().collect();
            let text = String::from_utf8(base64::decode(&digits)?).ok()?;
            Some(Sendable::PlainText(Text::plain(text)))
        }
        None => None,
    }
}

fn is_text(mime: &str) -> bool {
    mime.starts_with("text/") || matches!(mime, "application/json" | "application/xml")
}

/// The type alone, in lower case, by its registered name and without its parameters.
fn plain_type(mime: &Text<'_>) -> String {
    let text = mime.to_str();
    let plain = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if plain == "image/jpg" { "image/jpeg".to_owned() } else { plain }
}

/// How the base64 of the files begins that can be sent.
const STARTS: [(&str, &str); 6] = [
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("_9j_", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
    ("JVBERi", "application/pdf"),
];

fn type_of_bytes(data: &str) -> Option<&'static str> {
    let (_, mime) = STARTS.iter().find(|(start, _)| data.starts_with(start))?;
    // Not every file that begins like this one is an image.
    let is_other = *mime == "image/webp" && data.get(12..16) != Some("RUJQ");
    (!is_other).then_some(*mime)
}
