//! Answers as a later request has them in its history.

use super::Entry;
use crate::error::Result;
use crate::protocol::Protocol;

impl Protocol {
    /// The elements by which a whole answer of this protocol, given by its body, would stand in the history of a later
    /// request. Of several answers the first counts.
    pub fn answer_entries(self, body: &str) -> Result<Vec<Entry<'static>>> {
        let elements = (self.codec().answer_elements)(body)?;
        let body = self.body_of(&elements.join(","));
        let exchange = self.decode_request_text(&body)?;
        Ok(exchange.entries()?.entries.into_iter().map(Entry::into_owned).collect())
    }

    /// A request that says nothing but these elements of a conversation.
    pub(super) fn body_of(self, elements: &str) -> String {
        format!("{{\"{}\":[{elements}]}}", self.facts().messages())
    }
}
