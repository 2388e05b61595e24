//! Which model is asked for where nobody names one.

use sabir_gateway::config::SIMULATED_MODEL;
use sabir_gateway::config::types::{Config, Location, Provider, Substitution};

/// The first name of the operator's own, else the default of the first provider; a simulator only where there is nobody else.
pub(crate) fn default_model(config: &Config) -> Option<String> {
    let real = config.providers.iter().filter(|provider| !is_simulator(provider));
    let simulated = match config.substitution {
        Substitution::On => Some(SIMULATED_MODEL.to_owned()),
        Substitution::Off => first_default(config),
    };
    first_alias(config).or_else(|| real.into_iter().find_map(|it| default_of(it))).or(simulated)
}

/// The first model that the operator named.
pub(crate) fn first_alias(config: &Config) -> Option<String> {
    let mut exact = config.models.iter().filter(|model| model.name.is_exact());
    exact.next().map(|model| model.name.as_str().to_owned())
}

/// The default of the first provider that has one.
pub(crate) fn first_default(config: &Config) -> Option<String> {
    config.providers.iter().find_map(|provider| default_of(provider))
}

fn default_of(provider: &Provider) -> Option<String> {
    Some(format!("{}/{}", provider.name, provider.default_model.as_deref()?))
}

pub(crate) fn is_simulator(provider: &Provider) -> bool {
    provider.endpoints.iter().any(|it| matches!(it.place, Location::Simulator))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sabir_gateway::config;

    use super::*;

    #[test]
    fn real_providers_come_before_simulators() {
        let with = |variable: &'static str| {
            config::zero_configuration(&move |name| (name == variable).then(|| "key".to_owned()))
        };
        assert_eq!(default_model(&with("NONE")).as_deref(), Some("sim"));
        let model = default_model(&with("GEMINI_API_KEY")).unwrap();
        assert!(model.starts_with("gemini/gemini-"), "{model}");
        let named = "env_providers = false\n[[model]]\nname = \"smart\"\ntargets = [{ provider = \"sim-chat\", model = \"sim\" }]\n";
        for (file, expected) in [("env_providers = false\n", "sim-chat/sim"), (named, "smart")] {
            let config = config::parse(file, Path::new("sabir.toml"), &|_| None).unwrap();
            assert_eq!(default_model(&config).as_deref(), Some(expected));
        }
    }
}
