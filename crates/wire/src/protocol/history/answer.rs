//! Answers as a later request has them in its history.

use super::{Entry, Kept};
use crate::conversation::{Content, Part, Response, ToolCall};
use crate::error::Result;
use crate::json::Text;
use crate::protocol::Protocol;

impl Protocol {
    /// The elements by which a whole answer of this protocol, given by its body, would stand in the history of a later
    /// request. Of several answers the first counts.
    pub fn answer_entries(self, body: &str) -> Result<Vec<Entry<'static>>> {
        let elements = (self.codec().answer_elements)(body)?;
        self.kept_entries(&elements.join(","))
    }

    /// Elements of this protocol that were kept, separated by commas, with what each means.
    pub fn kept_entries(self, elements: &str) -> Result<Vec<Entry<'static>>> {
        Kept::new(self, elements).entries()
    }

    /// A request that says nothing but these elements of a conversation.
    pub(super) fn body_of(self, elements: &str) -> String {
        format!("{{\"{}\":[{elements}]}}", self.facts().messages())
    }
}

impl Response<'_> {
    /// Whether every call has an id.
    pub fn numbers_calls(&self) -> bool {
        calls(self).all(|call| call.id.is_some())
    }

    /// Gives calls that have no id those of the same answer as another client was sent it.
    pub fn number_calls(&mut self, stated: &Response<'_>) {
        let mut ids = calls(stated).map(|call| call.id.clone().map(Text::into_owned));
        for part in self.candidates.iter_mut().flat_map(|it| &mut it.message.parts) {
            if let Content::ToolCall(call) = part.content_mut() {
                let stated = ids.next().flatten();
                call.id = call.id.take().or(stated);
            }
        }
    }
}

fn calls<'r>(response: &'r Response<'_>) -> impl Iterator<Item = &'r ToolCall<'r>> {
    let parts = response.candidates.iter().flat_map(|candidate| &candidate.message.parts);
    parts.filter_map(Part::tool_call)
}
