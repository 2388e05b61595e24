//! Reading the parts of a message's content or of a tool's output.

use crate::conversation::Content;
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
use crate::protocol::openai_responses::types::ANNOTATIONS;
use crate::protocol::openai_responses::types::IN_CONTENT;
use crate::protocol::openai_responses::types::INPUT_TEXT;
use crate::protocol::openai_responses::types::NO_LOGPROBS;
use crate::protocol::openai_responses::types::OUTPUT_TEXT;
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
    let part = match &*kind.to_str() {
        "input_text" => decode_text(reader, unread, place, INPUT_TEXT)?,
        "output_text" => decode_text(reader, unread, place, OUTPUT_TEXT)?,
        "refusal" => decode_refusal(reader, unread, place)?,
        "input_image" => media::decode_image(reader, unread, place)?,
        "input_file" => media::decode_file(reader, unread, place)?,
        "input_audio" => media::decode_audio(reader, unread, place)?,
        _ => None,
    };
    match part {
        Some(part) => Ok(part),
        None => {
            *reader = start;
            let json = reader.raw()?;
            let opaque = Content::Opaque(Box::new(Opaque { protocol: THIS, kind, json }));
            Ok(Part::new(opaque).with_semantics(NodeSemantics::at(place).shaped(IN_CONTENT)))
        }
    }
}

fn decode_text<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    place: Place,
    shape: Shape,
) -> Result<Option<Part<'a>>> {
    let mut text = None;
    let mut semantics = NodeSemantics::at(place).shaped(shape);
    let mut extras = Extras::default();
    unread.read(reader, "", &mut extras, |key, reader, _| {
        match (key, reader.kind()?) {
            ("type", _) => reader.skip()?,
            ("text", Kind::String) => text = Some(reader.string()?),
            ("text", _) => {
                text = Some(reader.raw()?.to_text().into_owned());
                semantics.add_shape(Shape::AS_JSON);
            }
            ("annotations", Kind::Array) => {
                semantics.add_shape(ANNOTATIONS);
                reader.array(|_, reader| {
                    semantics.add_citation(citation(reader.raw()?));
                    Ok(())
                })?;
            }
            ("logprobs", Kind::Array) => keep_logprobs(&mut semantics, reader.raw()?),
            ("prompt_cache_breakpoint", _) => semantics.set_cache(cache_marker(reader.raw()?)),
            _ => return Ok(Member::Unknown),
        }
        Ok(Member::Read)
    })?;
    semantics.keep(extras);
    Ok(text.map(|text| Part::text(text).with_semantics(semantics)))
}

/// An empty list says no more than that it was there.
fn keep_logprobs<'a>(semantics: &mut NodeSemantics<'a>, logprobs: Json<'a>) {
    match &*logprobs.compact() {
        "[]" => semantics.add_shape(NO_LOGPROBS),
        _ => semantics.set_logprobs(Logprobs::new(logprobs)),
    }
}

fn decode_refusal<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    place: Place,
) -> Result<Option<Part<'a>>> {
    let mut refusal = None;
    let mut semantics = NodeSemantics::at(place);
    let mut extras = Extras::default();
    unread.read(reader, "", &mut extras, |key, reader, _| {
        match key {
            "type" => reader.skip()?,
            "refusal" => refusal = Some(reader.string()?),
            _ => return Ok(Member::Unknown),
        }
        Ok(Member::Read)
    })?;
    semantics.keep(extras);
    Ok(refusal.map(|text| Part::new(Content::Refusal(text)).with_semantics(semantics)))
}

/// The marker up to which the prompt may be cached.
pub(super) fn cache_marker(json: Json<'_>) -> CacheMarker<'_> {
    let ttl = match json.kind() {
        Kind::Object => json.reader().peek_tag("ttl").ok().flatten().map(Text::into_owned),
        _ => None,
    };
    CacheMarker { key: CacheMarker::OPENAI, ttl, json }
}

/// An annotation as a citation; what other protocols understand of it is read off.
pub(in crate::protocol::openai_responses) fn citation(json: Json<'_>) -> Citation<'_> {
    let mut citation = Citation::new(THIS, json.clone());
    let (mut start, mut end) = (None, None);
    if json.kind() == Kind::Object {
        // The value was checked when it was read, so that reading it again fails only on surprising types, which
        // leave the citation without the detail.
        let _ = json.reader().object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("url", Kind::String) => citation.set_url(reader.string()?.into_owned()),
                ("title", Kind::String) => citation.set_title(reader.string()?.into_owned()),
                ("start_index", Kind::Number) => start = reader.number()?.as_u64(),
                ("end_index", Kind::Number) => end = reader.number()?.as_u64(),
                _ => reader.skip()?,
            }
            Ok(())
        });
    }
    if let (Some(start), Some(end)) = (start, end) {
        citation.set_span(start, end);
    }
    citation
}
