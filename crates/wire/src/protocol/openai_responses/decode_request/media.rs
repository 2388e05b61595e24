//! Reading images, files and sound. Data URLs become their data; an odd spelling is kept beside it.

use std::borrow::Cow;

use crate::conversation::Content;
use crate::conversation::Media;
use crate::conversation::MediaKind;
use crate::conversation::Part;
use crate::conversation::Source;
use crate::error::Result;
use crate::json::Json;
use crate::json::Kind;
use crate::json::Reader;
use crate::json::Text;
use crate::json::Writer;
use crate::place::Place;
use crate::protocol::media_type;
use crate::protocol::object::Member;
use crate::protocol::object::Unread;
use crate::protocol::object::read_object;
use crate::protocol::openai_responses::decode_request::part::cache_marker;
use crate::protocol::openai_responses::types::BARE_DATA;
use crate::protocol::semantics::Extras;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::semantics::Shape;

pub(super) fn decode_image<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    place: Place,
) -> Result<Option<Part<'a>>> {
    let mut media = Reading::new(MediaKind::Image, place);
    let mut extras = Extras::default();
    unread.read(reader, "", &mut extras, |key, reader, extras| {
        match key {
            "type" => reader.skip()?,
            "image_url" if media.source.is_none() => {
                let url = reader.string()?;
                media.image(url, extras);
            }
            "file_id" if media.source.is_none() => media.source = Some(file_id(reader)?),
            "detail" => media.detail = Some(reader.string()?),
            "prompt_cache_breakpoint" => {
                media.semantics.set_cache(cache_marker(reader.raw()?));
            }
            _ => return Ok(Member::Unknown),
        }
        Ok(Member::Read)
    })?;
    Ok(media.finish(extras))
}

pub(super) fn decode_file<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    place: Place,
) -> Result<Option<Part<'a>>> {
    let mut media = Reading::new(MediaKind::Document, place);
    let mut extras = Extras::default();
    unread.read(reader, "", &mut extras, |key, reader, extras| {
        match key {
            "type" => reader.skip()?,
            "file_data" if media.source.is_none() => {
                let data = reader.string()?;
                media.data(data, extras);
            }
            "file_url" if media.source.is_none() => {
                media.source = Some(Source::Url { mime: None, url: reader.string()? });
            }
            "file_id" if media.source.is_none() => media.source = Some(file_id(reader)?),
            "filename" => media.name = Some(reader.string()?),
            "detail" => media.detail = Some(reader.string()?),
            "prompt_cache_breakpoint" => {
                media.semantics.set_cache(cache_marker(reader.raw()?));
            }
            _ => return Ok(Member::Unknown),
        }
        Ok(Member::Read)
    })?;
    Ok(media.finish(extras))
}

pub(super) fn decode_audio<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    place: Place,
) -> Result<Option<Part<'a>>> {
    let mut media = Reading::new(MediaKind::Audio, place);
    let (mut data, mut format) = (None, None);
    let mut extras = Extras::default();
    unread.read(reader, "", &mut extras, |key, reader, extras| {
        match (key, reader.kind()?) {
            ("type", _) => reader.skip()?,
            ("input_audio", Kind::Object) => {
                read_object(reader, "input_audio", extras, |key, reader, _| {
                    match key {
                        "data" => data = Some(reader.string()?),
                        "format" => format = Some(reader.string()?),
                        _ => return Ok(Member::Unknown),
                    }
                    Ok(Member::Read)
                })?;
            }
            _ => return Ok(Member::Unknown),
        }
        Ok(Member::Read)
    })?;
    media.source = data.map(|data| {
        let mime = format.map(|format| Text::plain(format!("audio/{}", format.to_str())));
        Source::Base64 { mime, data }
    });
    Ok(media.finish(extras))
}

fn file_id<'a>(reader: &mut Reader<'a>) -> Result<Source<'a>> {
    Ok(Source::File { mime: None, id: reader.string()? })
}

/// A medium in the reading.
struct Reading<'a> {
    kind: MediaKind,
    source: Option<Source<'a>>,
    detail: Option<Text<'a>>,
    name: Option<Text<'a>>,
    semantics: NodeSemantics<'a>,
}

impl<'a> Reading<'a> {
    fn new(kind: MediaKind, place: Place) -> Self {
        let semantics = NodeSemantics::at(place);
        Self { kind, source: None, detail: None, name: None, semantics }
    }

    /// Takes the address of an image, in whose place some clients send bare Base64.
    fn image(&mut self, url: Text<'a>, extras: &mut Extras<'a>) {
        self.source = Some(match media_type::of_bare_image(&url.to_str()) {
            Some(mime) => {
                self.semantics.add_shape(BARE_DATA.with(Shape::RESPELLED));
                Source::Base64 { mime: Some(Text::literal(mime)), data: url }
            }
            None => address(url, "image_url", extras),
        });
    }

    /// Takes the data of a file, which is a data URL or bare Base64, or an address in their place.
    fn data(&mut self, data: Text<'a>, extras: &mut Extras<'a>) {
        if is_data_url(&data) {
            let source = address(data, "file_data", extras);
            if matches!(source, Source::Url { .. }) {
                self.semantics.add_shape(BARE_DATA);
            }
            self.source = Some(source);
        } else if media_type::is_address(&data.to_str()) {
            self.semantics.add_shape(BARE_DATA.with(Shape::RESPELLED));
            self.source = Some(Source::Url { mime: None, url: data });
        } else {
            self.semantics.add_shape(BARE_DATA);
            self.source = Some(Source::Base64 { mime: None, data });
        }
    }

    fn finish(self, extras: Extras<'a>) -> Option<Part<'a>> {
        let Self { kind, source, detail, name, mut semantics } = self;
        semantics.keep(extras);
        let mut source = source?;
        if let (
            Source::Base64 { mime: mime @ None, .. } | Source::Url { mime: mime @ None, .. },
            true,
            Some(name),
        ) = (&mut source, semantics.has_shape(BARE_DATA), &name)
        {
            *mime = media_type::of_name(&name.to_str()).map(Text::literal);
        }
        let media = Media { kind, source, detail, name };
        Some(Part::new(Content::Media(Box::new(media))).with_semantics(semantics))
    }
}

const DATA: &str = "data:";
const BASE64: &str = ";base64";

fn is_data_url(url: &Text<'_>) -> bool {
    url.to_str().get(..DATA.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(DATA))
}

/// Reads an address; the data of a data URL is taken out of it. `scope` is where an odd spelling is kept.
fn address<'a>(url: Text<'a>, scope: &'static str, extras: &mut Extras<'a>) -> Source<'a> {
    if !is_data_url(&url) {
        return Source::Url { mime: None, url };
    }
    let whole = url.clone().into_str();
    let Some(comma) = whole.find(',') else { return Source::Url { mime: None, url } };
    let header = &whole[DATA.len()..comma];
    let base = header.len().saturating_sub(BASE64.len());
    let is_base64 = header.get(base..).is_some_and(|end| end.eq_ignore_ascii_case(BASE64));
    let mime = header.split(';').next().unwrap_or_default().to_ascii_lowercase();
    if !is_base64 {
        return plain_data(url, &whole[comma + 1..], mime, scope, extras);
    }
    if whole[..comma] != *format!("{DATA}{mime}{BASE64}") || mime.is_empty() {
        extras.keep(scope, Cow::Borrowed("prefix"), json_string(&whole[..=comma]));
    }
    let mime = (!mime.is_empty()).then(|| Text::plain(mime));
    Source::Base64 { mime, data: Text::plain(after(whole, comma + 1)) }
}

/// The rest of a text, borrowed from the input if the text is.
fn after(text: Cow<'_, str>, start: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[start..]),
        Cow::Owned(text) => Cow::Owned(text[start..].to_owned()),
    }
}

/// A data URL whose data is percent-encoded text; what is not text stays an address.
fn plain_data<'a>(
    url: Text<'a>,
    encoded: &str,
    mime: String,
    scope: &'static str,
    extras: &mut Extras<'a>,
) -> Source<'a> {
    match percent_decoded(encoded) {
        Some(text) if mime.is_empty() || mime.starts_with("text/") => {
            extras.keep(scope, Cow::Borrowed("url"), json_string(&url.to_str()));
            let mime = (!mime.is_empty()).then(|| Text::plain(mime));
            Source::Text { mime, text: Text::plain(text) }
        }
        _ => Source::Url { mime: None, url },
    }
}

fn percent_decoded(encoded: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let escaped = (*first == b'%').then(|| tail.get(..2)).flatten();
        let digits = escaped.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

fn json_string(text: &str) -> Json<'static> {
    let mut writer = Writer::default();
    writer.value(text);
    Json::trusted(writer.into_string().into())
}
