//! What only this protocol says: nothing. The words that both directions share.

use crate::conversation::{FinishKind, Role};
use crate::protocol::{Protocol, semantics};
use crate::protocol::semantics::Declared;

/// The protocol of this folder.
pub(super) const SELF: Protocol = Protocol::Miniature;

/// Spellings of this protocol, which no other protocol reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Speaker;

impl semantics::Speller for Speaker {
    const PROTOCOL: Protocol = SELF;
}

/// Fields that only this protocol has, and what becomes of them elsewhere.
pub(in super::super) const DECLARED: &[Declared] = &[];

/// Who speaks in a turn. Results of tools are no turns.
pub(super) fn who(role: Role) -> Option<&'static str> {
    match role {
        Role::System | Role::Developer => Some("system"),
        Role::User => Some("user"),
        Role::Assistant => Some("model"),
        Role::Tool => None,
    }
}

pub(super) fn role(who: &str) -> Option<Role> {
    [Role::System, Role::User, Role::Assistant].into_iter().find(|it| self::who(*it) == Some(who))
}

/// The word for the end of an answer, and whether it says as much as the kind does.
pub(super) fn end(kind: FinishKind) -> (&'static str, bool) {
    match kind {
        FinishKind::Stop => ("done", true),
        FinishKind::Length => ("cut", true),
        FinishKind::ContextFull | FinishKind::ContentFilter | FinishKind::Pause => ("cut", false),
        FinishKind::StopSequence
        | FinishKind::ToolCalls
        | FinishKind::PromptFilter
        | FinishKind::Refusal
        | FinishKind::MalformedCall
        | FinishKind::Failed
        | FinishKind::Other => ("done", false),
    }
}
