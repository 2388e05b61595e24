//! Files that are generated from the code or the fixtures: written, or with `--check` compared with what is there.

use std::fs;
use std::process::ExitCode;

use anyhow::{Result, bail};

pub(crate) struct Generated<'a> {
    /// Relative to the project's top folder.
    pub(crate) path: &'a str,
    /// The chore that writes it.
    pub(crate) chore: &'a str,
    pub(crate) text: String,
}

impl Generated<'_> {
    pub(crate) fn write_or_check(&self, arguments: &[String]) -> Result<ExitCode> {
        let Self { path, chore, text } = self;
        let file = crate::project_root().join(path);
        match arguments {
            [] => {
                fs::write(file, text)?;
                println!("wrote {path}");
                Ok(ExitCode::SUCCESS)
            }
            [check] if check == "--check" => {
                if fs::read_to_string(file).unwrap_or_default() == *text {
                    return Ok(ExitCode::SUCCESS);
                }
                println!("{path} is out of date: run `cargo xtask {chore}`");
                Ok(ExitCode::FAILURE)
            }
            _ => bail!("expected --check or nothing"),
        }
    }
}
