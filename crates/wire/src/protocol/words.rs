//! The words of what stands in a tool's result, for targets whose results are text: documents, what a search found, and
//! the names of tools.

use crate::conversation::{Content, Media, MediaKind, Opaque, Part, Source};
use crate::error::Result;
use crate::json::{Kind, Reader};
use crate::protocol::placeholder;
use crate::protocol::semantics::NodeSemantics;

/// The text that stands for a part that is no text itself: the title and the words of a document in plain text,
/// or those of a block that only its own protocol has. None for what has no words.
pub(super) fn in_words(part: &Part<'_>) -> Option<Part<'static>> {
    let lines = match part.content() {
        Content::Media(media) => lines_of_document(media)?,
        Content::Opaque(opaque) => lines_of_block(opaque)?,
        Content::Text(_)
        | Content::ToolCall(_)
        | Content::ToolResult(_)
        | Content::Reasoning(_)
        | Content::Refusal(_) => return None,
    };
    Some(text_at(part, lines.join("\n")))
}

/// What is left in a result of media that the target does not take: their name and their address, else their kind. None
/// for a document without words.
pub(super) fn remnant(part: &Part<'_>) -> Option<Part<'static>> {
    let Content::Media(media) = part.content() else { return None };
    if is_wordless(part) {
        return None;
    }
    let name = media.name.as_ref().map(|name| name.to_str().into_owned());
    let address = match &media.source {
        Source::Url { url, .. } => Some(url.to_str().into_owned()),
        Source::Base64 { .. } | Source::Text { .. } | Source::File { .. } => None,
    };
    let lines: Vec<String> = name.into_iter().chain(address).collect();
    match lines.is_empty() {
        true => Some(placeholder::placeholder(part)),
        false => Some(text_at(part, lines.join("\n"))),
    }
}

/// Whether a part is a text without a word, or a document that is one.
pub(super) fn is_wordless(part: &Part<'_>) -> bool {
    match part.content() {
        Content::Text(text) => text.is_blank(),
        Content::Media(media) => {
            matches!(&media.source, Source::Text { text, .. } if text.is_blank())
        }
        _ => false,
    }
}

fn text_at(part: &Part<'_>, text: String) -> Part<'static> {
    Part::text(text).with_semantics(NodeSemantics::at(part.semantics().place()))
}

fn lines_of_document(media: &Media<'_>) -> Option<Vec<String>> {
    let Source::Text { text, .. } = &media.source else { return None };
    if media.kind != MediaKind::Document || text.is_blank() {
        return None;
    }
    let title = media.name.as_ref().map(|title| title.to_str().into_owned());
    Some(title.into_iter().chain([text.to_str().into_owned()]).collect())
}

fn lines_of_block(opaque: &Opaque<'_>) -> Option<Vec<String>> {
    if !opaque.protocol.conventions().readable_blocks.contains(&&*opaque.kind.to_str()) {
        return None;
    }
    let mut lines = Vec::new();
    let read = read_lines(&mut opaque.json.reader(), &mut lines);
    (read.is_ok() && !lines.is_empty()).then_some(lines)
}

/// The titles, addresses, names and texts of a block, in the order in which they stand.
fn read_lines(reader: &mut Reader<'_>, lines: &mut Vec<String>) -> Result<()> {
    reader.object(|key, reader| match (&*key, reader.kind()?) {
        ("title" | "source" | "tool_name" | "text", Kind::String) => {
            lines.push(reader.string()?.into_str().into_owned());
            Ok(())
        }
        ("source", Kind::Object) => read_lines(reader, lines),
        ("content", Kind::Array) => reader.array(|_, reader| match reader.kind()? {
            Kind::Object => read_lines(reader, lines),
            _ => reader.skip(),
        }),
        _ => reader.skip(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Json, Text};
    use crate::protocol::Protocol;

    #[track_caller]
    fn check(content: Content<'_>, expected: Option<&str>) {
        let worded = in_words(&Part::new(content));
        let text = worded.as_ref().map(|part| match part.content() {
            Content::Text(text) => text.to_str().into_owned(),
            other => panic!("{other:?}"),
        });
        assert_eq!(text.as_deref(), expected);
    }

    fn block(kind: &'static str, json: &'static str) -> Content<'static> {
        let (kind, json) = (Text::literal(kind), Json::literal(json));
        Content::Opaque(Box::new(Opaque { protocol: Protocol::AnthropicMessages, kind, json }))
    }

    fn document(name: Option<&'static str>, source: Source<'static>) -> Content<'static> {
        let name = name.map(Text::literal);
        Content::Media(Box::new(Media { kind: MediaKind::Document, source, detail: None, name }))
    }

    #[test]
    fn blocks_are_told_by_their_titles_names_and_words() {
        check(block("tool_reference", r#"{"tool_name":"grep"}"#), Some("grep"));
        let found = r#"{"title":"Tides","source":"https://a.example","content":[]}"#;
        check(block("search_result", found), Some("Tides\nhttps://a.example"));
        let nested =
            r#"{"source":{"type":"content","content":[{"type":"text","text":"High."},3]}}"#;
        check(block("document", nested), Some("High."));
        check(block("browser_state", r#"{"title":"Tides"}"#), None);
        check(block("document", r#"{"source":{"type":"other"}}"#), None);
    }

    #[test]
    fn a_document_of_plain_text_has_its_title_before_it() {
        let text = |text| Source::Text { mime: None, text: Text::literal(text) };
        check(document(Some("Tides"), text("High.")), Some("Tides\nHigh."));
        check(document(None, text("High.")), Some("High."));
        check(document(Some("Tides"), text(" ")), None);
        let data = Source::Base64 { mime: None, data: Text::literal("JVBERi0=") };
        check(document(Some("Tides"), data), None);
    }
}
