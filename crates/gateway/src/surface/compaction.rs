//! How a protocol's clients have their conversation compacted, and how they are given the summary.

use sabir_compose::clear::Clearing;
use sabir_wire::conversation::{Counts, Message};
use sabir_wire::json::{Json, Text};
use sabir_wire::protocol::DecodedRequest;
use sabir_wire::{Fault, FaultKind};

pub(crate) use crate::summaries::COMPACTION;

/// What a protocol says of compaction.
pub(crate) struct Compaction {
    /// Reads what a body asks for; none if it asks for nothing.
    pub(crate) read: fn(&str) -> Result<Option<CompactionAsked>, Misasked>,
    /// The body without what asks for it.
    pub(crate) strip: fn(&str) -> sabir_wire::Result<String>,
    /// The item or block that stands for a summary.
    pub(crate) write_item: fn(&Summarised<'_>) -> String,
    /// The one that says that no summary came about, where the protocol has such a one: the answer follows all the same.
    pub(crate) void_item: Option<&'static str>,
    /// An answer that is nothing but that.
    pub(crate) write_answer: fn(&CompactionAnswer<'_>) -> String,
    /// Whether a message before a compaction still counts beside it.
    pub(crate) still_counts: fn(&Message<'_>) -> bool,
    pub(crate) explain: fn(&CompactionTrouble) -> Fault<'static>,
    /// The member by which a request wants something left out of its conversation.
    pub(crate) edited_by: Option<&'static str>,
    /// Reads what a request wants left out of its conversation; none if it says nothing of that.
    pub(crate) edits: fn(&DecodedRequest<'_>) -> sabir_wire::Result<Option<ContextEdits>>,
}

/// What a request wants left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContextEdits {
    pub(crate) clearings: Vec<Clearing>,
    /// The member of the request that asks for it, if it asks for nothing else.
    pub(crate) member: Option<&'static str>,
}

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompactionAsked {
    pub(crate) when: When,
    /// What the client wants of the summary, in place of the gateway's own prompt.
    pub(crate) instructions: Option<String>,
}

/// Why nobody can do what a body asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misasked {
    /// It cannot be read.
    Unread(sabir_wire::Error),
    /// The protocol does not allow it.
    Refused(CompactionTrouble),
}

impl From<sabir_wire::Error> for Misasked {
    fn from(error: sabir_wire::Error) -> Self {
        Self::Unread(error)
    }
}

/// When a conversation is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Now, and nothing else is wanted.
    Now,
    /// Before it is continued, if it has more tokens than this.
    Above { tokens: u64, then: Then },
}

/// What follows a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// The answer of the model.
    Continue,
    /// The client's next request.
    Pause,
}

/// A summary as a client gets it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Summarised<'a> {
    pub(crate) id: &'a str,
    pub(crate) summary: &'a str,
    /// The same, readable by this gateway alone.
    pub(crate) sealed: &'a str,
}

/// What an answer has beside the summary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompactionAnswer<'a> {
    pub(crate) item: &'a Json<'a>,
    /// What the user said, as a list of the protocol's own; none where only the summary is wanted.
    pub(crate) user_items: Option<&'a Json<'a>>,
    pub(crate) id: &'a str,
    pub(crate) model: &'a str,
    pub(crate) created_s: u64,
    /// What the summary cost.
    pub(crate) usage: Counts,
}

/// Why a conversation is not compacted, or its compaction cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CompactionTrouble {
    Nothing,
    /// It was not sealed here.
    Unsealed,
    /// It was sealed here, and its text was changed since.
    Changed,
    /// Another provider made it, and nobody else can read it.
    Foreign(String),
    /// What stands beside the wish for it cannot.
    Beside {
        place: String,
    },
    /// Nobody knows what kind of compaction is asked for.
    Unknown {
        place: String,
        expected: &'static str,
    },
    /// What asks for it does not stand last.
    Misplaced {
        place: String,
    },
    /// The threshold is lower than any that there may be.
    Low {
        place: String,
        least: u64,
        found: u64,
    },
}

impl Compaction {
    /// A protocol whose clients compact by themselves.
    pub(super) const fn none() -> Self {
        Self {
            read: |_| Ok(None),
            strip: |body| Ok(body.to_owned()),
            write_item: |_| String::new(),
            void_item: None,
            write_answer: |_| String::new(),
            still_counts: |_| true,
            explain,
            edited_by: None,
            edits: |_| Ok(None),
        }
    }
}

/// The message for any client.
pub(super) fn explain(trouble: &CompactionTrouble) -> Fault<'static> {
    let message = match trouble {
        CompactionTrouble::Nothing => "There is nothing to summarize.".to_owned(),
        CompactionTrouble::Unsealed => {
            "This compaction was not made by this gateway, or with another key. Send the conversation that it stands for."
                .to_owned()
        }
        CompactionTrouble::Changed => {
            "The content of this compaction is not what it was when it was made.".to_owned()
        }
        CompactionTrouble::Foreign(provider) => format!(
            "This compaction was made by another provider than {provider}, which cannot read it. Continue with the provider \
             that made it, or send the conversation that it stands for."
        ),
        CompactionTrouble::Beside { place } => {
            format!("`{place}` cannot be combined with `compaction`.")
        }
        CompactionTrouble::Unknown { place, expected } => {
            format!("Invalid '{place}': expected '{expected}'.")
        }
        CompactionTrouble::Misplaced { place } => {
            format!("Invalid '{place}': a 'compaction_trigger' must be the last item of the input.")
        }
        CompactionTrouble::Low { place, least, found } => format!(
            "Invalid '{place}': integer below minimum value. Expected a value >= {least}, but got {found} instead."
        ),
    };
    let mut fault = Fault::new(FaultKind::BadRequest, Text::plain(message));
    fault.code = Some(Text::literal(trouble.code()));
    fault.param = trouble.place().map(|place| Text::plain(place.to_owned()));
    fault
}

impl CompactionTrouble {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Nothing => "compaction_nothing_to_summarize",
            Self::Unsealed => "compaction_signature_invalid",
            Self::Changed => "compaction_content_mismatch",
            Self::Foreign(_) => "compaction_unreadable",
            Self::Beside { .. } | Self::Unknown { .. } | Self::Misplaced { .. } => "invalid_value",
            Self::Low { .. } => "integer_below_min_value",
        }
    }

    /// The parameter that is to blame.
    fn place(&self) -> Option<&str> {
        match self {
            Self::Beside { place }
            | Self::Unknown { place, .. }
            | Self::Misplaced { place }
            | Self::Low { place, .. } => Some(place),
            Self::Nothing | Self::Unsealed | Self::Changed | Self::Foreign(_) => None,
        }
    }
}
