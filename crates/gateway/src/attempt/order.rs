//! The order in which the targets of a model are tried: that of its strategy, those in good health first.

use sabir_compose::class::Class;

use crate::attempt::fallback::AffectsHealth;
use crate::route::{Candidate, Resolved, arrange};

/// A target, and its place in the order that the configuration asks for.
pub(crate) struct Ranked<'r> {
    pub(crate) rank: usize,
    pub(crate) candidate: &'r Candidate,
}

/// The targets in the order to try them.
pub(super) fn of<'r>(resolved: &'r Resolved, affects_health: AffectsHealth) -> Vec<Ranked<'r>> {
    let mut targets: Vec<&Candidate> = resolved.targets.iter().collect();
    arrange(&mut targets, resolved.strategy, || match &resolved.model {
        Some(model) => model.turns_of(Class::Default).turn(affects_health == AffectsHealth::Yes),
        None => 0,
    });
    let ranked = targets.into_iter().enumerate();
    let mut order: Vec<Ranked<'_>> =
        ranked.map(|(rank, candidate)| Ranked { rank, candidate }).collect();
    if order.len() > 1 {
        order.sort_by_key(|it| !it.candidate.provider.is_good());
    }
    order
}
