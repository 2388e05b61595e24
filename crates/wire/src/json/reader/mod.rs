//! A cursor over JSON text that hands out slices of it.

mod tag;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::kind::Kind;
use super::number::Number;
use super::raw::Json;
use super::string::{Escapes, Strings};
use super::survey::{Knowing, Survey};
use super::text::Text;
use super::{scan, special, string};
use crate::error::{Error, ErrorKind, Result};
use crate::utf8;

/// Reads JSON value by value.
///
/// Clone it to read a value twice. Errors carry the pointer of the value that is wrong.
#[derive(Clone)]
pub struct Reader<'a> {
    source: &'a str,
    at: usize,
    depth: usize,
    strings: Knowing<'a>,
}

impl<'a> Reader<'a> {
    pub fn new(source: &'a str) -> Self {
        Self { source, at: 0, depth: 0, strings: Knowing::NOTHING }
    }

    /// Reads a text with what was found out about it before.
    pub fn surveyed(survey: &'a Survey<'a>) -> Self {
        Self { strings: Knowing::new(survey.ends()), ..Self::new(survey.source()) }
    }

    /// Checks the bytes to be UTF-8 and passes over a byte order mark.
    pub fn from_slice(bytes: &'a [u8]) -> Result<Self> {
        let source = utf8::text(bytes)?;
        Ok(Self::new(source.strip_prefix('\u{feff}').unwrap_or(source)))
    }

    /// The kind of the value that comes next, by its first byte.
    pub fn kind(&mut self) -> Result<Kind> {
        match self.peek().and_then(Kind::of) {
            Some(kind) => Ok(kind),
            None => Err(self.syntax("expected a value")),
        }
    }

    /// Whether null comes next, or what begins like it.
    #[inline]
    pub(crate) fn is_before_null(&mut self) -> bool {
        self.peek() == Some(b'n')
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

    #[inline]
    pub fn string(&mut self) -> Result<Text<'a>> {
        match self.clean_string() {
            Some(text) => Ok(Text::clean(text)),
            None => self.escaped_string(),
        }
    }

    /// The string that comes next, if there is one without escapes; else nothing is consumed.
    ///
    /// This is what most strings are, and what comes back in registers is cheaper than a text.
    fn clean_string(&mut self) -> Option<&'a str> {
        let body = self.pass_clean_string()?;
        self.source.get(body)
    }

    /// Passes over the string that comes next, if there is one without escapes, and says where its body stands.
    #[inline]
    fn pass_clean_string(&mut self) -> Option<Range<usize>> {
        if self.peek() != Some(b'"') {
            return None;
        }
        let start = self.at + 1;
        let end = match special::nearby(self.bytes(), start) {
            Ok(end) => end,
            Err(passed) => self.end_of_long_string(start, passed)?,
        };
        if self.bytes().get(end) != Some(&b'"') {
            return None;
        }
        self.at = end + 1;
        Some(start..end)
    }

    /// The first special byte of the string whose body starts at `start` and has nothing special before `passed`, unless
    /// that is known to be an escape.
    #[inline(never)]
    fn end_of_long_string(&mut self, start: usize, passed: usize) -> Option<usize> {
        match self.strings.body(start) {
            Some(body) => (body.escapes == Escapes::Absent).then_some(body.end),
            None => Some(special::in_long_run(self.bytes(), passed)),
        }
    }

    /// The string that comes next, which is not clean.
    fn escaped_string(&mut self) -> Result<Text<'a>> {
        self.expect(Kind::String)?;
        let start = self.at + 1;
        let body = match self.strings.body(start) {
            Some(body) => body,
            None => string::escaped_string(self.bytes(), start)?,
        };
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
        self.peek();
        if let Some((value, behind)) = scan::small_whole(self.bytes(), self.at) {
            self.at = behind;
            return Ok(value);
        }
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

    /// Passes over the value of a member that comes next, if it is spelled like one that was checked before; else nothing is
    /// consumed.
    pub(crate) fn passes_known(&mut self, known: &Json<'_>) -> bool {
        let behind = self.at + known.as_str().len();
        let is_known = self.bytes().get(self.at..behind) == Some(known.as_str().as_bytes())
            && matches!(self.bytes().get(behind), Some(b',' | b'}'));
        self.at = if is_known { behind } else { self.at };
        is_known
    }

    /// Passes over the next value, checking it to be JSON.
    pub fn skip(&mut self) -> Result<()> {
        match self.pass_clean_string() {
            Some(_) => Ok(()),
            None => self.skip_other(),
        }
    }

    /// The same for what is no clean string.
    #[inline(never)]
    fn skip_other(&mut self) -> Result<()> {
        self.at = match self.strings.container(self.at) {
            Some(behind) => behind,
            None => scan::value(self.bytes(), self.at, self.depth, &mut self.strings)?,
        };
        Ok(())
    }

    /// The same by other means.
    pub(super) fn skip_by(&mut self, strings: &mut impl Strings) -> Result<()> {
        self.at = scan::value(self.bytes(), self.at, self.depth, strings)?;
        Ok(())
    }

    /// Calls back for each member; the callback must consume the value. The key is unescaped.
    pub fn object(
        &mut self,
        member: impl FnMut(Cow<'a, str>, &mut Reader<'a>) -> Result<()>,
    ) -> Result<()> {
        if self.enters_object()? { self.members_to_end(member) } else { Ok(()) }
    }

    /// Calls back for the members of one name and kind, and passes all others.
    pub(crate) fn member(
        &mut self,
        name: &str,
        kind: Kind,
        mut read: impl FnMut(&mut Reader<'a>) -> Result<()>,
    ) -> Result<()> {
        self.object(|key, reader| match key == name && reader.kind()? == kind {
            true => read(reader),
            false => reader.skip(),
        })
    }

    /// Enters the object that comes next, and says whether there is a member in it; without one it is passed.
    pub(crate) fn enters_object(&mut self) -> Result<bool> {
        self.open(Kind::Object, b'{')?;
        Ok(!self.closes(b'}'))
    }

    /// Goes on from one member to the next, and says whether there is one; behind the last one the object is left.
    pub(crate) fn has_next_member(&mut self) -> Result<bool> {
        self.ends_member().map(|ends| !ends)
    }

    /// Calls back for the member before which the cursor stands, and for all behind it, like [`Reader::object`].
    pub(crate) fn members_to_end(
        &mut self,
        mut member: impl FnMut(Cow<'a, str>, &mut Reader<'a>) -> Result<()>,
    ) -> Result<()> {
        loop {
            let before = self.at;
            let key = match self.clean_key() {
                Some(key) => Cow::Borrowed(key),
                None => self.key()?.into_str(),
            };
            let start = self.at;
            member(key, self).map_err(|error| self.under_key_at(before, error))?;
            debug_assert!(self.at > start, "a member was not consumed");
            if self.ends_member()? {
                return Ok(());
            }
        }
    }

    /// Calls back for each member with the key as it was spelled.
    pub(super) fn members(
        &mut self,
        mut member: impl FnMut(Text<'a>, &mut Reader<'a>) -> Result<()>,
    ) -> Result<()> {
        if !self.enters_object()? {
            return Ok(());
        }
        loop {
            member(self.key()?, self)?;
            if self.ends_member()? {
                return Ok(());
            }
        }
    }

    /// Passes what follows a member, and says whether that was the end of the object.
    fn ends_member(&mut self) -> Result<bool> {
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            Some(b'}') => {
                self.leave();
                Ok(true)
            }
            _ => Err(self.syntax("expected `,` or `}`")),
        }
    }

    /// Says of an error that it was found under the key before which the cursor stood.
    #[cold]
    fn under_key_at(&self, before: usize, error: Error) -> Error {
        let mut again = Reader { at: before, ..self.clone() };
        match again.key() {
            Ok(key) => error.under_key(&key.to_str()),
            Err(_) => error,
        }
    }

    /// Calls back for each element; the callback must consume it.
    pub fn array(
        &mut self,
        mut element: impl FnMut(usize, &mut Reader<'a>) -> Result<()>,
    ) -> Result<()> {
        self.open(Kind::Array, b'[')?;
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

    /// Collects what the callback makes of each element.
    pub fn list<T>(
        &mut self,
        mut element: impl FnMut(usize, &mut Reader<'a>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut list = Vec::new();
        self.array(|index, reader| {
            list.push(element(index, reader)?);
            Ok(())
        })?;
        Ok(list)
    }

    /// Reads a text that is one value and nothing else.
    pub(crate) fn whole<T>(
        source: &'a str,
        read: impl FnOnce(&mut Reader<'a>) -> Result<T>,
    ) -> Result<T> {
        let mut reader = Self::new(source);
        let value = read(&mut reader)?;
        reader.finish().map(|()| value)
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

    /// How many bytes of the input lie before the cursor.
    pub(crate) fn bytes_ahead(&self) -> usize {
        self.source.len() - self.at
    }

    /// How many bytes of the input lie behind the cursor.
    pub fn position(&self) -> usize {
        self.at
    }

    pub(super) fn source(&self) -> &'a str {
        self.source
    }

    fn bytes(&self) -> &'a [u8] {
        self.source.as_bytes()
    }

    /// The next byte that is not whitespace.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        scan::peek(self.bytes(), &mut self.at)
    }

    fn expect(&mut self, expected: Kind) -> Result<()> {
        match self.kind()? {
            found if found == expected => Ok(()),
            found => Err(wrong_kind(expected, found)),
        }
    }

    /// Enters the container that comes next, which starts with `first`.
    #[inline]
    fn open(&mut self, kind: Kind, first: u8) -> Result<()> {
        if self.peek() != Some(first) {
            self.expect(kind)?;
        }
        self.depth = scan::deeper(self.depth)?;
        self.at += 1;
        Ok(())
    }

    /// Leaves the container, if it ends here.
    fn closes(&mut self, end: u8) -> bool {
        let closes = self.peek() == Some(end);
        if closes {
            self.leave();
        }
        closes
    }

    fn leave(&mut self) {
        self.at += 1;
        self.depth -= 1;
    }

    /// The key that comes next and its colon, if it is spelled without escapes and gaps; else nothing is consumed.
    fn clean_key(&mut self) -> Option<&'a str> {
        let before = self.at;
        let key = self.clean_string();
        if key.is_some() && self.bytes().get(self.at) == Some(&b':') {
            self.at += 1;
            return key;
        }
        self.at = before;
        None
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

#[cold]
fn wrong_kind(expected: Kind, found: Kind) -> Error {
    Error::new(ErrorKind::Type, format!("expected {expected}, found {found}"))
}

#[cold]
fn not_whole<T: fmt::Display>(least: T, most: T) -> Error {
    let message = format!("expected a whole number from {least} to {most}, found another number");
    Error::new(ErrorKind::Type, message)
}
