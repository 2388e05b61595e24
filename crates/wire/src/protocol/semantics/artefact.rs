//! Artefacts that only their issuer can read: signatures and ciphertext, stamped with who made them.

use memchr::memmem;

use crate::base64;
use crate::json::Text;
use crate::owned::into_owned;
use crate::protocol::Protocol;

/// An opaque piece of a vendor's own state that rides in the conversation.
///
/// A foreign issuer never sees it: an encoder of another protocol withholds it, and it returns when its issuer serves
/// again.
#[derive(Clone, Debug)]
pub struct Artefact<'a> {
    pub(super) issuer: Protocol,
    pub(super) kind: ArtefactKind,
    pub(super) data: Text<'a>,
    /// Whether it stood on another part, which takes it back on the way back.
    pub(super) is_handed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArtefactKind {
    /// Proves that thinking is the vendor's own and unchanged.
    Signature,
    /// Thinking that only the vendor can read.
    Ciphertext,
}

impl ArtefactKind {
    pub(in super::super) fn as_str(self) -> &'static str {
        match self {
            Self::Signature => "signature",
            Self::Ciphertext => "ciphertext",
        }
    }

    pub(in super::super) fn parse(word: &str) -> Option<Self> {
        [Self::Signature, Self::Ciphertext].into_iter().find(|kind| kind.as_str() == word)
    }
}

impl<'a> Artefact<'a> {
    pub(in super::super) fn new(issuer: Protocol, kind: ArtefactKind, data: Text<'a>) -> Self {
        Self { issuer, kind, data, is_handed: false }
    }

    /// The same on another part than its own.
    pub(in super::super) fn handed(self) -> Self {
        Self { is_handed: true, ..self }
    }

    /// The protocol whose vendor made it.
    pub fn issuer(&self) -> Protocol {
        self.issuer
    }

    pub fn kind(&self) -> ArtefactKind {
        self.kind
    }

    pub fn data(&self) -> &Text<'a> {
        &self.data
    }

    /// What stands in a field of `carrier`'s protocol, so that a foreign client hands it back: the data itself for its
    /// own protocol, else the data behind a prefix that names issuer and kind.
    pub(in super::super) fn carried_in(&self, carrier: Protocol) -> Text<'_> {
        if self.issuer == carrier {
            return self.data.reborrow();
        }
        let (issuer, kind) = (self.issuer.as_str(), self.kind.as_str());
        let mut carried = Text::plain(format!("{CARRIER_PREFIX}{issuer}:{kind}:"));
        carried.push(&self.data);
        match carrier.codec().carries_base64 {
            true => Text::plain(base64::encode(carried.to_str().as_bytes())),
            false => carried,
        }
    }

    /// Reads a field of `carrier`'s protocol: a carried foreign artefact becomes its issuer's again.
    pub(in super::super) fn read(
        carrier: Protocol,
        kind: ArtefactKind,
        data: Text<'a>,
    ) -> Artefact<'a> {
        match carried(carrier, &data) {
            Some((issuer, kind, inner)) => Artefact::new(issuer, kind, inner),
            None => Artefact::new(carrier, kind, data),
        }
    }

    /// Whether a body may hold artefacts that travel in another protocol's fields; false only if it holds none.
    pub fn may_be_carried_in(body: &str) -> bool {
        let has = |mark: &str| memmem::find(body.as_bytes(), mark.as_bytes()).is_some();
        has(CARRIER_PREFIX) || has(CARRIER_PREFIX_BASE64)
    }
}

/// Marks an artefact that travels in another protocol's field; the number is the version of this form.
const CARRIER_PREFIX: &str = "sabir1:";

/// How every carried artefact begins in base64: the prefix without its last, incomplete group.
const CARRIER_PREFIX_BASE64: &str = "c2FiaXIx";

fn carried(carrier: Protocol, data: &Text<'_>) -> Option<(Protocol, ArtefactKind, Text<'static>)> {
    let mut text = data.to_str();
    if carrier.codec().carries_base64 && text.starts_with(CARRIER_PREFIX_BASE64) {
        text = String::from_utf8(base64::decode(&text)?).ok()?.into();
    }
    let mut fields = text.strip_prefix(CARRIER_PREFIX)?.splitn(3, ':');
    let issuer = Protocol::parse(fields.next()?)?;
    let kind = ArtefactKind::parse(fields.next()?)?;
    Some((issuer, kind, Text::plain(fields.next()?.to_owned())))
}

into_owned! {
    pub struct Artefact { issuer, kind, data, is_handed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_artefact_comes_back_from_every_foreign_field() {
        for issuer in Protocol::ALL {
            for carrier in Protocol::ALL {
                let artefact =
                    Artefact::new(issuer, ArtefactKind::Ciphertext, Text::literal("a:b=="));
                let field = artefact.carried_in(carrier).into_owned();
                let back = Artefact::read(carrier, ArtefactKind::Ciphertext, field);
                assert_eq!((back.issuer(), back.kind()), (issuer, ArtefactKind::Ciphertext));
                assert_eq!(back.data(), "a:b==");
            }
        }
    }

    #[test]
    fn what_nobody_carried_belongs_to_the_field_it_stands_in() {
        let own = Artefact::read(Protocol::Gemini, ArtefactKind::Signature, Text::literal("CtQB"));
        assert_eq!((own.issuer(), own.data().to_str().as_ref()), (Protocol::Gemini, "CtQB"));
    }

    #[test]
    fn the_prefix_is_told_in_base64_too() {
        assert!(base64::encode(CARRIER_PREFIX.as_bytes()).starts_with(CARRIER_PREFIX_BASE64));
    }
}
