//! A JSON value that nobody has looked into: opaque arguments, schemas and unknown fields.

use std::borrow::Cow;
use std::fmt;

use super::compare;
use super::reader::Kind;
use super::reader::Reader;
use super::scan;
use super::text::Text;
use crate::error::Result;

/// One JSON value as it was spelled, already checked.
///
/// Two values are equal when [`Json::same_value`] says so.
#[derive(Clone)]
pub struct Json<'a>(Cow<'a, str>);

impl<'a> Json<'a> {
    /// Checks that `source` is one JSON value, and trims the whitespace around it.
    pub fn parse(source: impl Into<Cow<'a, str>>) -> Result<Self> {
        let source = source.into();
        let start = scan::whitespace(source.as_bytes(), 0);
        let end = scan::value(source.as_bytes(), start, 0)?;
        if scan::whitespace(source.as_bytes(), end) < source.len() {
            return Err(scan::syntax("expected the end of the input", source.as_bytes(), end));
        }
        Ok(Self(match source {
            Cow::Borrowed(source) => Cow::Borrowed(&source[start..end]),
            Cow::Owned(source) if end - start == source.len() => Cow::Owned(source),
            Cow::Owned(source) => Cow::Owned(source[start..end].to_owned()),
        }))
    }

    /// The JSON that a JSON string holds, such as the arguments of a tool call.
    pub fn parse_text(text: &Text<'a>) -> Result<Self> {
        match text.as_borrowed() {
            Some(source) => Self::parse(source),
            None => Self::parse(text.to_str().into_owned()),
        }
    }

    /// A constant that is known to be JSON.
    pub const fn literal(json: &'static str) -> Json<'static> {
        Json(Cow::Borrowed(json))
    }

    /// Text that has been checked, or that a writer of ours has made.
    pub(crate) fn trusted(json: Cow<'a, str>) -> Self {
        Self(json)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn kind(&self) -> Kind {
        match self.0.as_bytes().first() {
            Some(b'"') => Kind::String,
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b't' | b'f') => Kind::Boolean,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            _ => Kind::Null,
        }
    }

    pub fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    pub fn reader(&self) -> Reader<'_> {
        Reader::new(&self.0)
    }

    /// A reader whose slices live as long as the input, if the value is a slice of it.
    pub fn input_reader(&self) -> Option<Reader<'a>> {
        match &self.0 {
            Cow::Borrowed(source) => Some(Reader::new(source)),
            Cow::Owned(_) => None,
        }
    }

    /// The value without whitespace between its tokens; order and spelling are kept.
    pub fn compact(&self) -> Cow<'_, str> {
        match next_gap(self.0.as_bytes(), 0) {
            Some(first) => Cow::Owned(without_gaps(&self.0, first)),
            None => Cow::Borrowed(&self.0),
        }
    }

    /// The compact JSON as the content of a string, such as the arguments of a tool call.
    pub fn to_text(&self) -> Text<'_> {
        Text::plain(self.compact())
    }

    /// Whether both mean the same: members in any order, the last of equal keys, strings by what they say, numbers by spelling.
    pub fn same_value(&self, other: &Json<'_>) -> bool {
        compare::same_value(self, other)
    }

    pub fn reborrow(&self) -> Json<'_> {
        Json(Cow::Borrowed(&self.0))
    }

    pub fn into_owned(self) -> Json<'static> {
        Json(Cow::Owned(self.0.into_owned()))
    }
}

/// The index of the first whitespace outside strings at or behind `at`, which stands outside strings.
fn next_gap(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b' ' | b'\n' | b'\r' | b'\t' => return Some(at),
            b'"' => at = scan::string(bytes, at + 1).ok()?.end + 1,
            _ => at += 1,
        }
    }
}

fn without_gaps(json: &str, first_gap: usize) -> String {
    let bytes = json.as_bytes();
    let mut compact = String::with_capacity(json.len());
    let mut start = 0;
    let mut gap = Some(first_gap);
    while let Some(end) = gap {
        compact.push_str(&json[start..end]);
        start = scan::whitespace(bytes, end);
        gap = next_gap(bytes, start);
    }
    compact.push_str(&json[start..]);
    compact
}

impl PartialEq for Json<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.same_value(other)
    }
}

impl Eq for Json<'_> {}

impl fmt::Debug for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json({}, {} bytes)", self.kind(), self.0.len())
    }
}
