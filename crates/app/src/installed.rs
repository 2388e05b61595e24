//! Agent CLIs that are installed: which versions they are, and the lines that would let those answer that do not yet.

use std::env;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use sabir_backend::Secret;
use sabir_backend::agent;
use sabir_backend::agent::{Program, ask_version};
use sabir_compose::assemble::Agent;
use sabir_gateway::config::types;
use sabir_gateway::config::types::{Config, Location};
use tokio::runtime;
use tokio::task::JoinSet;

/// Those that can be a model, and the versions that Sabir is tested with.
const AGENTS: [(Agent, &str); 3] = [
    (Agent::ClaudeCode, "2.1.325"),
    (Agent::OpenaiCodex, "0.166.0"),
    (Agent::GoogleGemini, "0.61.0"),
];

/// How long a CLI has to say which version it is.
const PATIENCE: Duration = Duration::from_secs(5);

/// A CLI that is asked for its version.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    agent: Agent,
    command: Vec<String>,
    environment: Vec<(String, Secret)>,
}

/// The agents whose programs are in the folders of `PATH`.
pub(crate) fn agents(path: Option<OsString>) -> Vec<Agent> {
    let folders: Vec<_> = path.iter().flat_map(|path| env::split_paths(path)).collect();
    let is_there = |agent: &Agent| {
        agent.alias().is_some_and(|name| folders.iter().any(|it| it.join(name).is_file()))
    };
    AGENTS.into_iter().map(|(agent, _)| agent).filter(is_there).collect()
}

/// Those of the agents that answer nobody yet.
pub(crate) fn idle(found: &[Agent], config: &Config) -> Vec<Agent> {
    let is_model = |agent: Agent| configured(config).any(|it| it.kind == agent);
    found.iter().copied().filter(|agent| !is_model(*agent)).collect()
}

fn configured(config: &Config) -> impl Iterator<Item = &types::Agent> {
    let places = config.providers.iter().flat_map(|it| &it.endpoints).map(|it| &it.place);
    places.filter_map(|place| match place {
        Location::Agent(agent) => Some(&**agent),
        Location::Url(_) | Location::Simulator => None,
    })
}

impl Asked {
    /// A CLI that is a model. Any other program may do anything when it is started.
    pub(crate) fn configured(agent: &types::Agent) -> Option<Self> {
        let (command, environment) = (agent.command.clone(), agent.environment.clone());
        let is_cli = AGENTS.iter().any(|(it, _)| *it == agent.kind);
        is_cli.then_some(Self { agent: agent.kind, command, environment })
    }

    /// A CLI that is installed.
    fn installed(agent: Agent) -> Self {
        let variable = |name: &str| Some((name.to_owned(), Secret::new(env::var(name).ok()?)));
        let environment = ["PATH", "HOME"].into_iter().filter_map(variable).collect();
        let command = vec![agent.alias().unwrap_or_default().to_owned()];
        Self { agent, command, environment }
    }

    async fn version(self) -> String {
        let program = Program {
            command: self.command,
            environment: self.environment,
            login: None,
            folders: folders(),
            processes_max: 1,
            workplace: None,
        };
        match ask_version(program, PATIENCE).await {
            Ok(Some(version)) => described(self.agent, &version),
            Ok(None) => "does not say its version".to_owned(),
            Err(error) => format!("does not start: {}", error.kind()),
        }
    }
}

/// Where those that are asked for their versions work.
fn folders() -> PathBuf {
    env::temp_dir().join("sabir").join("versions")
}

/// A version, and whether it is newer than what is known.
fn described(agent: Agent, version: &str) -> String {
    let tested = AGENTS.iter().find(|(it, _)| *it == agent).map_or("", |(_, tested)| tested);
    match numbers(version) > numbers(tested) {
        true => format!("{version}, newer than {tested}, which Sabir is tested with"),
        false => version.to_owned(),
    }
}

fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split(|it: char| !it.is_ascii_digit());
    parts.map_while(|part| part.parse().ok()).take(3).collect()
}

/// What they say of their versions, in their order; all are asked at once.
pub(crate) fn versions(asked: Vec<Asked>) -> Vec<String> {
    let mut versions = vec![String::new(); asked.len()];
    let Ok(runtime) = runtime::Builder::new_current_thread().enable_all().build() else {
        return versions;
    };
    runtime.block_on(async {
        let mut asking = JoinSet::new();
        for (index, asked) in asked.into_iter().enumerate() {
            asking.spawn(async move { (index, asked.version().await) });
        }
        while let Some(Ok((index, version))) = asking.join_next().await {
            versions[index] = version;
        }
    });
    versions
}

/// Waits until nobody who was asked is left.
pub(crate) fn settle() {
    agent::settle(PATIENCE);
}

/// What would make models of those that are none yet; nothing where there is nobody to speak of.
pub(crate) fn advice(idle: &[Agent]) -> String {
    let versions = versions(idle.iter().copied().map(Asked::installed).collect());
    let mut text = String::new();
    for (agent, version) in idle.iter().zip(versions) {
        let (kind, name) = (agent.as_str(), agent.alias().unwrap_or_default());
        let _ = write!(
            text,
            "`{name}` ({version}) could answer too. In sabir.toml:\n  \
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
        assert_eq!(idle(&[Agent::ClaudeCode], &config), []);
        assert_eq!(advice(&[]), "");
        let all = AGENTS.map(|(agent, _)| agent);
        assert_eq!(idle(&all, &config), [Agent::OpenaiCodex, Agent::GoogleGemini]);
        assert!(agents(None).is_empty());
    }

    #[test]
    fn what_is_newer_than_what_was_tested_says_so() {
        assert_eq!(described(Agent::GoogleGemini, "0.60.9"), "0.60.9");
        assert_eq!(described(Agent::GoogleGemini, "0.61.0-preview.1"), "0.61.0-preview.1");
        let newer = "0.100.0, newer than 0.61.0, which Sabir is tested with";
        assert_eq!(described(Agent::GoogleGemini, "0.100.0"), newer);
    }

    #[test]
    fn the_versions_are_those_of_the_tests() {
        let packages =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/agents/package.json");
        let packages = std::fs::read_to_string(packages).unwrap();
        for (_, version) in AGENTS {
            assert!(packages.contains(&format!("\"{version}\"")), "{version}: {packages}");
        }
    }
}
