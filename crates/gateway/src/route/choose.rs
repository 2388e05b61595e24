//! Which of a model's targets a request goes to, by what kind of work it is. All that is read is the canonical request.

use std::sync::Arc;

use sabir_compose::class::{Class, Classified, Facts, classify};
use sabir_compose::compact::weight;
use sabir_wire::conversation::Request;

use crate::config::types::{Classing, Strategy};
use crate::route::{Candidate, Model, Resolved, Route};

/// Where a request goes, and why.
#[derive(Clone, Debug)]
pub struct Choice {
    pub classified: Classified,
    /// Those of the class, then those of `default`; never empty.
    pub candidates: Vec<Candidate>,
    /// How long the conversation is, as bytes of text.
    pub weight: u64,
}

/// What a client asks for.
#[derive(Clone, Copy, Debug)]
pub struct ClassAsked<'r> {
    pub request: &'r Request<'r>,
    /// The model as the client names it.
    pub name: &'r str,
    /// The class that the client decides on.
    pub class: Option<Class>,
}

/// A request that needs so much of a window is too near to its end: tokens are estimated.
const SAFE_PERCENT: u128 = 90;

impl Model {
    /// Chooses the class of a request and the order of its targets.
    pub fn choose(&self, asked: ClassAsked<'_>, classing: &Classing) -> Choice {
        let weight = weight(&asked.request.messages) as u64;
        let tokens = self.budget().tokens_of(weight);
        let classified = match asked.class {
            Some(class) => self.on_demand(class),
            None => classify(&self.facts(asked, tokens, classing), |class| self.has_targets(class)),
        };
        let (classified, candidates) = self.fitting(classified, tokens);
        Choice { classified, candidates, weight }
    }

    fn facts(&self, asked: ClassAsked<'_>, tokens: u64, classing: &Classing) -> Facts {
        let mut facts = Facts::read(asked.request, tokens, &classing.intent);
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

    /// The targets of the class in the order to try them: those whose window has room enough first. If none has room at all, and
    /// there are targets for long input, those.
    fn fitting(&self, classified: Classified, tokens: u64) -> (Classified, Vec<Candidate>) {
        let candidates = self.candidates(classified.class);
        let is_beyond = |it: &Candidate| Standing::of(it, tokens) == Standing::Beyond;
        if candidates.iter().all(is_beyond) && self.has_targets(Class::LongContext) {
            let reason = "the input exceeds the windows of its class";
            let long = Classified { class: Class::LongContext, reason };
            return (long, ordered(self.candidates(Class::LongContext), tokens));
        }
        (classified, ordered(candidates, tokens))
    }

    /// The targets of a class, and behind them those of `default`.
    fn candidates(&self, class: Class) -> Vec<Candidate> {
        let own = self.classes.iter().find(|(it, _)| *it == class);
        let mut candidates = own.map(|(_, targets)| targets.clone()).unwrap_or_default();
        for target in &self.targets {
            if !candidates.iter().any(|known| known.is_same(target)) {
                candidates.push(target.clone());
            }
        }
        candidates
    }
}

fn ordered(mut candidates: Vec<Candidate>, tokens: u64) -> Vec<Candidate> {
    candidates.sort_by_key(|candidate| Standing::of(candidate, tokens));
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
    /// A window that nobody knows is taken to be wide enough.
    fn of(candidate: &Candidate, tokens: u64) -> Self {
        let Some(window) = candidate.window() else { return Self::Safe };
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

    /// The same once the class is known.
    pub(crate) fn chosen(&self, choice: &Choice) -> Self {
        Self {
            targets: choice.candidates.clone(),
            strategy: Strategy::Fallback,
            route: Route::Class(choice.classified),
            model: self.model.clone(),
        }
    }
}
