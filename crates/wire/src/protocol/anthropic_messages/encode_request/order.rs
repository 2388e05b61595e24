//! The order inside turns: results come first, in the order of their calls, and no two calls share an id.

use std::collections::BTreeSet;
use std::collections::HashMap;
use std::collections::HashSet;

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

impl Turns<'_> {
    /// Puts results first and in the order of their calls, and tells calls apart that share an id.
    pub(super) fn arrange(
        &mut self,
        messages: &[Message<'_>],
        calls: &Calls<'_>,
        losing: &mut Losing<'_>,
    ) -> ToldApart {
        let mut told_apart = ToldApart::new();
        let mut seen = HashSet::new();
        let mut open: Vec<(String, Option<String>)> = Vec::new();
        for turn in &mut self.turns {
            match turn.side {
                Side::Assistant => open = open_calls(turn, calls, &mut seen, &mut told_apart),
                Side::User => {
                    let moved = arrange_results(turn, calls, &mut open, &mut told_apart);
                    lose_order(moved, messages, losing);
                }
                Side::System => {}
            }
        }
        told_apart
    }
}

/// The calls of a turn by id, each with another id where it shares its own with an earlier one.
fn open_calls(
    turn: &Turn<'_>,
    calls: &Calls<'_>,
    seen: &mut HashSet<String>,
    told_apart: &mut ToldApart,
) -> Vec<(String, Option<String>)> {
    let mut open = Vec::new();
    for piece in &turn.pieces {
        if let Content::ToolCall(call) = piece.part.content() {
            let id = calls.call_id(piece.at, call).to_str().into_owned();
            let other = seen.contains(&id).then(|| format!("{id}_{}", seen.len()));
            if let Some(other) = &other {
                told_apart.insert(piece.at, other.clone());
            }
            seen.insert(other.clone().unwrap_or_else(|| id.clone()));
            open.push((id, other));
        }
    }
    open
}

/// Puts the results of a turn first; answers the messages of a turn that changed by it.
fn arrange_results(
    turn: &mut Turn<'_>,
    calls: &Calls<'_>,
    open: &mut [(String, Option<String>)],
    told_apart: &mut ToldApart,
) -> BTreeSet<usize> {
    let mut answered = vec![false; open.len()];
    let mut ranked: Vec<(usize, Piece<'_>)> = Vec::with_capacity(turn.pieces.len());
    for piece in &turn.pieces {
        let Content::ToolResult(result) = piece.part.content() else {
            ranked.push((usize::MAX, *piece));
            continue;
        };
        let id = calls.result_id(piece.at, result).to_str().into_owned();
        let is_it = |index: &usize| open[*index].0 == id && !answered[*index];
        let rank = (0..open.len()).find(is_it);
        if let Some(rank) = rank {
            answered[rank] = true;
            if let Some(other) = &open[rank].1 {
                told_apart.insert(piece.at, other.clone());
            }
        }
        ranked.push((rank.unwrap_or(usize::MAX - 1), *piece));
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    let is_moved = ranked.iter().zip(&turn.pieces).any(|((_, it), before)| it.at != before.at);
    turn.pieces = ranked.into_iter().map(|(_, piece)| piece).collect();
    let messages = turn.pieces.iter().map(|piece| piece.at.0);
    if is_moved { messages.collect() } else { BTreeSet::new() }
}

fn lose_order(moved: BTreeSet<usize>, messages: &[Message<'_>], losing: &mut Losing<'_>) {
    let reason = "results come first, in the order of their calls";
    for message in moved.into_iter().filter_map(|index| messages.get(index)) {
        losing.node(message.semantics().place(), LossKind::Renamed, reason);
    }
}
