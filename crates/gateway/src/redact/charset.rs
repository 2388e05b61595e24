//! What an answer says of the characters of its body. A secret is found where ASCII stands for itself, or between zero bytes; in
//! other charsets it would pass.

use http::HeaderMap;
use http::header::CONTENT_TYPE;

/// How a body may spell ASCII, by its own word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charset {
    /// Byte for byte, as most do.
    Ascii,
    /// Among zero bytes.
    Wide,
    /// In a way that is not known here.
    Other,
}

impl Charset {
    /// The charset of a body, as its head has it. Without a word it is what most are.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let kinds = headers.get_all(CONTENT_TYPE).iter();
        let named = kinds.map(|kind| Self::in_kind(&String::from_utf8_lossy(kind.as_bytes())));
        named.max_by_key(|charset| *charset as u8).unwrap_or(Self::Ascii)
    }

    fn in_kind(kind: &str) -> Self {
        let parameters = kind.split([';', ',']).filter_map(|parameter| parameter.split_once('='));
        let charsets = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
        let named =
            charsets.map(|(_, name)| Self::named(name.trim_matches([' ', '\t', '"', '\''])));
        named.max_by_key(|charset| *charset as u8).unwrap_or(Self::Ascii)
    }

    fn named(name: &str) -> Self {
        let name = name.to_ascii_lowercase().replace('_', "-");
        let begins_like = |known: &&&str| name.starts_with(**known);
        if name.is_empty() || ASCII.iter().any(|known| name == *known) {
            Self::Ascii
        } else if WIDE_FAMILIES.iter().any(|known| begins_like(&known)) {
            Self::Wide
        } else if ASCII_FAMILIES.iter().any(|known| begins_like(&known)) {
            Self::Ascii
        } else {
            Self::Other
        }
    }
}

/// Charsets in which every byte below 128 is ASCII, or a part of another character.
const ASCII: &[&str] = &[
    "utf-8",
    "utf8",
    "us-ascii",
    "ascii",
    "binary",
    "macintosh",
    "gbk",
    "gb2312",
    "gb18030",
    "shift-jis",
    "shiftjis",
    "sjis",
    "tis-620",
];
const ASCII_FAMILIES: &[&str] =
    &["iso-8859-", "iso8859-", "latin", "windows-", "cp125", "koi8-", "x-mac-", "euc-", "big5"];

const WIDE_FAMILIES: &[&str] =
    &["utf-16", "utf16", "utf-32", "utf32", "ucs-2", "ucs-4", "iso-10646-ucs"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charsets_are_known_by_their_names() {
        for (kind, expected) in [
            ("application/json", Charset::Ascii),
            ("text/plain; charset=UTF-8", Charset::Ascii),
            ("text/plain;a=b; Charset = \"iso_8859-1\"", Charset::Ascii),
            ("text/html; charset=windows-1252", Charset::Ascii),
            ("application/octet-stream; charset=binary", Charset::Ascii),
            ("text/plain; charset=", Charset::Ascii),
            ("application/json;charset=utf-16", Charset::Wide),
            ("application/json;charset=UTF-32BE", Charset::Wide),
            ("text/plain; charset=utf-8; charset=utf-16le", Charset::Wide),
            ("text/plain; charset=utf-7", Charset::Other),
            ("text/plain; charset=ibm037", Charset::Other),
            ("text/plain; charset=iso-2022-jp", Charset::Other),
            ("text/plain; charset=utf-8, text/plain; charset=cp500", Charset::Other),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, kind.parse().unwrap());
            assert_eq!(Charset::of(&headers), expected, "{kind}");
        }
        assert_eq!(Charset::of(&HeaderMap::new()), Charset::Ascii);
    }
}
