//! What a client wants left out of its conversation, where the provider does not do it itself.

use sabir_compose::clear::{Clearing, clear};
use sabir_wire::Report;
use sabir_wire::protocol::{AppliedEdit, DecodedRequest, EditKind};

use crate::attempt::token_estimate;
use crate::failure::Result;
use crate::surface;
use crate::surface::ContextEdits;

/// What was left out of a conversation.
pub(super) struct Edited {
    pub(super) applied: Vec<AppliedEdit>,
    /// The member of the request that asked for it, if all was done that it asked for.
    pub(super) member: Option<&'static str>,
}

/// Leaves out what the client wants left out; none if it asks for nothing of that.
pub(super) fn apply(decoded: &mut DecodedRequest<'_>) -> Result<Option<Edited>> {
    let read = surface::of(decoded.protocol()).compaction.edits;
    let Some(ContextEdits { clearings, member }) = read(decoded)? else { return Ok(None) };
    let mut applied = Vec::new();
    for clearing in &clearings {
        let kind = match clearing {
            Clearing::ToolUses(_) => EditKind::ToolUses,
            Clearing::Thinking { .. } => EditKind::Thinking,
        };
        let cleared = clear(decoded.edit(), clearing, token_estimate::of_request);
        applied.extend(cleared.map(|cleared| AppliedEdit {
            kind,
            cleared: cleared.count as u64,
            cleared_input_tokens: cleared.tokens,
        }));
    }
    Ok(Some(Edited { applied, member }))
}

impl Edited {
    /// A report without the wish, which was granted.
    pub(super) fn granted(&self, report: Report) -> Report {
        let Some(member) = self.member else { return report };
        let mut left = Report::default();
        for loss in report.into_entries() {
            if loss.pointer.strip_prefix('/') != Some(member) {
                left.lose(loss.pointer, loss.kind, loss.reason);
            }
        }
        left
    }
}
