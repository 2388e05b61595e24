//! Who answers for each member: the names of models that the gateway knows.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use sabir_compose::assemble::Agent;
use sabir_gateway::config;
use sabir_gateway::config::types::{Config, Location, Provider};
use sabir_gateway::route::{self, Directory};
use sabir_wire::Protocol;

use super::file::{Member, Team, Voice};
use crate::models::default_model;
use crate::output::printable;

/// The models on a gateway that runs, which serves what it serves: one that it does not is refused when its member speaks.
pub(super) fn with_running(team: &Team, config: &Config) -> Result<Vec<String>> {
    team.members.iter().map(|member| model(member, config)).collect()
}

/// The models on a gateway of this process's own, which serves the agents that the team asks for as well.
pub(super) fn with_own(team: &Team, config: &mut Config) -> Result<Vec<String>> {
    for member in &team.members {
        if let Voice::Agent(agent, _) = &member.voice
            && provider_of(*agent, config).is_none()
        {
            config.providers.extend(as_provider(*agent));
        }
    }
    let models = with_running(team, config)?;
    let directory = Directory::new(config.clone(), "");
    for (member, model) in team.members.iter().zip(&models) {
        // Whether a name is served does not depend on who asks.
        let asked = Protocol::ALL.map(|protocol| route::resolve(&directory, model, protocol));
        if let [Err(unknown), ..] = &asked {
            bail!("{}: {unknown}", printable(member.name.as_str()));
        }
    }
    Ok(models)
}

fn model(member: &Member, config: &Config) -> Result<String> {
    let name = printable(member.name.as_str());
    match &member.voice {
        Voice::Model(model) => Ok(model.clone()),
        Voice::Default => default_model(config).ok_or_else(|| {
            anyhow!("{name}: no model can be asked for: name one, or give a provider's key")
        }),
        Voice::Agent(agent, model) => {
            let provider = provider_of(*agent, config).ok_or_else(|| {
                let kind = agent.as_str();
                anyhow!(
                    "{name}: the gateway serves no {kind}\n  try: add to its config\n    [[provider]]\n    \
                     name = \"{}-cli\"\n    agent = \"{kind}\"",
                    agent.alias().unwrap_or(kind)
                )
            })?;
            Ok(format!("{}/{}", provider.name, model.as_deref().unwrap_or(OWN_CHOICE)))
        }
    }
}

/// The model of an agent that leaves the choice to its CLI.
const OWN_CHOICE: &str = "default";

fn provider_of(agent: Agent, config: &Config) -> Option<&Provider> {
    let is_meant = |place: &Location| matches!(place, Location::Agent(it) if it.kind == agent);
    let mut providers = config.providers.iter().map(|provider| &**provider);
    providers.find(|provider| provider.endpoints.iter().any(|it| is_meant(&it.place)))
}

/// The agent as a provider with nothing but defaults. Any program would do for `plain`, so that there is none.
fn as_provider(agent: Agent) -> Option<Arc<Provider>> {
    let name = format!("{}-cli", agent.alias()?);
    let text = format!(
        "env_providers = false\n[[provider]]\nname = \"{name}\"\nagent = \"{}\"\n",
        agent.as_str()
    );
    let config = config::parse(&text, Path::new("team"), &|_| None).ok()?;
    config.providers.into_iter().find(|provider| *provider.name == *name)
}

#[cfg(test)]
mod tests {
    use sabir_compose::team::MemberName;

    use super::*;

    fn team(voices: &[Voice]) -> Team {
        let member = |voice: &Voice| Member {
            name: MemberName::new("ann").unwrap(),
            voice: voice.clone(),
            instructions: None,
            instruction_file: None,
        };
        let members = voices.iter().map(member).collect();
        Team { task: None, window: 5, bytes_max: 1024, members }
    }

    fn configured(text: &str) -> Config {
        config::parse(text, Path::new("sabir.toml"), &|_| None).unwrap()
    }

    #[test]
    fn agents_are_the_providers_that_they_are_configured_as() {
        let text =
            "env_providers = false\n[[provider]]\nname = \"mine\"\nagent = \"openai-codex\"\n";
        let voices = [
            Voice::Agent(Agent::OpenaiCodex, None),
            Voice::Agent(Agent::OpenaiCodex, Some("m".to_owned())),
            Voice::Default,
        ];
        let models = with_running(&team(&voices), &configured(text)).unwrap();
        assert_eq!(models[..2], ["mine/default", "mine/m"]);
        let refused =
            with_running(&team(&[Voice::Agent(Agent::GoogleGemini, None)]), &configured(text));
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("agent = \"google-gemini\""), "{refused}");
    }

    #[test]
    fn a_gateway_of_its_own_serves_the_agents_and_knows_who_is_not_there() {
        let mut config = configured("env_providers = false\n");
        let voices = [Voice::Agent(Agent::ClaudeCode, None)];
        assert_eq!(with_own(&team(&voices), &mut config).unwrap(), ["claude-cli/default"]);
        let voices = [Voice::Model("nobody-has-this".to_owned())];
        let refused = with_own(&team(&voices), &mut config).unwrap_err().to_string();
        assert!(refused.starts_with("ann: ") && refused.contains("nobody-has-this"), "{refused}");
        assert!(with_own(&team(&[Voice::Agent(Agent::Plain, None)]), &mut config).is_err());
    }
}
