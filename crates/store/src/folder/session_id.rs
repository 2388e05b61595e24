//! The name of a session, which is the name of its folder: it can be nothing that leads elsewhere.

use crate::error::{Error, Result};

/// Bytes of a session's id: file systems take 255.
const BYTES_MAX: usize = 128;

/// A session's id: letters of any alphabet, digits, `_`, `-` and `.`, and no dot in front.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(String);

impl SessionId {
    pub fn new(id: impl Into<String>) -> Result<Self> {
        let id = id.into();
        let is_name = (1..=BYTES_MAX).contains(&id.len()) && id.chars().all(is_fit);
        if !is_name || id.starts_with('.') || id.ends_with('.') {
            return Err(Error::invalid(format!(
                "a session's id has up to {BYTES_MAX} letters, digits, `_`, `-` and `.`, and no dot at either end"
            )));
        }
        Ok(Self(id))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What is not ASCII may be a letter, or a mark of one; what shows nothing is neither.
fn is_fit(letter: char) -> bool {
    match letter.is_ascii() {
        true => letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.'),
        false => !letter.is_control() && !letter.is_whitespace() && !is_unseen(letter),
    }
}

fn is_unseen(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn an_id_that_leaves_its_folder_is_refused() {
        for wrong in [
            "",
            ".",
            "..",
            "../x",
            "a/b",
            "a\\b",
            "/etc",
            ".hidden",
            "a.",
            "a b",
            "a\0b",
            "C:x",
            "a\u{202e}b",
            "a\u{a0}b",
            &"x".repeat(BYTES_MAX + 1),
        ] {
            assert_eq!(SessionId::new(wrong).unwrap_err().kind(), Kind::Invalid, "{wrong}");
        }
        let long = "x".repeat(BYTES_MAX);
        for fine in
            ["a", "conv_1", "2026-11-17.notes", "заметки", "漢字", "हिन्दी", "cafe\u{301}", &long]
        {
            assert_eq!(SessionId::new(fine).unwrap().as_str(), fine);
        }
    }
}
