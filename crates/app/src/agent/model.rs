//! Which model an agent is configured with when the user names none.

use sabir_gateway::config::SIMULATED_MODEL;
use sabir_gateway::config::types::Config;
use sabir_gateway::route;
use sabir_gateway::route::{Directory, Resolved, Route};

use super::Agent;
use crate::models::{first_alias, first_default, is_simulator};

/// The model to name; none where the agent's own choice is served.
pub(super) fn default_model(config: &Config, agent: Agent) -> Option<String> {
    let directory = Directory::new(config.clone(), "");
    match route::resolve(&directory, agent.own_model(), agent.protocol()) {
        Ok(resolved) if resolved.route == Route::Substituted => Some(substitute(&resolved)),
        Ok(_) => None,
        Err(_) => first_alias(config).or_else(|| first_default(config)),
    }
}

/// How many tokens fit every target of a model whose window is known.
pub(super) fn smallest_window(config: &Config, agent: Agent, model: &str) -> Option<u64> {
    let directory = Directory::new(config.clone(), "");
    let resolved = route::resolve(&directory, model, agent.protocol()).ok()?;
    resolved.targets.iter().filter_map(|target| target.window()).min()
}

/// What answers anyway, named, so that the agent shows its user who answers.
fn substitute(resolved: &Resolved) -> String {
    match resolved.targets.first() {
        Some(target) if !is_simulator(target.provider()) => {
            format!("{}/{}", target.provider().name, target.model)
        }
        _ => SIMULATED_MODEL.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sabir_gateway::config;

    use super::*;

    #[track_caller]
    fn without_file(variables: &[&str], agent: Agent, expected: Option<&str>) {
        let lookup = |name: &str| variables.contains(&name).then(|| "key".to_owned());
        let config = config::zero_configuration(&lookup);
        assert_eq!(default_model(&config, agent).as_deref(), expected);
    }

    #[track_caller]
    fn with_file(text: &str, agent: Agent, expected: Option<&str>) {
        let config = config::parse(text, Path::new("sabir.toml"), &|_| None).unwrap();
        assert_eq!(default_model(&config, agent).as_deref(), expected);
    }

    #[test]
    fn the_agents_own_choice_stands_where_it_is_served() {
        without_file(&["ANTHROPIC_API_KEY"], Agent::Claude, None);
        without_file(&["OPENAI_API_KEY"], Agent::Codex, None);
        without_file(&["GEMINI_API_KEY"], Agent::Gemini, None);
    }

    #[test]
    fn what_answers_instead_is_named() {
        without_file(&[], Agent::Claude, Some("sim"));
        let config = config::zero_configuration(&|name| {
            (name == "GEMINI_API_KEY").then(|| "key".to_owned())
        });
        let named = default_model(&config, Agent::Codex).unwrap();
        assert!(named.starts_with("gemini/gemini-"), "{named}");
    }

    #[test]
    fn a_window_is_that_of_the_narrowest_target() {
        let text = "[[provider]]\nname = \"a\"\nprotocol = \"openai-chat\"\nbase_url = \"http://127.0.0.1:1\"\n\
                    context_window = 9000\n\
                    [[provider]]\nname = \"b\"\nprotocol = \"openai-chat\"\nbase_url = \"http://127.0.0.1:1\"\n\
                    [[model]]\nname = \"both\"\n\
                    targets = [{ provider = \"b\", model = \"gpt-4\" }, { provider = \"a\", model = \"gpt-4\" }]\n";
        let config = config::parse(text, Path::new("sabir.toml"), &|_| None).unwrap();
        let window = |model| smallest_window(&config, Agent::Codex, model);
        assert_eq!(window("both"), Some(8192));
        assert_eq!(window("a/anything"), Some(9000));
        assert_eq!(window("b/anything"), None);
        assert_eq!(window("nobody/x"), None);
    }

    #[test]
    fn a_config_file_offers_its_first_model() {
        let smart = "[[model]]\nname = \"smart\"\ntargets = [{ provider = \"sim-chat\", model = \"sim\" }]\n";
        with_file(smart, Agent::Claude, Some("smart"));
        let glob = smart.replace("smart", "claude-*");
        with_file(&glob, Agent::Claude, None);
        with_file("", Agent::Claude, Some("sim-chat/sim"));
    }
}
