//! Zero configuration: the providers whose keys are in the environment, and the simulators.

use std::sync::Arc;

use sabir_backend::Secret;

use crate::config::locate::{Platform, data_folder};
use crate::config::presets::{PRESETS, Preset};
use crate::config::types::{Config, Endpoint, Location, Provider, Store, Substitution};
use crate::surface;
use crate::surface::Surface;

/// Finds the value of an environment variable; passed in, so that what is configured depends on arguments alone.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The model name that any simulator answers to.
pub const SIMULATED_MODEL: &str = "sim";

/// What is served where there is no config file.
pub fn zero_configuration(variable: Lookup<'_>) -> Config {
    let providers = environment_providers(variable).chain(simulators()).map(Arc::new).collect();
    let store = Store { data_folder: data_folder(Platform::HERE, variable), ..Store::default() };
    Config { providers, substitution: Substitution::On, store, ..Config::default() }
}

/// The providers whose keys are in the environment, the preferred one first.
pub(super) fn environment_providers(variable: Lookup<'_>) -> impl Iterator<Item = Provider> + '_ {
    PRESETS.iter().filter_map(move |preset| {
        let key = preset.key(variable)?;
        Some(preset.provider(Some(key)))
    })
}

/// The simulators, which are always there.
pub(super) fn simulators() -> impl Iterator<Item = Provider> {
    surface::all().map(|Surface { protocol, simulator, .. }| {
        let endpoint = Endpoint { protocol: *protocol, place: Location::Simulator };
        let default_model = Some(SIMULATED_MODEL.to_owned());
        // They ask for a key, as the real ones do, and take any.
        let keys = vec![Secret::new(SIMULATED_MODEL)];
        let provider = Provider::new(simulator.name, vec![endpoint]);
        Provider { default_model, keys, dialect: simulator.dialect, ..provider }
    })
}

impl Preset {
    /// The key that the environment has for this provider, if it needs one.
    pub(super) fn key(&self, variable: Lookup<'_>) -> Option<Secret> {
        let mut values = self.key_variables.iter().filter_map(|name| value(variable, name));
        values.next().map(Secret::new)
    }
}

/// A variable's value; one that is set to nothing counts as not set.
pub(super) fn value(variable: Lookup<'_>, name: &str) -> Option<String> {
    let value = variable(name)?;
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use sabir_wire::Protocol;

    use super::*;

    #[track_caller]
    fn check(variables: &[(&str, &str)], expected: &[&str]) {
        let lookup = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let config = zero_configuration(&lookup);
        let names: Vec<_> = config.providers.iter().map(|it| it.name.as_str()).collect();
        let simulators = ["sim-chat", "sim-responses", "sim-anthropic", "sim-gemini"];
        assert_eq!(names, [expected, &simulators].concat());
        assert_eq!(config.substitution, Substitution::On);
    }

    #[test]
    fn keys_in_the_environment_make_providers() {
        check(&[], &[]);
        check(&[("OPENAI_API_KEY", "")], &[]);
        check(&[("XAI_API_KEY", "a"), ("OPENAI_API_KEY", "b")], &["openai", "xai"]);
        check(&[("GOOGLE_API_KEY", "a")], &["gemini"]);
        check(&[("OLLAMA_API_KEY", "a")], &[]);
    }

    #[test]
    fn the_first_of_two_variables_wins() {
        let both = |name: &str| match name {
            "GEMINI_API_KEY" => Some(" own\n".to_owned()),
            "GOOGLE_API_KEY" => Some("shared".to_owned()),
            _ => None,
        };
        let config = zero_configuration(&both);
        let key = config.providers[0].sole_key().unwrap();
        assert_eq!(key.expose(), "own");
        assert!(!format!("{config:?}").contains("own\""));
    }

    #[test]
    fn every_simulator_speaks_its_own_protocol() {
        for (provider, protocol) in simulators().zip(Protocol::ALL) {
            assert_eq!(provider.endpoints[0].protocol, protocol);
            assert!(matches!(provider.endpoints[0].place, Location::Simulator));
        }
    }
}
