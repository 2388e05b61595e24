//! How providers have fared of late. Health only orders targets: a sole target is always tried.

use std::sync::LazyLock;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use std::time::Instant;

use crate::Gateway;
use crate::attempt::ask::Bearing;
use crate::config::types::Strategy;
use crate::route::Candidate;
use crate::route::Resolved;

/// How many failures in a row make a provider one to try later.
const FAILURES_MAX: u32 = 3;

/// How long a provider stands back before it is tried in its own place again.
const STANDS_BACK: Duration = Duration::from_secs(15);

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// How one provider has fared.
#[derive(Debug, Default)]
pub(crate) struct Health {
    failures: AtomicU32,
    /// Until when it stands back, in milliseconds since the start.
    until_ms: AtomicU64,
}

impl Health {
    pub(crate) fn answered(&self) {
        if self.failures.load(Relaxed) != 0 {
            self.failures.store(0, Relaxed);
            self.until_ms.store(0, Relaxed);
        }
    }

    pub(crate) fn failed(&self) {
        if self.failures.fetch_add(1, Relaxed) + 1 >= FAILURES_MAX {
            self.until_ms.store(now_ms() + STANDS_BACK.as_millis() as u64, Relaxed);
        }
    }

    pub(crate) fn is_good(&self) -> bool {
        let until_ms = self.until_ms.load(Relaxed);
        until_ms == 0 || until_ms <= now_ms()
    }
}

fn now_ms() -> u64 {
    u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// A target, and its place in the order that the configuration asks for.
pub(crate) struct Ranked<'r> {
    pub(crate) rank: usize,
    pub(crate) candidate: &'r Candidate,
}

/// The targets in the order to try them: as configured or by weight, those in good health first.
pub(super) fn in_order<'r>(
    gateway: &Gateway,
    resolved: &'r Resolved,
    bearing: Bearing,
) -> Vec<Ranked<'r>> {
    let mut order: Vec<&Candidate> = resolved.targets.iter().collect();
    if resolved.strategy == Strategy::Weighted {
        let turn = match bearing {
            Bearing::Answer => gateway.turn(resolved.model),
            Bearing::Aside => gateway.next_turn(resolved.model),
        };
        let first = weighted(&resolved.targets, turn);
        order[..=first].rotate_right(1);
    }
    let ranked = order.into_iter().enumerate();
    let mut order: Vec<Ranked<'_>> =
        ranked.map(|(rank, candidate)| Ranked { rank, candidate }).collect();
    if order.len() > 1 {
        let is_good = |it: &Ranked<'_>| gateway.upstreams[it.candidate.provider].health.is_good();
        order.sort_by_key(|it| !is_good(it));
    }
    order
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
    use super::*;

    #[test]
    fn over_a_round_each_target_gets_its_share() {
        let target = |weight| Candidate { provider: 0, model: String::new(), weight };
        for weights in [vec![3, 1], vec![1, 1, 1], vec![5, 2, 3], vec![7], vec![0, 2]] {
            let targets: Vec<Candidate> = weights.iter().copied().map(target).collect();
            let total: u32 = weights.iter().sum();
            let mut served = vec![0; weights.len()];
            for turn in 0..u64::from(total) {
                served[weighted(&targets, turn)] += 1;
            }
            assert_eq!(served, weights);
        }
    }

    #[test]
    fn shares_hold_at_every_moment_however_large_the_weights_are() {
        let target = |weight| Candidate { provider: 0, model: String::new(), weight };
        for weights in [[70, 30], [3_000_000, 1_000_000], [u32::MAX, u32::MAX]] {
            let targets = weights.map(target);
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

    #[test]
    fn a_provider_stands_back_after_failures_in_a_row() {
        let health = Health::default();
        health.failed();
        health.failed();
        assert!(health.is_good());
        health.failed();
        assert!(!health.is_good());
        health.answered();
        assert!(health.is_good());
    }
}
