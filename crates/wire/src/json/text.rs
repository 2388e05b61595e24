//! A JSON string in the form it had on the wire, so that copying it costs one `memcpy`.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use memchr::memchr;

use super::escape::Unescaped;
use super::string::Escapes;
use super::{escape, special};

/// A string as it stood in JSON (escapes kept), or plain text of ours.
///
/// Two texts are equal when they say the same, however they are spelled. Lone surrogates, which no
/// `str` can hold, survive copying and count in comparisons.
#[derive(Clone)]
pub struct Text<'a> {
    repr: Cow<'a, str>,
    form: Form,
}

/// How the representation relates to what the text says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// No escapes, and none needed.
    Clean,
    /// The body of a JSON string that holds escapes.
    Escaped,
    /// What the text says; it may need escapes.
    Plain,
}

impl<'a> Text<'a> {
    /// Text of ours or of a human; it is escaped when it is written, if need be.
    pub fn plain(text: impl Into<Cow<'a, str>>) -> Self {
        Self { repr: text.into(), form: Form::Plain }
    }

    /// The same, looked at now for what needs escapes: for texts that are written often.
    pub fn checked(text: impl Into<Cow<'a, str>>) -> Self {
        let repr = text.into();
        let form = if needs_no_escape(repr.as_bytes()) { Form::Clean } else { Form::Plain };
        Self { repr, form }
    }

    /// A constant that needs no escapes.
    pub const fn literal(text: &'static str) -> Text<'static> {
        debug_assert!(needs_no_escape(text.as_bytes()));
        Text { repr: Cow::Borrowed(text), form: Form::Clean }
    }

    /// The body of a JSON string, without its quotes, known to be valid.
    pub(crate) fn escaped(body: impl Into<Cow<'a, str>>) -> Self {
        let repr = body.into();
        let form = match memchr(b'\\', repr.as_bytes()) {
            Some(_) => Form::Escaped,
            None => Form::Clean,
        };
        Self { repr, form }
    }

    /// The body of a JSON string that a scan has found to hold no escapes.
    #[inline]
    pub(super) fn clean(body: &'a str) -> Self {
        Self { repr: Cow::Borrowed(body), form: Form::Clean }
    }

    /// The beginning of a string's body up to its first quote, escape or control character, and what follows.
    pub(crate) fn clean_prefix(body: &'a str) -> (Self, &'a str) {
        let (text, rest) = body.split_at(special::first(body.as_bytes(), 0));
        (Self::clean(text), rest)
    }

    /// The body of a JSON string that a scan has just measured.
    pub(super) fn scanned(body: &'a str, escapes: Escapes) -> Self {
        let form = match escapes {
            Escapes::Absent => Form::Clean,
            Escapes::Present => Form::Escaped,
        };
        Self { repr: Cow::Borrowed(body), form }
    }

    /// What the text says; a lone surrogate becomes U+FFFD.
    #[inline]
    pub fn to_str(&self) -> Cow<'_, str> {
        match self.form {
            Form::Clean | Form::Plain => Cow::Borrowed(&self.repr),
            Form::Escaped => Cow::Owned(escape::unescape(&self.repr).text),
        }
    }

    /// What the text says, borrowed from the input where that is possible.
    #[inline]
    pub fn into_str(self) -> Cow<'a, str> {
        match self.form {
            Form::Clean | Form::Plain => self.repr,
            Form::Escaped => Cow::Owned(escape::unescape(&self.repr).text),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.repr.is_empty()
    }

    /// Whether it holds half of a surrogate pair, which is no character and cannot be said in UTF-8.
    pub fn has_lone_surrogate(&self) -> bool {
        self.form == Form::Escaped && escape::unescape(&self.repr).has_lone_surrogate()
    }

    /// Whether the text is empty or says nothing but whitespace.
    #[inline]
    pub fn is_blank(&self) -> bool {
        // Nearly all texts begin with something to say.
        match self.repr.as_bytes() {
            [b'!'..=b'[' | b']'..=b'~', ..] => false,
            _ => self.is_blank_throughout(),
        }
    }

    fn is_blank_throughout(&self) -> bool {
        match self.form {
            Form::Clean | Form::Plain => self.repr.trim_start().is_empty(),
            Form::Escaped => escape::is_blank(&self.repr),
        }
    }

    /// All texts as one, with `between` between them; none if there is none.
    pub(crate) fn joined<'t>(
        mut texts: impl Iterator<Item = &'t Text<'t>>,
        between: &'static str,
    ) -> Option<Text<'t>> {
        let first = texts.next()?.reborrow();
        Some(texts.fold(first, |mut all, text| {
            all.push(&Text::plain(between));
            all.push(text);
            all
        }))
    }

    pub fn reborrow(&self) -> Text<'_> {
        Text { repr: Cow::Borrowed(&self.repr), form: self.form }
    }

    pub fn into_owned(self) -> Text<'static> {
        Text { repr: Cow::Owned(self.repr.into_owned()), form: self.form }
    }

    /// The first byte of the representation: what the text begins with, unless it is a backslash.
    pub fn first_byte_hint(&self) -> Option<u8> {
        self.repr.as_bytes().first().copied()
    }

    /// The bytes of the representation: a measure for budgets, not the length of what it says.
    pub fn len_hint(&self) -> usize {
        self.repr.len()
    }

    /// Appends `other`. Halves of a surrogate pair that a stream has split join again.
    pub fn push(&mut self, other: &Text<'_>) {
        match (self.form, other.form) {
            (Form::Plain, Form::Escaped) => *self = Text::escaped(self.json_body().into_owned()),
            (Form::Escaped, Form::Plain) => {
                return escape::escape(self.repr.to_mut(), &other.repr);
            }
            _ => {}
        }
        self.repr.to_mut().push_str(&other.repr);
        // Plain and escaped ones never meet here.
        if self.form == Form::Clean {
            self.form = other.form;
        }
    }

    /// Takes off the first half of a surrogate pair that stands at the end, so that it can wait for the other half.
    pub fn take_half_at_end(&mut self) -> Option<Text<'static>> {
        let at = self.half_at_end()?;
        let half = Text::escaped(self.repr[at..].to_owned());
        self.repr.to_mut().truncate(at);
        Some(half)
    }

    /// Where the escape of a lone first half begins, if the text ends in one.
    fn half_at_end(&self) -> Option<usize> {
        const ESCAPE_BYTES: usize = 6;
        let at =
            self.repr.len().checked_sub(ESCAPE_BYTES).filter(|_| self.form == Form::Escaped)?;
        let digits = self.repr.get(at..)?.strip_prefix("\\u")?;
        let is_first_half = matches!(u32::from_str_radix(digits, 16), Ok(0xd800..=0xdbff));
        // An even number of backslashes before it are escapes of themselves.
        let before = self.repr[..at].bytes().rev().take_while(|byte| *byte == b'\\').count();
        (is_first_half && before % 2 == 0).then_some(at)
    }

    /// The escaped body, without quotes.
    pub(crate) fn json_body(&self) -> Cow<'_, str> {
        if self.form != Form::Plain || escape::is_clean(&self.repr) {
            return Cow::Borrowed(&self.repr);
        }
        let mut body = String::with_capacity(self.repr.len() + self.repr.len() / 8);
        escape::escape(&mut body, &self.repr);
        Cow::Owned(body)
    }

    /// Appends the escaped body, without quotes.
    pub(super) fn push_json_body(&self, out: &mut String) {
        match self.form {
            Form::Clean | Form::Escaped => out.push_str(&self.repr),
            Form::Plain => escape::escape(out, &self.repr),
        }
    }

    /// Appends what the text says; a lone surrogate becomes U+FFFD.
    pub(crate) fn push_content(&self, out: &mut String) {
        match self.form {
            Form::Clean | Form::Plain => out.push_str(&self.repr),
            Form::Escaped => {
                *out = escape::unescape_behind(std::mem::take(out), &self.repr).text;
            }
        }
    }

    /// The text as a slice of the input, if it is one and holds no escapes.
    pub(crate) fn as_borrowed(&self) -> Option<&'a str> {
        match (&self.repr, self.form) {
            (Cow::Borrowed(text), Form::Clean | Form::Plain) => Some(text),
            _ => None,
        }
    }

    fn content(&self) -> Unescaped {
        match self.form {
            Form::Clean | Form::Plain => Unescaped::whole(&self.repr),
            Form::Escaped => escape::unescape(&self.repr),
        }
    }
}

const fn needs_no_escape(mut bytes: &[u8]) -> bool {
    while let [first, rest @ ..] = bytes {
        if matches!(first, b'"' | b'\\' | 0..0x20) {
            return false;
        }
        bytes = rest;
    }
    true
}

impl Ord for Text<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.form, other.form) {
            (Form::Clean | Form::Plain, Form::Clean | Form::Plain) => self.repr.cmp(&other.repr),
            _ => self.content().cmp(&other.content()),
        }
    }
}

impl PartialOrd for Text<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self.form, other.form) {
            (Form::Clean | Form::Plain, Form::Clean | Form::Plain) => self.repr == other.repr,
            (Form::Escaped, Form::Escaped) if self.repr == other.repr => true,
            _ => self.content() == other.content(),
        }
    }
}

impl Eq for Text<'_> {}

impl Hash for Text<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.to_str().hash(state);
    }
}

impl PartialEq<str> for Text<'_> {
    #[inline]
    fn eq(&self, other: &str) -> bool {
        match self.form {
            Form::Clean | Form::Plain => *self.repr == *other,
            Form::Escaped => self.content() == Unescaped::whole(other),
        }
    }
}

impl PartialEq<&str> for Text<'_> {
    #[inline]
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Text::plain(text)
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Text::plain(text)
    }
}

impl Default for Text<'_> {
    fn default() -> Self {
        Text::literal("")
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Text({} bytes)", self.repr.len())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn half_of_a_pair_at_the_end_can_wait_for_the_other() {
        for (body, head, half) in [
            ("Sea \\ud83d", "Sea ", Some("\\ud83d")),
            ("\\uD83D", "", Some("\\uD83D")),
            ("\\\\ud83d", "\\\\ud83d", None),
            ("\\ud83d\\ude00", "\\ud83d\\ude00", None),
            ("a\\n", "a\\n", None),
        ] {
            let mut text = super::Text::escaped(body);
            let taken = text.take_half_at_end();
            assert_eq!(
                taken.as_ref().map(|taken| taken.json_body().into_owned()),
                half.map(str::to_owned)
            );
            assert_eq!(text.json_body(), head);
        }
    }

    use proptest::prelude::*;

    use super::*;

    /// The forms in which one text may come.
    fn forms(text: &str) -> [Text<'_>; 3] {
        let body = serde_json::to_string(text).unwrap();
        let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
        [Text::plain(text), Text::escaped(body[1..body.len() - 1].to_owned()), Text::escaped(units)]
    }

    proptest! {
        #[test]
        fn all_forms_of_a_text_are_equal(text in "(\\PC|[\n\"\\\\]){0,30}") {
            for form in forms(&text) {
                prop_assert_eq!(&form.to_str(), &text);
                prop_assert_eq!(form.is_blank(), text.trim().is_empty());
                prop_assert_eq!(form.is_empty(), text.is_empty());
                prop_assert!(form == *text.as_str());
                let quoted = format!("\"{}\"", form.json_body());
                prop_assert_eq!(&serde_json::from_str::<String>(&quoted).unwrap(), &text);
                prop_assert_eq!(form.clone().into_owned().into_str(), text.as_str());
            }
        }

        #[test]
        fn order_is_that_of_the_content(one in "[ab\n\"]{0,4}", two in "[ab\n\"]{0,4}") {
            for left in forms(&one) {
                for right in forms(&two) {
                    prop_assert_eq!(left.cmp(&right), one.cmp(&two));
                    prop_assert_eq!(left == right, one == two);
                }
            }
        }

        #[test]
        fn pushing_concatenates_whatever_the_forms(
            one in "(\\PC|[\n\"]){0,9}", two in "(\\PC|[\n\"]){0,9}", three in "(\\PC|[\n\"]){0,9}",
        ) {
            for first in forms(&one) {
                for second in forms(&two) {
                    for third in forms(&three) {
                        let mut joined = first.reborrow();
                        joined.push(&second);
                        joined.push(&third);
                        prop_assert_eq!(joined.to_str(), format!("{one}{two}{three}"));
                    }
                }
            }
        }
    }

    #[test]
    fn pushing_joins_the_halves_of_a_surrogate_pair() {
        for start in [Text::default(), Text::plain("so \"far\" "), Text::escaped(r"so\nfar ")] {
            let mut joined = start.clone();
            joined.push(&Text::escaped(r"\ud83d"));
            joined.push(&Text::escaped(r"\ude00!"));
            assert_eq!(joined.to_str(), format!("{}\u{1f600}!", start.to_str()));
        }
    }

    #[test]
    fn lone_surrogates_are_kept_and_told_apart() {
        let high = Text::escaped(r"\ud83d");
        assert_eq!(high.json_body(), r"\ud83d");
        assert_eq!(high, Text::escaped(r"\uD83D"));
        assert_ne!(high, Text::escaped(r"\ud83c"));
        assert_ne!(high, "\u{fffd}");
    }

    #[test]
    fn debug_shows_the_length_alone() {
        assert_eq!(format!("{:?}", Text::plain("secret words")), "Text(12 bytes)");
    }
}
