//! Reading the parts of a message's content or of a tool's output. Data URLs become their data.

use crate::conversation::{Content, Media, MediaKind, Opaque, Part, Source};
use crate::error::Result;
use crate::json::{Json, Kind, Reader, Text};
use crate::percent;
use crate::place::Place;
use crate::protocol::data_url::{DataUrl, is_data_url};
use crate::protocol::object::{Unread, read_object, read_tag, set};
use crate::protocol::openai_responses::types::{IN_CONTENT, SELF, Shape};
use crate::protocol::semantics::{Extras, NodeSemantics};
use crate::protocol::{CacheMarker, Citation, Logprobs, media_type};

/// Reads one part. Parts of unknown type or without what their type needs are kept whole.
pub(in super::super) fn decode_part<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Part<'a>> {
    let start = reader.checkpoint();
    let (kind, unread) = read_tag(reader, "type")?;
    let kind = kind.unwrap_or_default();
    let mut semantics = NodeSemantics::at(place);
    let content = match &*kind.to_str() {
        "input_text" | "output_text" => decode_text(reader, unread, &mut semantics)?,
        "refusal" => decode_refusal(reader, unread, &mut semantics)?,
        "input_image" => decode_media(reader, unread, (MediaKind::Image, &mut semantics))?,
        "input_file" => decode_media(reader, unread, (MediaKind::Document, &mut semantics))?,
        "input_audio" => decode_audio(reader, unread, &mut semantics)?,
        _ => None,
    };
    match content {
        Some(content) => Ok(Part::new(content).with_semantics(semantics)),
        None => {
            *reader = start;
            let json = reader.raw()?;
            let opaque = Content::Opaque(Box::new(Opaque { protocol: SELF, kind, json }));
            Ok(Part::new(opaque).with_semantics(NodeSemantics::at(place).shaped(IN_CONTENT)))
        }
    }
}

/// Reads the members of a part; those that `member` does not know are kept.
fn read_part<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    semantics: &mut NodeSemantics<'a>,
    mut member: impl FnMut(&str, &mut Reader<'a>, &mut NodeSemantics<'a>) -> Result<()>,
) -> Result<()> {
    let mut extras = Extras::default();
    unread.read(reader, "", &mut extras, |key, reader| {
        match key {
            "type" => reader.skip()?,
            "prompt_cache_breakpoint" => {
                semantics.set_cache(CacheMarker::read(CacheMarker::OPENAI, reader.raw()?))
            }
            _ => return member(key, reader, semantics),
        }
        Ok(())
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
    read_part(reader, unread, semantics, |key, reader, semantics| match (key, reader.kind()?) {
        ("text", Kind::String) => set(&mut text, reader.string()),
        ("text", _) => {
            text = Some(reader.raw()?.to_text().into_owned());
            semantics.add_shape(Shape::AS_JSON);
            Ok(())
        }
        ("annotations", Kind::Array) => reader.array(|_, reader| {
            semantics.add_citation(citation(reader.raw()?));
            Ok(())
        }),
        ("logprobs", Kind::Array) => {
            let logprobs = reader.raw()?;
            if logprobs.compact() != "[]" {
                semantics.set_logprobs(Logprobs::new(logprobs));
            }
            Ok(())
        }
        _ => Ok(()),
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
        "refusal" => set(&mut refusal, reader.string()),
        _ => Ok(()),
    })?;
    Ok(refusal.map(Content::Refusal))
}

/// An annotation as a citation; what other protocols understand of it is read off.
pub(in super::super) fn citation(json: Json<'_>) -> Citation<'_> {
    let mut citation = Citation::new(SELF, json.clone());
    if let Some(mut reader) = json.input_reader() {
        // An annotation of another shape is kept whole all the same.
        let _ = citation.read_page(&mut reader);
    }
    citation
}

/// Reads an image or a file.
fn decode_media<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    (kind, semantics): (MediaKind, &mut NodeSemantics<'a>),
) -> Result<Option<Content<'a>>> {
    let is_image = kind == MediaKind::Image;
    let (mut source, mut detail, mut name) = (None, None, None);
    let mut is_sent_along = false;
    read_part(reader, unread, semantics, |key, reader, _| {
        match key {
            "image_url" if is_image && source.is_none() => source = Some(image(reader.string()?)),
            "file_data" if !is_image && source.is_none() => {
                source = Some(data(reader.string()?));
                is_sent_along = true;
            }
            "file_url" if !is_image && source.is_none() => {
                source = Some(Source::Url { mime: None, url: reader.string()? });
            }
            "file_id" if source.is_none() => {
                source = Some(Source::File { mime: None, id: reader.string()? });
            }
            "filename" if !is_image => name = Some(reader.string()?),
            "detail" => detail = Some(reader.string()?),
            _ => {}
        }
        Ok(())
    })?;
    if let Some(Source::Base64 { mime: mime @ None, .. } | Source::Url { mime: mime @ None, .. }) =
        &mut source
        && let Some(name) = name.as_ref().filter(|_| is_sent_along)
    {
        *mime = media_type::of_name(&name.to_str()).map(Text::literal);
    }
    Ok(source.map(|source| Content::Media(Box::new(Media { kind, source, detail, name }))))
}

fn decode_audio<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    semantics: &mut NodeSemantics<'a>,
) -> Result<Option<Content<'a>>> {
    let (mut data, mut format) = (None, None);
    let mut inside = Extras::default();
    read_part(reader, unread, semantics, |key, reader, _| {
        if key != "input_audio" || reader.kind()? != Kind::Object {
            return Ok(());
        }
        read_object(reader, "input_audio", &mut inside, |key, reader| match key {
            "data" => set(&mut data, reader.string()),
            "format" => set(&mut format, reader.string()),
            _ => Ok(()),
        })
    })?;
    semantics.keep(inside);
    Ok(data.map(|data| {
        let mime = format.map(|format| Text::plain(format!("audio/{}", format.to_str())));
        let (source, kind) = (Source::Base64 { mime, data }, MediaKind::Audio);
        Content::Media(Box::new(Media { kind, source, detail: None, name: None }))
    }))
}

/// The source that the address of an image is, in whose place some clients send bare Base64.
/// Fixture `request/media/bare-base64-in-place-of-an-address`.
fn image(url: Text<'_>) -> Source<'_> {
    match media_type::of_bare_image(&url.to_str()) {
        Some(mime) => Source::Base64 { mime: Some(Text::literal(mime)), data: url },
        None => address(url),
    }
}

/// The source that the data of a file is: a data URL or bare Base64, or an address in their place.
fn data(data: Text<'_>) -> Source<'_> {
    match is_data_url(&data.to_str()) || media_type::is_address(&data.to_str()) {
        true => address(data),
        false => Source::Base64 { mime: None, data },
    }
}

/// Reads an address; the data of a data URL is taken out of it.
fn address(url: Text<'_>) -> Source<'_> {
    let Some(parts) = DataUrl::of(&url) else { return Source::Url { mime: None, url } };
    let mime = parts.mime().to_str().to_ascii_lowercase();
    let is_text = mime.is_empty() || mime.starts_with("text/");
    let mime = (!mime.is_empty()).then(|| Text::plain(mime));
    let data = parts.data();
    if parts.is_base64 {
        return Source::Base64 { mime, data };
    }
    // Data that is not in Base64 is percent-encoded; what is not text stays an address.
    match percent::decoded(&data.to_str()).filter(|_| is_text) {
        Some(text) => Source::Text { mime, text: Text::plain(text) },
        None => Source::Url { mime: None, url },
    }
}
