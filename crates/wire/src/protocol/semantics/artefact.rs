//! Artefacts that only their issuer can read: signatures and ciphertext, stamped with who made them.

use crate::json::Text;
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArtefactKind {
    /// Proves that thinking is the vendor's own and unchanged.
    Signature,
    /// Thinking that only the vendor can read.
    Ciphertext,
}

impl<'a> Artefact<'a> {
    pub(in crate::protocol) fn new(issuer: Protocol, kind: ArtefactKind, data: Text<'a>) -> Self {
        Self { issuer, kind, data }
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
    pub(in crate::protocol) fn carried_in(&self, carrier: Protocol) -> Text<'_> {
        if self.issuer == carrier {
            return self.data.reborrow();
        }
        let kind = match self.kind {
            ArtefactKind::Signature => "signature",
            ArtefactKind::Ciphertext => "ciphertext",
        };
        let mut carried = Text::plain(format!("{CARRIER_PREFIX}{}:{kind}:", self.issuer.as_str()));
        carried.push(&self.data);
        carried
    }

    /// Reads a field of `carrier`'s protocol: a carried foreign artefact becomes its issuer's again.
    pub(in crate::protocol) fn read(
        carrier: Protocol,
        kind: ArtefactKind,
        data: Text<'a>,
    ) -> Artefact<'a> {
        match carried(&data) {
            Some((issuer, kind, inner)) => Artefact::new(issuer, kind, inner),
            None => Artefact::new(carrier, kind, data),
        }
    }

    pub fn into_owned(self) -> Artefact<'static> {
        Artefact { issuer: self.issuer, kind: self.kind, data: self.data.into_owned() }
    }
}

/// Marks an artefact that travels in another protocol's field; the number is the version of this form.
const CARRIER_PREFIX: &str = "sabir1:";

fn carried(data: &Text<'_>) -> Option<(Protocol, ArtefactKind, Text<'static>)> {
    let text = data.to_str();
    let mut fields = text.strip_prefix(CARRIER_PREFIX)?.splitn(3, ':');
    let issuer = Protocol::parse(fields.next()?)?;
    let kind = match fields.next()? {
        "signature" => ArtefactKind::Signature,
        "ciphertext" => ArtefactKind::Ciphertext,
        _ => return None,
    };
    Some((issuer, kind, Text::plain(fields.next()?.to_owned())))
}
