//! Reading the parts of a message's content or of a tool's output.

use crate::conversation::Content;
use crate::conversation::MediaKind;
use crate::conversation::Opaque;
use crate::conversation::Part;
use crate::error::Result;
use crate::json::Json;
use crate::json::Kind;
use crate::json::Reader;
use crate::json::Text;
use crate::place::Place;
use crate::protocol::CacheMarker;
use crate::protocol::Citation;
use crate::protocol::Logprobs;
use crate::protocol::object::Member;
use crate::protocol::object::Unread;
use crate::protocol::object::read_tag;
use crate::protocol::openai_responses::decode_request::media;
use crate::protocol::openai_responses::types::IN_CONTENT;
use crate::protocol::openai_responses::types::Shape;
use crate::protocol::openai_responses::types::THIS;
use crate::protocol::semantics::Extras;
use crate::protocol::semantics::NodeSemantics;

/// Reads one part. Parts of unknown type or without what their type needs are kept whole.
pub(in crate::protocol::openai_responses) fn decode_part<'a>(
    reader: &mut Reader<'a>,
    place: Place,
) -> Result<Part<'a>> {
    let start = reader.checkpoint();
    let (kind, unread) = read_tag(reader, "type")?;
    let kind = kind.unwrap_or_default();
    let mut semantics = NodeSemantics::at(place);
    let content = match &*kind.to_str() {
        "input_text" | "output_text" => decode_text(reader, unread, &mut semantics)?,
        "refusal" => decode_refusal(reader, unread, &mut semantics)?,
        "input_image" => media::decode(reader, unread, (MediaKind::Image, &mut semantics))?,
        "input_file" => media::decode(reader, unread, (MediaKind::Document, &mut semantics))?,
        "input_audio" => media::decode_audio(reader, unread, &mut semantics)?,
        _ => None,
    };
    match content {
        Some(content) => Ok(Part::new(content).with_semantics(semantics)),
        None => {
            *reader = start;
            let json = reader.raw()?;
            let opaque = Content::Opaque(Box::new(Opaque { protocol: THIS, kind, json }));
            Ok(Part::new(opaque).with_semantics(NodeSemantics::at(place).shaped(IN_CONTENT)))
        }
    }
}

/// Reads the members of a part; those that `member` does not know are kept.
pub(super) fn read_part<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    semantics: &mut NodeSemantics<'a>,
    mut member: impl FnMut(&str, &mut Reader<'a>, &mut NodeSemantics<'a>) -> Result<Member>,
) -> Result<()> {
    let mut extras = Extras::default();
    unread.read(reader, "", &mut extras, |key, reader, _| {
        match key {
            "type" => reader.skip()?,
            "prompt_cache_breakpoint" => semantics.set_cache(cache_marker(reader.raw()?)),
            _ => return member(key, reader, semantics),
        }
        Ok(Member::Read)
    })?;
    semantics.keep(extras);
    Ok(())
}

fn decode_text<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    semantics: &mut NodeSemantics<'a>,
) -> Result<Option<Content<'a>>> {
    let mut text = None;
    read_part(reader, unread, semantics, |key, reader, semantics| {
        match (key, reader.kind()?) {
            ("text", Kind::String) => text = Some(reader.string()?),
            ("text", _) => {
                text = Some(reader.raw()?.to_text().into_owned());
                semantics.add_shape(Shape::AS_JSON);
            }
            ("annotations", Kind::Array) => reader.array(|_, reader| {
                semantics.add_citation(citation(reader.raw()?));
                Ok(())
            })?,
            ("logprobs", Kind::Array) => {
                let logprobs = reader.raw()?;
                if logprobs.compact() != "[]" {
                    semantics.set_logprobs(Logprobs::new(logprobs));
                }
            }
            _ => return Ok(Member::Unknown),
        }
        Ok(Member::Read)
    })?;
    Ok(text.map(Content::Text))
}

fn decode_refusal<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    semantics: &mut NodeSemantics<'a>,
) -> Result<Option<Content<'a>>> {
    let mut refusal = None;
    read_part(reader, unread, semantics, |key, reader, _| match key {
        "refusal" => {
            refusal = Some(reader.string()?);
            Ok(Member::Read)
        }
        _ => Ok(Member::Unknown),
    })?;
    Ok(refusal.map(Content::Refusal))
}

/// The marker up to which the prompt may be cached.
fn cache_marker(json: Json<'_>) -> CacheMarker<'_> {
    let ttl = match json.kind() {
        Kind::Object => json.reader().peek_tag("ttl").ok().flatten().map(Text::into_owned),
        _ => None,
    };
    CacheMarker { key: CacheMarker::OPENAI, ttl, json }
}

/// An annotation as a citation; what other protocols understand of it is read off.
pub(in crate::protocol::openai_responses) fn citation(json: Json<'_>) -> Citation<'_> {
    let mut citation = Citation::new(THIS, json.clone());
    if let Some(mut reader) = json.input_reader() {
        // An annotation of another shape is kept whole all the same.
        let _ = citation.read_page(&mut reader);
    }
    citation
}
