//! The record: an exchange in a form that can be stored and restored, semantics included.
//!
//! Writing a request in its own protocol loses nothing, so its own body is its record. That is also why nobody needs to
//! deserialise semantics: they are always read off the wire again, by the code that is allowed to write them.

use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{Exchange, Protocol};
use crate::target::Target;

/// A stored exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The version of this form.
    pub version: u32,
    pub protocol: Protocol,
    pub body: String,
}

/// The version that [`Record::of`] writes and the newest that [`Record::restore`] reads.
const VERSION: u32 = 1;

impl Record {
    /// Records an exchange as it stands, edits included.
    pub fn of(exchange: &Exchange<'_>) -> Result<Self> {
        let encoded = exchange.encode(exchange.protocol(), &Target::default())?;
        Ok(Self { version: VERSION, protocol: exchange.protocol(), body: encoded.body })
    }

    /// Restores the exchange that was recorded.
    pub fn restore(&self) -> Result<Exchange<'_>> {
        if self.version > VERSION {
            let message =
                format!("expected a record of version {VERSION} or older, found {}", self.version);
            return Err(Error::new(ErrorKind::Value, message));
        }
        self.protocol.decode_request(self.body.as_bytes())
    }
}
