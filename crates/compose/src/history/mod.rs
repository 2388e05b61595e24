//! Histories as JSON: what the builder is given, in the shapes in which applications keep messages, and what it built.
//!
//! A message stands alone or as the `body` of an entity with an `id`. Calls are blocks of type `tool_use` or a list
//! `toolCalls`/`tool_calls`, results are blocks with a `tool_use_id` or messages with a `toolCallId`/`tool_call_id`.

mod block;
mod call;
mod error;
mod read;
mod speaker;
mod spelling;
#[cfg(test)]
mod tests;
mod write;

use std::fmt;

use sabir_wire::Protocol;
use sabir_wire::conversation::Request;
use sabir_wire::json::{Json, Text};
use sabir_wire::protocol::{DecodedRequest, Encoded};
use sabir_wire::target::Target;

use crate::builder::{Builder, Built, Stored, Summary};

pub use error::HistoryError;
pub use speaker::{Stranger, stranger};
pub use write::messages_of;

/// What is to be built, as it was read.
///
/// ```
/// use sabir_compose::history::History;
///
/// let history = History::parse(
///     r#"{"messages": [{"id": 1, "body": {"role": "user", "content": "hello"}}], "systemPrompts": ["Be brief."]}"#,
/// )?;
/// let built = history.builder().build()?;
/// assert_eq!(
///     history.to_json(&built),
///     r#"{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hello"}],"trace":[{"step":"system","pointer":"/systemPrompts","what":"message added","why":"the system prompts stand in front, in one message"}]}"#,
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct History<'a> {
    messages: Vec<Stored<'a>>,
    given: Vec<Given<'a>>,
    system_prompts: Vec<String>,
    summary: Option<Summary<'a>>,
}

/// A message as it was spelled, to be printed as it was.
#[derive(Clone, Default)]
struct Given<'a> {
    role: Text<'a>,
    content: Option<Json<'a>>,
    /// None for an empty list.
    tool_calls: Option<Json<'a>>,
    tool_call_id: Option<Text<'a>>,
    name: Option<Text<'a>>,
    /// Where it stands in its entity, and how the list of calls is called.
    below: &'static str,
    calls_key: &'static str,
    /// How another list of calls is called, of which only one can count.
    second_calls_key: Option<&'static str>,
}

impl<'a> History<'a> {
    /// Reads `{"messages", "systemPrompts"?, "summary"?}`; fields that no provider is sent are passed over.
    pub fn parse(json: &'a str) -> Result<Self, HistoryError> {
        read::history(json)
    }

    /// A builder of this history.
    pub fn builder(&self) -> Builder<'a> {
        Builder::default()
            .set_system_prompts(self.system_prompts.clone())
            .set_messages(self.messages.clone())
            .set_compression_summary(self.summary.clone())
    }

    /// What was built of this history: `{"messages", "trace"}`. Messages that did not change are spelled as they were.
    pub fn to_json(&self, built: &Built<'_>) -> String {
        write::built(built, &self.given)
    }
}

// Histories are content, which does not belong in logs.
impl fmt::Debug for History<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History")
            .field("messages", &self.messages.len())
            .field("system_prompts", &self.system_prompts.len())
            .field("summary", &self.summary)
            .finish()
    }
}

/// The messages of a request in `protocol`: `{"messages"}`, `{"input"}`, `{"system"?, "messages"}` or
/// `{"systemInstruction"?, "contents"}`.
pub fn encode(built: Built<'_>, protocol: Protocol) -> sabir_wire::Result<Encoded> {
    let request = Request { messages: built.into_messages(), ..Request::default() };
    // Written as a translation, which sees to the order and the neighbours that the protocol wants.
    let [first, second, ..] = Protocol::ALL;
    let source = if protocol == first { second } else { first };
    let Encoded { body, report } =
        DecodedRequest::new(source, request).encode(protocol, &Target::default())?;
    Ok(Encoded { body: write::messages_of(&body, protocol)?, report })
}
