//! A cursor over JSON text that hands out slices of it.

use std::borrow::Cow;
use std::fmt;

use super::number::Number;
use super::raw::Json;
use super::scan;
use super::text::Text;
use crate::error::Error;
use crate::error::ErrorKind;
use crate::error::Result;

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

/// Reads JSON value by value.
///
/// Clone it to read a value twice. Errors carry the pointer of the value that is wrong.
#[derive(Clone)]
pub struct Reader<'a> {
    source: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    pub fn new(source: &'a str) -> Self {
        Self { source, at: 0, depth: 0 }
    }

    /// Checks the bytes to be UTF-8 and passes over a byte order mark.
    pub fn from_slice(bytes: &'a [u8]) -> Result<Self> {
        let source = str::from_utf8(bytes).map_err(not_utf8)?;
        Ok(Self::new(source.strip_prefix('\u{feff}').unwrap_or(source)))
    }

    /// The kind of the value that comes next, by its first byte.
    pub fn kind(&mut self) -> Result<Kind> {
        match self.peek() {
            Some(b'"') => Ok(Kind::String),
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b't' | b'f') => Ok(Kind::Boolean),
            Some(b'n') => Ok(Kind::Null),
            _ => Err(self.syntax("expected a value")),
        }
    }

    pub fn null(&mut self) -> Result<()> {
        self.expect(Kind::Null)?;
        self.at = scan::word(self.bytes(), self.at, "null")?;
        Ok(())
    }

    pub fn boolean(&mut self) -> Result<bool> {
        self.expect(Kind::Boolean)?;
        let truth = self.peek() == Some(b't');
        self.at = scan::word(self.bytes(), self.at, if truth { "true" } else { "false" })?;
        Ok(truth)
    }

    pub fn string(&mut self) -> Result<Text<'a>> {
        if self.peek() != Some(b'"') {
            self.expect(Kind::String)?;
        }
        let start = self.at + 1;
        let body = scan::string(self.bytes(), start)?;
        self.at = body.end + 1;
        Ok(Text::scanned(&self.source[start..body.end], body.escapes))
    }

    pub fn number(&mut self) -> Result<Number<'a>> {
        self.expect(Kind::Number)?;
        let start = self.at;
        self.at = scan::number(self.bytes(), start)?;
        Ok(Number::scanned(&self.source[start..self.at]))
    }

    /// A whole number spelled without fraction and exponent.
    pub fn u64(&mut self) -> Result<u64> {
        let number = self.number()?;
        number.as_u64().ok_or_else(|| not_whole(u64::MIN, u64::MAX))
    }

    /// A whole number spelled without fraction and exponent.
    pub fn i64(&mut self) -> Result<i64> {
        let number = self.number()?;
        number.as_i64().ok_or_else(|| not_whole(i64::MIN, i64::MAX))
    }

    /// The next value unread, but checked to be JSON.
    pub fn raw(&mut self) -> Result<Json<'a>> {
        self.peek();
        let start = self.at;
        self.skip()?;
        Ok(Json::trusted(Cow::Borrowed(&self.source[start..self.at])))
    }

    /// Passes over the next value, checking it to be JSON.
    pub fn skip(&mut self) -> Result<()> {
        self.at = scan::value(self.bytes(), self.at, self.depth)?;
        Ok(())
    }

    /// Calls back for each member; the callback must consume the value. The key is unescaped.
    pub fn object(
        &mut self,
        mut member: impl FnMut(Cow<'a, str>, &mut Reader<'a>) -> Result<()>,
    ) -> Result<()> {
        self.members(|key, reader| {
            let key = key.into_str();
            member(key.clone(), reader).map_err(|error| error.under_key(&key))
        })
    }

    /// Calls back for each member with the key as it was spelled.
    pub(super) fn members(
        &mut self,
        mut member: impl FnMut(Text<'a>, &mut Reader<'a>) -> Result<()>,
    ) -> Result<()> {
        self.open(Kind::Object)?;
        if self.closes(b'}') {
            return Ok(());
        }
        loop {
            let key = self.key()?;
            let start = self.at;
            member(key, self)?;
            debug_assert!(self.at > start, "a member was not consumed");
            if self.closes(b'}') {
                return Ok(());
            }
            self.token(b',', "expected `,` or `}`")?;
        }
    }

    /// Calls back for each element; the callback must consume it.
    pub fn array(
        &mut self,
        mut element: impl FnMut(usize, &mut Reader<'a>) -> Result<()>,
    ) -> Result<()> {
        self.open(Kind::Array)?;
        if self.closes(b']') {
            return Ok(());
        }
        for index in 0.. {
            let start = self.at;
            element(index, self).map_err(|error| error.under_index(index))?;
            debug_assert!(self.at > start, "an element was not consumed");
            if self.closes(b']') {
                break;
            }
            self.token(b',', "expected `,` or `]`")?;
        }
        Ok(())
    }

    /// Nothing but whitespace may follow.
    pub fn finish(mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.syntax("expected the end of the input")),
        }
    }

    /// Reads a value that may be null, which counts as none.
    pub fn or_null<T>(
        &mut self,
        read: impl FnOnce(&mut Reader<'a>) -> Result<T>,
    ) -> Result<Option<T>> {
        match self.kind()? {
            Kind::Null => self.null().map(|()| None),
            _ => read(self).map(Some),
        }
    }

    /// Where the cursor stands, so that a value can be read twice.
    pub fn checkpoint(&self) -> Reader<'a> {
        self.clone()
    }

    /// Reads ahead in the object that comes next for its first member `name`, a string; null counts as absent.
    ///
    /// Nothing is consumed. The reading stops at the member, so that a tag near the start costs little.
    pub fn peek_tag(&self, name: &str) -> Result<Option<Text<'a>>> {
        let mut ahead = self.clone();
        ahead.open(Kind::Object)?;
        if ahead.closes(b'}') {
            return Ok(None);
        }
        loop {
            if ahead.key()? == *name {
                return ahead.or_null(Reader::string).map_err(|error| error.under_key(name));
            }
            ahead.skip()?;
            if ahead.closes(b'}') {
                return Ok(None);
            }
            ahead.token(b',', "expected `,` or `}`")?;
        }
    }

    fn bytes(&self) -> &'a [u8] {
        self.source.as_bytes()
    }

    /// The next byte that is not whitespace.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        self.at = scan::whitespace(self.bytes(), self.at);
        self.bytes().get(self.at).copied()
    }

    fn expect(&mut self, expected: Kind) -> Result<()> {
        match self.kind()? {
            found if found == expected => Ok(()),
            found => Err(wrong_kind(expected, found)),
        }
    }

    /// Enters the container that comes next.
    fn open(&mut self, kind: Kind) -> Result<()> {
        self.expect(kind)?;
        self.depth = scan::deeper(self.depth)?;
        self.at += 1;
        Ok(())
    }

    /// Leaves the container, if it ends here.
    fn closes(&mut self, end: u8) -> bool {
        let closes = self.peek() == Some(end);
        if closes {
            self.at += 1;
            self.depth -= 1;
        }
        closes
    }

    fn key(&mut self) -> Result<Text<'a>> {
        if self.peek() != Some(b'"') {
            return Err(self.syntax("expected a key"));
        }
        let key = self.string()?;
        self.token(b':', "expected `:`")?;
        Ok(key)
    }

    fn token(&mut self, token: u8, expected: &str) -> Result<()> {
        if self.peek() != Some(token) {
            return Err(self.syntax(expected));
        }
        self.at += 1;
        Ok(())
    }

    #[cold]
    fn syntax(&self, expected: &str) -> Error {
        scan::syntax(expected, self.bytes(), self.at)
    }
}

/// Says how far the cursor has come, never what it reads.
impl fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reader(at {} of {} bytes)", self.at, self.source.len())
    }
}

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

#[cold]
fn wrong_kind(expected: Kind, found: Kind) -> Error {
    Error::new(ErrorKind::Type, format!("expected {expected}, found {found}"))
}

#[cold]
fn not_whole<T: fmt::Display>(least: T, most: T) -> Error {
    let message = format!("expected a whole number from {least} to {most}, found another number");
    Error::new(ErrorKind::Type, message)
}

#[cold]
fn not_utf8(error: std::str::Utf8Error) -> Error {
    let message = format!("expected UTF-8, found an invalid byte ({})", error.valid_up_to());
    Error::new(ErrorKind::Syntax, message)
}
