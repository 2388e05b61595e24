//! `sabir completions`: what a shell needs to complete our commands and options.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use clap_complete::Shell;

use crate::output;

/// Print the completions for a shell.
///
/// For bash, for instance: sabir completions bash > ~/.local/share/bash-completion/completions/sabir
#[derive(Args)]
pub(crate) struct Completions {
    /// Which shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, mut sabir: clap::Command) -> Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut sabir, "sabir", &mut script);
        output::print(&String::from_utf8(script)?)?;
        Ok(ExitCode::SUCCESS)
    }
}
