//! `sabir conversations fork`: a second conversation that shares the beginning of the first.

use anyhow::Result;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Value, json};

use super::{Reader, path_of};
use crate::archive::Archive;
use crate::output;
use crate::output::printable;

/// Begin a conversation that shares the turns of another.
///
/// Prints its id.
///
/// Example:
///   sabir conversations fork tour
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Fork {
    /// The conversation
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    id: String,

    /// The last turn that both share, as `show` lists them [default: the newest]
    #[arg(long, value_name = "TURN")]
    after: Option<String>,
}

impl Fork {
    pub(super) fn run(self, archive: &Archive, reader: Reader) -> Result<()> {
        let order = json!({"after": self.after}).to_string();
        let forked = archive.post(&format!("{}/fork", path_of(&self.id)), &order)?;
        match reader {
            Reader::Program => output::print(&forked),
            Reader::Person => {
                let forked: Value = serde_json::from_str(&forked)?;
                output::print(&printable(forked["id"].as_str().unwrap_or_default()))
            }
        }
    }
}
