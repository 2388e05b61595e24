//! Spellings: which of several ways a protocol's node was written in. A spelling belongs to its protocol by type, so that no
//! other protocol's encoder can read its bits.

use std::marker::PhantomData;

use crate::owned::plain;
use crate::protocol::Protocol;

/// Names the protocol that a [`Shape`] belongs to.
pub(in super::super) trait Speller: Copy {
    const PROTOCOL: Protocol;
}

/// How a node was spelled where the protocol of `S` has several spellings; each protocol gives the bits its own meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Shape<S> {
    bits: u32,
    speller: PhantomData<S>,
}

/// The shape of a node of any protocol: its bits can be read by naming the protocol that wrote them, and by no other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Spelling {
    bits: u32,
    /// None as long as no bit is set.
    protocol: Option<Protocol>,
}

impl<S: Speller> Shape<S> {
    /// Spelled in an older or a server's own way that no translation brings back; the same in every protocol.
    pub(in super::super) const RESPELLED: Self = Self::bit(RESPELLED_BIT);

    /// JSON stood where the protocol has a string: the text, or the arguments of the call, are that JSON. The same in every
    /// protocol.
    pub(in super::super) const AS_JSON: Self = Self::bit(AS_JSON_BIT);

    /// The arguments of the call came in pieces that contradict each other, or the type or grammar of what they state. The same in
    /// every protocol.
    pub(in super::super) const MENDED: Self = Self::bit(MENDED_BIT);

    pub(in super::super) const fn bit(number: u32) -> Self {
        Self { bits: 1 << number, speller: PhantomData }
    }

    pub(in super::super) const fn has(self, shape: Self) -> bool {
        self.bits & shape.bits == shape.bits
    }

    pub(in super::super) const fn with(self, shape: Self) -> Self {
        Self { bits: self.bits | shape.bits, speller: PhantomData }
    }
}

impl Spelling {
    /// The shape in the protocol of `S`; a node of another protocol has none there.
    pub(in super::super) fn of<S: Speller>(self) -> Shape<S> {
        let is_own = self.protocol == Some(S::PROTOCOL);
        Shape { bits: if is_own { self.bits } else { 0 }, speller: PhantomData }
    }

    pub(in super::super) fn is_respelled(self) -> bool {
        self.bits & (1 << RESPELLED_BIT) != 0
    }

    pub(in super::super) fn is_as_json(self) -> bool {
        self.bits & (1 << AS_JSON_BIT) != 0
    }

    /// Whether a report may have to do with the spelling, whatever the protocol.
    #[inline]
    pub(in super::super) fn is_notable(self) -> bool {
        self.bits & (1 << RESPELLED_BIT | 1 << AS_JSON_BIT | 1 << MENDED_BIT) != 0
    }

    /// Why the node is not what its input states, if it was read as what that must mean.
    pub(in super::super) fn repair(self) -> Option<&'static str> {
        match self.bits & (1 << AS_JSON_BIT | 1 << MENDED_BIT) {
            0 => None,
            _ if self.is_as_json() => {
                Some("JSON that stands in place of a string is sent as its text")
            }
            _ => {
                Some("its pieces contradict each other, or the type or grammar of what they state")
            }
        }
    }

    /// Adds a later word on the same node. The bits of two protocols never meet: the later protocol's stay.
    pub(super) fn merge(&mut self, later: Self) {
        if later.protocol.is_none() {
            return;
        }
        if self.protocol != later.protocol {
            self.bits &= 1 << RESPELLED_BIT | 1 << AS_JSON_BIT | 1 << MENDED_BIT;
            self.protocol = later.protocol;
        }
        self.bits |= later.bits;
    }

    /// The numbers of the bits that are set.
    pub(super) fn bits(self) -> impl Iterator<Item = u32> {
        (0..u32::BITS).filter(move |bit| self.bits & (1 << bit) != 0)
    }
}

impl<S: Speller> From<Shape<S>> for Spelling {
    fn from(shape: Shape<S>) -> Self {
        Self { bits: shape.bits, protocol: (shape.bits != 0).then_some(S::PROTOCOL) }
    }
}

plain!(Spelling);

const RESPELLED_BIT: u32 = 31;

const AS_JSON_BIT: u32 = 30;

const MENDED_BIT: u32 = 29;

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    struct Chat;

    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    struct Gemini;

    impl Speller for Chat {
        const PROTOCOL: Protocol = Protocol::OpenaiChat;
    }

    impl Speller for Gemini {
        const PROTOCOL: Protocol = Protocol::Gemini;
    }

    #[test]
    fn another_protocol_reads_no_bits() {
        let spelling = Spelling::from(Shape::<Gemini>::bit(6).with(Shape::RESPELLED));
        assert!(spelling.of::<Gemini>().has(Shape::bit(6)));
        assert_eq!(spelling.of::<Chat>(), Shape::default());
        assert!(spelling.is_respelled());
    }

    #[test]
    fn bits_of_two_protocols_never_meet() {
        let mut spelling = Spelling::from(Shape::<Gemini>::bit(6).with(Shape::RESPELLED));
        spelling.merge(Shape::<Chat>::bit(2).into());
        assert_eq!(spelling.bits().collect::<Vec<_>>(), [2, 31]);
        spelling.merge(Shape::<Gemini>::default().into());
        assert!(spelling.of::<Chat>().has(Shape::bit(2)));
    }
}
