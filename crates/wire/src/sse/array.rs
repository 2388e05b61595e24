//! Streams that are one JSON list: any split of the bytes gives the same elements.

use crate::error::{Error, ErrorKind, Result};
use crate::limit::FRAME_BYTES_MAX;
use crate::sse::Frame;

/// Splits a JSON list that comes in chunks of bytes into its elements, each a frame without a name.
///
/// Gemini streams in this form where the client does not ask for server-sent events. A value that stands alone, such as
/// an error, is an element too. Whether an element is JSON is for its reader to see.
#[derive(Debug)]
pub struct JsonArray {
    element_bytes_max: usize,
    /// The element that has begun and not ended.
    element: Vec<u8>,
    /// How many brackets are open inside the element.
    depth: usize,
    within: Within,
    stage: Stage,
}

/// Where in an element the next byte stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Within {
    /// Between elements.
    #[default]
    Nothing,
    Value,
    String,
    /// Behind a backslash in a string.
    Escape,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Nothing but whitespace has come.
    #[default]
    Before,
    /// The list is open.
    List,
    /// A value stands alone.
    Alone,
    /// The list has ended.
    After,
}

impl Default for JsonArray {
    fn default() -> Self {
        Self::with_limit(FRAME_BYTES_MAX)
    }
}

impl JsonArray {
    /// A parser that refuses elements of more bytes.
    pub fn with_limit(element_bytes_max: usize) -> Self {
        Self {
            element_bytes_max,
            element: Vec::new(),
            depth: 0,
            within: Within::default(),
            stage: Stage::default(),
        }
    }

    /// Reads the next bytes and calls `emit` for every element that they complete.
    pub fn push(
        &mut self,
        bytes: &[u8],
        emit: &mut dyn FnMut(Frame<'_>) -> Result<()>,
    ) -> Result<()> {
        for byte in bytes {
            match self.within {
                Within::Nothing => self.between(*byte)?,
                Within::Value => self.value(*byte, emit)?,
                Within::String => self.string(*byte, emit)?,
                Within::Escape => {
                    self.keep(*byte)?;
                    self.within = Within::String;
                }
            }
        }
        Ok(())
    }

    /// Reads what was begun and not ended: a list that is cut off inside an element is an error of its reader.
    pub fn end(mut self, emit: &mut dyn FnMut(Frame<'_>) -> Result<()>) -> Result<()> {
        if self.element.is_empty() { Ok(()) } else { self.emit(emit) }
    }

    /// Whether the list has begun and not ended.
    pub fn is_open(&self) -> bool {
        self.stage == Stage::List
    }

    /// How many bytes have come of an element that has not ended.
    pub fn begun_bytes(&self) -> usize {
        self.element.len()
    }

    fn between(&mut self, byte: u8) -> Result<()> {
        match (self.stage, byte) {
            (_, b' ' | b'\t' | b'\r' | b'\n') | (Stage::List, b',') => {}
            // The bytes of a byte order mark.
            (Stage::Before, 0xef | 0xbb | 0xbf) => {}
            (Stage::Before, b'[') => self.stage = Stage::List,
            (Stage::List, b']') => self.stage = Stage::After,
            (Stage::Before, _) => {
                self.stage = Stage::Alone;
                self.begin(byte)?;
            }
            (Stage::List, _) => self.begin(byte)?,
            (Stage::Alone | Stage::After, _) => {
                return Err(Error::new(ErrorKind::Syntax, "expected nothing behind the list"));
            }
        }
        Ok(())
    }

    fn begin(&mut self, byte: u8) -> Result<()> {
        self.within = Within::Value;
        self.depth = 0;
        match byte {
            b'{' | b'[' => self.depth = 1,
            b'"' => self.within = Within::String,
            _ => {}
        }
        self.keep(byte)
    }

    fn value(&mut self, byte: u8, emit: &mut dyn FnMut(Frame<'_>) -> Result<()>) -> Result<()> {
        let ends_scalar = matches!(byte, b',' | b']' | b' ' | b'\t' | b'\r' | b'\n');
        if self.depth == 0 && ends_scalar {
            self.emit(emit)?;
            return self.between(byte);
        }
        self.keep(byte)?;
        match byte {
            b'"' => self.within = Within::String,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return self.emit(emit);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn string(&mut self, byte: u8, emit: &mut dyn FnMut(Frame<'_>) -> Result<()>) -> Result<()> {
        self.keep(byte)?;
        match byte {
            b'\\' => self.within = Within::Escape,
            b'"' => {
                self.within = Within::Value;
                if self.depth == 0 {
                    return self.emit(emit);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn keep(&mut self, byte: u8) -> Result<()> {
        if self.element.len() == self.element_bytes_max {
            let message = format!("expected elements of at most {} bytes", self.element_bytes_max);
            return Err(Error::new(ErrorKind::Limit, message));
        }
        self.element.push(byte);
        Ok(())
    }

    fn emit(&mut self, emit: &mut dyn FnMut(Frame<'_>) -> Result<()>) -> Result<()> {
        self.within = Within::Nothing;
        let element = std::mem::take(&mut self.element);
        let data = std::str::from_utf8(&element)
            .map_err(|_| Error::new(ErrorKind::Syntax, "expected UTF-8 in the list"))?;
        let emitted = emit(Frame { event: None, data });
        self.element = element;
        self.element.clear();
        emitted
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn elements(chunks: &[&[u8]]) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let mut emit = |frame: Frame<'_>| {
            found.push(frame.data.to_owned());
            Ok(())
        };
        let mut list = JsonArray::default();
        for chunk in chunks {
            list.push(chunk, &mut emit)?;
        }
        list.end(&mut emit)?;
        Ok(found)
    }

    #[test]
    fn a_list_is_split_into_its_elements() {
        let cases: [(&str, &[&str]); 8] = [
            ("[]", &[]),
            ("  ", &[]),
            (
                "[{\"a\":[1,2]}\r\n,\r\n{\"b\":\"]},\\\"\"}\r\n]",
                &["{\"a\":[1,2]}", "{\"b\":\"]},\\\"\"}"],
            ),
            ("[1, 2 ,true]", &["1", "2", "true"]),
            ("[\"a\", \"\\\\\"]", &["\"a\"", "\"\\\\\""]),
            ("{\"error\":{\"code\":400}}\n", &["{\"error\":{\"code\":400}}"]),
            ("\u{feff}[[1],[]]", &["[1]", "[]"]),
            ("[{\"cut\":", &["{\"cut\":"]),
        ];
        for (bytes, expected) in cases {
            assert_eq!(elements(&[bytes.as_bytes()]).unwrap(), expected, "{bytes}");
        }
    }

    #[test]
    fn what_has_come_of_an_element_is_told_until_it_ends() {
        let mut list = JsonArray::default();
        for (bytes, begun) in [("[{\"a\"", 4), (":1", 6), ("}\n,", 0), ("{", 1), ("}]", 0)] {
            list.push(bytes.as_bytes(), &mut |_| Ok(())).unwrap();
            assert_eq!(list.begun_bytes(), begun, "{bytes}");
        }
    }

    #[test]
    fn what_follows_the_list_is_refused() {
        let error = elements(&[b"[1] 2"]).unwrap_err();
        assert_eq!(error.message(), "expected nothing behind the list");
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_elements(
            values in proptest::collection::vec("[a-zé\\[\\]{},\"\\\\ ]{0,8}", 0..4),
            cuts in proptest::collection::vec(0_usize..200, 0..6),
        ) {
            let list = serde_json::to_string_pretty(&values).unwrap();
            let bytes = list.as_bytes();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut start = 0;
            for cut in cuts.into_iter().chain([bytes.len()]) {
                chunks.push(&bytes[start..cut]);
                start = cut;
            }
            let split = elements(&chunks).unwrap();
            let expected: Vec<String> =
                values.iter().map(|value| serde_json::to_string(value).unwrap()).collect();
            prop_assert_eq!(split, expected);
        }
    }
}
