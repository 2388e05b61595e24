//! The one alphabet of streams: every decoder speaks it, every encoder hears it.

mod fold;
mod order;
mod sequence;
mod unfold;

pub use fold::Fold;
pub use order::Order;
pub(in crate::protocol) use sequence::Sequence;
pub use unfold::unfold;

use crate::conversation::CallForm;
use crate::conversation::Content;
use crate::conversation::Finish;
use crate::conversation::ReasoningForm;
use crate::conversation::Usage;
use crate::fault::Fault;
use crate::json::Number;
use crate::json::Text;
use crate::place::Place;
use crate::protocol::semantics::Citation;
use crate::protocol::semantics::Logprobs;
use crate::protocol::semantics::NodeSemantics;

/// One step of an answer as it comes in.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// The answer begins; once, before everything else but a fault.
    Start(Start<'a>),
    /// A part begins.
    Open(Open<'a>),
    /// An open part grows.
    Delta(PartId, Delta<'a>),
    /// Something is said about the answer, a candidate or a part that is or was open.
    Note(Note<'a>),
    /// An open part is complete.
    Close(Closed<'a>),
    /// What it cost so far; later reports replace what they repeat.
    Usage(Usage<'a>),
    /// A candidate has ended; its parts are all closed. The place is where that was said.
    Finish { candidate: u32, place: Place, finish: Finish<'a> },
    /// The answer failed; nothing follows.
    Fault(Fault<'a>),
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

/// Something is said about what has been sent.
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

impl Event<'_> {
    pub fn into_owned(self) -> Event<'static> {
        match self {
            Self::Start(start) => Event::Start(start.into_owned()),
            Self::Open(open) => Event::Open(open.into_owned()),
            Self::Delta(part, delta) => Event::Delta(part, delta.into_owned()),
            Self::Note(note) => Event::Note(note.into_owned()),
            Self::Close(closed) => Event::Close(closed.into_owned()),
            Self::Usage(usage) => Event::Usage(usage.into_owned()),
            Self::Finish { candidate, place, finish } => {
                Event::Finish { candidate, place, finish: finish.into_owned() }
            }
            Self::Fault(fault) => Event::Fault(fault.into_owned()),
        }
    }
}

impl Start<'_> {
    pub fn into_owned(self) -> Start<'static> {
        Start {
            id: self.id.map(Text::into_owned),
            model: self.model.map(Text::into_owned),
            created: self.created.map(Number::into_owned),
            service_tier: self.service_tier.map(Text::into_owned),
            semantics: self.semantics.into_owned(),
        }
    }
}

impl Open<'_> {
    pub fn into_owned(self) -> Open<'static> {
        Open {
            part: self.part,
            candidate: self.candidate,
            opening: self.opening.into_owned(),
            semantics: self.semantics.into_owned(),
        }
    }
}

impl Opening<'_> {
    pub fn into_owned(self) -> Opening<'static> {
        match self {
            Self::Text => Opening::Text,
            Self::Refusal => Opening::Refusal,
            Self::Reasoning(form) => Opening::Reasoning(form),
            Self::ToolCall { id, name, form } => {
                Opening::ToolCall { id: id.map(Text::into_owned), name: name.into_owned(), form }
            }
            Self::Whole(content) => Opening::Whole(content.into_owned()),
        }
    }
}

impl Delta<'_> {
    pub fn into_owned(self) -> Delta<'static> {
        match self {
            Self::Text(text) => Delta::Text(text.into_owned()),
            Self::NextPiece => Delta::NextPiece,
        }
    }
}

impl Note<'_> {
    pub fn into_owned(self) -> Note<'static> {
        let kind = match self.kind {
            NoteKind::Citation(citation) => NoteKind::Citation(citation.into_owned()),
            NoteKind::Logprobs(more) => NoteKind::Logprobs(more.into_owned()),
            NoteKind::Semantics(semantics) => NoteKind::Semantics(semantics.into_owned()),
        };
        Note { at: self.at, kind }
    }
}

impl Closed<'_> {
    pub fn into_owned(self) -> Closed<'static> {
        Closed { part: self.part, semantics: self.semantics.into_owned() }
    }
}
