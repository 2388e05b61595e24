//! A JSON value that nobody has looked into: opaque arguments, schemas and unknown fields.

use std::borrow::Cow;
use std::fmt;

use super::kind::Kind;
use super::reader::Reader;
use super::string::Unseen;
use super::text::Text;
use super::writer::Writer;
use super::{compare, scan, string};
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
        let end = scan::value(source.as_bytes(), start, 0, &mut Unseen)?;
        let rest = scan::whitespace(source.as_bytes(), end);
        if rest < source.len() {
            return Err(scan::syntax("expected the end of the input", source.as_bytes(), rest));
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

    /// The JSON that `write` writes, which is one value.
    pub(crate) fn written(write: impl FnOnce(&mut Writer)) -> Json<'static> {
        Json::trusted(Writer::written(write).into())
    }

    /// A text as a string.
    pub(crate) fn of_text(text: &Text<'_>) -> Json<'static> {
        Self::written(|writer| writer.value(text))
    }

    /// The object of the members that are written.
    pub(crate) fn of_object(members: impl FnOnce(&mut Writer)) -> Json<'static> {
        Json::written(|writer| writer.object(members))
    }

    /// The list of the elements that are written.
    pub(crate) fn of_list(elements: impl FnOnce(&mut Writer)) -> Json<'static> {
        Json::written(|writer| writer.array(elements))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn kind(&self) -> Kind {
        self.0.bytes().next().and_then(Kind::of).unwrap_or(Kind::Null)
    }

    /// Whether it is an object with a member of such a name.
    pub(crate) fn has_member(&self, is_meant: impl Fn(&str) -> bool) -> bool {
        let mut has_any = false;
        let read = self.reader().object(|key, reader| {
            has_any |= is_meant(&key);
            reader.skip()
        });
        read.is_ok() && has_any
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

    /// The value indented by two spaces a level.
    pub fn indented(&self) -> String {
        super::indented(self.as_str())
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

    /// Whether both mean the same: strings by what they say, numbers by spelling, members in any
    /// order and of equal keys the last.
    pub fn same_value(&self, other: &Json<'_>) -> bool {
        compare::same_value(self, other)
    }

    pub fn reborrow(&self) -> Json<'_> {
        Json(Cow::Borrowed(&self.0))
    }

    pub fn into_cow(self) -> Cow<'a, str> {
        self.0
    }

    pub(crate) fn into_string(self) -> String {
        self.0.into_owned()
    }

    pub fn into_owned(self) -> Json<'static> {
        Json(Cow::Owned(self.0.into_owned()))
    }
}

/// The index of the first whitespace outside strings, from `at` on, which stands outside strings.
fn next_gap(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b' ' | b'\n' | b'\r' | b'\t' => return Some(at),
            b'"' => at = string::string(bytes, at + 1, &mut Unseen).ok()?.end + 1,
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::document;
    use super::*;

    fn same(one: &str, two: &str) -> bool {
        Json::parse(one).unwrap().same_value(&Json::parse(two).unwrap())
    }

    proptest! {
        #[test]
        fn compact_undoes_pretty_printing(value in document()) {
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            let compact = value.to_string();
            let pretty = Json::parse(&pretty).unwrap();
            prop_assert_eq!(pretty.compact(), compact.as_str());
            let compact = Json::parse(&compact).unwrap();
            prop_assert!(matches!(compact.compact(), Cow::Borrowed(_)));
        }

        #[test]
        fn a_text_of_json_reads_back(value in document()) {
            let json = Json::parse(value.to_string()).unwrap();
            let body = json.to_text().json_body().into_owned();
            let back = Json::parse_text(&Text::escaped(body)).unwrap();
            prop_assert_eq!(back.as_str(), json.as_str());
        }

        #[test]
        fn values_are_the_same_when_serde_json_says_so(one in document(), two in document()) {
            prop_assert_eq!(same(&one.to_string(), &two.to_string()), one == two);
            prop_assert!(same(&one.to_string(), &serde_json::to_string_pretty(&one).unwrap()));
        }
    }

    #[test]
    fn spelling_and_order_do_not_matter_but_numbers_do() {
        assert!(same(
            r#"{"a":1,"b":[true,null]}"#,
            r#" { "b" : [ true , null ] , "\u0061" : 1 } "#
        ));
        assert!(same(r#"{"a":1,"a":2}"#, r#"{"a":2}"#));
        assert!(same(r#""\u00e9\/""#, r#""é/""#));
        assert!(!same("1", "1.0"));
        assert!(!same(r#"{"a":1}"#, r#"{"a":1,"b":1}"#));
        assert!(!same("[1,2]", "[2,1]"));
        assert!(!same("true", "false"));
        assert!(!same(r#""\ud800""#, r#""\ud801""#));
    }

    #[test]
    fn whitespace_around_a_value_is_trimmed() {
        for source in [Cow::Borrowed(" \n[1 ,2]\t"), Cow::Owned(" [1 ,2] ".to_owned())] {
            assert_eq!(Json::parse(source).unwrap().as_str(), "[1 ,2]");
        }
    }

    #[test]
    fn a_second_value_is_refused() {
        let error = Json::parse("[1] [2]").unwrap_err();
        assert_eq!(error.message(), "expected the end of the input, found `[` (byte 4)");
    }

    #[test]
    fn a_clean_text_is_parsed_in_place() {
        let json = Json::parse_text(&Text::escaped("[1, 2]")).unwrap();
        assert!(matches!(json.0, Cow::Borrowed("[1, 2]")));
        assert!(json.input_reader().is_some());
    }

    #[test]
    fn debug_shows_kind_and_length_alone() {
        let json = Json::parse(r#"{"secret":"words"}"#).unwrap();
        assert_eq!(format!("{json:?}"), "Json(an object, 18 bytes)");
    }
}
