//! The builder: a history, system prompts and perhaps a summary in, messages that a provider takes out.

use std::borrow::Cow;

use sabir_wire::conversation::Message;

use crate::log::Log;
use crate::policy::Policy;
use crate::refused::Refused;
use crate::repair::mended;
use crate::step;
use crate::step::Notes;
use crate::trace::Trace;
use crate::turn::Turn;

/// Builds the messages of a request.
///
/// The steps have a fixed order: the summary takes the place of what it sums up, empty messages go, calls and results are
/// paired, system prompts are put in front, and what is left is validated.
///
/// ```
/// use sabir_compose::Builder;
/// use sabir_compose::Stored;
/// use sabir_wire::conversation::Message;
/// use sabir_wire::conversation::Part;
/// use sabir_wire::conversation::Role;
///
/// let built = Builder::default()
///     .set_system_prompts(["Be brief.", "Answer in French."])
///     .set_messages([Stored::from(Message::new(Role::User, vec![Part::text("hello")]))])
///     .set_compression_summary(None)
///     .build()?;
/// assert_eq!(built.turns.len(), 2);
/// assert_eq!(built.trace.changes().len(), 1);
/// # Ok::<(), sabir_compose::Refused>(())
/// ```
#[derive(Clone, Default)]
pub struct Builder<'a> {
    system_prompts: Vec<Cow<'a, str>>,
    messages: Vec<Stored<'a>>,
    summary: Option<Summary<'a>>,
    policy: Policy,
}

/// A message of a history, under the id that summaries know it by.
#[derive(Clone, Debug)]
pub struct Stored<'a> {
    pub id: Option<Cow<'a, str>>,
    pub message: Message<'a>,
}

/// What stands for messages that are no longer sent.
#[derive(Clone)]
pub struct Summary<'a> {
    pub message_ids: Vec<Cow<'a, str>>,
    /// Everything before this message is left out, whether it is listed or not.
    pub start_message_id: Cow<'a, str>,
    pub summary: Cow<'a, str>,
}

/// What was built.
#[derive(Clone, Debug)]
pub struct Built<'a> {
    pub turns: Vec<Turn<'a>>,
    pub trace: Trace,
    pub log: Log,
}

impl<'a> Builder<'a> {
    pub fn set_system_prompts(
        mut self,
        prompts: impl IntoIterator<Item = impl Into<Cow<'a, str>>>,
    ) -> Self {
        self.system_prompts = prompts.into_iter().map(Into::into).collect();
        self
    }

    pub fn set_messages(mut self, messages: impl IntoIterator<Item = Stored<'a>>) -> Self {
        self.messages = messages.into_iter().collect();
        self
    }

    pub fn set_compression_summary(mut self, summary: Option<Summary<'a>>) -> Self {
        self.summary = summary;
        self
    }

    pub fn set_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Runs the steps.
    pub fn build(self) -> Result<Built<'a>, Refused> {
        let Self { system_prompts, messages, summary, policy } = self;
        let mut notes = Notes::default();
        let turns =
            step::summarise::apply(messages, summary.as_ref(), policy.summary_role, &mut notes);
        let turns = mended(turns, &policy, &mut notes);
        let turns = step::system::apply(turns, &system_prompts, &mut notes);
        let Notes { trace, mut log } = notes;
        match step::validate::apply(&turns, &mut log) {
            Ok(()) => Ok(Built { turns, trace, log }),
            Err(kind) => Err(Refused::new(kind, log)),
        }
    }
}

impl<'a> From<Message<'a>> for Stored<'a> {
    fn from(message: Message<'a>) -> Self {
        Self { id: None, message }
    }
}

impl<'a> Built<'a> {
    /// The messages alone.
    pub fn into_messages(self) -> Vec<Message<'a>> {
        self.turns.into_iter().map(|turn| turn.message).collect()
    }
}

// Prompts and summaries are content, which does not belong in logs.

impl std::fmt::Debug for Builder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder")
            .field("system_prompts", &self.system_prompts.len())
            .field("messages", &self.messages)
            .field("summary", &self.summary)
            .field("policy", &self.policy)
            .finish()
    }
}

impl std::fmt::Debug for Summary<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Summary")
            .field("message_ids", &self.message_ids)
            .field("start_message_id", &self.start_message_id)
            .field("summary_bytes", &self.summary.len())
            .finish()
    }
}
