//! Tells texts apart that clients send again and again, far faster than a cryptographic hash: whoever does not know the key cannot
//! make two texts that share a digest. The key is made at random when the gateway starts and the digests never leave it.
//!
//! Each kibibyte is summed up twice by NH, as UMAC and VMAC do, with keys that are shifted against each other, and the sums are the
//! coefficients of two polynomials modulo 2^127 - 1. Two texts share a half of a digest with a probability of about 2^-64
//! for each kibibyte, and both halves with the square of it.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

const WORDS: usize = 2;
/// Pairs of words that are summed up with keys of their own.
const PAIRS: usize = 64;
const PAIR_BYTES: usize = WORDS * size_of::<u64>();
const BLOCK_BYTES: usize = PAIRS * PAIR_BYTES;

/// The prime over which the sums are put together.
const PRIME: u128 = (1 << 127) - 1;
/// What is left of a sum, so that it is below the prime.
const SUM_BITS: u128 = (1 << 126) - 1;

/// What digests are made with.
#[derive(Clone)]
pub(crate) struct DigestKey {
    /// One more than a block has, since the second sum begins with the second.
    pairs: [[u64; WORDS]; PAIRS + 1],
    points: [u128; 2],
}

/// Stands for all texts that were added to it, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digest([u128; 2]);

/// As much of a digest as tells two apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mark(u128);

/// What is known by its mark.
pub(crate) type ByMark<T> = HashMap<Mark, T, BuildHasherDefault<FirstBits>>;

/// A mark is as good as random: its first bits will do to find it.
#[derive(Default)]
pub(crate) struct FirstBits(u64);

impl Hasher for FirstBits {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let first = bytes.first_chunk().copied().map(u64::from_le_bytes);
        self.0 = first.unwrap_or_default();
    }
}

impl DigestKey {
    /// A key that nobody knows.
    pub(crate) fn random() -> Self {
        let random = RandomState::new();
        let mut words = (0_u64..).map(|number| random.hash_one(number));
        let mut word = || words.next().unwrap_or_default();
        let pairs = std::array::from_fn(|_| [word(), word()]);
        let mut point = || (u128::from(word()) << 64 | u128::from(word())) % PRIME;
        Self { pairs, points: [point(), point()] }
    }

    /// The sums of at most a block, filled up with zeros.
    fn sums(&self, block: &[u8]) -> [u128; 2] {
        let (pairs, rest) = block.as_chunks::<PAIR_BYTES>();
        // Two numbers rather than a list of them, which stay in registers.
        let (mut one, mut other) = (0_u128, 0_u128);
        for (pair, keys) in pairs.iter().zip(self.pairs.array_windows::<2>()) {
            let words = words(pair);
            one = one.wrapping_add(product(words, &keys[0]));
            other = other.wrapping_add(product(words, &keys[1]));
        }
        if let Some(keys) =
            self.pairs[pairs.len()..].first_chunk::<2>().filter(|_| !rest.is_empty())
        {
            let words = words(&filled(block, rest));
            one = one.wrapping_add(product(words, &keys[0]));
            other = other.wrapping_add(product(words, &keys[1]));
        }
        [one, other]
    }
}

/// The rest of a block with zeros behind it. The end of a block that is long enough has it without a copy.
#[inline(always)]
fn filled(block: &[u8], rest: &[u8]) -> [u8; PAIR_BYTES] {
    if let Some(end) = block.last_chunk::<PAIR_BYTES>() {
        let before = 8 * (PAIR_BYTES - rest.len());
        return (u128::from_le_bytes(*end) >> before).to_le_bytes();
    }
    let mut filled = [0; PAIR_BYTES];
    filled[..rest.len()].copy_from_slice(rest);
    filled
}

#[inline(always)]
fn words(pair: &[u8; PAIR_BYTES]) -> [u64; WORDS] {
    let value = u128::from_le_bytes(*pair);
    [low(value), low(value >> 64)]
}

/// The low half of a number.
#[inline(always)]
fn low(value: u128) -> u64 {
    (value & u128::from(u64::MAX)) as u64
}

#[inline(always)]
fn product(words: [u64; WORDS], key: &[u64; WORDS]) -> u128 {
    let sum = |at: usize| u128::from(words[at].wrapping_add(key[at]));
    sum(0) * sum(1)
}

impl Digest {
    /// Of nothing.
    pub(crate) const EMPTY: Self = Self([1, 1]);

    /// This and one more text.
    pub(crate) fn with(mut self, key: &DigestKey, text: &[u8]) -> Self {
        let mut rest = text;
        while let Some((block, behind)) = rest.split_at_checked(BLOCK_BYTES)
            && !behind.is_empty()
        {
            self.add(key, key.sums(block));
            rest = behind;
        }
        // The last block is told from all others, and from one that zeros fill up, by its length.
        let length = 1 + rest.len() as u128;
        let [one, other] = key.sums(rest);
        self.add(key, [one.wrapping_add(length), other.wrapping_add(length)]);
        self
    }

    #[inline(always)]
    fn add(&mut self, key: &DigestKey, sums: [u128; 2]) {
        let Self([one, other]) = self;
        *one = multiplied(folded(*one + (sums[0] & SUM_BITS)), key.points[0]);
        *other = multiplied(folded(*other + (sums[1] & SUM_BITS)), key.points[1]);
    }

    pub(crate) fn mark(self) -> Mark {
        let [one, other] = self.0.map(reduced);
        Mark(u128::from(low(one)) << 64 | u128::from(low(other)))
    }
}

/// The same number modulo the prime, with at most 2^127: 2^127 itself is one modulo the prime.
#[inline(always)]
fn folded(value: u128) -> u128 {
    (value & PRIME) + (value >> 127)
}

/// A number below twice the prime, modulo the prime.
#[inline(always)]
fn reduced(value: u128) -> u128 {
    if value >= PRIME { value - PRIME } else { value }
}

/// The product of a number of at most 2^127 and one below the prime, modulo the prime and at most 2^127.
#[inline(always)]
fn multiplied(one: u128, other: u128) -> u128 {
    let [a, b] = [one >> 64, u128::from(low(one))];
    let [c, d] = [other >> 64, u128::from(low(other))];
    // The high halves are at most 2^63 and less than that, so that the sum of both products fits.
    let middle = a * d + b * c;
    let (bottom, carries) = (b * d).overflowing_add(middle << 64);
    let top = a * c + (middle >> 64) + u128::from(carries);
    folded((bottom & PRIME) + (top << 1 | bottom >> 127))
}

/// The key is a secret.
impl fmt::Debug for DigestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DigestKey")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_product_is_that_of_the_field() {
        // Doubling and adding, which takes a step for each bit.
        let slowly = |one: u128, other: u128| {
            let bits = (0..127).rev().map(|bit| other >> bit & 1 == 1);
            bits.fold(0, |sum, is_set| {
                let doubled = reduced(sum * 2);
                if is_set { reduced(doubled + one) } else { doubled }
            })
        };
        let key = DigestKey::random();
        let numbers = [0, 1, 2, PRIME - 1, u128::from(u64::MAX), 1 << 64, key.points[0]];
        for one in numbers.into_iter().chain([PRIME, PRIME + 1]) {
            for other in numbers {
                let product = multiplied(one, other);
                assert!(product <= PRIME + 1, "{one} {other}");
                assert_eq!(reduced(product), slowly(reduced(one), other), "{one} {other}");
            }
        }
    }

    #[test]
    fn each_sum_is_that_of_all_pairs_with_their_keys() {
        let key = DigestKey::random();
        let text: Vec<u8> = (0..BLOCK_BYTES).map(|at| (at * 7 + 3) as u8).collect();
        for length in (0..200).chain([BLOCK_BYTES - 1, BLOCK_BYTES]) {
            let mut filled = text[..length].to_vec();
            filled.resize(length.next_multiple_of(PAIR_BYTES), 0);
            let (pairs, _) = filled.as_chunks::<PAIR_BYTES>();
            let sum = |from: usize| {
                let keys = &key.pairs[from..];
                let products = pairs.iter().zip(keys).map(|(it, key)| product(words(it), key));
                products.fold(0, u128::wrapping_add)
            };
            assert_eq!(key.sums(&text[..length]), [sum(0), sum(1)], "{length}");
        }
    }

    #[test]
    fn texts_that_differ_anywhere_have_other_digests() {
        let key = DigestKey::random();
        let mut seen = HashSet::new();
        let mut is_new = |texts: &[&[u8]]| {
            let digest = texts.iter().fold(Digest::EMPTY, |digest, text| digest.with(&key, text));
            seen.insert(digest.mark())
        };
        assert!(is_new(&[]));
        for length in (0..64).chain([1_023, 1_024, 1_025, 3_000]) {
            assert!(is_new(&[&vec![0; length]]), "{length} zeros");
            for at in (0..length).step_by(length / 16 + 1) {
                let mut text = vec![0; length];
                text[at] = 1;
                assert!(is_new(&[&text]), "{at} of {length}");
            }
        }
        assert!(is_new(&[b"ab", b"c"]));
        assert!(is_new(&[b"a", b"bc"]));
        assert!(is_new(&[b"abc", b""]));
        assert!(!is_new(&[b"ab", b"c"]));
    }

    #[test]
    fn no_two_gateways_have_the_same_key() {
        let digest = |key: &DigestKey| Digest::EMPTY.with(key, b"text").mark();
        assert_ne!(digest(&DigestKey::random()), digest(&DigestKey::random()));
    }
}
