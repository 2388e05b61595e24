//! Finds where a JSON token or value ends and checks it on the way, without building anything.

use super::string;
use super::string::Strings;
use crate::error::Error;
use crate::error::ErrorKind;
use crate::error::Result;

/// How many arrays and objects may stand inside one another.
pub const DEPTH_MAX: usize = 128;

#[inline]
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

fn digits(bytes: &[u8], at: usize) -> Result<usize> {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len()) {
        0 => Err(syntax("expected a digit", bytes, at)),
        count => Ok(at + count),
    }
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
    scan.value()?;
    while scan.depth > scan.outside {
        scan.step()?;
    }
    Ok(scan.at)
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
    fn peek(&mut self) -> Option<u8> {
        self.at = whitespace(self.bytes, self.at);
        self.bytes.get(self.at).copied()
    }

    /// Opens containers until a scalar or an empty container has been passed.
    fn value(&mut self) -> Result<()> {
        loop {
            match self.peek() {
                Some(b'{') => {
                    self.open(1)?;
                    if self.peek() == Some(b'}') {
                        return self.close();
                    }
                    self.key()?;
                }
                Some(b'[') => {
                    self.open(0)?;
                    if self.peek() == Some(b']') {
                        return self.close();
                    }
                }
                first => return self.scalar(first),
            }
        }
    }

    fn scalar(&mut self, first: Option<u8>) -> Result<()> {
        self.at = match first {
            Some(b'"') => string::string(self.bytes, self.at + 1, self.strings)?.end + 1,
            Some(b'-' | b'0'..=b'9') => number(self.bytes, self.at)?,
            Some(b't') => word(self.bytes, self.at, "true")?,
            Some(b'f') => word(self.bytes, self.at, "false")?,
            Some(b'n') => word(self.bytes, self.at, "null")?,
            _ => return Err(syntax("expected a value", self.bytes, self.at)),
        };
        Ok(())
    }

    /// Passes what may follow a value inside a container: its end, or a comma and the next value.
    fn step(&mut self) -> Result<()> {
        let in_object = self.objects & 1 == 1;
        match (self.peek(), in_object) {
            (Some(b'}'), true) | (Some(b']'), false) => return self.close(),
            (Some(b','), _) => self.at += 1,
            (_, true) => return Err(syntax("expected `,` or `}`", self.bytes, self.at)),
            (_, false) => return Err(syntax("expected `,` or `]`", self.bytes, self.at)),
        }
        if in_object {
            self.key()?;
        }
        self.value()
    }

    fn open(&mut self, object: u128) -> Result<()> {
        self.depth = deeper(self.depth)?;
        self.objects = self.objects << 1 | object;
        self.at += 1;
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        self.depth -= 1;
        self.objects >>= 1;
        self.at += 1;
        Ok(())
    }

    fn key(&mut self) -> Result<()> {
        if self.peek() != Some(b'"') {
            return Err(syntax("expected a key", self.bytes, self.at));
        }
        self.at = string::string(self.bytes, self.at + 1, self.strings)?.end + 1;
        if self.peek() != Some(b':') {
            return Err(syntax("expected `:`", self.bytes, self.at));
        }
        self.at += 1;
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
