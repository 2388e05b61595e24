//! Ids, owners and hashes: what rows are found by. Once made, none can be misspelt or too long.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::limit::ID_BYTES_MAX;

/// A type of id: text without control characters, within the limit. A call hands its ids on to whatever is kept of it, so that
/// copies share the text.
macro_rules! text_ids {
    ($($(#[$doc:meta])* $name:ident, $what:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn new(text: impl AsRef<str>) -> Result<Self> {
                checked($what, text.as_ref()).map(Self)
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

text_ids! {
    /// A call and its answer.
    TurnId, "turn id";
    /// What a client may continue: the id of an answer.
    ResponseId, "response id";
    /// A part of a turn's input or output, as clients name it.
    ItemId, "item id";
    /// A conversation, by the id that the gateway or the client gave it.
    ConversationId, "conversation id";
    /// The row of a call.
    ExchangeId, "exchange id";
    /// A running process. Another start is another node.
    NodeId, "node id";
    /// A protocol, a provider, a model, an issuer, an outcome.
    Name, "name";
}

fn checked(what: &'static str, text: &str) -> Result<Arc<str>> {
    if text.is_empty() {
        return Err(Error::invalid(format!("the {what} is empty")));
    }
    if text.len() > ID_BYTES_MAX {
        return Err(Error::invalid(format!("the {what} has more than {ID_BYTES_MAX} bytes")));
    }
    if text.chars().any(char::is_control) {
        return Err(Error::invalid(format!("the {what} holds a control character")));
    }
    Ok(text.into())
}

/// To whom everything that is kept belongs: a gateway key by its name, or nobody where there are no keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(Arc<str>);

impl Owner {
    pub fn nobody() -> Self {
        Self(Arc::default())
    }

    pub fn key(name: impl AsRef<str>) -> Result<Self> {
        checked("owner", name.as_ref()).map(Self)
    }

    /// The name of the key; empty for nobody, which no key can be named.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn from_column(text: String) -> Self {
        Self(text.into())
    }
}

/// The name of a message, of a setting or of a call, made of its meaning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The hash of a message after another: equal histories have equal hashes, and different histories never meet again.
    pub fn of_message(parent: Option<&Hash>, meaning: &[u8]) -> Self {
        let mut digest = Sha256::new();
        digest.update(parent.map_or([0; 32], |parent| parent.0));
        digest.update(meaning);
        Self(digest.finalize().into())
    }

    /// The hash of bytes that stand alone.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// These bytes, and as many of another as a hash has more.
    pub(crate) fn beginning(bytes: &[u8], rest: u8) -> Self {
        let mut hash = [rest; 32];
        let length = bytes.len().min(hash.len());
        hash[..length].copy_from_slice(&bytes[..length]);
        Self(hash)
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let bytes = bytes.try_into().map_err(|_| Error::invalid("a hash has 32 bytes"))?;
        Ok(Self(bytes))
    }
}

/// A hash shows its beginning: enough to tell two apart in a log.
impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..4].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn ids_are_text_without_control_characters_within_the_limit() {
        assert_eq!(TurnId::new("turn_1").unwrap().as_str(), "turn_1");
        assert!(ItemId::new("x".repeat(ID_BYTES_MAX)).is_ok());
        for wrong in [String::new(), "a\nb".to_owned(), "x".repeat(ID_BYTES_MAX + 1)] {
            assert_eq!(ItemId::new(wrong).unwrap_err().kind(), Kind::Invalid);
        }
    }

    #[test]
    fn no_key_is_nobody() {
        assert_eq!(Owner::key("").unwrap_err().kind(), Kind::Invalid);
        assert_ne!(Owner::key("ci").unwrap(), Owner::nobody());
    }

    #[test]
    fn a_message_is_another_after_another() {
        let first = Hash::of_message(None, b"hello");
        assert_eq!(first, Hash::of_message(None, b"hello"));
        assert_ne!(first, Hash::of_message(Some(&first), b"hello"));
    }
}
