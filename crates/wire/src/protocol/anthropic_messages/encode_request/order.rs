//! The order inside turns: results come first, in the order of their calls, and no two calls share an id.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::HashMap;

use super::turns::Piece;
use super::turns::Side;
use super::turns::Turn;
use super::turns::Turns;
use crate::conversation::Content;
use crate::conversation::Message;
use crate::loss::LossKind;
use crate::protocol::calls::Calls;
use crate::protocol::calls::Position;
use crate::protocol::losing::Losing;

/// The ids of calls that share theirs with another, and of their results.
pub(super) type ToldApart = HashMap<Position, String>;

/// A call that waits for its result: its id, and another one where it shares its own with an earlier call.
type OpenCall<'c> = (Cow<'c, str>, Option<String>);

impl<'r> Turns<'r> {
    /// Puts results first and in the order of their calls, and tells calls apart that share an id.
    pub(super) fn arrange<'c>(
        &mut self,
        messages: &[Message<'_>],
        calls: &'c Calls<'c>,
        losing: &mut Losing<'_>,
    ) -> ToldApart {
        let mut told_apart = ToldApart::new();
        let mut seen = BTreeSet::new();
        let mut open = Vec::new();
        for turn in &mut self.turns {
            match turn.side {
                Side::Assistant => open = open_calls(turn, calls, &mut seen, &mut told_apart),
                Side::User => {
                    let moved = arrange_results(turn, calls, &open, &mut told_apart);
                    lose_order(moved, messages, losing);
                }
                Side::System => {}
            }
        }
        told_apart
    }
}

/// The calls of a turn.
fn open_calls<'c, 'r: 'c>(
    turn: &Turn<'r>,
    calls: &'c Calls<'c>,
    seen: &mut BTreeSet<Cow<'c, str>>,
    told_apart: &mut ToldApart,
) -> Vec<OpenCall<'c>> {
    let mut open = Vec::new();
    for piece in &turn.pieces {
        if let Content::ToolCall(call) = piece.part.content() {
            let id = calls.call_id(piece.at, call).into_str();
            let other = seen.contains(&id).then(|| format!("{id}_{}", seen.len()));
            if let Some(other) = &other {
                told_apart.insert(piece.at, other.clone());
            }
            seen.insert(other.clone().map_or_else(|| id.clone(), Cow::Owned));
            open.push((id, other));
        }
    }
    open
}

/// Puts the results of a turn first; answers the messages of a turn that changed by it.
fn arrange_results(
    turn: &mut Turn<'_>,
    calls: &Calls<'_>,
    open: &[OpenCall<'_>],
    told_apart: &mut ToldApart,
) -> BTreeSet<usize> {
    if !turn.pieces.iter().any(|piece| matches!(piece.part.content(), Content::ToolResult(_))) {
        return BTreeSet::new();
    }
    // The first call of each id that waits, and for each call the next one that shares its id.
    let mut waiting = BTreeMap::new();
    let mut following = vec![None; open.len()];
    for (rank, (id, _)) in open.iter().enumerate().rev() {
        following[rank] = waiting.insert(&**id, rank);
    }
    let mut ranked: Vec<(usize, Piece<'_>)> = Vec::with_capacity(turn.pieces.len());
    for piece in &turn.pieces {
        let Content::ToolResult(result) = piece.part.content() else {
            ranked.push((usize::MAX, *piece));
            continue;
        };
        let id = calls.result_id(piece.at, result).into_str();
        let rank = waiting.remove(&*id);
        if let Some(next) = rank.and_then(|rank: usize| following[rank]) {
            waiting.insert(&*open[next].0, next);
        }
        if let Some(other) = rank.and_then(|rank| open[rank].1.as_ref()) {
            told_apart.insert(piece.at, other.clone());
        }
        ranked.push((rank.unwrap_or(usize::MAX - 1), *piece));
    }
    if ranked.is_sorted_by_key(|(rank, _)| *rank) {
        return BTreeSet::new();
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    turn.pieces = ranked.into_iter().map(|(_, piece)| piece).collect();
    turn.pieces.iter().map(|piece| piece.at.0).collect()
}

fn lose_order(moved: BTreeSet<usize>, messages: &[Message<'_>], losing: &mut Losing<'_>) {
    let reason = "results come first, in the order of their calls";
    for message in moved.into_iter().filter_map(|index| messages.get(index)) {
        losing.node(message.semantics().place(), LossKind::Renamed, reason);
    }
}
