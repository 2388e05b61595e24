//! Finds where a JSON string ends and checks its escapes on the way.

use super::scan::syntax;
use super::special::{self, BLOCK, Masks};
use crate::error::Result;

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

    /// Notes a member, which stands inside `depth` arrays and objects.
    #[inline]
    fn member(&mut self, _depth: usize) {}

    /// The same for a string or container in a list.
    #[inline]
    fn element(&mut self, _depth: usize) {}

    /// Notes a container that begins at `at`, inside `depth` others.
    #[inline]
    fn opens(&mut self, _depth: usize, _at: usize) {}

    /// The same where it has ended before `at`.
    #[inline]
    fn closed(&mut self, _depth: usize, _at: usize) {}
}

/// Looks.
pub(super) struct Unseen;

impl Strings for Unseen {
    // Most strings end nearby; this must not blow up the code for them.
    #[inline(never)]
    fn long(&mut self, bytes: &[u8], _start: usize, at: usize) -> Result<StringBody> {
        let end = special::first(bytes, at);
        match bytes.get(end) {
            Some(b'"') => Ok(StringBody { end, escapes: Escapes::Absent }),
            _ => escaped_string(bytes, end),
        }
    }
}

/// Scans the string whose body starts at `start`, just behind the opening quote.
#[inline]
pub(super) fn string(bytes: &[u8], start: usize, strings: &mut impl Strings) -> Result<StringBody> {
    match special::nearby(bytes, start) {
        Ok(end) if bytes.get(end) == Some(&b'"') => {
            Ok(StringBody { end, escapes: Escapes::Absent })
        }
        Ok(at) | Err(at) => strings.long(bytes, start, at),
    }
}

/// Scans the rest of a string from `at` on, which stands outside of an escape. Where there is one escape there are mostly
/// many, so that blocks are searched for all of them at once: how many a block has cannot be predicted.
pub(super) fn escaped_string(bytes: &[u8], mut at: usize) -> Result<StringBody> {
    let mut is_escape_cut = 0;
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        let Masks { ends, backslashes, letters } = Masks::of(block);
        let escaped = escaped_bytes(backslashes, &mut is_escape_cut);
        let ends = ends & !escaped;
        let before_end = ends.wrapping_sub(1) & !ends;
        let mut others = escaped & before_end & !letters;
        while others != 0 {
            escape(bytes, at + others.trailing_zeros() as usize)?;
            others &= others - 1;
        }
        if ends != 0 {
            return end_of_string(bytes, at + ends.trailing_zeros() as usize);
        }
        at += BLOCK;
    }
    let behind = if is_escape_cut == 1 { escape(bytes, at)? } else { at };
    end_of_escaped_string(bytes, special::first(bytes, behind))
}

/// Which bytes of a block stand behind a backslash that is not behind one itself; `is_cut` is 1 where the first of the block
/// does, and then where the first of the next one does.
#[inline]
fn escaped_bytes(backslashes: u64, is_cut: &mut u64) -> u64 {
    const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    let first = backslashes & !*is_cut;
    // Subtracting carries through a run of backslashes, so that each of its bits shows where the run began.
    let alternating = ((first << 1) | ODD).wrapping_sub(first) ^ ODD;
    let escaped = alternating ^ (backslashes | *is_cut);
    *is_cut = (alternating & backslashes) >> (BLOCK - 1);
    escaped
}

/// As above, but byte by byte where the input has no whole block left.
fn end_of_escaped_string(bytes: &[u8], mut at: usize) -> Result<StringBody> {
    while let Some(b'\\') = bytes.get(at) {
        at = special::first(bytes, escape(bytes, at + 1)?);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_quote_behind_an_even_run_of_backslashes_is_the_end_wherever_the_run_stands() {
        for (before, run) in (0..140).flat_map(|before| (0..140).map(move |run| (before, run))) {
            let [letters, run] = ["a".repeat(before), "\\".repeat(run)];
            let whole = format!("{letters}{run}\"{}\"{}", "b".repeat(70), "c".repeat(70));
            let body = escaped_string(whole.as_bytes(), 0).unwrap();
            let first = before + run.len();
            assert_eq!(body.end, first + if run.len() % 2 == 0 { 0 } else { 71 }, "{whole}");
        }
    }

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
