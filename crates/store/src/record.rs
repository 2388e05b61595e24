//! Content, which the store neither reads nor shows.

use std::fmt;

use crate::error::{Error, Result};
use crate::limit::{RECORD_BYTES_MAX, TITLE_BYTES_MAX};

/// Bytes that mean something to whoever keeps them, with no room behind them: there may be many, and short ones. `Debug` shows their
/// number.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Record(Box<[u8]>);

impl Record {
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Self> {
        let bytes = bytes.into();
        if bytes.len() > RECORD_BYTES_MAX {
            return Err(Error::invalid(format!("a record has more than {RECORD_BYTES_MAX} bytes")));
        }
        Ok(Self(bytes.into_boxed_slice()))
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0.into_vec()
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Record({} bytes)", self.0.len())
    }
}

/// What a conversation is called. Titles are made of content, so `Debug` does not show them either.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Title(String);

impl Title {
    /// The text, cut to the limit between two characters.
    pub fn new(text: &str) -> Self {
        let text = text.replace('\0', "");
        Self(text[..text.floor_char_boundary(TITLE_BYTES_MAX)].to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Title {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Title({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_shows_no_content() {
        let shown = format!("{:?} {:?}", Record::new("secret").unwrap(), Title::new("secret"));
        assert_eq!(shown, "Record(6 bytes) Title(6 bytes)");
    }

    #[test]
    fn a_title_is_cut_between_characters() {
        assert_eq!(Title::new(&"é".repeat(300)).as_str().len(), 512);
    }
}
