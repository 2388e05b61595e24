//! Reading the parts of a message's content or of a tool's output. Data URLs become their data.

use crate::conversation::{Content, Media, MediaKind, Part, Source};
use crate::error::Result;
use crate::json::{Json, Kind, Reader, Text};
use crate::percent;
use crate::place::Place;
use crate::protocol::data_url::{DATA_URL, DataUrl, is_data_url};
use crate::protocol::object::{Members, Unread, read_opaque, read_tag, set};
use crate::protocol::openai_responses::types::{IN_CONTENT, SELF, Shape};
use crate::protocol::semantics::{Extras, NodeSemantics};
use crate::protocol::{CacheMarker, Citation, Logprobs, media_type};

/// Reads one part. Parts of unknown type or without what their type needs are kept whole.
pub(in super::super) fn decode_part<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Part<'a>> {
    let start = reader.checkpoint();
    let (kind, unread) = read_tag(reader, "type")?;
    let kind = kind.unwrap_or_default();
    let mut part = Decoding { reader, unread, semantics: NodeSemantics::at(place) };
    let content = match &*kind.to_str() {
        "input_text" | "output_text" => part.text()?,
        "refusal" => part.refusal()?,
        "input_image" => part.media(MediaKind::Image)?,
        "input_file" => part.media(MediaKind::Document)?,
        "input_audio" => part.audio()?,
        _ => None,
    };
    if let Some(content) = content {
        return Ok(Part::new(content).with_semantics(part.semantics));
    }
    *reader = start;
    read_opaque(reader, (SELF, kind), NodeSemantics::at(place).shaped(IN_CONTENT))
}

/// A part in the reading.
struct Decoding<'r, 'a> {
    reader: &'r mut Reader<'a>,
    unread: Unread,
    semantics: NodeSemantics<'a>,
}

impl<'a> Decoding<'_, 'a> {
    /// Reads the members of a part; those that `member` does not know are kept.
    fn members(
        &mut self,
        mut member: impl FnMut(&str, &mut Members<'_, 'a>, &mut NodeSemantics<'a>) -> Result<()>,
    ) -> Result<()> {
        let Self { reader, unread, semantics } = self;
        let mut extras = Extras::default();
        unread.read(reader, "", &mut extras, |key, reader| match key {
            "type" => reader.skip(),
            "prompt_cache_breakpoint" => {
                semantics.set_cache(CacheMarker::read(CacheMarker::OPENAI, reader.raw()?));
                Ok(())
            }
            _ => member(key, reader, semantics),
        })?;
        semantics.keep(extras);
        Ok(())
    }

    fn text(&mut self) -> Result<Option<Content<'a>>> {
        let mut text = None;
        self.members(|key, reader, semantics| match (key, reader.kind()?) {
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

    fn refusal(&mut self) -> Result<Option<Content<'a>>> {
        let mut refusal = None;
        self.members(|key, reader, _| match key {
            "refusal" => set(&mut refusal, reader.string()),
            _ => Ok(()),
        })?;
        Ok(refusal.map(Content::Refusal))
    }

    /// Reads an image or a file.
    fn media(&mut self, kind: MediaKind) -> Result<Option<Content<'a>>> {
        let is_image = kind == MediaKind::Image;
        let (mut source, mut detail, mut name) = (None, None, None);
        let mut is_sent_along = false;
        self.members(|key, reader, _| match key {
            "image_url" if is_image && source.is_none() => {
                set(&mut source, reader.string().map(|it| image(it, reader.extras)))
            }
            "file_data" if !is_image && source.is_none() => {
                is_sent_along = true;
                set(&mut source, reader.string().map(|it| data(it, reader.extras)))
            }
            "file_url" if !is_image && source.is_none() => {
                set(&mut source, reader.string().map(|url| Source::Url { mime: None, url }))
            }
            "file_id" if source.is_none() => {
                set(&mut source, reader.string().map(|id| Source::File { mime: None, id }))
            }
            "filename" if !is_image => set(&mut name, reader.string()),
            "detail" => set(&mut detail, reader.string()),
            _ => Ok(()),
        })?;
        if let Some(
            Source::Base64 { mime: mime @ None, .. } | Source::Url { mime: mime @ None, .. },
        ) = &mut source
            && let Some(name) = name.as_ref().filter(|_| is_sent_along)
        {
            *mime = media_type::of_name(&name.to_str()).map(Text::literal);
        }
        Ok(source.map(|source| Content::Media(Box::new(Media { kind, source, detail, name }))))
    }

    fn audio(&mut self) -> Result<Option<Content<'a>>> {
        let (mut data, mut mime) = (None, None);
        self.members(|key, reader, _| {
            if key != "input_audio" || reader.kind()? != Kind::Object {
                return Ok(());
            }
            reader.inside("input_audio", |key, reader| match key {
                "data" => set(&mut data, reader.string()),
                "format" => set(&mut mime, reader.string().map(|it| media_type::of_audio(&it))),
                _ => Ok(()),
            })
        })?;
        Ok(data.map(|data| {
            let (source, kind) = (Source::Base64 { mime, data }, MediaKind::Audio);
            Content::Media(Box::new(Media { kind, source, detail: None, name: None }))
        }))
    }
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

/// The source that the address of an image is, in whose place some clients send bare Base64.
/// Fixture `request/media/bare-base64-in-place-of-an-address`.
fn image<'a>(url: Text<'a>, extras: &mut Extras<'a>) -> Source<'a> {
    match media_type::of_bare_image(&url.to_str()) {
        Some(mime) => Source::Base64 { mime: Some(Text::literal(mime)), data: url },
        None => address(url, extras),
    }
}

/// The source that the data of a file is: a data URL or bare Base64, or an address in their place.
fn data<'a>(data: Text<'a>, extras: &mut Extras<'a>) -> Source<'a> {
    match is_data_url(&data.to_str()) || media_type::is_address(&data.to_str()) {
        true => address(data, extras),
        false => Source::Base64 { mime: None, data },
    }
}

/// Reads an address; the data of a data URL is taken out of it.
fn address<'a>(url: Text<'a>, extras: &mut Extras<'a>) -> Source<'a> {
    let Some(parts) = DataUrl::of(&url) else { return Source::Url { mime: None, url } };
    let mime = parts.mime().to_str().to_ascii_lowercase();
    let is_text = mime.is_empty() || mime.starts_with("text/");
    let mime = (!mime.is_empty()).then(|| Text::plain(mime));
    let data = parts.data();
    if parts.is_respelled {
        extras.keep(DATA_URL, url.clone().into_str(), Json::literal("null"));
    }
    if parts.is_base64 {
        return Source::Base64 { mime, data };
    }
    // Data that is not in Base64 is percent-encoded; what is not text stays an address.
    match percent::decoded(&data.to_str()).filter(|_| is_text) {
        Some(text) => Source::Text { mime, text: Text::plain(text) },
        None => Source::Url { mime: None, url },
    }
}
