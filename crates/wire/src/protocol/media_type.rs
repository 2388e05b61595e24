//! Media types by their proper names: vendors compare them letter by letter.

use std::borrow::Cow;

use crate::json::Text;

/// The type as vendors list it: in small letters, and `image/jpeg` by its only registered name.
pub(in crate::protocol) fn proper<'m>(mime: &'m Text<'_>) -> Cow<'m, str> {
    let mime = mime.to_str();
    let has_capitals = mime.bytes().any(|byte| byte.is_ascii_uppercase());
    let mime = if has_capitals { Cow::Owned(mime.to_ascii_lowercase()) } else { mime };
    if mime == "image/jpg" { Cow::Borrowed("image/jpeg") } else { mime }
}

/// Whether a type is spelled as vendors list it.
pub(in crate::protocol) fn is_proper(mime: &Text<'_>) -> bool {
    *mime == *proper(mime)
}

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
}
