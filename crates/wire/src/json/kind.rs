//! The six sorts of JSON values.

use std::fmt;

/// What sort of value stands in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    /// The kind of the value that starts with `first`, if one can.
    #[inline]
    pub(super) const fn of(first: u8) -> Option<Self> {
        match first {
            b'"' => Some(Kind::String),
            b'{' => Some(Kind::Object),
            b'[' => Some(Kind::Array),
            b'-' | b'0'..=b'9' => Some(Kind::Number),
            b't' | b'f' => Some(Kind::Boolean),
            b'n' => Some(Kind::Null),
            _ => None,
        }
    }
}

/// With its article, as errors name it.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Null => "null",
            Kind::Boolean => "a boolean",
            Kind::Number => "a number",
            Kind::String => "a string",
            Kind::Array => "an array",
            Kind::Object => "an object",
        })
    }
}
