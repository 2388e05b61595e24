//! Data URLs, which OpenAI's protocols have in place of addresses and of files.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr3;

use crate::json::Text;
use crate::percent;

const SCHEME: &str = "data:";
const BASE64: &str = ";base64";

/// The scope of the extra that keeps a payload which is not spelled the usual way.
pub(super) const DATA_URL: &str = "data_url";

/// A data URL, taken apart.
pub(super) struct DataUrl<'a> {
    url: Cow<'a, str>,
    mime_end: usize,
    comma: usize,
    pub(super) is_base64: bool,
    /// Whether its base64 is spelled with percent signs or in lines, which providers refuse elsewhere. Fixtures
    /// `request/media/base64-with-percent-signs`, `request/media/base64-in-lines`.
    pub(super) is_respelled: bool,
}

impl<'a> DataUrl<'a> {
    pub(super) fn of(text: &Text<'a>) -> Option<Self> {
        let url = text.clone().into_str();
        if !is_data_url(&url) {
            return None;
        }
        let comma = url.find(',')?;
        let settings = url.get(SCHEME.len()..comma)?;
        let mime_end = SCHEME.len() + settings.find(';').unwrap_or(settings.len());
        // Browsers pass over spaces there. Fixture `request/media/unusual-data-urls`.
        let last = settings.rsplit_once(';').map(|(_, last)| last.trim_start_matches(' '));
        let is_base64 = last.is_some_and(|it| it.eq_ignore_ascii_case(&BASE64[1..]));
        let data = &url.as_bytes()[comma..];
        let is_respelled = is_base64 && memchr3(b'%', b'\n', b'\r', data).is_some();
        Some(Self { url, mime_end, comma, is_base64, is_respelled })
    }

    /// Whether it is spelled as nearly all are: a type, then base64, and nothing else.
    pub(super) fn is_usual(&self) -> bool {
        let is_spelled = self.url.starts_with(SCHEME) && !self.is_respelled;
        is_spelled && &self.url[self.mime_end..self.comma] == BASE64
    }

    /// The type that it states, as it is spelled; it may be empty.
    pub(super) fn mime(&self) -> Text<'a> {
        self.slice(SCHEME.len()..self.mime_end)
    }

    /// Its data: base64, or what is spelled with percent signs.
    pub(super) fn data(&self) -> Text<'a> {
        let data = self.slice(self.comma + 1..self.url.len());
        let decoded = self.is_respelled.then(|| percent::decoded(&data.to_str())).flatten();
        decoded.map_or(data, |data| Text::plain(data.split_ascii_whitespace().collect::<String>()))
    }

    /// A stretch of the URL, borrowed from the input where the URL is.
    fn slice(&self, range: Range<usize>) -> Text<'a> {
        match &self.url {
            Cow::Borrowed(url) => Text::plain(&url[range]),
            Cow::Owned(url) => Text::plain(url[range].to_owned()),
        }
    }
}

pub(super) fn is_data_url(url: &str) -> bool {
    url.get(..SCHEME.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(SCHEME))
}

/// The data URL of what is in base64.
pub(super) fn in_base64(mime: &str, data: &Text<'_>) -> Text<'static> {
    let mut url = Text::plain(format!("{SCHEME}{mime}{BASE64},"));
    url.push(data);
    url
}
