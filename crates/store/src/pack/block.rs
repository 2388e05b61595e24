//! Packs short records into LZ4 blocks behind fixed words. The table of where these words stand is made once: to make it anew takes
//! longer than to pack a record of a kilobyte.

use std::sync::LazyLock;

use super::WORDS;

/// What is longer has positions that the table has no room for; making one anew is then little of the work.
const BYTES_MAX: usize = 32 * 1024;

const HASH_BITS: u32 = 12;
/// A match has at least so many bytes.
const MATCH_MIN: usize = 4;
/// The last bytes of a block are no part of a match, and none begins with these.
const LAST_BYTES: usize = 5;
const LAST_START: usize = 12;
/// What a length that fits its half of a byte is less than.
const SHORT: usize = 15;

/// Where some four bytes were seen last, by their hash.
type Table = [u16; 1 << HASH_BITS];

static OF_WORDS: LazyLock<Table> = LazyLock::new(|| {
    let mut table = [0; 1 << HASH_BITS];
    for at in 0..WORDS.len() {
        if let Some(four) = four(WORDS, at) {
            table[slot(four)] = position(at);
        }
    }
    table
});

/// Appends a record as a block behind the words; false if it is too long, and nothing is appended.
pub(super) fn append(record: &[u8], block: &mut Vec<u8>) -> bool {
    if record.len() > BYTES_MAX {
        return false;
    }
    let mut text = Vec::with_capacity(WORDS.len() + record.len());
    text.extend_from_slice(WORDS);
    text.extend_from_slice(record);
    Packing { text: &text, block, literals_from: WORDS.len() }.run(&mut OF_WORDS.clone());
    true
}

struct Packing<'t> {
    text: &'t [u8],
    block: &'t mut Vec<u8>,
    /// What was not packed yet.
    literals_from: usize,
}

/// Bytes that stand earlier as well.
struct Match {
    at: usize,
    earlier: usize,
    length: usize,
}

impl Packing<'_> {
    fn run(mut self, table: &mut Table) {
        let (mut at, mut misses) = (self.literals_from, 0);
        while at + LAST_START <= self.text.len() {
            let Some(bytes) = four(self.text, at) else { break };
            let seen = &mut table[slot(bytes)];
            let earlier = usize::from(std::mem::replace(seen, position(at)));
            if earlier >= at || four(self.text, earlier) != Some(bytes) {
                // What does not pack is passed over faster and faster.
                misses += 1;
                at += 1 + (misses >> 6);
                continue;
            }
            let found = self.found(at, earlier);
            at = found.at + found.length;
            misses = 0;
            self.emit(&found);
        }
        self.end();
    }

    /// All that is alike around four bytes that are.
    fn found(&self, at: usize, earlier: usize) -> Match {
        let text = self.text;
        let rest = &text[at..text.len() - LAST_BYTES];
        let mut found = Match { at, earlier, length: alike(rest, &text[earlier..]) };
        while found.at > self.literals_from
            && found.earlier > 0
            && text[found.at - 1] == text[found.earlier - 1]
        {
            found.at -= 1;
            found.earlier -= 1;
            found.length += 1;
        }
        found
    }

    fn emit(&mut self, found: &Match) {
        let literals = &self.text[self.literals_from..found.at];
        let more = found.length - MATCH_MIN;
        self.block.push((half(literals.len()) << 4) | half(more));
        length(self.block, literals.len());
        self.block.extend_from_slice(literals);
        self.block.extend_from_slice(&position(found.at - found.earlier).to_le_bytes());
        length(self.block, more);
        self.literals_from = found.at + found.length;
    }

    fn end(self) {
        let literals = &self.text[self.literals_from..];
        self.block.push(half(literals.len()) << 4);
        length(self.block, literals.len());
        self.block.extend_from_slice(literals);
    }
}

fn four(text: &[u8], at: usize) -> Option<u32> {
    text.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

fn slot(four: u32) -> usize {
    (four.wrapping_mul(2_654_435_761) >> (u32::BITS - HASH_BITS)) as usize
}

fn position(at: usize) -> u16 {
    u16::try_from(at).unwrap_or(u16::MAX)
}

/// How many bytes two texts begin with alike.
fn alike(one: &[u8], other: &[u8]) -> usize {
    let (ones, _) = one.as_chunks::<8>();
    let (others, _) = other.as_chunks::<8>();
    let mut alike = 0;
    for (one, other) in ones.iter().zip(others) {
        let difference = u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other);
        if difference != 0 {
            return alike + difference.trailing_zeros() as usize / 8;
        }
        alike += 8;
    }
    let rest = one[alike..].iter().zip(&other[alike..]);
    alike + rest.take_while(|(one, other)| one == other).count()
}

/// A length in its half of a byte, as far as it fits.
fn half(length: usize) -> u8 {
    length.min(SHORT) as u8
}

/// What of a length does not fit its half of a byte.
fn length(block: &mut Vec<u8>, length: usize) {
    let Some(mut rest) = length.checked_sub(SHORT) else { return };
    while rest >= 255 {
        block.push(255);
        rest -= 255;
    }
    block.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use lz4_flex::block::decompress_with_dict;
    use proptest::prelude::*;

    use super::*;

    fn packed(record: &[u8]) -> Vec<u8> {
        let mut block = Vec::new();
        assert!(append(record, &mut block));
        block
    }

    #[test]
    fn the_longest_that_is_taken_is_read_back() {
        let long = "the same again, ".repeat(BYTES_MAX / 16).into_bytes();
        assert_eq!(decompress_with_dict(&packed(&long), long.len(), WORDS).unwrap(), long);
        assert!(packed(&long).len() < 300);
        assert!(!append(&[&long[..], b"!"].concat(), &mut Vec::new()));
    }

    #[test]
    fn words_pack_short_records() {
        let record = br#"{"role":"assistant","content":[{"type":"text","text":"Yes."}]}"#;
        assert!(packed(record).len() * 2 < record.len(), "{}", packed(record).len());
    }

    proptest! {
        #[test]
        fn every_record_is_read_back(
            pieces in prop::collection::vec(
                prop_oneof![
                    prop::collection::vec(any::<u8>(), 0..40),
                    prop::collection::vec(0_u8..3, 0..400),
                    (0..WORDS.len(), 0_usize..90).prop_map(|(at, length)| {
                        WORDS[at..(at + length).min(WORDS.len())].to_vec()
                    }),
                ],
                0..12,
            ),
        ) {
            let record = pieces.concat();
            let read = decompress_with_dict(&packed(&record), record.len(), WORDS);
            prop_assert_eq!(read.unwrap(), record);
        }
    }
}
