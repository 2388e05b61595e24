//! `sabir conversations delete`: what was said goes, as far as nothing else goes on from it.

use anyhow::Result;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::{Reader, path_of};
use crate::archive::Archive;
use crate::output;
use crate::output::printable;

/// Delete a conversation and what was said in it.
///
/// What a fork shares with it stays with the fork.
///
/// Example:
///   sabir conversations delete tour-2
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Delete {
    /// The conversation
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    id: String,
}

impl Delete {
    pub(super) fn run(self, archive: &Archive, reader: Reader) -> Result<()> {
        let deleted = archive.delete(&path_of(&self.id))?;
        match reader {
            Reader::Program => output::print(&deleted),
            Reader::Person => output::print(&format!("deleted {}", printable(&self.id))),
        }
    }
}
