//! From what the user named, if anything, to what is configured.

use std::path::{Path, PathBuf};

use crate::config::bounded;
use crate::config::environment::{Lookup, zero_configuration};
use crate::config::file::parse;
use crate::config::locate::locate;
use crate::config::problem::Problems;
use crate::config::types::Config;

/// No config file is longer.
const CONFIG_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What is configured, and where that is written.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub config: Config,
    /// The file that was read; `None` is zero configuration.
    pub file: Option<PathBuf>,
}

/// Reads the config file that is named or found, else what the environment alone gives.
pub fn load(named: Option<&Path>, variable: Lookup<'_>) -> Result<Loaded, Problems> {
    let Some(file) = locate(named, variable) else {
        return Ok(Loaded { config: zero_configuration(variable), file: None });
    };
    let text = bounded::read(&file, CONFIG_BYTES_MAX);
    let text = text.map_err(|error| Problems::unreadable(&file, &error))?;
    let config = parse(&text, &file, variable)?;
    Ok(Loaded { config, file: Some(file) })
}
