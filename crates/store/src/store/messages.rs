//! Messages and settings.

use crate::error::Result;
use crate::id::{Hash, Owner};
use crate::message;
use crate::message::{Beginning, History, Known, Message, Window};
use crate::record::Record;
use crate::setting::ReadSetting;
use crate::store::Store;

impl Store {
    /// How many of these messages are kept, from the first on. Each hash is over the one before it.
    pub async fn known(&self, owner: &Owner, hashes: Vec<Hash>) -> Result<usize> {
        self.inner.engine.read(Known { owner: owner.clone(), hashes }).await
    }

    /// The messages up to `tip`, the oldest first.
    pub async fn history(&self, owner: &Owner, tip: Hash, window: Window) -> Result<History> {
        self.inner.engine.read(message::Path { owner: owner.clone(), tip, window }).await
    }

    /// The message whose hash begins with these bytes; the first of them, should there be more.
    pub async fn message_beginning(&self, owner: &Owner, bytes: &[u8]) -> Result<Message> {
        let beginning = Beginning { owner: owner.clone(), bytes: bytes.to_vec() };
        self.inner.engine.read(beginning).await
    }

    /// A system prompt or tools, by the hash that a turn or a conversation has of them.
    pub async fn setting(&self, owner: &Owner, hash: Hash) -> Result<Record> {
        self.inner.engine.read(ReadSetting { owner: owner.clone(), hash }).await
    }
}
