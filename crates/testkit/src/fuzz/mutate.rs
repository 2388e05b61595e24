//! Mutations: good bytes gone bad, as networks, proxies and attackers make them.

use proptest::prelude::{Arbitrary, BoxedStrategy, Strategy, any};
use proptest::prop_oneof;
use proptest::sample::Index;

/// One thing that happens to some bytes.
#[derive(Clone, Debug)]
pub enum Mutation {
    /// A bit flips.
    Flip(Index, u8),
    /// The end is missing.
    Truncate(Index),
    /// A stretch is missing.
    Cut(Index, Index),
    /// A stretch of the other sample stands in the middle.
    Splice(Index, Index, Index),
    /// A value nests deeper than anyone needs.
    Nest(Index, u16),
    /// A token is replaced by one of another kind.
    Swap(Index, &'static str),
}

/// Tokens that take the place of another.
const TOKENS: &[&str] =
    &["null", "[]", "{}", "\"\"", "-1", "1e999", "true", "\"\\ud800\"", ",", "\u{feff}", "\r"];

impl Arbitrary for Mutation {
    type Parameters = ();
    type Strategy = BoxedStrategy<Self>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        prop_oneof![
            any::<(Index, u8)>().prop_map(|(at, bit)| Self::Flip(at, bit)),
            any::<Index>().prop_map(Self::Truncate),
            any::<(Index, Index)>().prop_map(|(from, to)| Self::Cut(from, to)),
            any::<(Index, Index, Index)>().prop_map(|(at, from, to)| Self::Splice(at, from, to)),
            (any::<Index>(), 100..3000_u16).prop_map(|(at, depth)| Self::Nest(at, depth)),
            (any::<Index>(), proptest::sample::select(TOKENS))
                .prop_map(|(at, token)| Self::Swap(at, token)),
        ]
        .boxed()
    }
}

impl Mutation {
    /// Does it to `bytes`; `other` is what a splice takes from.
    pub fn apply(&self, bytes: &mut Vec<u8>, other: &[u8]) {
        let place = |index: &Index, len: usize| index.index(len + 1);
        let stretch = |from: &Index, to: &Index, len: usize| {
            let (from, to) = (place(from, len), place(to, len));
            from.min(to)..from.max(to)
        };
        match self {
            Self::Flip(at, bit) if !bytes.is_empty() => {
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << (bit % 8);
            }
            Self::Flip(..) => {}
            Self::Truncate(at) => bytes.truncate(place(at, bytes.len())),
            Self::Cut(from, to) => drop(bytes.drain(stretch(from, to, bytes.len()))),
            Self::Splice(at, from, to) => {
                let at = place(at, bytes.len());
                let stretch = other[stretch(from, to, other.len())].to_vec();
                bytes.splice(at..at, stretch);
            }
            Self::Nest(at, depth) => nest(bytes, at, usize::from(*depth)),
            Self::Swap(at, token) => swap(bytes, at, token),
        }
    }
}

/// Wraps the first value after a colon in lists.
fn nest(bytes: &mut Vec<u8>, at: &Index, depth: usize) {
    let Some(colon) = after_colon(bytes, at) else { return };
    let open = "[".repeat(depth).into_bytes();
    bytes.splice(colon..colon, open);
}

/// Replaces what stands between a colon and the next comma or brace.
fn swap(bytes: &mut Vec<u8>, at: &Index, token: &str) {
    let Some(start) = after_colon(bytes, at) else { return };
    let end = bytes[start..].iter().position(|byte| b",}]".contains(byte));
    let end = end.map_or(bytes.len(), |end| start + end);
    bytes.splice(start..end, token.bytes());
}

/// The place after some colon.
fn after_colon(bytes: &[u8], at: &Index) -> Option<usize> {
    let colons: Vec<usize> =
        bytes.iter().enumerate().filter(|(_, byte)| **byte == b':').map(|(at, _)| at + 1).collect();
    (!colons.is_empty()).then(|| *at.get(&colons))
}
