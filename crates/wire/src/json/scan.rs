//! Finds where a JSON token or value ends and checks it on the way, without building anything.

use super::string;
use super::string::Strings;
use crate::error::{Error, ErrorKind, Result};

/// How many arrays and objects may stand inside one another.
pub const DEPTH_MAX: usize = 128;

/// The next byte that is not whitespace; `at` moves there.
#[inline]
pub(super) fn peek(bytes: &[u8], at: &mut usize) -> Option<u8> {
    match bytes.get(*at) {
        Some(&byte) if byte > b' ' => Some(byte),
        _ => {
            *at = whitespace(bytes, *at);
            bytes.get(*at).copied()
        }
    }
}

/// The index behind the whitespace at `at`.
pub(super) fn whitespace(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The index behind the number at `at`.
pub(super) fn number(bytes: &[u8], at: usize) -> Result<usize> {
    let start = at + usize::from(bytes.get(at) == Some(&b'-'));
    let mut end = match bytes.get(start) {
        Some(b'0') => start + 1,
        _ => digits(bytes, start)?,
    };
    if bytes.get(end) == Some(&b'.') {
        end = digits(bytes, end + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        end = digits(bytes, end + 1 + sign)?;
    }
    Ok(end)
}

/// The value and the end of the number at `at`, if it is spelled in a few digits and nothing else.
#[inline]
pub(super) fn small_whole(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    const DIGITS_MAX: usize = 15;
    let rest = bytes.get(at..)?;
    let mut value = 0;
    for (index, byte) in rest.iter().take(DIGITS_MAX + 1).enumerate() {
        match byte {
            b'0'..=b'9' => value = value * 10 + u64::from(byte - b'0'),
            b'.' | b'e' | b'E' => return None,
            _ => {
                let is_spelled = index == 1 || (index > 1 && rest[0] != b'0');
                return is_spelled.then_some((value, at + index));
            }
        }
    }
    None
}

#[inline]
fn digits(bytes: &[u8], start: usize) -> Result<usize> {
    let mut at = start;
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    if at == start { Err(syntax("expected a digit", bytes, at)) } else { Ok(at) }
}

/// The index behind `word` (`null`, `true` or `false`) at `at`.
pub(super) fn word(bytes: &[u8], at: usize, word: &str) -> Result<usize> {
    if bytes.get(at..).is_some_and(|rest| rest.starts_with(word.as_bytes())) {
        return Ok(at + word.len());
    }
    Err(syntax("expected a value", bytes, at))
}

/// The index behind the value at `at`, which stands inside `depth` arrays and objects.
pub(super) fn value(
    bytes: &[u8],
    at: usize,
    depth: usize,
    strings: &mut impl Strings,
) -> Result<usize> {
    let mut scan = Scan { bytes, at, outside: depth, depth, objects: 0, strings };
    loop {
        if scan.passes_value()? && scan.passes_ends()? {
            return Ok(scan.at);
        }
        if scan.is_in_object() {
            scan.key()?;
        }
    }
}

/// The scan of one value: a loop rather than a recursion, so that nesting costs no stack.
struct Scan<'s, S> {
    bytes: &'s [u8],
    at: usize,
    outside: usize,
    depth: usize,
    /// One bit for each open level, the innermost lowest: set for an object.
    objects: u128,
    strings: &'s mut S,
}

impl<S: Strings> Scan<'_, S> {
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        peek(self.bytes, &mut self.at)
    }

    #[inline]
    fn is_in_object(&self) -> bool {
        self.objects & 1 == 1
    }

    /// Passes a scalar or an empty container, or only the beginning of another container. Says whether the value has ended.
    #[inline]
    fn passes_value(&mut self) -> Result<bool> {
        match self.peek() {
            Some(b'"') => {
                self.element();
                self.string()?;
            }
            Some(b'{') => {
                self.element();
                return self.passes_empty(1, b'}');
            }
            Some(b'[') => {
                self.element();
                return self.passes_empty(0, b']');
            }
            first => self.scalar(first)?,
        }
        Ok(true)
    }

    /// Notes a string or container in a list; members are noted by their keys.
    #[inline]
    fn element(&mut self) {
        if !self.is_in_object() {
            self.strings.element(self.depth);
        }
    }

    /// Passes what may follow a value: the ends of containers, and a comma. Says whether the outermost has ended.
    #[inline]
    fn passes_ends(&mut self) -> Result<bool> {
        while self.depth > self.outside {
            match (self.peek(), self.is_in_object()) {
                (Some(b','), _) => {
                    self.at += 1;
                    return Ok(false);
                }
                (Some(b'}'), true) | (Some(b']'), false) => self.close(),
                (_, true) => return Err(syntax("expected `,` or `}`", self.bytes, self.at)),
                (_, false) => return Err(syntax("expected `,` or `]`", self.bytes, self.at)),
            }
        }
        Ok(true)
    }

    /// Opens a container, and closes it again if it is empty.
    #[inline]
    fn passes_empty(&mut self, object: u128, end: u8) -> Result<bool> {
        self.strings.opens(self.depth, self.at);
        self.depth = deeper(self.depth)?;
        self.objects = self.objects << 1 | object;
        self.at += 1;
        let is_empty = self.peek() == Some(end);
        if is_empty {
            self.close();
        }
        Ok(is_empty)
    }

    #[inline]
    fn close(&mut self) {
        self.depth -= 1;
        self.objects >>= 1;
        self.at += 1;
        self.strings.closed(self.depth, self.at);
    }

    #[inline]
    fn key(&mut self) -> Result<()> {
        if self.peek() != Some(b'"') {
            return Err(syntax("expected a key", self.bytes, self.at));
        }
        self.strings.member(self.depth);
        self.string()?;
        if self.peek() != Some(b':') {
            return Err(syntax("expected `:`", self.bytes, self.at));
        }
        self.at += 1;
        Ok(())
    }

    #[inline]
    fn string(&mut self) -> Result<()> {
        self.at = string::string(self.bytes, self.at + 1, self.strings)?.end + 1;
        Ok(())
    }

    fn scalar(&mut self, first: Option<u8>) -> Result<()> {
        self.at = match first {
            Some(b'-' | b'0'..=b'9') => number(self.bytes, self.at)?,
            Some(b't') => word(self.bytes, self.at, "true")?,
            Some(b'f') => word(self.bytes, self.at, "false")?,
            Some(b'n') => word(self.bytes, self.at, "null")?,
            _ => return Err(syntax("expected a value", self.bytes, self.at)),
        };
        Ok(())
    }
}

/// One level further down, if the limit allows.
#[inline]
pub(super) fn deeper(depth: usize) -> Result<usize> {
    if depth < DEPTH_MAX {
        return Ok(depth + 1);
    }
    Err(Error::new(ErrorKind::Limit, format!("expected at most {DEPTH_MAX} levels of nesting")))
}

/// A syntax error at `at`. What stands there is not quoted: it may be part of a prompt.
#[cold]
pub(super) fn syntax(expected: &str, bytes: &[u8], at: usize) -> Error {
    let found = match bytes.get(at) {
        None => "the end of the input".to_owned(),
        Some(byte @ (0..0x20 | 0x7f)) => format!("control character 0x{byte:02x}"),
        Some(byte) if byte.is_ascii_punctuation() => format!("`{}`", char::from(*byte)),
        Some(_) => "something else".to_owned(),
    };
    Error::new(ErrorKind::Syntax, format!("{expected}, found {found} (byte {at})"))
}
