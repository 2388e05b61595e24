//! The body of a request to a provider, in pieces that are sent one behind the other.

use std::ops::Range;

use bytes::Bytes;

/// A body. What is the client's own is lent by the call, not copied, even where one value of it is replaced.
#[derive(Debug, Default)]
pub(crate) struct Payload<'c>([Piece<'c>; 3]);

#[derive(Debug)]
enum Piece<'c> {
    Lent(&'c [u8]),
    Own(Vec<u8>),
    /// For whoever reads it on another thread.
    Shared(Bytes),
}

impl<'c> Payload<'c> {
    /// A body with something else in one place.
    pub(crate) fn spliced(body: &'c str, place: Range<usize>, value: String) -> Self {
        let (before, behind) = (&body[..place.start], &body[place.end..]);
        let (before, behind) = (before.as_bytes(), behind.as_bytes());
        Self([Piece::Lent(before), Piece::Own(value.into_bytes()), Piece::Lent(behind)])
    }

    /// The same, so that nobody has to copy what is not lent.
    pub(crate) fn shared(self) -> Self {
        Self(self.0.map(|piece| match piece {
            Piece::Own(bytes) => Piece::Shared(bytes.into()),
            piece => piece,
        }))
    }

    pub(crate) fn pieces(&self) -> [&[u8]; 3] {
        self.0.each_ref().map(Piece::bytes)
    }

    /// All pieces in one, for whoever keeps it.
    pub(crate) fn whole(&self) -> Bytes {
        match &self.0 {
            [Piece::Shared(whole), Piece::Lent([]), Piece::Lent([])] => whole.clone(),
            _ => self.pieces().concat().into(),
        }
    }
}

impl Piece<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Lent(bytes) => bytes,
            Self::Own(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

impl Default for Piece<'_> {
    fn default() -> Self {
        Self::Lent(&[])
    }
}

impl<'c> From<&'c [u8]> for Payload<'c> {
    fn from(whole: &'c [u8]) -> Self {
        Self([Piece::Lent(whole), Piece::default(), Piece::default()])
    }
}

impl From<Bytes> for Payload<'_> {
    fn from(whole: Bytes) -> Self {
        Self([Piece::Shared(whole), Piece::default(), Piece::default()])
    }
}

impl From<Vec<u8>> for Payload<'_> {
    fn from(whole: Vec<u8>) -> Self {
        Self([Piece::Own(whole), Piece::default(), Piece::default()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_replaced_and_the_rest_lent() {
        let body = r#"{"model":"a","n":1}"#;
        let payload = Payload::spliced(body, 9..12, r#""longer""#.to_owned());
        assert_eq!(&*payload.whole(), br#"{"model":"longer","n":1}"#);
        assert_eq!(payload.pieces()[0].as_ptr(), body.as_ptr());
        assert_eq!(payload.pieces()[2].as_ptr(), body[12..].as_ptr());
    }

    #[test]
    fn one_piece_is_not_copied() {
        let body = b"{}".to_vec();
        let place = body.as_ptr();
        let payload = Payload::from(body).shared();
        assert_eq!(payload.whole().as_ptr(), place);
        assert!(Payload::default().whole().is_empty());
    }
}
