//! `sabir check`: whether a configuration is right, and what it comes to.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use sabir_gateway::config::Loaded;
use sabir_gateway::config::types::{Config, Location, Provider};

use crate::command::models;
use crate::configuration::ConfigFile;
use crate::installed::Asked;
use crate::output::printable;
use crate::table::table;
use crate::{configuration, installed, output};

/// Validate the configuration and say what it comes to.
///
/// Prints every problem at once on standard error, one a line as FILE:LINE:COLUMN: MESSAGE.
/// Environment variables and key files that the file names are read too; nothing is sent.
/// Agent CLIs are asked which versions they are, and what is installed and unused is named.
///
/// Exit codes: 0 fine, 1 problems.
///
/// Example:
///   sabir check --config sabir.toml
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Check {
    #[command(flatten)]
    file: ConfigFile,
}

impl Check {
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self.file.load() {
            Ok(loaded) => {
                let advice = advice(&loaded.config);
                output::print(&printable_lines(&(summary(&loaded) + &advice)))?;
                installed::settle();
                Ok(ExitCode::SUCCESS)
            }
            Err(problems) => Ok(configuration::refuse(&problems)),
        }
    }
}

fn printable_lines(text: &str) -> String {
    text.lines().map(|line| printable(line) + "\n").collect()
}

fn summary(loaded: &Loaded) -> String {
    let Loaded { config, file } = loaded;
    let listen = config.listen;
    let providers = table(&providers(config), 2);
    let models = models::rows(config, 2);
    format!(
        "{}\nlistens on http://{listen}{}\nmemory: {}\n\nproviders\n{providers}\nmodels\n{models}",
        verdict(file.as_deref()),
        auth(config),
        config.store.summary(),
    )
}

fn verdict(file: Option<&Path>) -> String {
    match file {
        Some(file) => format!("{}: fine", file.display()),
        None => "no config file: the environment's keys and the simulators".to_owned(),
    }
}

fn auth(config: &Config) -> String {
    match (config.auth.required, config.auth.keys.len()) {
        (false, _) => "; clients need no key".to_owned(),
        (true, 1) => "; clients need the one gateway key".to_owned(),
        (true, keys) => format!("; clients need one of {keys} gateway keys"),
    }
}

/// Agent CLIs that are installed and answer nobody.
fn advice(config: &Config) -> String {
    let idle = installed::idle(&installed::agents(std::env::var_os("PATH")), config);
    let advice = installed::advice(&idle);
    if advice.is_empty() { advice } else { format!("\n{}\n", advice.trim_end()) }
}

/// A row for each provider, with the versions of those that are agent CLIs.
fn providers(config: &Config) -> Vec<Vec<String>> {
    let asked: Vec<_> = config.providers.iter().map(|it| agent(it)).collect();
    let mut versions = installed::versions(asked.iter().flatten().cloned().collect()).into_iter();
    let rows = config.providers.iter().zip(asked).map(|(it, asked)| {
        let mut row = provider(it);
        if let Some(version) = asked.and_then(|_| versions.next()) {
            // An agent has a login, and no key.
            row.pop();
            row.push(version);
        }
        row
    });
    rows.collect()
}

fn agent(provider: &Provider) -> Option<Asked> {
    match &provider.endpoints.first()?.place {
        Location::Agent(agent) => Asked::configured(agent),
        Location::Url(_) | Location::Simulator => None,
    }
}

/// The name, the protocols, the address and how many keys there are.
fn provider(provider: &Provider) -> Vec<String> {
    let protocols: Vec<&str> = provider.endpoints.iter().map(|it| it.protocol.as_str()).collect();
    let mut places: Vec<String> = provider.endpoints.iter().map(|it| place(&it.place)).collect();
    places.dedup();
    let keys = match provider.keys.len() {
        0 => String::new(),
        1 => "with a key".to_owned(),
        keys => format!("with {keys} keys"),
    };
    vec![provider.name.clone(), protocols.join(", "), places.join(", "), keys]
}

fn place(place: &Location) -> String {
    match place {
        Location::Url(url) => url.to_string(),
        Location::Simulator => "built in".to_owned(),
        Location::Agent(agent) => format!("{} ({})", agent.command.join(" "), agent.kind.as_str()),
    }
}
