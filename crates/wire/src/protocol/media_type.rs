//! Media types by their proper names, which vendors compare letter by letter, and how they are found where none is stated.

use std::borrow::Cow;

use crate::json::Text;

/// The type as vendors list it: in small letters, and `image/jpeg` by its only registered name.
pub(super) fn proper<'m>(mime: &'m Text<'_>) -> Cow<'m, str> {
    let mime = mime.to_str();
    let has_capitals = mime.bytes().any(|byte| byte.is_ascii_uppercase());
    let mime = if has_capitals { Cow::Owned(mime.to_ascii_lowercase()) } else { mime };
    if mime == "image/jpg" { Cow::Borrowed("image/jpeg") } else { mime }
}

/// Whether a type is spelled as vendors list it.
pub(super) fn is_proper(mime: &Text<'_>) -> bool {
    *mime == *proper(mime)
}

/// The type that the name of a file or the path of an address ends in.
pub(super) fn of_name(name: &str) -> Option<&'static str> {
    let path = name.split(['?', '#']).next().unwrap_or_default();
    let (_, ending) = path.rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    ENDINGS.iter().find(|(known, _)| *known == ending).map(|(_, mime)| *mime)
}

/// The type of sound in a format of that name.
pub(super) fn of_audio(format: &Text<'_>) -> Text<'static> {
    Text::plain(format!("audio/{}", format.to_str()))
}

/// The type of an image that stands as bare base64 where an address is expected.
pub(super) fn of_bare_image(text: &str) -> Option<&'static str> {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let mime = of_data(text).filter(|mime| mime.starts_with("image/"))?;
    text.bytes().all(is_digit).then_some(mime)
}

/// The type of a usual file by how its bytes begin, in base64.
pub(super) fn of_data(data: &str) -> Option<&'static str> {
    const STARTS: [(&str, &str); 5] = [
        ("iVBORw0KGgo", "image/png"),
        ("/9j/", "image/jpeg"),
        ("R0lGOD", "image/gif"),
        ("UklGR", "image/webp"),
        ("JVBERi0", "application/pdf"),
    ];
    STARTS.iter().find(|(start, _)| data.starts_with(start)).map(|(_, mime)| *mime)
}

/// Whether a text that may hold data holds their address instead.
pub(super) fn is_address(text: &str) -> bool {
    let starts = |scheme: &str| {
        text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    starts("https://") || starts("http://") || starts("gs://")
}

#[rustfmt::skip]
const ENDINGS: [(&str, &str); 36] = [
    ("3gp", "video/3gpp"), ("avi", "video/avi"), ("flv", "video/x-flv"), ("heif", "image/heif"),
    ("mpeg", "video/mpeg"), ("wmv", "video/wmv"),
    ("aac", "audio/aac"), ("aiff", "audio/aiff"), ("css", "text/css"), ("csv", "text/csv"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("flac", "audio/flac"), ("gif", "image/gif"), ("heic", "image/heic"), ("htm", "text/html"),
    ("html", "text/html"), ("jpeg", "image/jpeg"), ("jpg", "image/jpeg"), ("js", "text/javascript"),
    ("json", "application/json"), ("m4a", "audio/m4a"), ("md", "text/markdown"), ("mov", "video/mov"),
    ("mp3", "audio/mp3"), ("mp4", "video/mp4"), ("ogg", "audio/ogg"), ("pdf", "application/pdf"),
    ("png", "image/png"), ("py", "text/x-python"), ("rtf", "text/rtf"), ("txt", "text/plain"),
    ("wav", "audio/wav"), ("webm", "video/webm"), ("webp", "image/webp"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xml", "text/xml"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_one_spelling() {
        let check = |text, expected| assert_eq!(proper(&Text::plain(text)), expected);
        check("image/png", "image/png");
        check("IMAGE/PNG", "image/png");
        check("image/JPG", "image/jpeg");
        assert!(!is_proper(&Text::plain("image/jpg")));
    }

    #[test]
    fn types_are_told_by_names_and_first_bytes() {
        assert_eq!(of_name("Report.PDF"), Some("application/pdf"));
        assert_eq!(of_name("https://example.com/a.txt?page=2.html#x"), Some("text/plain"));
        assert_eq!(of_name("https://example.com/a"), None);
        assert_eq!(of_bare_image("iVBORw0KGgoAAAAN"), Some("image/png"));
        assert_eq!(of_bare_image("/9j/picture of mine.jpg"), None);
        assert!(is_address("HTTPS://example.com/a.pdf") && !is_address("JVBERi0x"));
    }
}
