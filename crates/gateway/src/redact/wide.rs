//! Texts of more than one byte for each character, such as UTF-16 and UTF-32: what is plain ASCII in them stands between zero
//! bytes, whichever end comes first. A secret is looked for in what is left without them.

use std::ops::Range;

use memchr::memchr;

/// A text without its zero bytes, and where each of the others stood.
pub(super) struct Narrowed {
    pub(super) text: Vec<u8>,
    places: Vec<u32>,
}

/// How much is narrowed at a time: a place is four times as long as what stands there.
pub(super) const BLOCK_BYTES: usize = 64 * 1024;

/// The most zero bytes before a character, which UTF-32 has. More of them stand for themselves, so that no text is endless.
const ZEROS_MAX: usize = 3;

/// How many bytes of a text at most stand for one that is left.
pub(super) const FACTOR_MAX: usize = ZEROS_MAX + 1;

pub(super) fn is_wide(text: &[u8]) -> bool {
    memchr(0, text).is_some()
}

impl Narrowed {
    pub(super) fn new(text: &[u8]) -> Self {
        let mut narrowed = Self { text: Vec::with_capacity(text.len()), places: Vec::new() };
        let mut zeros = 0;
        for (byte, place) in text.iter().copied().zip(0..) {
            zeros = if byte == 0 { zeros + 1 } else { 0 };
            if byte != 0 || zeros == FACTOR_MAX {
                narrowed.text.push(byte);
                narrowed.places.push(place);
            }
        }
        narrowed
    }

    /// Where a byte of what is left stood; behind the last one there is none.
    pub(super) fn place(&self, at: usize) -> Option<usize> {
        self.places.get(at).map(|place| *place as usize)
    }

    /// What stood where a part of what is left was found.
    pub(super) fn widened(&self, part: Range<usize>) -> Wide {
        let place_of = |at| self.place(at).unwrap_or_default();
        let (start, last) = (place_of(part.start), place_of(part.end - 1));
        let second = if part.len() > 1 { place_of(part.start + 1) } else { start + 1 };
        Wide { place: start..last + 1, width: second - start }
    }
}

/// A part of a text with zero bytes among its characters.
pub(super) struct Wide {
    pub(super) place: Range<usize>,
    /// From one character to the next.
    width: usize,
}

impl Wide {
    /// A text of ASCII in the same manner. Zero bytes before and behind it stay as they are.
    pub(super) fn of(&self, text: &[u8]) -> Vec<u8> {
        let mut wide = vec![0; (text.len().max(1) - 1) * self.width + text.len().min(1)];
        for (index, byte) in text.iter().enumerate() {
            wide[index * self.width] = *byte;
        }
        wide
    }
}
