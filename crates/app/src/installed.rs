//! Agent CLIs that are installed and could answer, and the lines that would let them.

use std::ffi::OsString;
use std::fmt::Write;

use sabir_compose::assemble::Agent;
use sabir_gateway::config::types::{Config, Location};

/// Those that can be a model.
const AGENTS: [Agent; 3] = [Agent::ClaudeCode, Agent::OpenaiCodex, Agent::GoogleGemini];

/// The agents whose programs are in the folders of `PATH`.
pub(crate) fn agents(path: Option<OsString>) -> Vec<Agent> {
    let folders: Vec<_> = path.iter().flat_map(|path| std::env::split_paths(path)).collect();
    let is_there = |agent: &Agent| {
        agent.alias().is_some_and(|name| folders.iter().any(|it| it.join(name).is_file()))
    };
    AGENTS.into_iter().filter(is_there).collect()
}

/// What would make models of those that are none yet; nothing where there is nobody to speak of.
pub(crate) fn advice(found: &[Agent], config: &Config) -> String {
    let places = || config.providers.iter().flat_map(|it| &it.endpoints).map(|it| &it.place);
    let is_model = |agent: Agent| {
        places()
            .any(|place| matches!(place, Location::Agent(configured) if configured.kind == agent))
    };
    let mut text = String::new();
    for agent in found.iter().filter(|agent| !is_model(**agent)) {
        let (kind, name) = (agent.as_str(), agent.alias().unwrap_or_default());
        let _ = write!(
            text,
            "`{name}` could answer too. In sabir.toml:\n  \
             [[provider]]\n  name = \"{name}-cli\"\n  agent = \"{kind}\"\n\n"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sabir_gateway::config;

    use super::*;

    #[test]
    fn only_agents_that_are_no_models_yet_are_spoken_of() {
        let toml = "env_providers = false\n[[provider]]\nname = \"a\"\nagent = \"claude-code\"\n";
        let config = config::parse(toml, Path::new("sabir.toml"), &|_| None).unwrap();
        assert_eq!(advice(&[Agent::ClaudeCode], &config), "");
        let text = advice(&AGENTS, &config);
        assert!(text.contains("agent = \"google-gemini\"") && !text.contains("claude"), "{text}");
        assert!(agents(None).is_empty());
    }
}
