//! The order in which the targets of a model are tried: that of its strategy, those in good health first, and before all those
//! that the request fits.

use sabir_compose::class::Class;

use crate::attempt::fallback::AffectsHealth;
use crate::route::{Candidate, Resolved, arrange};

/// A target, and its place in the order that the configuration asks for.
pub(crate) struct Ranked<'r> {
    pub(crate) rank: usize,
    pub(crate) candidate: &'r Candidate,
    /// Whether it is there for prompts alone that are too long for the others.
    is_for_long_input: bool,
}

impl Ranked<'_> {
    /// Whether to ask it where the prompt was too long for a window of so many tokens, or for none. One for long input need not be
    /// known to be wider: whoever chose it says so.
    pub(super) fn is_asked_beyond(&self, narrow: Option<u64>) -> bool {
        let Some(narrow) = narrow else { return !self.is_for_long_input };
        match self.candidate.window() {
            Some(window) => window > narrow || self.is_for_long_input && narrow == u64::MAX,
            None => self.is_for_long_input,
        }
    }
}

/// The targets in the order to try them.
pub(super) fn of<'r>(resolved: &'r Resolved, affects_health: AffectsHealth) -> Vec<Ranked<'r>> {
    let mut targets: Vec<&Candidate> = resolved.targets.iter().collect();
    arrange(&mut targets, resolved.strategy, || match &resolved.model {
        Some(model) => model.turns_of(Class::Default).turn(affects_health == AffectsHealth::Yes),
        None => 0,
    });
    let ranked = targets.into_iter().enumerate();
    let mut order: Vec<Ranked<'_>> = ranked
        .map(|(rank, candidate)| Ranked { rank, candidate, is_for_long_input: false })
        .collect();
    if order.len() > 1 {
        order.sort_by_key(|it| (resolved.exceeds(it.candidate), !it.candidate.provider.is_good()));
    }
    order
}

/// The targets behind those, for a prompt that is too long for them.
pub(super) fn for_long_input(resolved: &Resolved) -> Vec<Ranked<'_>> {
    let ranked = (resolved.targets.len()..).zip(resolved.for_long_input());
    let mut order: Vec<Ranked<'_>> = ranked
        .map(|(rank, candidate)| Ranked { rank, candidate, is_for_long_input: true })
        .collect();
    order.sort_by_key(|it| !it.candidate.provider.is_good());
    order
}
