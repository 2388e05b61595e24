//! The order that a strategy asks for among targets: as they are, by weight or by pace.

use std::borrow::Borrow;

use crate::config::types::Strategy;
use crate::route::Candidate;

/// Brings targets into the order of a strategy; `turn` says how many requests there were before this one.
pub(crate) fn arrange<C: Borrow<Candidate>>(
    targets: &mut [C],
    strategy: Strategy,
    turn: impl FnOnce() -> u64,
) {
    match strategy {
        _ if targets.len() < 2 => {}
        Strategy::Weighted => {
            let first = weighted(targets, turn());
            targets[..=first].rotate_right(1);
        }
        Strategy::Fastest => by_pace(targets, turn()),
        Strategy::Fallback | Strategy::Class => {}
    }
}

/// One of so many requests goes to a target out of its turn: a slow one may have become fast.
const EXPLORED_OF: u64 = 16;

/// The fastest first, and before them those that nobody has asked yet. Now and then another, each in its turn.
fn by_pace<C: Borrow<Candidate>>(order: &mut [C], turn: u64) {
    let first_event_us = |it: &C| it.borrow().pace.first_event_us();
    let explored = (turn / EXPLORED_OF) as usize % order.len().max(1);
    if turn % EXPLORED_OF == EXPLORED_OF - 1 {
        order[..=explored].rotate_right(1);
        order[1..].sort_by_key(first_event_us);
        return;
    }
    order.sort_by_key(first_event_us);
}

/// The target whose turn it is: over as many turns as the weights add up to each gets its share, and nearly so at every
/// moment in between.
fn weighted<C: Borrow<Candidate>>(targets: &[C], turn: u64) -> usize {
    let weight = |it: &C| u64::from(it.borrow().weight);
    let total: u64 = targets.iter().map(weight).sum();
    if total == 0 {
        return 0;
    }
    let way = u128::from(turn) * u128::from(step(total));
    let mut at = u64::try_from(way % u128::from(total)).unwrap_or_default();
    targets
        .iter()
        .position(|target| {
            let weight = weight(target);
            let is_here = at < weight;
            at = at.saturating_sub(weight);
            is_here
        })
        .unwrap_or_default()
}

/// How far to go from one turn to the next. A step that shares no factor with the total visits every remainder once;
/// one near the golden section spreads even a few of them over the whole.
fn step(total: u64) -> u64 {
    let golden = total / 1_000 * 618 + total % 1_000 * 618 / 1_000;
    (1..=golden).rev().find(|step| gcd(*step, total) == 1).unwrap_or(1)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::config::types;
    use crate::config::types::Limits;
    use crate::upstream::{Provider, Site};

    /// A target of the provider `p`.
    pub(in crate::route) fn candidate(model: &str, weight: u32) -> Candidate {
        let config = Arc::new(types::Provider::new("p", Vec::new()));
        let site =
            Site { limits: &Limits::default(), instance: "", generation: 0, data_folder: None };
        let provider = Arc::new(Provider::new(config, site));
        let (model, pace) = (model.to_owned(), Arc::default());
        Candidate { provider, model, weight, context_window: None, pace }
    }

    #[test]
    fn over_a_round_each_target_gets_its_share() {
        for weights in [vec![3, 1], vec![1, 1, 1], vec![5, 2, 3], vec![7], vec![0, 2]] {
            let targets: Vec<Candidate> = weights.iter().map(|it| candidate("m", *it)).collect();
            let total: u32 = weights.iter().sum();
            let mut served = vec![0; weights.len()];
            for turn in 0..u64::from(total) {
                served[weighted(&targets, turn)] += 1;
            }
            assert_eq!(served, weights);
        }
    }

    #[test]
    fn the_fastest_is_first_and_the_others_are_tried_now_and_then() {
        let targets: Vec<Candidate> = [1, 2, 3].map(|it| candidate("m", it)).into();
        let first = |turn| {
            let mut order = targets.clone();
            by_pace(&mut order, turn);
            order[0].weight
        };
        assert_eq!(first(0), 1, "nobody is known");
        for (target, ms) in targets.iter().zip([300, 100, 200]) {
            target.pace.measured(Duration::from_millis(ms));
        }
        let firsts: Vec<u32> = (0..48).map(first).collect();
        let count = |weight| firsts.iter().filter(|it| **it == weight).count();
        assert_eq!([count(1), count(2), count(3)], [1, 46, 1]);
        let mut order = [targets.clone(), vec![candidate("m", 4)]].concat();
        by_pace(&mut order, 0);
        assert_eq!(order[0].weight, 4);
    }

    #[test]
    fn shares_hold_at_every_moment_however_large_the_weights_are() {
        for weights in [[70, 30], [3_000_000, 1_000_000], [u32::MAX, u32::MAX]] {
            let targets = weights.map(|it| candidate("m", it));
            let total: f64 = weights.iter().copied().map(f64::from).sum();
            let share = f64::from(weights[0]) / total;
            let mut served = 0.0;
            for turn in 0..200 {
                if weighted(&targets, turn) == 0 {
                    served += 1.0;
                }
                let due = share * (turn + 1) as f64;
                assert!((served - due).abs() < 3.0, "{weights:?}: {served} of {turn}, not {due}");
            }
        }
    }
}
