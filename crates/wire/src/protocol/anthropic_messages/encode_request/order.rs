//! The order inside turns: results come first, in the order of their calls.
//! Fixture `request/results/text-before-results-moves-behind`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::conversation::{Content, Message};
use crate::protocol::calls::Calls;
use crate::protocol::fresh_ids::FreshIds;
use crate::protocol::reporter::Reporter;
use crate::protocol::turns::{BEHIND_RESULTS, LAST_RESULT, Piece, Side, Turns, order};

impl<'r> Turns<'r> {
    /// Puts results first and in the order of their calls.
    pub(super) fn arrange(
        &mut self,
        messages: &[Message<'_>],
        (calls, fresh_ids): (&Calls<'_>, &FreshIds),
        reporter: &mut Reporter<'_>,
    ) {
        // The id under which a call or a result is written; empty for what is neither.
        let id = |piece: &Piece<'r>| match (fresh_ids.get(&piece.at), piece.part.content()) {
            (Some(fresh), _) => Cow::Borrowed(fresh.as_str()),
            (None, Content::ToolCall(call)) => calls.call_id(piece.at, call).into_str(),
            (None, Content::ToolResult(result)) => calls.result_id(piece.at, result).into_str(),
            (None, _) => Cow::default(),
        };
        // The ids of the calls of the assistant's last turn.
        let mut called: Vec<Cow<'_, str>> = Vec::new();
        for turn in &self.turns {
            let pieces = &mut self.pieces[turn.pieces.clone()];
            match turn.side {
                Side::Assistant => {
                    called.clear();
                    called.extend(pieces.iter().filter(|it| it.is_call()).map(id));
                }
                Side::User if !are_in_order(pieces, &called, id) => {
                    let ranks = called.iter().enumerate().map(|(rank, id)| (&**id, rank));
                    let mut waiting: BTreeMap<&str, usize> = ranks.rev().collect();
                    let before = order(pieces, &turn.sent, |piece| match piece.is_result() {
                        true => waiting.remove(&*id(piece)).unwrap_or(LAST_RESULT),
                        false => BEHIND_RESULTS,
                    });
                    let moved: BTreeSet<_> = before.iter().flatten().map(|it| it.at.0).collect();
                    for message in moved.into_iter().filter_map(|index| messages.get(index)) {
                        reporter
                            .renamed(message, "results come first, in the order of their calls");
                    }
                }
                Side::User | Side::System => {}
            }
        }
    }
}

/// Whether the results of a turn stand first, each behind that of an earlier call, so that nothing is to be done.
fn are_in_order<'r, 'i>(
    pieces: &[Piece<'r>],
    called: &[Cow<'_, str>],
    id: impl Fn(&Piece<'r>) -> Cow<'i, str>,
) -> bool {
    let mut called = called.iter();
    let answers = |piece: &&Piece<'r>| piece.is_result() && called.any(|it| *it == id(piece));
    let first = pieces.iter().take_while(answers).count();
    !pieces[first..].iter().any(Piece::is_result)
}
