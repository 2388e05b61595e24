//! Reading content blocks. Requests, answers and streams share them; what nobody knows is kept whole.

use super::read_content;
use crate::conversation::{
    Arguments, CallForm, Content, Media, MediaKind, Opaque, Part, Parts, Reasoning, ReasoningForm,
    ResultOutput, Source, ToolCall, ToolResult,
};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Json, Kind, Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::ArtefactKind;
use crate::protocol::anthropic_messages::types::{
    CONTENT_BLOCKS, CONTENT_SOURCE, SEARCH_RESULT, SELF, Shape,
};
use crate::protocol::object::{Members, Unread, put, read_tag, set};
use crate::protocol::semantics::{Artefact, CacheMarker, Citation, Extras, NodeSemantics};

/// Reads one block; a block of unknown type is kept whole.
pub(in super::super) fn read_block<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Part<'a>> {
    let start = reader.checkpoint();
    let (kind, unread) = read_tag(reader, "type")?;
    let kind = kind.unwrap_or_default();
    let part = match &*kind.to_str() {
        "text" => return read_text(reader, unread, place),
        "tool_use" => return read_tool_use(reader, unread, place),
        "tool_result" => return read_tool_result(reader, unread, place),
        "thinking" => return read_thinking(reader, unread, place),
        "redacted_thinking" => return read_redacted(reader, unread, place),
        "image" => read_media(reader, unread, place, MediaKind::Image)?,
        "document" => read_media(reader, unread, place, MediaKind::Document)?,
        "search_result" => read_search_result(reader, unread, place)?,
        _ => None,
    };
    match part {
        Some(part) => Ok(part),
        None => {
            *reader = start;
            read_opaque(reader, place, kind)
        }
    }
}

/// Reads one block of an answer: what is not shaped as expected is kept whole.
pub(in super::super) fn read_any_block<'a>(
    reader: &mut Reader<'a>,
    place: Place,
) -> Result<Part<'a>> {
    let mut ahead = reader.checkpoint();
    match read_block(&mut ahead, place) {
        Ok(part) => {
            *reader = ahead;
            Ok(part)
        }
        Err(_) => read_opaque(reader, place, Text::default()),
    }
}

fn read_opaque<'a>(reader: &mut Reader<'a>, place: Place, kind: Text<'a>) -> Result<Part<'a>> {
    let json = reader.raw()?;
    let opaque = Opaque { protocol: SELF, kind, json };
    Ok(Part::new(Content::Opaque(Box::new(opaque))).with_semantics(NodeSemantics::at(place)))
}

/// Reads a block member by member; `member` is asked for what blocks do not have in common.
fn read_members<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    place: Place,
    mut member: impl FnMut(&str, &mut Members<'_, 'a>, &mut NodeSemantics<'a>) -> Result<()>,
) -> Result<NodeSemantics<'a>> {
    let mut semantics = NodeSemantics::at(place);
    let mut extras = Extras::default();
    unread.read(reader, "", &mut extras, |key, reader| match key {
        "type" => reader.skip(),
        "cache_control" if reader.kind()? == Kind::Object => {
            semantics.set_cache(read_cache_marker(reader)?);
            Ok(())
        }
        _ => member(key, reader, &mut semantics),
    })?;
    semantics.keep(extras);
    Ok(semantics)
}

pub(in super::super) fn read_cache_marker<'a>(reader: &mut Reader<'a>) -> Result<CacheMarker<'a>> {
    let ttl = reader.peek_tag("ttl").ok().flatten();
    Ok(CacheMarker { key: CacheMarker::ANTHROPIC, ttl, json: reader.raw()? })
}

fn read_text<'a>(reader: &mut Reader<'a>, unread: Unread, place: Place) -> Result<Part<'a>> {
    let mut text = None;
    let semantics = read_members(reader, unread, place, |key, reader, semantics| match key {
        "text" => set(&mut text, reader.string()),
        "citations" if reader.kind()? == Kind::Array => read_citations(reader, semantics),
        _ => Ok(()),
    })?;
    let text = text.ok_or_else(|| missing("text"))?;
    Ok(Part::new(Content::Text(text)).with_semantics(semantics))
}

fn read_citations<'a>(reader: &mut Reader<'a>, semantics: &mut NodeSemantics<'a>) -> Result<()> {
    reader.array(|_, reader| {
        semantics.add_citation(citation(reader.raw()?));
        Ok(())
    })
}

/// A citation as it stands, with what others can understand of it.
pub(in super::super) fn citation(json: Json<'_>) -> Citation<'_> {
    let tag = |name: &str| {
        let reader = json.input_reader()?;
        reader.peek_tag(name).ok().flatten()
    };
    let url = tag("url").or_else(|| tag("source"));
    let title = tag("title").or_else(|| tag("document_title"));
    let cited_text = tag("cited_text");
    Citation { url, title, cited_text, ..Citation::new(SELF, json) }
}

/// Reads an image or a document; none if its source is of no known sort.
fn read_media<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    place: Place,
    kind: MediaKind,
) -> Result<Option<Part<'a>>> {
    let mut source = None;
    let mut name = None;
    let mut semantics = read_members(reader, unread, place, |key, reader, _| match key {
        "source" => set(&mut source, read_source(reader)),
        "title" if kind == MediaKind::Document => set(&mut name, reader.string()),
        _ => Ok(()),
    })?;
    let Some((source, shape)) = source.ok_or_else(|| missing("source"))? else { return Ok(None) };
    semantics.add_shape(shape);
    let media = Media { kind, source, detail: None, name };
    Ok(Some(Part::new(Content::Media(Box::new(media))).with_semantics(semantics)))
}

/// Reads where media are, and how that is spelled; none if it is of no known sort.
fn read_source<'a>(reader: &mut Members<'_, 'a>) -> Result<Option<(Source<'a>, Shape)>> {
    let start = reader.checkpoint();
    let (kind, unread) = read_tag(reader, "type")?;
    let kind = kind.unwrap_or_default();
    let (mut mime, mut data, mut shape) = (None, None, Shape::default());
    let (key_of_data, source): (_, fn(_, Text<'a>) -> Source<'a>) = match &*kind.to_str() {
        "base64" => ("data", |mime, data| Source::Base64 { mime, data }),
        "text" => ("data", |mime, text| Source::Text { mime, text }),
        "url" => ("url", |mime, url| Source::Url { mime, url }),
        "file" => ("file_id", |mime, id| Source::File { mime, id }),
        "content" => ("content", |_, text| Source::Text { mime: None, text }),
        _ => {
            *reader.reader = start;
            return reader.skip().map(|()| None);
        }
    };
    if key_of_data == "content" {
        shape = CONTENT_SOURCE.with(Shape::RESPELLED);
    }
    unread.read(reader.reader, "source", reader.extras, |key, reader| match key {
        "type" => reader.skip(),
        "media_type" => set(&mut mime, reader.string()),
        _ if key == key_of_data && reader.kind()? == Kind::String => {
            set(&mut data, reader.string())
        }
        // The list stays among the extras, since a document has no blocks.
        _ if key == key_of_data && key == "content" => {
            let words = words_of(&mut reader.checkpoint()).unwrap_or_default();
            data = Some(words).filter(|words| !words.is_empty());
            shape = shape.with(CONTENT_BLOCKS);
            Ok(())
        }
        _ => Ok(()),
    })?;
    match data {
        Some(data) => Ok(Some((source(mime, data), shape))),
        None if key_of_data == "content" => Ok(None),
        None => Err(missing(key_of_data).under_key("source")),
    }
}

/// Reads the result of a search as a document of its texts; the rest of it is kept as it stands. None if there are no
/// texts in it.
fn read_search_result<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    place: Place,
) -> Result<Option<Part<'a>>> {
    let (mut title, mut words) = (None, Text::default());
    let mut semantics = read_members(reader, unread, place, |key, reader, _| match key {
        "title" => set(&mut title, reader.string()),
        // The list stays among the extras, since a document has no blocks.
        "content" => put(&mut words, words_of(&mut reader.checkpoint())),
        _ => Ok(()),
    })?;
    if words.is_empty() {
        return Ok(None);
    }
    semantics.add_shape(SEARCH_RESULT.with(Shape::RESPELLED));
    let source = Source::Text { mime: None, text: words };
    let media = Media { kind: MediaKind::Document, source, detail: None, name: title };
    Ok(Some(Part::new(Content::Media(Box::new(media))).with_semantics(semantics)))
}

/// The texts of a list of blocks, one after another.
fn words_of<'a>(reader: &mut Reader<'a>) -> Result<Text<'a>> {
    let mut words = Text::default();
    reader.array(|_, reader| {
        if let Some(text) = reader.peek_tag("text")? {
            if !words.is_empty() {
                words.push(&Text::plain("\n"));
            }
            words.push(&text);
        }
        reader.skip()
    })?;
    Ok(words)
}

fn read_tool_use<'a>(reader: &mut Reader<'a>, unread: Unread, place: Place) -> Result<Part<'a>> {
    let (mut id, mut name, mut input) = (None, None, None);
    let semantics = read_members(reader, unread, place, |key, reader, _| match key {
        "id" => set(&mut id, reader.string()),
        "name" => set(&mut name, reader.string()),
        "input" => set(&mut input, reader.raw()),
        _ => Ok(()),
    })?;
    let call = ToolCall {
        id,
        name: name.ok_or_else(|| missing("name"))?,
        arguments: Arguments::Json(input.unwrap_or(Json::literal("{}"))),
        form: CallForm::Function,
    };
    Ok(Part::new(Content::ToolCall(Box::new(call))).with_semantics(semantics))
}

fn read_tool_result<'a>(reader: &mut Reader<'a>, unread: Unread, place: Place) -> Result<Part<'a>> {
    let (mut call_id, mut is_error, mut parts) = (None, None, Parts::default());
    let semantics = read_members(reader, unread, place, |key, reader, _| match key {
        "tool_use_id" => set(&mut call_id, reader.string()),
        "is_error" => set(&mut is_error, reader.boolean()),
        "content" => {
            let element = |index| place.element(Step::Content, index);
            put(&mut parts, read_content(reader, place.step(Step::Content), element))
        }
        _ => Ok(()),
    })?;
    let result = ToolResult {
        call_id,
        name: None,
        output: ResultOutput::Parts(parts),
        is_error,
        form: CallForm::Function,
    };
    Ok(Part::new(Content::ToolResult(Box::new(result))).with_semantics(semantics))
}

fn read_thinking<'a>(reader: &mut Reader<'a>, unread: Unread, place: Place) -> Result<Part<'a>> {
    let mut thinking = None;
    let semantics = read_members(reader, unread, place, |key, reader, semantics| {
        match key {
            "thinking" => thinking = Some(reader.string()?),
            "signature" => sign(semantics, reader.string()?),
            _ => {}
        }
        Ok(())
    })?;
    let thinking = thinking.ok_or_else(|| missing("thinking"))?;
    let texts = if thinking.is_empty() { Vec::new() } else { vec![thinking] };
    let reasoning = Reasoning { form: ReasoningForm::Summary, texts };
    Ok(Part::new(Content::Reasoning(Box::new(reasoning))).with_semantics(semantics))
}

/// Puts a signature on thinking; an empty one is none.
pub(in super::super) fn sign<'a>(semantics: &mut NodeSemantics<'a>, signature: Text<'a>) {
    if !signature.is_empty() {
        semantics.set_artefact(Artefact::read(SELF, ArtefactKind::Signature, signature));
    }
}

fn read_redacted<'a>(reader: &mut Reader<'a>, unread: Unread, place: Place) -> Result<Part<'a>> {
    let mut data = None;
    let mut semantics = read_members(reader, unread, place, |key, reader, _| match key {
        "data" => set(&mut data, reader.string()),
        _ => Ok(()),
    })?;
    let data = data.ok_or_else(|| missing("data"))?;
    semantics.set_artefact(Artefact::read(SELF, ArtefactKind::Ciphertext, data));
    // Others tell it by an artefact of their own, and where it leads to nothing it does not come back.
    semantics.add_shape(Shape::RESPELLED);
    let reasoning = Reasoning { form: ReasoningForm::Redacted, texts: Vec::new() };
    Ok(Part::new(Content::Reasoning(Box::new(reasoning))).with_semantics(semantics))
}

pub(in super::super) fn missing(key: &str) -> Error {
    Error::new(ErrorKind::Missing, format!("expected `{key}`, found none"))
}
