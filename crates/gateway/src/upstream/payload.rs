//! The body of a request to a provider, in pieces that are sent one behind the other.

use std::borrow::Cow;
use std::ops::Range;

/// A body. What is the client's own is lent by the call, not copied, even where one value of it is replaced.
#[derive(Debug, Default)]
pub(crate) struct Payload<'c>([Cow<'c, [u8]>; 3]);

impl<'c> Payload<'c> {
    /// A body with something else in one place.
    pub(crate) fn spliced(body: &'c str, place: Range<usize>, value: String) -> Self {
        let (before, behind) = (&body[..place.start], &body[place.end..]);
        Self([before.as_bytes().into(), value.into_bytes().into(), behind.as_bytes().into()])
    }

    pub(crate) fn pieces(&self) -> [&[u8]; 3] {
        self.0.each_ref().map(|piece| &**piece)
    }

    /// All pieces in one, for whoever has to read it.
    pub(crate) fn whole(&self) -> Cow<'_, [u8]> {
        match self.pieces() {
            [whole, [], []] => whole.into(),
            pieces => pieces.concat().into(),
        }
    }
}

impl<'c, T: Into<Cow<'c, [u8]>>> From<T> for Payload<'c> {
    fn from(whole: T) -> Self {
        Self([whole.into(), Cow::default(), Cow::default()])
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
        let body = b"{}".as_slice();
        assert_eq!(Payload::from(body).whole().as_ptr(), body.as_ptr());
        assert!(Payload::default().whole().is_empty());
    }
}
