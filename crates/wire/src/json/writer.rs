//! Appends JSON to a string and puts the commas.

use std::borrow::Cow;
use std::fmt;
use std::fmt::Write;

use super::number::{Number, push_whole};
use super::raw::Json;
use super::string::Unseen;
use super::text::Text;
use super::{escape, scan};

/// Writes JSON from left to right.
///
/// A comma is due unless the last byte is one of `{`, `[`, `:` and `,`. No value ends in one of
/// them (a string ends in its quote), so that the last byte tells.
///
/// ```
/// let mut writer = sabir_wire::json::Writer::default();
/// writer.object(|writer| {
///     writer.field("role", "user");
///     writer.array_field("content", |writer| writer.value("hello"));
/// });
/// assert_eq!(writer.as_str(), r#"{"role":"user","content":["hello"]}"#);
/// ```
#[derive(Clone, Default)]
pub struct Writer {
    out: String,
}

/// What can be written as a JSON value.
pub trait Encode {
    /// Writes exactly one value.
    fn encode(&self, writer: &mut Writer);
}

impl Writer {
    pub fn with_capacity(bytes: usize) -> Self {
        Self { out: String::with_capacity(bytes) }
    }

    /// Goes on writing where `out` ends, which must be a place where a value can stand.
    pub(crate) fn appending(out: String) -> Self {
        Self { out }
    }

    /// What `write` writes.
    pub(crate) fn written(write: impl FnOnce(&mut Self)) -> String {
        let mut writer = Self::default();
        write(&mut writer);
        writer.into_string()
    }

    pub fn into_string(self) -> String {
        self.out
    }

    pub fn as_str(&self) -> &str {
        &self.out
    }

    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// How much was written, as [`Writer::take_back`] takes it.
    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    /// Takes back what was written since the writer had this length.
    pub(crate) fn take_back(&mut self, len: usize) {
        self.out.truncate(len);
    }

    /// Forgets what was written and keeps the memory.
    pub fn clear(&mut self) {
        self.out.clear();
    }

    pub fn object(&mut self, members: impl FnOnce(&mut Writer)) {
        self.begin_object();
        members(self);
        self.end_object();
    }

    pub fn array(&mut self, elements: impl FnOnce(&mut Writer)) {
        self.begin_array();
        elements(self);
        self.end_array();
    }

    pub fn key(&mut self, key: &str) {
        self.value(key);
        self.out.push(':');
    }

    /// A key of ours, which needs no escapes and is not searched for any.
    #[inline(always)]
    pub(crate) fn literal_key(&mut self, key: &'static str) {
        debug_assert!(escape::is_clean(key), "{key} needs escapes");
        self.begin_string();
        self.out.push_str(key);
        self.out.push_str("\":");
    }

    pub fn value(&mut self, value: &(impl Encode + ?Sized)) {
        value.encode(self);
    }

    pub fn field(&mut self, key: &str, value: &(impl Encode + ?Sized)) {
        self.key(key);
        self.value(value);
    }

    pub fn object_field(&mut self, key: &str, members: impl FnOnce(&mut Writer)) {
        self.key(key);
        self.object(members);
    }

    pub fn array_field(&mut self, key: &str, elements: impl FnOnce(&mut Writer)) {
        self.key(key);
        self.array(elements);
    }

    /// A field of ours whose value is a word of ours too: neither needs escapes nor is searched for any.
    #[inline]
    pub(crate) fn word(&mut self, key: &'static str, value: &'static str) {
        debug_assert!(escape::is_clean(key) && escape::is_clean(value), "{key}: {value}");
        self.begin_string();
        self.out.push_str(key);
        self.out.push_str("\":\"");
        self.out.push_str(value);
        self.out.push('"');
    }

    /// A field that is left out when there is no value.
    pub fn optional(&mut self, key: &str, value: Option<&(impl Encode + ?Sized)>) {
        if let Some(value) = value {
            self.field(key, value);
        }
    }

    /// Members that an earlier writer wrote, as they are.
    pub(crate) fn raw_members(&mut self, members: &str) {
        if !members.is_empty() {
            self.token(members);
        }
    }

    pub fn null(&mut self) {
        self.token("null");
    }

    /// Writes the compact JSON as a JSON string, as tool arguments are.
    pub fn embedded(&mut self, json: &Json<'_>) {
        self.value(&json.to_text());
    }

    /// Writes the object that `text` spells, and says whether it did: nothing is written of a text that is no object.
    pub(crate) fn spelled_object(&mut self, text: &Text<'_>) -> bool {
        let before = self.out.len();
        self.separate();
        let start = self.out.len();
        text.push_content(&mut self.out);
        let bytes = self.out.as_bytes();
        let is_object = bytes.get(start) == Some(&b'{')
            && scan::value(bytes, start, 0, &mut Unseen).is_ok_and(|end| end == bytes.len());
        if !is_object {
            self.out.truncate(before);
        }
        is_object
    }

    pub fn begin_object(&mut self) {
        self.token("{");
    }

    pub fn end_object(&mut self) {
        self.out.push('}');
    }

    pub fn begin_array(&mut self) {
        self.token("[");
    }

    pub fn end_array(&mut self) {
        self.out.push(']');
    }

    /// Puts the comma that is due.
    #[inline]
    fn separate(&mut self) {
        if self.is_comma_due() {
            self.out.push(',');
        }
    }

    #[inline]
    fn is_comma_due(&self) -> bool {
        !matches!(self.out.as_bytes().last(), None | Some(b'{' | b'[' | b':' | b',' | b' '))
    }

    /// Puts the comma that is due and the quote of a string.
    #[inline]
    fn begin_string(&mut self) {
        if self.is_comma_due() { self.out.push_str(",\"") } else { self.out.push('"') }
    }

    fn token(&mut self, token: &str) {
        self.separate();
        self.out.push_str(token);
    }

    fn string(&mut self, push_body: impl FnOnce(&mut String)) {
        self.begin_string();
        push_body(&mut self.out);
        self.out.push('"');
    }
}

/// Says how much was written, never what.
impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Writer({} bytes)", self.out.len())
    }
}

impl Encode for Text<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.string(|out| self.push_json_body(out));
    }
}

/// As it was spelled, whitespace included.
impl Encode for Json<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.token(self.as_str());
    }
}

impl Encode for Number<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.token(self.as_str());
    }
}

impl Encode for str {
    fn encode(&self, writer: &mut Writer) {
        writer.string(|out| escape::escape(out, self));
    }
}

impl Encode for String {
    fn encode(&self, writer: &mut Writer) {
        self.as_str().encode(writer);
    }
}

impl Encode for Cow<'_, str> {
    fn encode(&self, writer: &mut Writer) {
        self.as_ref().encode(writer);
    }
}

impl Encode for bool {
    fn encode(&self, writer: &mut Writer) {
        writer.token(if *self { "true" } else { "false" });
    }
}

impl Encode for u64 {
    fn encode(&self, writer: &mut Writer) {
        writer.separate();
        push_whole(&mut writer.out, *self);
    }
}

impl Encode for u32 {
    fn encode(&self, writer: &mut Writer) {
        u64::from(*self).encode(writer);
    }
}

impl Encode for usize {
    fn encode(&self, writer: &mut Writer) {
        (*self as u64).encode(writer);
    }
}

impl Encode for i64 {
    fn encode(&self, writer: &mut Writer) {
        writer.separate();
        // Writing to a string cannot fail.
        let _ = write!(writer.out, "{self}");
    }
}

/// None is null; [`Writer::optional`] leaves the field out instead.
impl<T: Encode> Encode for Option<T> {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Some(value) => value.encode(writer),
            None => writer.null(),
        }
    }
}

impl<T: Encode + ?Sized> Encode for &T {
    fn encode(&self, writer: &mut Writer) {
        (**self).encode(writer);
    }
}

impl<T: Encode> Encode for [T] {
    fn encode(&self, writer: &mut Writer) {
        writer.array(|writer| self.iter().for_each(|element| writer.value(element)));
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, writer: &mut Writer) {
        self.as_slice().encode(writer);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::tests::document;
    use super::*;

    /// A foreign document, written value by value.
    struct Whole<'a>(&'a Value);

    impl Encode for Whole<'_> {
        fn encode(&self, writer: &mut Writer) {
            match self.0 {
                Value::Null => writer.null(),
                Value::Bool(truth) => writer.value(truth),
                Value::Number(number) => writer.value(&Json::parse(number.to_string()).unwrap()),
                Value::String(text) => writer.value(text),
                Value::Array(elements) => {
                    writer.value(&elements.iter().map(Whole).collect::<Vec<_>>());
                }
                Value::Object(members) => writer.object(|writer| {
                    for (key, value) in members {
                        writer.field(key, &Whole(value));
                    }
                }),
            }
        }
    }

    fn written(value: &(impl Encode + ?Sized)) -> String {
        let mut writer = Writer::with_capacity(16);
        writer.value(value);
        writer.into_string()
    }

    proptest! {
        #[test]
        fn writing_gives_what_serde_json_writes(value in document()) {
            prop_assert_eq!(written(&Whole(&value)), value.to_string());
        }

        #[test]
        fn embedded_json_is_a_string_that_holds_it(value in document()) {
            let mut writer = Writer::default();
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            writer.embedded(&Json::parse(pretty).unwrap());
            let expected = serde_json::to_string(&value.to_string()).unwrap();
            prop_assert_eq!(writer.as_str(), expected);
        }
    }

    #[test]
    fn strings_that_end_like_structure_are_followed_by_commas() {
        let texts = ["{", "[", ":", ",", "", "}"].map(Text::plain);
        assert_eq!(written(texts.as_slice()), r#"["{","[",":",",","","}"]"#);
    }

    #[test]
    fn a_text_is_written_as_it_was_spelled() {
        assert_eq!(written(&Text::escaped(r"\u00e9\/\ud83d")), r#""\u00e9\/\ud83d""#);
        assert_eq!(written(&Text::plain("a\"b")), r#""a\"b""#);
    }

    #[test]
    fn scalars_and_absent_fields_are_written() {
        let mut writer = Writer::default();
        writer.object(|writer| {
            writer.field("a", &7_u64);
            writer.field("b", &-7_i64);
            writer.field("c", [Some(1_u32), None].as_slice());
            writer.field("d", &Number::from(12_u64));
            writer.optional("e", None::<&str>);
            writer.optional("f\n", Some("g"));
            writer.field("h", &Json::literal("[ 1 ]"));
            writer.array_field("i", |_| ());
        });
        let expected = r#"{"a":7,"b":-7,"c":[1,null],"d":12,"f\n":"g","h":[ 1 ],"i":[]}"#;
        assert_eq!(writer.as_str(), expected);
        writer.clear();
        assert!(writer.is_empty());
    }
}
