//! The order inside turns: results come first, in the order of their calls, and no two calls share an id.
//! Fixture `request/results/text-before-results-moves-behind`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::turns::{Piece, Side, Turns};
use crate::conversation::{Content, Message, Request};
use crate::protocol::calls::{Calls, Position};
use crate::protocol::reporter::Reporter;

/// The ids of calls that share theirs with another, and of their results.
pub(super) type FreshIds = HashMap<Position, String>;

/// A call that waits for its result.
struct OpenCall<'c> {
    id: Cow<'c, str>,
    /// The id that it has instead where an earlier call has the same.
    other: Option<String>,
    is_answered: bool,
}

impl<'r> Turns<'r> {
    /// Puts results first and in the order of their calls, and tells calls apart that share an id.
    pub(super) fn arrange(
        &mut self,
        request: &Request<'_>,
        calls: &Calls<'_>,
        reporter: &mut Reporter<'_>,
    ) -> FreshIds {
        let is_shared = calls.may_share_ids(request);
        let mut arranging = Arranging {
            calls,
            seen: is_shared.then(BTreeSet::new),
            open: Vec::new(),
            left: BTreeMap::new(),
            fresh_ids: FreshIds::new(),
        };
        for turn in &self.turns {
            let pieces = &mut self.pieces[turn.pieces.clone()];
            match turn.side {
                Side::Assistant => arranging.open(pieces),
                Side::User => {
                    let moved = arranging.results(pieces, &turn.sent);
                    report_order(moved, &request.messages, reporter);
                }
                Side::System => {}
            }
        }
        arranging.fresh_ids
    }
}

/// Turns on their way into order.
struct Arranging<'c> {
    calls: &'c Calls<'c>,
    /// The ids of all calls so far, where two of them may share one.
    seen: Option<BTreeSet<String>>,
    /// The calls of the assistant's last turn.
    open: Vec<OpenCall<'c>>,
    /// By their ids, the other ids of calls of earlier turns that were not answered, where two calls may share one.
    /// Fixture `request/ids/late-results-of-calls-that-share-an-id`.
    left: BTreeMap<Cow<'c, str>, VecDeque<Option<String>>>,
    fresh_ids: FreshIds,
}

impl<'c> Arranging<'c> {
    /// Takes the calls of the assistant's turn.
    fn open<'r: 'c>(&mut self, pieces: &[Piece<'r>]) {
        for call in self.open.drain(..).filter(|call| self.seen.is_some() && !call.is_answered) {
            self.left.entry(call.id).or_default().push_back(call.other);
        }
        for piece in pieces {
            if let Content::ToolCall(call) = piece.part.content() {
                let id = self.calls.call_id(piece.at, call).into_str();
                let other = self.other(&id);
                if let Some(other) = &other {
                    self.fresh_ids.insert(piece.at, other.clone());
                }
                self.open.push(OpenCall { id, other, is_answered: false });
            }
        }
    }

    /// Another id for a call whose own an earlier one has. Fixture `request/ids/duplicate-call-ids`.
    fn other(&mut self, id: &str) -> Option<String> {
        let seen = self.seen.as_mut()?;
        let other = seen.contains(id).then(|| format!("{id}_{}", seen.len()));
        seen.insert(other.clone().unwrap_or_else(|| id.to_owned()));
        other
    }

    /// Whether the results of a turn stand first, each behind that of an earlier call, so that nothing is to be done.
    fn are_in_order(&self, pieces: &[Piece<'_>]) -> bool {
        if self.seen.is_some() {
            return false;
        }
        let mut open = self.open.iter();
        let mut answers = |piece: &&Piece<'_>| match piece.part.content() {
            Content::ToolResult(result) => {
                let id = self.calls.result_id(piece.at, result).into_str();
                open.any(|call| call.id == id)
            }
            _ => false,
        };
        let first = pieces.iter().take_while(|piece| answers(piece)).count();
        !pieces[first..].iter().any(is_result)
    }

    /// Puts the results of a turn first, those that were sent before the others; answers the messages of a turn that
    /// changed by it.
    fn results(&mut self, pieces: &mut [Piece<'_>], sent: &[usize]) -> BTreeSet<usize> {
        if self.are_in_order(pieces) {
            return BTreeSet::new();
        }
        // The first call of each id that waits, and for each call the next one that shares its id.
        let mut waiting = BTreeMap::new();
        let mut following = vec![None; self.open.len()];
        for (rank, call) in self.open.iter().enumerate().rev().filter(|(_, it)| !it.is_answered) {
            following[rank] = waiting.insert(call.id.clone(), rank);
        }
        let mut ranked: Vec<(usize, Piece<'_>)> = Vec::with_capacity(pieces.len());
        for piece in &*pieces {
            let Content::ToolResult(result) = piece.part.content() else {
                ranked.push((usize::MAX, *piece));
                continue;
            };
            let id = self.calls.result_id(piece.at, result).into_str();
            let rank = waiting.remove(&id);
            if let Some(next) = rank.and_then(|rank: usize| following[rank]) {
                waiting.insert(self.open[next].id.clone(), next);
            }
            if let Some(other) = self.answer(rank, &id) {
                self.fresh_ids.insert(piece.at, other);
            }
            ranked.push((rank.unwrap_or(usize::MAX - 1), *piece));
        }
        let round = |index: usize| sent.partition_point(|end| *end <= index);
        let key = |(index, (rank, _)): (usize, &(usize, Piece<'_>))| (round(index), *rank);
        if ranked.iter().enumerate().map(key).is_sorted() {
            return BTreeSet::new();
        }
        let mut begin = 0;
        for end in sent.iter().copied().chain([ranked.len()]) {
            ranked[begin..end].sort_by_key(|(rank, _)| *rank);
            begin = end;
        }
        let moved = ranked.iter().map(|(_, piece)| piece.at.0).collect();
        pieces.iter_mut().zip(ranked).for_each(|(place, (_, piece))| *place = piece);
        moved
    }

    /// The other id of the call that a result with an id answers, if it has one: of the last turn's call of that rank, or
    /// of one that an earlier turn left open.
    fn answer(&mut self, rank: Option<usize>, id: &str) -> Option<String> {
        match rank {
            Some(rank) => {
                self.open[rank].is_answered = true;
                self.open[rank].other.clone()
            }
            None => self.left.get_mut(id)?.pop_front()?,
        }
    }
}

pub(super) fn is_result(piece: &Piece<'_>) -> bool {
    matches!(piece.part.content(), Content::ToolResult(_))
}

fn report_order(moved: BTreeSet<usize>, messages: &[Message<'_>], reporter: &mut Reporter<'_>) {
    let reason = "results come first, in the order of their calls";
    for message in moved.into_iter().filter_map(|index| messages.get(index)) {
        reporter.renamed(message, reason);
    }
}
