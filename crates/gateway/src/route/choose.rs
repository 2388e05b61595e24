//! Which of a model's targets a request goes to, by what kind of work it is. All that is read is the canonical request.

use std::cmp::Reverse;
use std::sync::Arc;

use sabir_compose::class::{Class, Classified, Facts, Measured, classify};
use sabir_wire::conversation::Request;

use crate::config::types::{Classing, Strategy};
use crate::route::{Caller, Candidate, Model, Resolved, Route, Stay, arrange};

/// Where a request goes, and why.
#[derive(Clone, Debug)]
pub struct Choice {
    pub classified: Classified,
    /// Those of the class, then those of `default`; never empty.
    pub candidates: Vec<Candidate>,
    /// How long the conversation and its tools are, as bytes of text.
    pub weight: u64,
    /// The conversation, and where it went before.
    pub(crate) stay: Stay,
}

/// What a client asks for.
#[derive(Clone, Copy, Debug)]
pub struct ClassAsked<'r> {
    pub request: &'r Request<'r>,
    /// The model as the client names it.
    pub name: &'r str,
    /// The class that the client decides on.
    pub class: Option<Class>,
    pub caller: Caller<'r>,
}

/// A request that needs so much of a window is too near to its end: tokens are estimated.
const SAFE_PERCENT: u128 = 90;

/// What a window is taken for that nobody knows, where targets are put into their order. No class is left for it.
const WINDOW_UNKNOWN: u64 = 200_000;

impl Model {
    /// Chooses the class of a request and the order of its targets.
    pub fn choose(&self, asked: ClassAsked<'_>, classing: &Classing) -> Choice {
        let measured = Measured::of_request(asked.request);
        let weight = measured.weight;
        let tokens = self.budget().tokens_of(weight);
        let classified = match asked.class {
            Some(class) => self.on_demand(class),
            None => {
                let facts = self.facts(asked, (&measured, tokens), classing);
                classify(&facts, |class| self.has_targets(class))
            }
        };
        let conversation = self.stays.conversation(asked.caller, asked.request);
        let classified = self.fitting(classified, tokens);
        let stay = self.stays.stay(conversation, classified).with_tokens(tokens);
        let candidates = ordered(self.candidates(&stay, asked.caller), tokens);
        Choice { classified, candidates, weight, stay }
    }

    fn facts(
        &self,
        asked: ClassAsked<'_>,
        measured: (&Measured, u64),
        classing: &Classing,
    ) -> Facts {
        let mut facts = Facts::read(asked.request, measured, &classing.intent);
        if classing.background.iter().any(|name| name.matches(asked.name)) {
            facts = facts.in_background();
        }
        if self.config.sticky { facts.at_users_turn() } else { facts }
    }

    fn on_demand(&self, class: Class) -> Classified {
        match self.has_targets(class) {
            true => Classified { class, reason: "asked for by the client" },
            false => {
                let reason = "the class that the client asks for has no targets";
                Classified { class: Class::Default, reason }
            }
        }
    }

    fn has_targets(&self, class: Class) -> bool {
        class == Class::Default || self.classes.iter().any(|(it, _)| *it == class)
    }

    /// The class, or that for long input if none of its targets has room and there are some for that.
    fn fitting(&self, classified: Classified, tokens: u64) -> Classified {
        let is_beyond = |it: &Candidate| Standing::of(it, tokens) == Standing::Beyond;
        let mut candidates = self.own(classified.class).iter().chain(&self.targets);
        if self.has_targets(Class::LongContext) && candidates.all(is_beyond) {
            let reason = "the input exceeds the windows of its class";
            return Classified { class: Class::LongContext, reason };
        }
        classified
    }

    /// The targets of a class itself.
    fn own(&self, class: Class) -> &[Candidate] {
        let own = self.classes.iter().find(|(it, _)| *it == class);
        own.map_or(&self.targets, |(_, targets)| targets)
    }

    /// Whether a target is one of the class itself.
    pub(crate) fn has_in_class(&self, class: Class, target: &Candidate) -> bool {
        self.own(class).iter().any(|it| it.is_same(target))
    }

    /// The targets of a class in the order to try them: the one that has the conversation, the others by their strategy, and
    /// behind them those of `default`.
    fn candidates(&self, stay: &Stay, caller: Caller<'_>) -> Vec<Candidate> {
        let mut candidates = self.own(stay.class()).to_vec();
        let turns = self.turns_of(stay.class());
        // Who stays takes nobody's turn.
        let takes_turn = caller.takes_turn && !stay.has_home();
        arrange(&mut candidates, self.config.class_strategy, || turns.turn(takes_turn));
        candidates.sort_by_key(|it| !stay.is_home(it));
        for target in &self.targets {
            if !candidates.iter().any(|known| known.is_same(target)) {
                candidates.push(target.clone());
            }
        }
        candidates
    }
}

/// Those with room first. Of those without, the widest is the likeliest to hold the request all the same.
fn ordered(mut candidates: Vec<Candidate>, tokens: u64) -> Vec<Candidate> {
    candidates.sort_by_key(|candidate| {
        let standing = Standing::presumed(candidate, tokens);
        let window = candidate.window().unwrap_or(WINDOW_UNKNOWN);
        (standing, Reverse((standing == Standing::Beyond).then_some(window)))
    });
    candidates
}

/// How a request stands to a target's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    Safe,
    Risky,
    Beyond,
}

impl Standing {
    /// By what is known of the window: one that nobody knows may be wide enough.
    fn of(candidate: &Candidate, tokens: u64) -> Self {
        candidate.window().map_or(Self::Safe, |window| Self::within(window, tokens))
    }

    /// By what is known of the window, or else likely.
    fn presumed(candidate: &Candidate, tokens: u64) -> Self {
        Self::within(candidate.window().unwrap_or(WINDOW_UNKNOWN), tokens)
    }

    fn within(window: u64, tokens: u64) -> Self {
        if u128::from(tokens) * 100 < u128::from(window) * SAFE_PERCENT {
            Self::Safe
        } else if tokens < window {
            Self::Risky
        } else {
            Self::Beyond
        }
    }
}

impl Resolved {
    /// The `[[model]]` that leaves its targets to the class of a request, if it does.
    pub fn by_class(&self) -> Option<&Arc<Model>> {
        self.model.as_ref().filter(|_| self.strategy == Strategy::Class)
    }

    /// The one target that the call can go to.
    pub(crate) fn sole_target(&self) -> Option<&Candidate> {
        match &*self.targets {
            [target] if self.by_class().is_none() => Some(target),
            _ => None,
        }
    }

    /// Whether a request that was read for its class is beyond the target's window, by estimate.
    pub(crate) fn exceeds(&self, target: &Candidate) -> bool {
        let is_beyond = |stay: &Stay| Standing::of(target, stay.tokens()) == Standing::Beyond;
        self.stay.as_ref().is_some_and(is_beyond)
    }

    /// The targets for long input that are not asked anyway: for a request that turned out to be too long for its class.
    pub(crate) fn for_long_input(&self) -> impl Iterator<Item = &Candidate> {
        let model = self.model.as_ref().filter(|_| self.stay.is_some());
        let classes = model.into_iter().flat_map(|model| &model.classes);
        let long = classes.filter(|(class, _)| *class == Class::LongContext);
        let is_asked = |it: &Candidate| self.targets.iter().any(|target| target.is_same(it));
        long.flat_map(|(_, targets)| targets).filter(move |it| !is_asked(it))
    }

    /// The same once the class is known.
    pub(crate) fn chosen(&self, choice: &Choice) -> Self {
        Self {
            targets: choice.candidates.clone(),
            strategy: Strategy::Fallback,
            route: Route::Class(choice.classified),
            model: self.model.clone(),
            stay: Some(choice.stay.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::order::tests::candidate;

    fn windowed(model: &str, window: Option<u64>) -> Candidate {
        Candidate { context_window: window, ..candidate(model, 1) }
    }

    #[test]
    fn a_window_is_safe_below_nine_tenths_and_full_at_its_end() {
        let target = windowed("m", Some(1_000));
        let standing = |tokens| Standing::of(&target, tokens);
        assert_eq!([standing(0), standing(899)], [Standing::Safe; 2]);
        assert_eq!([standing(900), standing(999)], [Standing::Risky; 2]);
        assert_eq!([standing(1_000), standing(u64::MAX)], [Standing::Beyond; 2]);
        let odd = windowed("m", Some(11));
        assert_eq!(
            [9, 10, 11].map(|tokens| Standing::of(&odd, tokens)),
            [Standing::Safe, Standing::Risky, Standing::Beyond]
        );
        let unknown = windowed("m", None);
        assert_eq!(
            [179_999, 180_000, 200_000].map(|tokens| Standing::presumed(&unknown, tokens)),
            [Standing::Safe, Standing::Risky, Standing::Beyond]
        );
        assert_eq!(Standing::of(&unknown, u64::MAX), Standing::Safe, "no class is left for it");
        assert_eq!(Standing::of(&windowed("m", Some(u64::MAX)), u64::MAX - 1), Standing::Risky);
    }

    #[test]
    fn who_has_room_goes_first_and_else_the_widest() {
        let order = |windows: [u64; 4], tokens| {
            let named = ["a", "b", "c", "d"].into_iter().zip(windows);
            let candidates = named.map(|(name, window)| windowed(name, Some(window))).collect();
            ordered(candidates, tokens).into_iter().map(|it| it.model).collect::<String>()
        };
        assert_eq!(order([1_000, 500, 2_000, 500], 400), "abcd");
        assert_eq!(order([1_000, 500, 2_000, 500], 450), "acbd", "risky behind safe");
        assert_eq!(order([1_000, 500, 2_000, 500], 950), "cabd", "risky before full");
        assert_eq!(order([1_000, 500, 2_000, 500], 9_000), "cabd", "the widest of the full");
    }
}
