//! Which configuration a command works with, and what is said where it is wrong.

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use sabir_gateway::config;
use sabir_gateway::config::Loaded;
use sabir_gateway::config::Problems;

use crate::output;
use crate::output::printable;

/// Where the configuration is.
#[derive(Args)]
pub(crate) struct ConfigFile {
    /// The config file [default: $SABIR_CONFIG, else ./sabir.toml, else sabir/sabir.toml in the
    /// user's config folder, else none]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl ConfigFile {
    pub(crate) fn load(&self) -> Result<Loaded, Problems> {
        config::load(self.config.as_deref(), &|name| env::var(name).ok())
    }
}

/// Prints every problem, one a line as `file:line:column: message`.
pub(crate) fn refuse(problems: &Problems) -> ExitCode {
    for line in problems.to_string().lines() {
        output::tell(&format!("{}\n", printable(line)));
    }
    ExitCode::FAILURE
}
