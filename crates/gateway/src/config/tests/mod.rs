//! Config files by example: what is read from them, and what is said of those that are wrong.

mod manual;
mod problems;
mod tls;
mod values;

use std::path::Path;

use crate::config::types::Config;
use crate::config::{Problems, parse};

/// Reads a file as `sabir.toml`, with one key in the environment.
fn read(text: &str) -> Result<Config, Problems> {
    let variable = |name: &str| (name == "SET_KEY").then(|| "sesame".to_owned());
    parse(text, Path::new("sabir.toml"), &variable)
}
