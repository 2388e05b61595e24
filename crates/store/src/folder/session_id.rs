//! The name of a session, which is the name of its folder: it can be nothing that leads elsewhere.

use crate::error::{Error, Result};

/// Bytes of a session's id: file systems take 255.
const BYTES_MAX: usize = 128;

/// A session's id: letters, digits, `_`, `-` and `.`, and no dot in front.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(String);

impl SessionId {
    pub fn new(id: impl Into<String>) -> Result<Self> {
        let id = id.into();
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let is_name = (1..=BYTES_MAX).contains(&id.len()) && id.bytes().all(is_fit);
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
            "é",
            &"x".repeat(BYTES_MAX + 1),
        ] {
            assert_eq!(SessionId::new(wrong).unwrap_err().kind(), Kind::Invalid, "{wrong}");
        }
        for fine in ["a", "conv_1", "2026-11-17.notes", &"x".repeat(BYTES_MAX)] {
            assert_eq!(SessionId::new(fine).unwrap().as_str(), fine);
        }
    }
}
