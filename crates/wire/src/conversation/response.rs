//! A response: the answers, why they ended, and what they cost.

use crate::conversation::{Message, Usage};
use crate::fault::Fault;
use crate::json::{Json, Number, Text};
use crate::owned::into_owned;
use crate::protocol::NodeSemantics;

/// What a model answered.
#[derive(Clone, Debug, Default)]
pub struct Response<'a> {
    pub id: Option<Text<'a>>,
    pub model: Option<Text<'a>>,
    /// Unix time in seconds.
    pub created: Option<Number<'a>>,
    pub candidates: Vec<Candidate<'a>>,
    pub usage: Option<Usage<'a>>,
    pub service_tier: Option<Text<'a>>,
    /// Why the vendor gave up, where the answer itself says so.
    pub fault: Option<Fault<'a>>,
    pub(crate) semantics: NodeSemantics<'a>,
}

/// One of the answers; nearly always the only one.
#[derive(Clone, Debug, Default)]
pub struct Candidate<'a> {
    pub message: Message<'a>,
    pub finish: Option<Finish<'a>>,
    pub(crate) semantics: NodeSemantics<'a>,
}

/// Why an answer ended.
#[derive(Clone, Debug)]
pub struct Finish<'a> {
    pub kind: FinishKind,
    /// The vendor's own word.
    pub raw: Option<Text<'a>>,
    /// The stop sequence that was met, where the vendor states it.
    pub stop_sequence: Option<Text<'a>>,
    /// What else the vendor says of the end, in its own shape.
    pub details: Option<Json<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FinishKind {
    Stop,
    StopSequence,
    ToolCalls,
    Length,
    /// The context window is full.
    ContextFull,
    /// The answer was withheld.
    ContentFilter,
    /// The prompt was refused; there is no answer.
    PromptFilter,
    Refusal,
    /// The vendor paused and waits to be asked to go on.
    Pause,
    /// The model called a tool in a way that cannot be read.
    MalformedCall,
    /// The vendor failed or was stopped.
    Failed,
    /// A word that this version does not know.
    Other,
}

impl<'a> Response<'a> {
    /// What the wire stated about the response beyond these fields.
    pub fn semantics(&self) -> &NodeSemantics<'a> {
        &self.semantics
    }

    pub(crate) fn semantics_mut(&mut self) -> &mut NodeSemantics<'a> {
        &mut self.semantics
    }
}

impl<'a> Candidate<'a> {
    pub fn new(message: Message<'a>) -> Self {
        Self { message, finish: None, semantics: NodeSemantics::default() }
    }

    /// What the wire stated about this answer beyond its message and end.
    pub fn semantics(&self) -> &NodeSemantics<'a> {
        &self.semantics
    }

    pub(crate) fn semantics_mut(&mut self) -> &mut NodeSemantics<'a> {
        &mut self.semantics
    }
}

impl<'a> Finish<'a> {
    pub fn new(kind: FinishKind) -> Self {
        Self { kind, raw: None, stop_sequence: None, details: None }
    }
}

into_owned! {
    pub struct Response { id, model, created, candidates, usage, service_tier, fault, semantics }
    pub struct Candidate { message, finish, semantics }
    pub struct Finish { kind, raw, stop_sequence, details }
}
