//! What Gemini CLI says in its protocol for editors, an object a line: answers to our requests, news of a session, and questions of its
//! own.

use std::fmt;

use sabir_wire::Result;
use sabir_wire::conversation::{Count, Counts};
use sabir_wire::json::{Json, Kind, Reader};

use crate::agent::json::{member, string, text};

/// What matters of a line.
#[derive(Default)]
pub(super) struct Line<'l> {
    pub(super) id: Option<Json<'l>>,
    method: Option<String>,
    params: Option<Json<'l>>,
    pub(super) result: Option<Json<'l>>,
    pub(super) error: Option<Json<'l>>,
}

/// News of a session.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Update {
    Text(String),
    Thought(String),
    /// What the user said, in the history.
    User,
    /// A call was begun or has failed.
    Call,
    Other,
}

impl<'l> Line<'l> {
    pub(super) fn read(line: &'l [u8]) -> Result<Self> {
        let mut read = Self::default();
        let mut reader = Reader::from_slice(line)?;
        reader.object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("id", _) => read.id = Some(reader.raw()?),
                ("method", Kind::String) => read.method = Some(string(reader)?),
                ("params", Kind::Object) => read.params = Some(reader.raw()?),
                ("result", Kind::Object) => read.result = Some(reader.raw()?),
                ("error", Kind::Object) => read.error = Some(reader.raw()?),
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        reader.finish()?;
        Ok(read)
    }

    /// The number of our request that it answers.
    pub(super) fn answers(&self) -> Option<u64> {
        let id = self.id.as_ref().filter(|_| self.method.is_none())?;
        id.as_str().parse().ok()
    }

    /// What the CLI asks, by name; its answer is waited for under its id.
    pub(super) fn asks(&self) -> Option<(&Json<'l>, &str)> {
        self.id.as_ref().zip(self.method.as_deref())
    }

    /// The news that it brings of a session.
    pub(super) fn update(&self, session: &str) -> Option<Update> {
        let params =
            self.params.as_ref().filter(|_| self.method.as_deref() == Some("session/update"))?;
        if text(params, "sessionId").is_none_or(|it| it != session) {
            return None;
        }
        let update = member(params, "update")?;
        let content =
            || member(&update, "content").and_then(|it| text(&it, "text")).unwrap_or_default();
        Some(match text(&update, "sessionUpdate").as_deref() {
            Some("agent_message_chunk") => Update::Text(content()),
            Some("agent_thought_chunk") => Update::Thought(content()),
            Some("user_message_chunk") => Update::User,
            Some("tool_call" | "tool_call_update") => Update::Call,
            _ => Update::Other,
        })
    }

    /// A call that begins, or fails before it does: what kind of tool it is of, and what it is about.
    pub(super) fn begun_call(&self, session: &str) -> Option<(String, String)> {
        self.update(session).filter(|update| *update == Update::Call)?;
        let update = member(self.params.as_ref()?, "update")?;
        let is_begun = text(&update, "sessionUpdate").as_deref() == Some("tool_call");
        let title = || text(&update, "title").unwrap_or_default();
        is_begun.then(|| (text(&update, "kind").unwrap_or_default(), title()))
    }

    /// A string of the result.
    pub(super) fn stated(&self, name: &str) -> Option<String> {
        text(self.result.as_ref()?, name)
    }

    /// The version of a CLI that introduces itself.
    pub(super) fn version(&self) -> Option<String> {
        text(&member(self.result.as_ref()?, "agentInfo")?, "version")
    }

    /// Whether a CLI that introduces itself says that it goes on with sessions.
    pub(super) fn takes_up_sessions(&self) -> bool {
        let capabilities = self.result.as_ref().and_then(|it| member(it, "agentCapabilities"));
        let load = capabilities.as_ref().and_then(|it| member(it, "loadSession"));
        load.is_some_and(|load| load.as_str() == "true")
    }

    /// What the answer cost, as far as the result says.
    pub(super) fn counts(&self) -> Option<Counts> {
        let quota = member(self.result.as_ref()?, "_meta")?;
        let quota = member(&quota, "quota")?;
        let count = member(&quota, "token_count")?;
        let mut counts = Counts::default();
        counts[Count::Input] = number(&count, "input_tokens");
        counts[Count::Output] = number(&count, "output_tokens");
        Some(counts)
    }
}

pub(super) fn number(object: &Json<'_>, name: &str) -> Option<u64> {
    member(object, name)?.as_str().parse().ok()
}

/// A thought without the frame that the CLI puts around it.
pub(super) fn unframed(thought: &str) -> String {
    match thought.strip_prefix("****\n") {
        Some(plain) => plain.to_owned() + " ",
        None => thought.to_owned() + "\n\n",
    }
}

/// Says how much there is, never what.
impl fmt::Debug for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Line({:?})", self.method)
    }
}
