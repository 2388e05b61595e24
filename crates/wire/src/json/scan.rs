//! Finds where a JSON token or value ends and checks it on the way, without building anything.

use crate::error::Error;
use crate::error::ErrorKind;
use crate::error::Result;

/// How many arrays and objects may stand inside one another.
pub const DEPTH_MAX: usize = 128;

/// Where the body of a string ends, and whether it holds escapes.
pub(super) struct StringBody {
    /// The index of the closing quote.
    pub(super) end: usize,
    pub(super) escapes: Escapes,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    Absent,
    Present,
}

/// Finds the ends of strings, by looking or because somebody has looked before.
pub(super) trait Strings {
    /// Scans the string whose body starts at `start`. Up to `at` nothing special stands in it, at `at` perhaps.
    fn long(&mut self, bytes: &[u8], start: usize, at: usize) -> Result<StringBody>;
}

/// Looks.
pub(super) struct Unseen;

impl Strings for Unseen {
    #[inline]
    fn long(&mut self, bytes: &[u8], _start: usize, at: usize) -> Result<StringBody> {
        let end = special(bytes, at);
        match bytes.get(end) {
            Some(b'"') => Ok(StringBody { end, escapes: Escapes::Absent }),
            _ => escaped_string(bytes, end),
        }
    }
}

/// Scans the string whose body starts at `start`, just behind the opening quote.
#[inline]
pub(super) fn string(bytes: &[u8], start: usize, strings: &mut impl Strings) -> Result<StringBody> {
    match special_nearby(bytes, start) {
        Ok(end) if bytes.get(end) == Some(&b'"') => {
            Ok(StringBody { end, escapes: Escapes::Absent })
        }
        Ok(at) | Err(at) => strings.long(bytes, start, at),
    }
}

/// Scans the rest of a string from its first special byte on. Where there is one escape there are mostly many, so that
/// blocks are passed as a whole where nothing but simple escapes is special in them.
pub(super) fn escaped_string(bytes: &[u8], mut at: usize) -> Result<StringBody> {
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<{ BLOCK + 1 }>()) {
        if is_simple(block) {
            at += BLOCK + usize::from(block[BLOCK - 1] == b'\\');
            continue;
        }
        match careful_block(bytes, at)? {
            Passed::Block { behind } => at = behind,
            Passed::String { end } => return end_of_string(bytes, end),
        }
    }
    let end = special(bytes, at);
    end_of_escaped_string(bytes, end)
}

/// Whether all escapes in a block that starts outside of one are short and no two of them touch, and whether nothing
/// else is special in it: each byte is judged by the one before, without branches, in vector instructions.
#[inline]
fn is_simple(block: &[u8; BLOCK + 1]) -> bool {
    let pairs = block.iter().zip(&block[1..]);
    let is_wrong = pairs.fold(false, |wrong, (before, byte)| wrong | !may_follow(*before, *byte));
    !is_wrong && (block[0] == b'\\' || !is_special(block[0]))
}

#[inline]
const fn may_follow(before: u8, byte: u8) -> bool {
    let is_letter = (byte | 0x10 == b'r') | (byte | 0x08 == b'n') | (byte == b't') | (byte == b'/');
    let is_quote = byte == b'"';
    let is_escaped = before == b'\\';
    (byte >= 0x20) & ((is_escaped & (is_letter | is_quote)) | (!is_escaped & !is_quote))
}

/// How far a careful scan came.
enum Passed {
    Block { behind: usize },
    String { end: usize },
}

/// Passes the escapes of the block at `at` one by one.
fn careful_block(bytes: &[u8], at: usize) -> Result<Passed> {
    let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) else {
        return Ok(Passed::String { end: special(bytes, at) });
    };
    let mut specials = special_mask(block);
    while specials != 0 {
        let found = specials.trailing_zeros() as usize;
        if block[found] != b'\\' {
            return Ok(Passed::String { end: at + found });
        }
        let behind = escape(bytes, at + found + 1)?;
        if behind >= at + BLOCK {
            return Ok(Passed::Block { behind });
        }
        specials &= u64::MAX << (behind - at);
    }
    Ok(Passed::Block { behind: at + BLOCK })
}

/// As above, but byte by byte where the input has no whole block left.
fn end_of_escaped_string(bytes: &[u8], mut at: usize) -> Result<StringBody> {
    while let Some(b'\\') = bytes.get(at) {
        at = special(bytes, escape(bytes, at + 1)?);
    }
    end_of_string(bytes, at)
}

/// The string that ends at `at`, unless something else stands there.
fn end_of_string(bytes: &[u8], at: usize) -> Result<StringBody> {
    match bytes.get(at) {
        Some(b'"') => Ok(StringBody { end: at, escapes: Escapes::Present }),
        Some(_) => Err(syntax("expected an escaped control character", bytes, at)),
        None => Err(syntax("expected the end of a string", bytes, at)),
    }
}

/// The index behind the escape whose letter stands at `at`. Halves of surrogate pairs may stand
/// alone: streams split them.
#[inline]
fn escape(bytes: &[u8], at: usize) -> Result<usize> {
    match bytes.get(at) {
        Some(letter) if SHORT_ESCAPES[usize::from(*letter)] => Ok(at + 1),
        _ => long_escape(bytes, at),
    }
}

fn long_escape(bytes: &[u8], at: usize) -> Result<usize> {
    if bytes.get(at) != Some(&b'u') {
        return Err(syntax("expected an escape", bytes, at));
    }
    match bytes.get(at + 1..at + 5) {
        Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => Ok(at + 5),
        _ => Err(syntax("expected four hexadecimal digits", bytes, at + 1)),
    }
}

/// The letters that stand for one character after a backslash. A table, because which one comes next cannot be
/// predicted.
const SHORT_ESCAPES: [bool; 256] = {
    let mut table = [false; 256];
    let mut letters: &[u8] = b"\"\\/bfnrt";
    while let [letter, rest @ ..] = letters {
        table[*letter as usize] = true;
        letters = rest;
    }
    table
};

/// The index of the first quote, backslash or control character at or behind `at`, or the length.
#[inline]
pub(super) fn special(bytes: &[u8], at: usize) -> usize {
    special_nearby(bytes, at).unwrap_or_else(|passed| special_in_long_run(bytes, passed))
}

/// The index of the first special byte, if it is one of the next few; else how far there is none.
#[inline]
pub(super) fn special_nearby(bytes: &[u8], mut at: usize) -> Result<usize, usize> {
    let mut rest = bytes.get(at..).unwrap_or_default();
    for _ in 0..SHORT_WORDS {
        let Some((word, behind)) = rest.split_first_chunk() else { break };
        match special_bits(u64::from_le_bytes(*word)) {
            0 => (at, rest) = (at + word.len(), behind),
            hits => return Ok(at + hits.trailing_zeros() as usize / 8),
        }
    }
    Err(at)
}

/// Long runs go by blocks, which the compiler turns into vector instructions.
pub(super) fn special_in_long_run(bytes: &[u8], mut at: usize) -> usize {
    let mut rest = bytes.get(at..).unwrap_or_default();
    while let Some((block, behind)) = rest.split_first_chunk::<BLOCK>() {
        if block.iter().fold(false, |found, byte| found | is_special(*byte)) {
            break;
        }
        (at, rest) = (at + BLOCK, behind);
    }
    while let Some((word, behind)) = rest.split_first_chunk() {
        match special_bits(u64::from_le_bytes(*word)) {
            0 => (at, rest) = (at + word.len(), behind),
            hits => return at + hits.trailing_zeros() as usize / 8,
        }
    }
    at + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len())
}

/// One bit for each byte of a block, set where it is special.
#[inline]
fn special_mask(block: &[u8; BLOCK]) -> u64 {
    // The compiler turns this into vector instructions.
    let flags = block.map(|byte| u8::from(is_special(byte)));
    let mut mask = 0;
    for (index, word) in flags.as_chunks::<8>().0.iter().enumerate() {
        mask |= (u64::from_le_bytes(*word).wrapping_mul(GATHER) >> 56) << (8 * index);
    }
    mask
}

/// Multiplied with eight bytes that are zero or one, this puts them as bits into the highest byte, the first lowest.
const GATHER: u64 = 0x0102_0408_1020_4080;

#[inline]
const fn is_special(byte: u8) -> bool {
    // Changing this bit moves the quote next to the control characters. No short circuit, so that the test has no
    // branches.
    (byte ^ 0x02 < 0x21) | (byte == b'\\')
}

/// How many words are tried before a run counts as long.
const SHORT_WORDS: usize = 4;
/// How long a string is that does not end nearby.
pub(super) const LONG_BYTES_MIN: usize = SHORT_WORDS * 8;
const BLOCK: usize = 64;
const ONES: u64 = u64::from_le_bytes([1; 8]);
const HIGHS: u64 = ONES << 7;

/// Sets the high bit of each special byte. Borrows may set further bits, but only above a true hit,
/// so the lowest is right.
#[inline]
const fn special_bits(word: u64) -> u64 {
    let moved = word ^ (ONES * 0x02);
    let low = moved.wrapping_sub(ONES * 0x21) & !moved;
    let backslash = word ^ (ONES * b'\\' as u64);
    let backslashes = backslash.wrapping_sub(ONES) & !backslash;
    (low | backslashes) & HIGHS
}

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
            Some(b'"') => string(self.bytes, self.at + 1, self.strings)?.end + 1,
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
        self.at = string(self.bytes, self.at + 1, self.strings)?.end + 1;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_string_ends_at_its_first_bare_quote(text in "([a-z ]{0,30}|\\PC|[\u{0}-\u{7f}]){0,40}", behind in "[a-z\"\\\\]{0,90}") {
            let string = serde_json::to_string(&text).unwrap();
            let whole = format!("{string}{behind}");
            let body = super::string(whole.as_bytes(), 1, &mut Unseen).unwrap();
            prop_assert_eq!(body.end, string.len() - 1);
            prop_assert_eq!(body.escapes == Escapes::Present, string.contains('\\'));
            let cut = &string.as_bytes()[..string.len() - 1];
            prop_assert!(super::string(cut, 1, &mut Unseen).is_err());
        }

        #[test]
        fn control_characters_and_wrong_escapes_are_found_wherever_they_stand(
            before in "(\\\\n|[a-z]){0,90}",
            wrong in "[\u{0}-\u{1f}]|\\\\[ax]|\\\\u12G",
            behind in "[a-z]{0,90}",
        ) {
            let whole = format!("{before}{wrong}{behind}\"");
            prop_assert!(super::string(whole.as_bytes(), 0, &mut Unseen).is_err());
        }
    }
}
