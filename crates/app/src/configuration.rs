//! Which configuration a command works with, and what is said where it is wrong.

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use sabir_gateway::config;
use sabir_gateway::config::{Loaded, Problems};

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
    pub(crate) fn named(file: PathBuf) -> Self {
        Self { config: Some(file) }
    }

    /// The one that is found where nobody names one.
    pub(crate) fn found() -> Self {
        Self { config: None }
    }

    pub(crate) fn load(&self) -> Result<Loaded, Problems> {
        let mut loaded = config::load(self.config.as_deref(), &|name| env::var(name).ok())?;
        if let Some(level) = log_level() {
            loaded.config.log.level = level;
        }
        Ok(loaded)
    }
}

/// Whether the environment says what is to be logged.
pub(crate) fn names_log_level() -> bool {
    log_level().is_some()
}

/// What `$SABIR_LOG` says, which wins over the config file.
fn log_level() -> Option<String> {
    env::var("SABIR_LOG").ok().filter(|level| !level.trim().is_empty())
}

/// Prints every problem, one a line as `file:line:column: message`.
pub(crate) fn refuse(problems: &Problems) -> ExitCode {
    output::to_stderr(&format!("{}\n", listed(problems)));
    ExitCode::FAILURE
}

/// Every problem, one a line.
pub(crate) fn listed(problems: &Problems) -> String {
    let problems = problems.to_string();
    problems.lines().map(printable).collect::<Vec<_>>().join("\n")
}
