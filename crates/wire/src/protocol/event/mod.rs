//! The one alphabet of streams: every decoder emits it, every encoder reads it.

mod fold;
mod order;
mod sequence;
mod unfold;

pub use fold::Fold;
pub(super) use fold::grow;
pub use order::Order;
pub(super) use sequence::Sequence;
pub use unfold::unfold;

use crate::conversation::{CallForm, Content, Finish, ReasoningForm, Response, Usage};
use crate::fault::Fault;
use crate::json::{Number, Text};
use crate::owned::into_owned;
use crate::place::Place;
use crate::protocol::semantics::{Citation, Logprobs, NodeSemantics};

/// One step of an answer as it comes in.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// The answer begins; once, before everything else but a fault.
    Start(Start<'a>),
    /// A part begins.
    Open(Open<'a>),
    /// An open part grows.
    Delta(PartId, Delta<'a>),
    /// A note on the answer, a candidate or a part that is or was open.
    Note(Note<'a>),
    /// An open part is complete.
    Close(Closed<'a>),
    /// What it cost so far; later reports replace what they repeat.
    Usage(Usage<'a>),
    /// A candidate has ended; its parts are all closed. The place is where that was stated.
    Finish { candidate: u32, place: Place, finish: Finish<'a> },
    /// The answer failed; nothing follows.
    Fault(Fault<'a>),
}

/// Takes the events of a stream as it is read.
pub(super) type Emit<'e, 'f> = &'e mut dyn FnMut(Event<'f>);

impl<'a> Event<'a> {
    /// A note on a part.
    pub(super) fn noted(part: PartId, kind: NoteKind<'a>) -> Self {
        Self::Note(Note { at: NoteAt::Part(part), kind })
    }

    /// A part is complete, and its end says nothing more of it.
    pub(super) fn closed(part: PartId) -> Self {
        Self::Close(Closed { part, semantics: NodeSemantics::default() })
    }
}

/// The number of a part in its stream, in order of opening from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PartId(pub u32);

/// What is known of an answer when it begins.
#[derive(Clone, Debug, Default)]
pub struct Start<'a> {
    pub id: Option<Text<'a>>,
    pub model: Option<Text<'a>>,
    pub created: Option<Number<'a>>,
    pub service_tier: Option<Text<'a>>,
    pub semantics: NodeSemantics<'a>,
}

impl<'a> Start<'a> {
    /// The beginning of a whole answer, but for its semantics.
    pub(super) fn of(response: &'a Response<'_>) -> Self {
        let Response { id, model, created, service_tier, .. } = response;
        let texts = [id, model, service_tier].map(|text| text.as_ref().map(Text::reborrow));
        let [id, model, service_tier] = texts;
        let created = created.as_ref().map(Number::reborrow);
        Self { id, model, created, service_tier, ..Self::default() }
    }
}

/// A part begins.
#[derive(Clone, Debug)]
pub struct Open<'a> {
    pub part: PartId,
    pub candidate: u32,
    pub opening: Opening<'a>,
    pub semantics: NodeSemantics<'a>,
}

/// What sort of part begins.
#[derive(Clone, Debug)]
pub enum Opening<'a> {
    Text,
    Refusal,
    Reasoning(ReasoningForm),
    ToolCall {
        id: Option<Text<'a>>,
        name: Text<'a>,
        form: CallForm,
    },
    /// A part that arrives in one piece and does not grow.
    Whole(Content<'a>),
}

/// How an open part grows.
#[derive(Clone, Debug)]
pub enum Delta<'a> {
    /// More of its text, or of the JSON text of its arguments.
    Text(Text<'a>),
    /// The next piece of its text begins (a reasoning part may have several; the first begins by itself).
    NextPiece,
}

/// A note on what has been sent.
#[derive(Clone, Debug)]
pub struct Note<'a> {
    pub at: NoteAt,
    pub kind: NoteKind<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteAt {
    Response,
    Candidate(u32),
    Part(PartId),
}

#[derive(Clone, Debug)]
pub enum NoteKind<'a> {
    Citation(Citation<'a>),
    /// More of the part's log probabilities.
    Logprobs(Logprobs<'a>),
    /// Vendor fields of the answer, the candidate or the part.
    Semantics(NodeSemantics<'a>),
}

/// A part is complete.
#[derive(Clone, Debug)]
pub struct Closed<'a> {
    pub part: PartId,
    /// What became known only at its end, such as a signature.
    pub semantics: NodeSemantics<'a>,
}

into_owned! {
    pub enum Event {
        Start(start),
        Open(open),
        Delta(part, delta),
        Note(note),
        Close(closed),
        Usage(usage),
        Finish { candidate, place, finish },
        Fault(fault),
    }
    pub struct Start { id, model, created, service_tier, semantics }
    pub struct Open { part, candidate, opening, semantics }
    pub enum Opening { Text, Refusal, Reasoning(form), ToolCall { id, name, form }, Whole(content) }
    pub enum Delta { Text(text), NextPiece }
    pub struct Note { at, kind }
    pub enum NoteKind { Citation(citation), Logprobs(logprobs), Semantics(semantics) }
    pub struct Closed { part, semantics }
}
