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
        let ids = Ids { calls, fresh_ids };
        // The ids of the calls of the assistant's last turn.
        let mut called: Vec<Cow<'_, str>> = Vec::new();
        for turn in &self.turns {
            let pieces = &mut self.pieces[turn.pieces.clone()];
            match turn.side {
                Side::Assistant => {
                    called.clear();
                    called.extend(pieces.iter().filter(|it| it.is_call()).map(|it| ids.of(it)));
                }
                Side::User => {
                    let moved = ids.order(pieces, &turn.sent, &called);
                    report_order(moved, messages, reporter);
                }
                Side::System => {}
            }
        }
    }
}

/// The ids under which calls and results are written.
#[derive(Clone, Copy)]
struct Ids<'c> {
    calls: &'c Calls<'c>,
    fresh_ids: &'c FreshIds,
}

impl<'c> Ids<'c> {
    /// The id of a call or a result; empty for what is neither.
    fn of<'p: 'c>(self, piece: &Piece<'p>) -> Cow<'c, str> {
        let fresh = self.fresh_ids.get(&piece.at);
        match (fresh, piece.part.content()) {
            (Some(fresh), _) => fresh.as_str().into(),
            (None, Content::ToolCall(call)) => self.calls.call_id(piece.at, call).into_str(),
            (None, Content::ToolResult(result)) => {
                self.calls.result_id(piece.at, result).into_str()
            }
            (None, _) => Cow::default(),
        }
    }

    /// Whether the results of a turn stand first, each behind that of an earlier call, so that nothing is to be done.
    fn are_in_order<'p: 'c>(self, pieces: &[Piece<'p>], called: &[Cow<'_, str>]) -> bool {
        let mut called = called.iter();
        let mut answers =
            |piece: &&Piece<'p>| piece.is_result() && called.any(|id| *id == self.of(piece));
        let first = pieces.iter().take_while(|piece| answers(piece)).count();
        !pieces[first..].iter().any(Piece::is_result)
    }

    /// Puts the results of a turn first, those that were sent before the others; answers the messages of a turn that
    /// changed by it.
    fn order<'p: 'c>(
        self,
        pieces: &mut [Piece<'p>],
        sent: &[usize],
        called: &[Cow<'_, str>],
    ) -> BTreeSet<usize> {
        if self.are_in_order(pieces, called) {
            return BTreeSet::new();
        }
        let ranks = called.iter().enumerate().map(|(rank, id)| (&**id, rank));
        let mut waiting: BTreeMap<&str, usize> = ranks.rev().collect();
        let moved = order(pieces, sent, |piece| match piece.is_result() {
            true => waiting.remove(&*self.of(piece)).unwrap_or(LAST_RESULT),
            false => BEHIND_RESULTS,
        });
        moved.iter().flatten().map(|piece| piece.at.0).collect()
    }
}

fn report_order(moved: BTreeSet<usize>, messages: &[Message<'_>], reporter: &mut Reporter<'_>) {
    let reason = "results come first, in the order of their calls";
    for message in moved.into_iter().filter_map(|index| messages.get(index)) {
        reporter.renamed(message, reason);
    }
}
