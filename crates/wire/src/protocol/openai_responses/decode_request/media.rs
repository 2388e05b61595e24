//! Reading images, files and sound. Data URLs become their data.

use std::borrow::Cow;

use crate::conversation::Content;
use crate::conversation::Media;
use crate::conversation::MediaKind;
use crate::conversation::Source;
use crate::error::Result;
use crate::json::Kind;
use crate::json::Reader;
use crate::json::Text;
use crate::percent;
use crate::protocol::media_type;
use crate::protocol::object::Member;
use crate::protocol::object::Unread;
use crate::protocol::object::read_object;
use crate::protocol::openai_responses::decode_request::part::read_part;
use crate::protocol::semantics::Extras;
use crate::protocol::semantics::NodeSemantics;

/// Reads an image or a file.
pub(super) fn decode<'a>(
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
            _ => return Ok(Member::Unknown),
        }
        Ok(Member::Read)
    })?;
    if let Some(Source::Base64 { mime: mime @ None, .. } | Source::Url { mime: mime @ None, .. }) =
        &mut source
        && let Some(name) = name.as_ref().filter(|_| is_sent_along)
    {
        *mime = media_type::of_name(&name.to_str()).map(Text::literal);
    }
    Ok(source.map(|source| Content::Media(Box::new(Media { kind, source, detail, name }))))
}

pub(super) fn decode_audio<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    semantics: &mut NodeSemantics<'a>,
) -> Result<Option<Content<'a>>> {
    let (mut data, mut format) = (None, None);
    let mut inside = Extras::default();
    read_part(reader, unread, semantics, |key, reader, _| {
        if key != "input_audio" || reader.kind()? != Kind::Object {
            return Ok(Member::Unknown);
        }
        read_object(reader, "input_audio", &mut inside, |key, reader, _| {
            match key {
                "data" => data = Some(reader.string()?),
                "format" => format = Some(reader.string()?),
                _ => return Ok(Member::Unknown),
            }
            Ok(Member::Read)
        })?;
        Ok(Member::Read)
    })?;
    semantics.keep(inside);
    Ok(data.map(|data| {
        let mime = format.map(|format| Text::plain(format!("audio/{}", format.to_str())));
        let (source, kind) = (Source::Base64 { mime, data }, MediaKind::Audio);
        Content::Media(Box::new(Media { kind, source, detail: None, name: None }))
    }))
}

/// The source that the address of an image is, in whose place some clients send bare Base64.
fn image(url: Text<'_>) -> Source<'_> {
    match media_type::of_bare_image(&url.to_str()) {
        Some(mime) => Source::Base64 { mime: Some(Text::literal(mime)), data: url },
        None => address(url),
    }
}

/// The source that the data of a file is: a data URL or bare Base64, or an address in their place.
fn data(data: Text<'_>) -> Source<'_> {
    match is_data_url(&data) || media_type::is_address(&data.to_str()) {
        true => address(data),
        false => Source::Base64 { mime: None, data },
    }
}

const DATA: &str = "data:";
const BASE64: &str = ";base64";

fn is_data_url(url: &Text<'_>) -> bool {
    url.to_str().get(..DATA.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(DATA))
}

/// Reads an address; the data of a data URL is taken out of it.
fn address(url: Text<'_>) -> Source<'_> {
    if !is_data_url(&url) {
        return Source::Url { mime: None, url };
    }
    let whole = url.clone().into_str();
    let Some(comma) = whole.find(',') else { return Source::Url { mime: None, url } };
    let header = &whole[DATA.len()..comma];
    let base = header.len().saturating_sub(BASE64.len());
    let is_base64 = header.get(base..).is_some_and(|end| end.eq_ignore_ascii_case(BASE64));
    let mime = header.split(';').next().unwrap_or_default().to_ascii_lowercase();
    let is_text = mime.is_empty() || mime.starts_with("text/");
    let mime = (!mime.is_empty()).then(|| Text::plain(mime));
    if is_base64 {
        return Source::Base64 { mime, data: Text::plain(after(whole, comma + 1)) };
    }
    // Data that is not in Base64 is percent-encoded; what is not text stays an address.
    match percent::decoded(&whole[comma + 1..]).filter(|_| is_text) {
        Some(text) => Source::Text { mime, text: Text::plain(text) },
        None => Source::Url { mime: None, url },
    }
}

/// The rest of a text, borrowed from the input if the text is.
fn after(text: Cow<'_, str>, start: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[start..]),
        Cow::Owned(text) => Cow::Owned(text[start..].to_owned()),
    }
}
