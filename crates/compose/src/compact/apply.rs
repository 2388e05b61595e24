//! The conversation behind a compaction.

use sabir_wire::conversation::{Message, Part, Role};

use super::Plan;
use crate::draining::Draining;
use crate::policy::SummaryRole;

/// Puts a summary in the place of the messages that it covers. Instructions stay before it, the newest message of the user
/// and all that was kept behind it. What stays keeps its meaning, signatures included.
pub fn compacted<'a>(
    messages: Vec<Message<'a>>,
    plan: &Plan,
    summary: String,
    role: SummaryRole,
) -> Vec<Message<'a>> {
    let (covered, carried) = (plan.covered(), plan.carried());
    let mut kept = Vec::with_capacity(messages.len() - covered.len() + 2);
    let mut summary = Some(summary);
    for (at, message) in Draining::of(messages).enumerate() {
        if at == covered.start {
            kept.extend(summary.take().map(|text| as_message(text, role)));
        }
        if !covered.contains(&at) || carried == Some(at) {
            kept.push(message);
        }
    }
    kept
}

fn as_message<'a>(text: String, role: SummaryRole) -> Message<'a> {
    let role = match role {
        SummaryRole::System => Role::System,
        SummaryRole::User => Role::User,
    };
    Message::new(role, vec![Part::text(text)])
}
