//! Adds and removes the escapes of JSON strings.

use super::special;

/// What a string body says, and which halves of surrogate pairs it holds that no text can.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unescaped {
    pub(super) text: String,
    /// Where in `text` a U+FFFD stands for which lone surrogate.
    lone: Vec<(usize, u16)>,
}

/// Removes the escapes of a checked string body; a lone surrogate becomes U+FFFD.
pub(super) fn unescape(body: &str) -> Unescaped {
    unescape_behind(String::with_capacity(body.len()), body)
}

/// Appends a checked string body without its escapes to `text`. In a checked body nothing but a backslash is special; other
/// specials are passed over.
pub(super) fn unescape_behind(text: String, body: &str) -> Unescaped {
    let mut unescaped = Unescaped { text, lone: Vec::new() };
    unescaped.text.reserve(body.len());
    let (mut start, mut at) = (0, 0);
    while at < body.len() {
        let (mut specials, looked) = special::mask(&body.as_bytes()[at..]);
        while specials != 0 {
            let found = at + specials.trailing_zeros() as usize;
            specials &= specials - 1;
            if found >= start && body.as_bytes()[found] == b'\\' {
                unescaped.text.push_str(&body[start..found]);
                start = unescaped.push_escape(body, found + 1);
            }
        }
        at += looked;
    }
    unescaped.text.push_str(&body[start..]);
    unescaped
}

/// Whether a checked string body says nothing but whitespace.
pub(super) fn is_blank(body: &str) -> bool {
    let mut rest = body.trim_start();
    while let Some(escape) = rest.strip_prefix('\\') {
        let mut first = Unescaped { text: String::new(), lone: Vec::new() };
        let behind = first.push_escape(escape, 0);
        if !first.text.trim_start().is_empty() {
            return false;
        }
        rest = escape[behind..].trim_start();
    }
    rest.is_empty()
}

impl Unescaped {
    pub(super) fn has_lone_surrogate(&self) -> bool {
        !self.lone.is_empty()
    }

    /// A text that held no escapes.
    pub(super) fn whole(text: &str) -> Self {
        Self { text: text.to_owned(), lone: Vec::new() }
    }

    /// Takes the escape of `body` whose letter stands at `at`, and returns the index behind it.
    #[inline(always)]
    fn push_escape(&mut self, body: &str, at: usize) -> usize {
        let letter = body.as_bytes().get(at).copied().unwrap_or_default();
        match MEANINGS[usize::from(letter)] {
            0 => body.len() - self.push_long_escape(&body[at..]).len(),
            meaning => {
                // Every meaning is ASCII, which only the mask makes plain to the compiler.
                self.text.push(char::from(meaning & 0x7f));
                at + 1
            }
        }
    }

    fn push_long_escape<'s>(&mut self, body: &'s str) -> &'s str {
        if let Some(digits) = body.strip_prefix('u') {
            return self.push_unit(digits);
        }
        let mut chars = body.chars();
        self.text.extend(chars.next());
        chars.as_str()
    }

    fn push_unit<'s>(&mut self, digits: &'s str) -> &'s str {
        let Some((first, rest)) = unit(digits) else {
            return digits;
        };
        if let Some(scalar) = char::from_u32(first.into()) {
            self.text.push(scalar);
            return rest;
        }
        if let Some((second, behind)) = rest.strip_prefix("\\u").and_then(unit)
            && let Some(Ok(scalar)) = char::decode_utf16([first, second]).next()
        {
            self.text.push(scalar);
            return behind;
        }
        self.lone.push((self.text.len(), first));
        self.text.push(char::REPLACEMENT_CHARACTER);
        rest
    }
}

/// What stands for itself or another character behind a backslash, by its letter; zero for all else. A table, because
/// which one comes next cannot be predicted.
const MEANINGS: [u8; 256] = {
    let mut table = [0; 256];
    let mut pairs: &[(u8, u8)] = &[
        (b'"', b'"'),
        (b'\\', b'\\'),
        (b'/', b'/'),
        (b'b', 0x08),
        (b'f', 0x0c),
        (b'n', b'\n'),
        (b'r', b'\r'),
        (b't', b'\t'),
    ];
    while let [(letter, meaning), rest @ ..] = pairs {
        table[*letter as usize] = *meaning;
        pairs = rest;
    }
    table
};

fn unit(digits: &str) -> Option<(u16, &str)> {
    let (digits, rest) = digits.split_at_checked(4)?;
    Some((u16::from_str_radix(digits, 16).ok()?, rest))
}

/// Whether `text` can stand in a JSON string as it is.
pub(super) fn is_clean(text: &str) -> bool {
    special::is_absent(text.as_bytes())
}

/// Appends `text` as the body of a JSON string.
#[inline]
pub(super) fn escape(out: &mut String, text: &str) {
    if is_clean(text) { out.push_str(text) } else { escape_specials(out, text) }
}

/// The same for a text that is not clean.
fn escape_specials(out: &mut String, text: &str) {
    let (mut rest, mut at) = (text, 0);
    while at < text.len() {
        let (mut specials, looked) = special::mask(&text.as_bytes()[at..]);
        while specials != 0 {
            let found = at + specials.trailing_zeros() as usize;
            specials &= specials - 1;
            let (clean, behind) = rest.split_at(found + rest.len() - text.len());
            out.push_str(clean);
            rest = push_escape(out, behind);
        }
        at += looked;
    }
    out.push_str(rest);
}

/// Begins the escape of the first byte of `text`, and returns the rest: what stands for itself behind a backslash goes with
/// what follows.
#[inline]
fn push_escape<'s>(out: &mut String, text: &'s str) -> &'s str {
    match text.as_bytes() {
        [b'"' | b'\\', ..] => {
            out.push('\\');
            text
        }
        [control, ..] => {
            push_control(out, *control);
            &text[1..]
        }
        [] => text,
    }
}

fn push_control(out: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    match byte {
        b'\n' => out.push_str("\\n"),
        b'\r' => out.push_str("\\r"),
        b'\t' => out.push_str("\\t"),
        0x08 => out.push_str("\\b"),
        0x0c => out.push_str("\\f"),
        _ => {
            out.push_str("\\u00");
            out.push(DIGITS[usize::from(byte >> 4)].into());
            out.push(DIGITS[usize::from(byte & 15)].into());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn escaped(text: &str) -> String {
        let mut body = String::new();
        escape(&mut body, text);
        body
    }

    proptest! {
        #[test]
        fn escapes_are_those_of_serde_json(text in "(\\PC|[\u{0}-\u{7f}]){0,80}") {
            let body = escaped(&text);
            prop_assert_eq!(format!("\"{body}\""), serde_json::to_string(&text).unwrap());
            prop_assert_eq!(unescape(&body).text, text);
        }

        #[test]
        fn units_mean_what_they_mean_to_serde_json(text in "\\PC{0,20}") {
            let body: String = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
            prop_assert_eq!(unescape(&body).text, text);
        }
    }

    #[test]
    fn every_short_escape_is_understood() {
        assert_eq!(unescape(r#"\"\\\/\b\f\n\r\t"#).text, "\"\\/\u{8}\u{c}\n\r\t");
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        let check = |body: &str, expected: &str| assert_eq!(unescape(body).text, expected);
        check(r"a\ud83d", "a\u{fffd}");
        check(r"\ude00b", "\u{fffd}b");
        check(r"\ud83d\n", "\u{fffd}\n");
        check(r"\ud83d\u0041", "\u{fffd}A");
        check(r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}");
    }

    #[test]
    fn bodies_that_were_never_checked_do_no_harm() {
        for body in ["\\", r"\u", r"\u12", r"\uzzzz", r"\ü", r"\u00ü"] {
            unescape(body);
        }
    }
}
