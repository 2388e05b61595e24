//! A cursor over JSON text that hands out slices of it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::kind::Kind;
use super::number::Number;
use super::raw::Json;
use super::scan;
use super::special;
use super::string;
use super::string::Escapes;
use super::string::Strings;
use super::survey::Knowing;
use super::survey::Survey;
use super::text::Text;
use crate::error::Error;
use crate::error::ErrorKind;
use crate::error::Result;
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
        self.at = scan::value(self.source.as_bytes(), self.at, self.depth, &mut self.strings)?;
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
        match self.enters_object()? {
            true => self.members_to_end(member),
            false => Ok(()),
        }
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
        self.open(Kind::Object, b'{')?;
        if self.closes(b'}') {
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

    /// Reads ahead in the object that comes next for its first member `name`, a string; null counts
    /// as absent.
    ///
    /// Nothing is consumed. The reading stops at the member, so a tag near the start costs little.
    #[inline]
    pub fn peek_tag(&self, name: &str) -> Result<Option<Text<'a>>> {
        match self.leading_tag(name) {
            Some(tag) => Ok(Some(Text::clean(tag))),
            None => self.find_tag(name),
        }
    }

    /// The tag, if it leads the object and nothing is unusual about its spelling.
    #[inline]
    fn leading_tag(&self, name: &str) -> Option<&'a str> {
        let rest = self.bytes().get(self.at..).filter(|_| self.depth < scan::DEPTH_MAX)?;
        let rest = rest.strip_prefix(b"{\"")?.strip_prefix(name.as_bytes())?;
        let start = self.source.len() - rest.strip_prefix(b"\":\"")?.len();
        let end = special::nearby(self.bytes(), start).ok()?;
        self.source.get(start..end).filter(|_| self.bytes()[end] == b'"')
    }

    #[inline(never)]
    fn find_tag(&self, name: &str) -> Result<Option<Text<'a>>> {
        let mut ahead = self.clone();
        ahead.open(Kind::Object, b'{')?;
        if ahead.closes(b'}') {
            return Ok(None);
        }
        loop {
            if ahead.key()? == *name {
                return ahead.or_null(Reader::string).map_err(|error| error.under_key(name));
            }
            ahead.skip()?;
            if ahead.ends_member()? {
                return Ok(None);
            }
        }
    }

    /// Enters the object that comes next and passes its first member, if that is `name`, a string without escapes; else
    /// nothing is consumed.
    #[inline(always)]
    pub(crate) fn enter_by_tag(&mut self, name: &str) -> Option<Text<'a>> {
        let before = self.at;
        if self.depth < scan::DEPTH_MAX && self.peek() == Some(b'{') {
            self.at += 1;
            if let Some(tag) = self.tag_here(name) {
                self.depth += 1;
                return Some(tag);
            }
        }
        self.at = before;
        None
    }

    /// Passes the member behind one that was passed so, if it is `name`, a string without escapes; else nothing is consumed.
    #[inline]
    pub(crate) fn next_by_tag(&mut self, name: &str) -> Option<Text<'a>> {
        let before = self.at;
        if self.peek() == Some(b',') {
            self.at += 1;
            if let Some(tag) = self.tag_here(name) {
                return Some(tag);
            }
        }
        self.at = before;
        None
    }

    /// Passes the member that comes next, if it is `name`, a string without escapes; else the cursor may stand anywhere.
    #[inline(always)]
    fn tag_here(&mut self, name: &str) -> Option<Text<'a>> {
        self.peek();
        match self.passes_key(name) {
            true => self.clean_string().map(Text::clean),
            false => None,
        }
    }

    /// Passes over the key `name`, if it comes next and is spelled without escapes and gaps.
    #[inline(always)]
    fn passes_key(&mut self, name: &str) -> bool {
        let rest = self.bytes().get(self.at..).unwrap_or_default();
        let value = rest
            .strip_prefix(b"\"")
            .and_then(|rest| rest.strip_prefix(name.as_bytes()))
            .and_then(|rest| rest.strip_prefix(b"\":"));
        if let Some(value) = value {
            self.at += rest.len() - value.len();
        }
        value.is_some()
    }

    /// The key of the first member of the object that comes next; nothing is consumed.
    pub(crate) fn first_key(&self) -> Result<Option<Text<'a>>> {
        let mut ahead = self.clone();
        ahead.open(Kind::Object, b'{')?;
        if ahead.closes(b'}') {
            return Ok(None);
        }
        ahead.key().map(Some)
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::tests::document;
    use super::super::tests::nearly_json;
    use super::*;
    use crate::json::DEPTH_MAX;

    /// Reads a whole document by every method there is, and returns what stood there.
    fn walk(reader: &mut Reader<'_>) -> Result<Value> {
        Ok(match reader.kind()? {
            Kind::Null => reader.null().map(|()| Value::Null)?,
            Kind::Boolean => reader.boolean()?.into(),
            Kind::Number => serde_json::from_str(reader.number()?.as_str()).unwrap(),
            Kind::String => reader.string()?.to_str().into(),
            Kind::Array => {
                let mut elements = Vec::new();
                reader.array(|index, reader| {
                    assert_eq!(index, elements.len());
                    elements.push(walk(reader)?);
                    Ok(())
                })?;
                elements.into()
            }
            Kind::Object => {
                let mut members = serde_json::Map::new();
                reader.object(|key, reader| {
                    members.insert(key.into_owned(), walk(reader)?);
                    Ok(())
                })?;
                members.into()
            }
        })
    }

    fn read_all(bytes: &[u8]) -> Result<Value> {
        let mut reader = Reader::from_slice(bytes)?;
        let value = walk(&mut reader)?;
        reader.finish().map(|()| value)
    }

    fn skip_all(bytes: &[u8]) -> Result<()> {
        let mut reader = Reader::from_slice(bytes)?;
        reader.skip()?;
        reader.finish()
    }

    proptest! {
        #[test]
        fn reading_gives_what_serde_json_reads(value in document()) {
            let compact = value.to_string();
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            for text in [&compact, &pretty] {
                let raw = Reader::new(text).raw().unwrap();
                prop_assert_eq!(raw.as_str(), text);
                prop_assert_eq!(&read_all(text.as_bytes()).unwrap(), &value);
            }
        }

        #[test]
        fn exactly_what_serde_json_accepts_is_accepted(bytes in nearly_json()) {
            let expected = serde_json::from_slice::<Value>(&bytes).ok();
            let skipped = skip_all(&bytes);
            prop_assert_eq!(skipped.is_ok(), expected.is_some(), "skip: {:?}", skipped);
            prop_assert_eq!(read_all(&bytes).ok(), expected);
        }

        #[test]
        fn a_cut_document_is_an_error(value in document()) {
            let text = format!("[{value}]");
            for end in 0..text.len() {
                prop_assert!(read_all(&text.as_bytes()[..end]).is_err());
                prop_assert!(skip_all(&text.as_bytes()[..end]).is_err());
            }
        }
    }

    #[test]
    fn special_bytes_are_found_at_every_place() {
        for length in 0..200 {
            let text = "ü".repeat(length / 2) + &"x".repeat(length % 2);
            assert_eq!(skip_all(format!("\"{text}\"").as_bytes()), Ok(()));
            assert_eq!(skip_all(format!("\"{text}\\n{text}\"").as_bytes()), Ok(()));
            for wrong in ["\n", "\u{1f}", "\u{0}", "\\x", "\\u12g4", "\\u123"] {
                let error = skip_all(format!("\"{text}{wrong}\"").as_bytes()).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Syntax);
            }
        }
    }

    #[test]
    fn lone_surrogates_are_accepted_and_kept() {
        let text = Reader::new(r#""\ud83d and \uDE00""#).string().unwrap();
        assert_eq!(text.json_body(), r"\ud83d and \uDE00");
        assert_eq!(text.to_str(), "\u{fffd} and \u{fffd}");
    }

    #[test]
    fn nesting_has_a_limit_however_it_is_read() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(skip_all(nested(DEPTH_MAX).as_bytes()).is_ok());
        assert!(read_all(nested(DEPTH_MAX).as_bytes()).is_ok());
        for text in [nested(DEPTH_MAX + 1), nested(100_000), r#"{"a":["#.repeat(100_000)] {
            assert_eq!(skip_all(text.as_bytes()).unwrap_err().kind(), ErrorKind::Limit);
            assert_eq!(read_all(text.as_bytes()).unwrap_err().kind(), ErrorKind::Limit);
            assert_eq!(Json::parse(text).unwrap_err().kind(), ErrorKind::Limit);
        }
    }

    #[test]
    fn the_limit_counts_the_levels_around_a_skipped_value() {
        let text = format!(r#"{{"a":{}{}}}"#, "[".repeat(DEPTH_MAX), "]".repeat(DEPTH_MAX));
        let error = Reader::new(&text).object(|_, reader| reader.skip()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
    }

    #[test]
    fn errors_say_expected_found_and_where() {
        let text = r#"{"messages":[{"role":"user"},{"role":{}}]}"#;
        let mut reader = Reader::new(text);
        let error = reader.object(|_, reader| {
            reader.array(|_, reader| reader.object(|_, reader| reader.string().map(|_| ())))
        });
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Type);
        assert_eq!(error.to_string(), "expected a string, found an object at /messages/1/role");
    }

    #[test]
    fn syntax_errors_do_not_quote_words() {
        let error = skip_all(br#"{"a":1 secret"#).unwrap_err();
        assert_eq!(error.to_string(), "expected `,` or `}`, found something else (byte 7)");
    }

    #[test]
    fn whole_numbers_are_spelled_as_such_and_fit() {
        assert_eq!(Reader::new("7").u64(), Ok(7));
        assert_eq!(Reader::new("-7").i64(), Ok(-7));
        for text in ["1.5", "1e2", "-1", "18446744073709551616", "\"1\""] {
            assert_eq!(Reader::new(text).u64().unwrap_err().kind(), ErrorKind::Type);
        }
    }

    #[test]
    fn whole_numbers_end_where_their_digits_do() {
        for digits in
            ["0", "7", "4096", "999999999999999", "1000000000000000", "18446744073709551615"]
        {
            for behind in ["", "]", ",1", " ", "x"] {
                let text = format!(" {digits}{behind}");
                let mut reader = Reader::new(&text);
                assert_eq!(reader.u64(), Ok(digits.parse().unwrap()), "{text}");
                assert_eq!(reader.position(), 1 + digits.len());
            }
        }
        let mut reader = Reader::new("07]");
        assert_eq!(reader.u64(), Ok(0));
        assert_eq!(reader.position(), 1);
        for text in ["1.5]", "1e2]", "-1]", "2E0]"] {
            assert_eq!(Reader::new(text).u64().unwrap_err().kind(), ErrorKind::Type, "{text}");
        }
        assert_eq!(Reader::new("1.]").u64().unwrap_err().kind(), ErrorKind::Syntax);
    }

    #[test]
    fn null_counts_as_none() {
        assert_eq!(Reader::new(" null").or_null(Reader::u64), Ok(None));
        assert_eq!(Reader::new(" 3").or_null(Reader::u64), Ok(Some(3)));
    }

    #[test]
    fn a_tag_is_found_without_consuming() {
        let tag = |text: &'static str| Reader::new(text).peek_tag("type");
        let late = r#" { "x" : [{"type":"y"}] , "typ\u0065" : "text" }"#;
        assert_eq!(tag(r#"{"type":"text"}"#).unwrap().unwrap(), "text");
        assert_eq!(tag(late).unwrap().unwrap(), "text");
        assert_eq!(tag(r#"{"type":null}"#), Ok(None));
        assert_eq!(tag(r#"{"x":1}"#), Ok(None));
        assert_eq!(tag("{}"), Ok(None));
        assert_eq!(tag(r#"{"type":1}"#).unwrap_err().pointer(), "/type");
        assert_eq!(tag("[]").unwrap_err().kind(), ErrorKind::Type);
        let mut reader = Reader::new(r#"{"type":"text"}"#);
        reader.peek_tag("type").unwrap();
        assert!(reader.skip().is_ok());
    }

    #[test]
    fn a_tag_that_comes_first_is_passed() {
        for text in
            [r#"{"id":"1","type":"text","x":2}"#, " { \"id\": \"1\" , \"type\": \"text\",\"x\":2}"]
        {
            let mut reader = Reader::new(text);
            assert_eq!(reader.enter_by_tag("id").unwrap(), "1");
            assert_eq!(reader.next_by_tag("id"), None);
            assert_eq!(reader.next_by_tag("type").unwrap(), "text");
            assert_eq!(reader.has_next_member(), Ok(true));
            let rest = reader.members_to_end(|key, reader| {
                assert_eq!(key, "x");
                reader.skip()
            });
            assert_eq!(rest, Ok(()));
            assert_eq!(reader.finish(), Ok(()));
        }
    }

    #[test]
    fn what_is_no_plain_tag_at_the_start_is_left_unread() {
        let nested = "[".repeat(DEPTH_MAX) + r#"{"type":"text"}"#;
        let others = [
            r#"{"x":1,"type":"text"}"#,
            r#"{"typ\u0065":"text"}"#,
            r#"{"type" :"text"}"#,
            r#"{"type":"\u0074ext"}"#,
            r#"{"type":"text"#,
            r#"{"type":null}"#,
            r#"{"types":"text"}"#,
            "{}",
            "[]",
            "",
        ];
        for text in others {
            let mut reader = Reader::new(text);
            assert_eq!(reader.enter_by_tag("type"), None);
            assert_eq!(reader.position(), 0, "{text}");
        }
        let mut reader = Reader { at: DEPTH_MAX, depth: DEPTH_MAX, ..Reader::new(&nested) };
        assert_eq!(reader.enter_by_tag("type"), None);
    }

    #[test]
    fn a_byte_order_mark_is_passed_over_and_bad_utf8_refused() {
        assert_eq!(read_all(b"\xef\xbb\xbf1"), Ok(1.into()));
        assert_eq!(read_all(b"\"\xff\"").unwrap_err().kind(), ErrorKind::Syntax);
    }
}
