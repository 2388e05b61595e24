//! `sabir env`: what `sabir run` would set, for a shell or a reader.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use crate::agent::{Access, Folder};
use crate::command::run::Options;
use crate::{agent, configuration, gateway, output};

/// Print what `run` would set for an agent CLI.
///
/// The lines are for a POSIX shell: eval "$(sabir env claude)". The gateway is expected at the
/// configured address; a private settings file that the agent needs is written. Arguments that
/// the agent needs besides are in a comment, which goes to standard error too if the lines go
/// elsewhere than to a terminal.
///
/// Example:
///   sabir env codex
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Env {
    #[command(flatten)]
    options: Options,
}

impl Env {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Options { agent, model, file, data } = self.options;
        let loaded = match file.load() {
            Ok(loaded) => loaded,
            Err(problems) => return Ok(configuration::refuse(&problems)),
        };
        let address = gateway::configured_address(&loaded.config);
        let access = Access::new(&loaded.config, agent, address, model);
        let launch = agent.launch(&access, &Folder::new(data))?;
        let mut text = agent::script(agent, &launch);
        if gateway::find(&loaded.config).is_none() {
            text.push_str(&format!("# no gateway answers at {} yet: sabir serve\n", access.base));
        }
        output::print(&text)?;
        // A shell that evaluates the lines shows none of its comments.
        if !std::io::stdout().is_terminal() {
            output::to_stderr(&comments(&text));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn comments(script: &str) -> String {
    script.split_inclusive('\n').filter(|line| line.starts_with("# ")).collect()
}
