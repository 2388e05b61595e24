//! Appends JSON to a string and puts the commas.

use std::borrow::Cow;
use std::fmt;
use std::fmt::Write;

use super::escape;
use super::number::Number;
use super::raw::Json;
use super::text::Text;

/// Writes JSON from left to right.
///
/// A comma is due unless the last byte is one of `{`, `[`, `:` and `,`. No value ends in one of them (a string ends in its
/// quote), so that the last byte tells.
///
/// ```
/// let mut writer = sabir_wire::Writer::default();
/// writer.object(|writer| {
///     writer.field("role", "user");
///     writer.key("content");
///     writer.array(|writer| writer.value("hello"));
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

    pub fn into_string(self) -> String {
        self.out
    }

    pub fn as_str(&self) -> &str {
        &self.out
    }

    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
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

    pub fn value(&mut self, value: &(impl Encode + ?Sized)) {
        value.encode(self);
    }

    pub fn field(&mut self, key: &str, value: &(impl Encode + ?Sized)) {
        self.key(key);
        self.value(value);
    }

    /// A field that is left out when there is no value.
    pub fn optional(&mut self, key: &str, value: Option<&(impl Encode + ?Sized)>) {
        if let Some(value) = value {
            self.field(key, value);
        }
    }

    pub fn null(&mut self) {
        self.token("null");
    }

    /// Writes the compact JSON as a JSON string, as tool arguments are.
    pub fn embedded(&mut self, json: &Json<'_>) {
        self.value(&json.to_text());
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
        if !matches!(self.out.as_bytes().last(), None | Some(b'{' | b'[' | b':' | b',' | b' ')) {
            self.out.push(',');
        }
    }

    fn token(&mut self, token: &str) {
        self.separate();
        self.out.push_str(token);
    }

    fn display(&mut self, value: impl fmt::Display) {
        self.separate();
        // Writing to a string cannot fail.
        let _ = write!(self.out, "{value}");
    }

    fn string(&mut self, push_body: impl FnOnce(&mut String)) {
        self.separate();
        self.out.push('"');
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
        writer.display(self);
    }
}

impl Encode for u32 {
    fn encode(&self, writer: &mut Writer) {
        writer.display(self);
    }
}

impl Encode for usize {
    fn encode(&self, writer: &mut Writer) {
        writer.display(self);
    }
}

impl Encode for i64 {
    fn encode(&self, writer: &mut Writer) {
        writer.display(self);
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
