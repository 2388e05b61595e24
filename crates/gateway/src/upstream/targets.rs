//! What the encoders know of a provider's models. Looking a name up in all families takes a while, so it is done once.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use sabir_wire::target::{AnthropicVersion, Family, Target};

use crate::config::types::{FamilyCorrection, Provider};

/// How many models of one provider are remembered. Clients name them, so there may be any number.
const MODELS_MAX: usize = 1_024;

#[derive(Debug)]
pub(crate) struct Targets {
    /// What holds for all models of the provider.
    provider: Target,
    families: Arc<[FamilyCorrection]>,
    by_model: RwLock<HashMap<String, Arc<Target>>>,
}

impl Targets {
    pub(crate) fn new(provider: &Provider) -> Self {
        let mut target = Target {
            max_output_tokens: provider.max_output_tokens,
            late_system: provider.late_system,
            cache: provider.cache,
            ..Target::default()
        };
        if let Some(dialect) = provider.dialect {
            target = target.with_dialect(dialect);
        }
        let version = provider.version.as_ref().and_then(|version| version.to_str().ok());
        if let Some(version) = version {
            target.anthropic_version = AnthropicVersion::in_force(version);
        }
        let families = Arc::clone(&provider.families);
        Self { provider: target, families, by_model: RwLock::default() }
    }

    /// What is known of a model, with what the operator knows better: the narrowest pattern has the last word.
    fn family(&self, model: &str) -> Family {
        let mut family = Family::of(model);
        let matching = self.families.iter().filter(|it| it.pattern.matches(model));
        matching.for_each(|it| it.apply(&mut family));
        family
    }

    pub(crate) fn of(&self, model: &str) -> Arc<Target> {
        let known = self.by_model.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(target) = known.get(model) {
            return Arc::clone(target);
        }
        drop(known);
        let target = Arc::new(self.provider.with_family(self.family(model)));
        let mut known = self.by_model.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() == MODELS_MAX {
            known.clear();
        }
        known.insert(model.to_owned(), Arc::clone(&target));
        target
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_names_takes_bounded_memory() {
        let targets = Targets::new(&Provider::new("p", Vec::new()));
        for number in 0..3 * MODELS_MAX {
            assert_eq!(
                targets.of(&format!("gpt-5-{number}")).family.name,
                Family::of(&format!("gpt-5-{number}")).name
            );
        }
        assert!(targets.by_model.read().unwrap().len() <= MODELS_MAX);
    }

    #[test]
    fn a_model_that_is_known_is_not_looked_for_again() {
        let targets = Targets::new(&Provider::new("p", Vec::new()));
        assert!(Arc::ptr_eq(&targets.of("gpt-4.1"), &targets.of("gpt-4.1")));
    }
}
