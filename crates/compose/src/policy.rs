//! What is done about a history that no provider would take.

use sabir_wire::Protocol;

/// The choices that building leaves to its caller. The default builds a list of messages for any provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    pub blank: Blank,
    pub misplaced: Misplaced,
    pub unanswered: Unanswered,
    pub opening: Opening,
    pub summary_role: SummaryRole,
    /// Whom the messages are for, if that is known: results that are made up have what that protocol has fields for.
    pub target: Option<Protocol>,
}

/// Which messages are left out that say nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blank {
    Assistant,
    /// The user's as well.
    Speakers,
}

/// What becomes of a result that does not stand right behind its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misplaced {
    Move,
    Drop,
    Keep,
}

/// What becomes of a call that has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// It gets a result that says so.
    Answer,
    Drop,
    Keep,
}

/// What becomes of a conversation in which the assistant speaks first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    Keep,
    /// A turn of the user with this text is put in front.
    Placeholder(&'static str),
}

/// The role of the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryRole {
    System,
    User,
}

/// The text of the user's turn in front of an assistant who speaks first.
const PLACEHOLDER: &str = "(The conversation begins with the assistant.)";

impl Default for Policy {
    fn default() -> Self {
        Self {
            blank: Blank::Assistant,
            misplaced: Misplaced::Move,
            unanswered: Unanswered::Answer,
            opening: Opening::Keep,
            summary_role: SummaryRole::System,
            target: None,
        }
    }
}

impl Policy {
    /// For messages that are sent to a provider of `protocol` as they are built, with everything mended.
    pub fn towards(protocol: Protocol) -> Self {
        Self {
            blank: Blank::Speakers,
            opening: Opening::Placeholder(PLACEHOLDER),
            target: Some(protocol),
            ..Self::default()
        }
    }
}
