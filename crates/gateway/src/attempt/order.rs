//! The order in which the targets of a model are tried: as configured, by weight or by pace, those in good health first.

use crate::attempt::fallback::AffectsHealth;
use crate::config::types::Strategy;
use crate::route::{Candidate, Resolved};

/// A target, and its place in the order that the configuration asks for.
pub(crate) struct Ranked<'r> {
    pub(crate) rank: usize,
    pub(crate) candidate: &'r Candidate,
}

/// The targets in the order to try them: as configured or by weight, those in good health first.
pub(super) fn of<'r>(resolved: &'r Resolved, affects_health: AffectsHealth) -> Vec<Ranked<'r>> {
    let mut order: Vec<&Candidate> = resolved.targets.iter().collect();
    let turn = || match (&resolved.model, affects_health) {
        (Some(model), AffectsHealth::Yes) => model.turns.take(),
        (Some(model), AffectsHealth::No) => model.turns.next(),
        (None, _) => 0,
    };
    match resolved.strategy {
        Strategy::Weighted => {
            let first = weighted(&resolved.targets, turn());
            order[..=first].rotate_right(1);
        }
        Strategy::Fastest => by_pace(&mut order, turn()),
        Strategy::Fallback | Strategy::Class => {}
    }
    let ranked = order.into_iter().enumerate();
    let mut order: Vec<Ranked<'_>> =
        ranked.map(|(rank, candidate)| Ranked { rank, candidate }).collect();
    if order.len() > 1 {
        order.sort_by_key(|it| !it.candidate.provider.is_good());
    }
    order
}

/// One of so many requests goes to a target out of its turn: a slow one may have become fast.
const EXPLORED_OF: u64 = 16;

/// The fastest first, and before them those that nobody has asked yet. Now and then another, each in its turn.
fn by_pace(order: &mut [&Candidate], turn: u64) {
    let explored = (turn / EXPLORED_OF) as usize % order.len().max(1);
    if turn % EXPLORED_OF == EXPLORED_OF - 1 {
        order[..=explored].rotate_right(1);
        order[1..].sort_by_key(|candidate| candidate.pace.first_event_us());
        return;
    }
    order.sort_by_key(|candidate| candidate.pace.first_event_us());
}

/// The target whose turn it is: over as many turns as the weights add up to each gets its share, and nearly so at every
/// moment in between.
fn weighted(targets: &[Candidate], turn: u64) -> usize {
    let total: u64 = targets.iter().map(|target| u64::from(target.weight)).sum();
    if total == 0 {
        return 0;
    }
    let way = u128::from(turn) * u128::from(step(total));
    let mut at = u64::try_from(way % u128::from(total)).unwrap_or_default();
    targets
        .iter()
        .position(|target| {
            let weight = u64::from(target.weight);
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
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::config::types;
    use crate::config::types::Limits;
    use crate::upstream::{Provider, Site};

    fn candidate(weight: u32) -> Candidate {
        let config = Arc::new(types::Provider::new("p", Vec::new()));
        let site =
            Site { limits: &Limits::default(), instance: "", generation: 0, data_folder: None };
        let provider = Arc::new(Provider::new(config, site));
        let (model, pace) = (String::new(), Arc::default());
        Candidate { provider, model, weight, context_window: None, pace }
    }

    #[test]
    fn over_a_round_each_target_gets_its_share() {
        for weights in [vec![3, 1], vec![1, 1, 1], vec![5, 2, 3], vec![7], vec![0, 2]] {
            let targets: Vec<Candidate> = weights.iter().copied().map(candidate).collect();
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
        let targets: Vec<Candidate> = [1, 2, 3].map(candidate).into();
        let first = |turn| {
            let mut order: Vec<&Candidate> = targets.iter().collect();
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
        let unknown = candidate(4);
        let mut order: Vec<&Candidate> = targets.iter().chain([&unknown]).collect();
        by_pace(&mut order, 0);
        assert_eq!(order[0].weight, 4);
    }

    #[test]
    fn shares_hold_at_every_moment_however_large_the_weights_are() {
        for weights in [[70, 30], [3_000_000, 1_000_000], [u32::MAX, u32::MAX]] {
            let targets = weights.map(candidate);
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
