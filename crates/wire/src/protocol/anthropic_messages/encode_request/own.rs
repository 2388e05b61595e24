//! A request that came in this protocol: all of it is written as it is, but for what another vendor sealed or cited.

use super::Prepared;
use super::settings::Plan;
use super::thinking::{Form, Thought, without_thinking};
use crate::conversation::{Content, Message, Part, Request, Role, ThinkingMode};
use crate::json::Number;
use crate::loss::{LossKind, Report};
use crate::protocol::anthropic_messages::types::SELF;
use crate::protocol::calls::Calls;
use crate::protocol::fresh_ids::FreshIds;
use crate::protocol::turns::{Piece, Side, Spelling, Turns};
use crate::target::{Target, Vendor};

pub(super) fn prepare<'r>(
    request: &'r Request<'r>,
    target: &Target,
    report: &mut Report,
) -> Prepared<'r> {
    // What rides in its fields for another vendor is kept from this one. Anyone else may just pass it on.
    let is_guarded = target.family.vendor == Vendor::Anthropic;
    let mut keeping = Keeping { is_guarded, report, has_cut_thinking: false };
    let turns = keeping.turns(request);
    let thought = Thought { form: keeping.form(request, target), ..Thought::OMITTED };
    let max_tokens = request.max_output_tokens.as_ref().map(Number::reborrow);
    let plan = Plan { max_tokens, thought };
    Prepared { calls: Calls::default(), turns, fresh_ids: FreshIds::new(), plan }
}

struct Keeping<'k> {
    is_guarded: bool,
    report: &'k mut Report,
    /// Whether the last turn that calls tools is without its thinking now.
    has_cut_thinking: bool,
}

impl Keeping<'_> {
    fn turns<'r>(&mut self, request: &'r Request<'r>) -> Turns<'r> {
        let mut turns = Turns::default();
        for (index, message) in request.messages.iter().enumerate() {
            let from = turns.admit(index, message, |part| self.spelling(part));
            let pieces = &turns.pieces[from..];
            if message.role == Role::Assistant {
                let has_cut = pieces.len() < message.parts.len() || is_recalled(message);
                self.has_cut_thinking = has_cut && pieces.iter().any(Piece::is_call);
            }
            if turns.turns.is_empty() && is_slot(message) {
                turns.lift(from);
            } else if !pieces.is_empty() || message.parts.is_empty() {
                // A message of nothing but foreign thinking would be empty, which is refused.
                turns.push(Side::of(message.role), from, Some(message.semantics()));
            }
        }
        turns
    }

    /// How a part is written; none for one that the vendor would refuse.
    fn spelling(&mut self, part: &Part<'_>) -> Option<Spelling> {
        if self.is_guarded && is_foreign(part) {
            self.lose(part, LossKind::Withheld, "thinking that another vendor signed");
            return None;
        }
        if self.is_guarded && has_made_citation(part) {
            self.lose(part, LossKind::Dropped, "citations in another vendor's format");
            return Some(Spelling::Uncited);
        }
        Some(Spelling::Plain)
    }

    fn lose(&mut self, part: &Part<'_>, kind: LossKind, reason: &'static str) {
        self.report.lose(part.semantics().place().pointer(""), kind, reason);
    }

    /// How thinking is asked for, which goes on in a tool turn only from what came back.
    fn form(&mut self, request: &Request<'_>, target: &Target) -> Form {
        let thinking = &request.thinking;
        if thinking.mode.is_none() && thinking.budget.is_none() {
            return Form::Omitted;
        }
        let is_off = thinking.mode == Some(ThinkingMode::Disabled);
        let off = without_thinking(target.family.thinking);
        let Some(off) = off.filter(|_| self.has_cut_thinking && !is_off) else {
            return Form::AsAsked;
        };
        let reason = "thinking is off: another vendor signed the thinking of this tool turn";
        self.report.lose("/thinking", LossKind::Approximated, reason);
        off
    }
}

/// Whether a message stands in the system slot: it did, or it was put in front by someone who knows no protocol.
fn is_slot(message: &Message<'_>) -> bool {
    let place = message.semantics().place();
    message.role.instructs() && (place.is_root() || place.pointer("") == "/system")
}

/// Whether an earlier turn comes without thinking, as one that another vendor's model has taken.
fn is_recalled(message: &Message<'_>) -> bool {
    let thinks = |part: &Part<'_>| matches!(part.content(), Content::Reasoning(_));
    message.semantics().place().protocol().is_some() && !message.parts.iter().any(thinks)
}

fn is_foreign(part: &Part<'_>) -> bool {
    part.semantics().artefact().is_some_and(|artefact| artefact.issuer() != SELF)
}

/// Whether a text cites what our own translation of another vendor's answer has put there.
fn has_made_citation(part: &Part<'_>) -> bool {
    part.semantics().citations().iter().any(|citation| {
        let index = citation.json().reader().peek_tag("encrypted_index");
        matches!(index, Ok(Some(index)) if index.is_empty())
    })
}
