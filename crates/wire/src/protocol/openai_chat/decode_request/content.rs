//! Reading content: a string, or a list of parts.

use crate::base64;
use crate::conversation::{Content, Media, MediaKind, Part, Reasoning, ReasoningForm, Source};
use crate::error::Result;
use crate::json::{Json, Kind, Reader, Text};
use crate::percent;
use crate::place::Place;
use crate::protocol::data_url::{DATA_URL, DataUrl};
use crate::protocol::object::{Members, Unread, put, read_opaque, read_tag, set};
use crate::protocol::openai_chat::types::{SELF, shape};
use crate::protocol::semantics::{Extras, NodeSemantics};
use crate::protocol::{CacheMarker, media_type};

/// Reads what stands under the name of a part's type; none if it is not as expected.
type Payload = for<'m, 'a> fn(&mut Members<'m, 'a>) -> Result<Option<Content<'a>>>;

/// The types of parts whose payload stands under the name of the type.
const KNOWN: [(&str, Payload); 6] = [
    ("text", |reader| reader.string().map(|text| Some(Content::Text(text)))),
    ("refusal", |reader| reader.string().map(|text| Some(Content::Refusal(text)))),
    ("image_url", read_image),
    ("input_audio", read_audio),
    ("file", read_file),
    ("thinking", |reader| read_thinking(reader)),
];

/// Reads one part of a list. A part that the conversation has no word for is kept whole.
pub(in super::super) fn read_part<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Part<'a>> {
    if reader.kind()? != Kind::Object {
        return read_opaque(reader, (SELF, Text::default()), NodeSemantics::at(place));
    }
    let start = reader.checkpoint();
    let (kind, unread) = read_tag(reader, "type")?;
    let kind = kind.unwrap_or_default();
    if let Some(known) = KNOWN.iter().find(|(name, _)| kind == *name)
        && let Some(part) = read_known(reader, unread, *known, place)?
    {
        return Ok(part);
    }
    *reader = start;
    read_opaque(reader, (SELF, kind), NodeSemantics::at(place))
}

/// Reads a part whose payload stands under the name of its type; none if the payload is not as expected.
fn read_known<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    (name, read): (&str, Payload),
    place: Place,
) -> Result<Option<Part<'a>>> {
    let (mut payload, mut control) = (None, None);
    let mut semantics = NodeSemantics::at(place).shaped(shape::IN_CONTENT);
    let mut extras = Extras::default();
    unread.read(reader, "", &mut extras, |key, reader| match key {
        "type" => reader.skip(),
        "prompt_cache_breakpoint" if semantics.cache().is_none() => {
            semantics.set_cache(CacheMarker::read(CacheMarker::OPENAI, reader.raw()?));
            Ok(())
        }
        "cache_control" => set(&mut control, reader.raw()),
        _ if key == name => put(&mut payload, read(reader)),
        _ => Ok(()),
    })?;
    let Some(content) = payload else { return Ok(None) };
    match control {
        // Servers that front Anthropic take its own marker; it counts where OpenAI's is not given.
        Some(json) if semantics.cache().is_none() => {
            semantics.set_cache(CacheMarker::read(CacheMarker::ANTHROPIC, json));
        }
        Some(json) => extras.keep("", "cache_control".into(), json),
        None => {}
    }
    semantics.keep(extras);
    Ok(Some(Part::new(content).with_semantics(semantics)))
}

fn read_image<'a>(reader: &mut Members<'_, 'a>) -> Result<Option<Content<'a>>> {
    let (mut url, mut detail) = (None, None);
    if reader.kind()? == Kind::String {
        url = Some(reader.string()?);
    } else {
        reader.inside("image_url", |key, reader| match key {
            "url" => set(&mut url, reader.string()),
            "detail" => set(&mut detail, reader.string()),
            _ => Ok(()),
        })?;
    }
    Ok(url.map(|url| media(MediaKind::Image, source(url, reader.extras), detail, None)))
}

/// A data URL holds its bytes; every other URL says where they are.
fn source<'a>(url: Text<'a>, extras: &mut Extras<'a>) -> Source<'a> {
    match read_data_url(&url, extras) {
        Some(Source::Text { mime, text }) => {
            let data = Text::plain(base64::encode(text.to_str().as_bytes()));
            Source::Base64 { mime, data }
        }
        Some(source) => source,
        None => match media_type::of_bare_image(&url.to_str()) {
            Some(mime) => {
                keep_payload(&url, extras);
                Source::Base64 { mime: Some(Text::literal(mime)), data: url }
            }
            None => Source::Url { mime: None, url },
        },
    }
}

/// What a data URL holds, which is kept if it is not spelled the usual way; none if it is no data URL.
fn read_data_url<'a>(text: &Text<'a>, extras: &mut Extras<'a>) -> Option<Source<'a>> {
    let url = DataUrl::of(text)?;
    if !url.is_usual() {
        keep_payload(text, extras);
    }
    Some(held(&url))
}

/// Keeps a payload that is not spelled the usual way as the name of an extra without a value, which comes back on the same
/// protocol: servers that take such a spelling may take no other.
fn keep_payload<'a>(text: &Text<'a>, extras: &mut Extras<'a>) {
    extras.keep(DATA_URL, text.clone().into_str(), Json::literal("null"));
}

/// The bytes of a data URL. Of those that are spelled with percent signs text stays as it is, and all else is in base64.
fn held<'a>(url: &DataUrl<'a>) -> Source<'a> {
    let (mime, data) = (url.mime(), url.data());
    if url.is_base64 {
        return Source::Base64 { mime: Some(mime), data };
    }
    let mime = if mime.is_empty() { Text::literal("text/plain") } else { mime };
    let is_text = mime.to_str().get(..5).is_some_and(|it| it.eq_ignore_ascii_case("text/"));
    let coded = data.to_str();
    match percent::decoded(&coded).filter(|_| is_text) {
        Some(text) => Source::Text { mime: Some(mime), text: Text::plain(text) },
        None => {
            let data = Text::plain(base64::encode(&percent::bytes(&coded)));
            Source::Base64 { mime: Some(mime), data }
        }
    }
}

fn read_audio<'a>(reader: &mut Members<'_, 'a>) -> Result<Option<Content<'a>>> {
    let (mut data, mut mime) = (None, None);
    if reader.kind()? == Kind::String {
        data = Some(reader.string()?);
    } else {
        reader.inside("input_audio", |key, reader| match key {
            "data" => set(&mut data, reader.string()),
            "format" => set(&mut mime, reader.string().map(|it| media_type::of_audio(&it))),
            _ => Ok(()),
        })?;
    }
    let source = data.map(|data| audio_source(data, mime, reader.extras));
    Ok(source.map(|source| media(MediaKind::Audio, source, None, None)))
}

/// Sound is bare base64; some servers take a data URL or an address in its place.
/// Fixture `request/media/sound-as-a-data-url-or-by-address`.
fn audio_source<'a>(data: Text<'a>, mime: Option<Text<'a>>, extras: &mut Extras<'a>) -> Source<'a> {
    if media_type::is_address(&data.to_str()) {
        return Source::Url { mime, url: data };
    }
    match DataUrl::of(&data).as_ref().map(held) {
        Some(Source::Base64 { mime: stated, data: bytes }) => {
            keep_payload(&data, extras);
            let stated = stated.filter(|stated| !stated.is_empty());
            Source::Base64 { mime: mime.or(stated), data: bytes }
        }
        _ => Source::Base64 { mime, data },
    }
}

fn read_file<'a>(reader: &mut Members<'_, 'a>) -> Result<Option<Content<'a>>> {
    let (mut id, mut data, mut name) = (None, None, None);
    reader.inside("file", |key, reader| match key {
        "file_id" => set(&mut id, reader.string()),
        "file_data" => set(&mut data, reader.string()),
        "filename" => set(&mut name, reader.string()),
        _ => Ok(()),
    })?;
    let source = match (id, data) {
        (Some(id), None) => Source::File { mime: None, id },
        (None, Some(data)) => match read_data_url(&data, reader.extras) {
            Some(source) => source,
            None => bare_file(data, name.as_ref(), reader.extras),
        },
        (Some(_), Some(_)) | (None, None) => return Ok(None),
    };
    Ok(Some(media(MediaKind::Document, source, None, name)))
}

/// Files are data URLs; some servers take an address or bare base64 in their place, whose type the name tells.
/// Fixture `request/media/files-by-address-in-file-data`.
fn bare_file<'a>(data: Text<'a>, name: Option<&Text<'_>>, extras: &mut Extras<'a>) -> Source<'a> {
    let mime = name.and_then(|name| media_type::of_name(&name.to_str())).map(Text::literal);
    if media_type::is_address(&data.to_str()) {
        return Source::Url { mime, url: data };
    }
    keep_payload(&data, extras);
    Source::Base64 { mime, data }
}

fn media<'a>(
    kind: MediaKind,
    source: Source<'a>,
    detail: Option<Text<'a>>,
    name: Option<Text<'a>>,
) -> Content<'a> {
    Content::Media(Box::new(Media { kind, source, detail, name }))
}

/// Reads the payload of a `thinking` chunk: a list of texts, or one string.
fn read_thinking<'a>(reader: &mut Reader<'a>) -> Result<Option<Content<'a>>> {
    if reader.kind()? == Kind::String {
        return Ok(Some(reasoning(vec![reader.string()?])));
    }
    let mut texts = Vec::new();
    let mut plain = true;
    reader.array(|_, reader| {
        match read_plain_text(reader)? {
            Some(text) => texts.push(text),
            None => plain = false,
        }
        Ok(())
    })?;
    Ok(plain.then(|| reasoning(texts)))
}

fn reasoning(texts: Vec<Text<'_>>) -> Content<'_> {
    Content::Reasoning(Box::new(Reasoning { form: ReasoningForm::Raw, texts }))
}

/// Reads `{type: text, text}`; none if there is more to it.
fn read_plain_text<'a>(reader: &mut Reader<'a>) -> Result<Option<Text<'a>>> {
    let mut text = None;
    let mut plain = true;
    reader.object(|key, reader| {
        match (&*key, reader.kind()?) {
            ("type", Kind::String) => plain &= reader.string()? == "text",
            ("text", Kind::String) => text = Some(reader.string()?),
            _ => {
                plain = false;
                reader.skip()?;
            }
        }
        Ok(())
    })?;
    Ok(text.filter(|_| plain))
}
