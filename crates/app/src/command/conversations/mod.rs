//! `sabir conversations`: what is kept, listed, shown, written to files and read from them. A file for each command.

mod delete;
mod export;
mod fork;
mod ids;
mod import;
mod list;
mod reading;
mod show;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use sabir_backend::percent;

use crate::archive::{Archive, GatewayOptions};

/// List, show, export, import, fork and delete what is kept.
///
/// Asks the gateway that runs at the configured address, else opens the configured store itself.
/// Without a command it lists.
///
/// Example:
///   sabir conversations list --limit 5
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Conversations {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    place: GatewayOptions,

    /// Print JSON for programs
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    List(list::List),
    Show(show::Show),
    Export(export::Export),
    Import(import::Import),
    Delete(delete::Delete),
    Fork(fork::Fork),
    #[command(hide = true)]
    Ids(ids::Ids),
}

/// For whom a command prints.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    Person,
    Program,
}

const PATH: &str = "/sabir/v1/conversations";

impl Conversations {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let reader = if self.json { Reader::Program } else { Reader::Person };
        let command = self.command.unwrap_or(Command::List(list::List::default()));
        // A file that cannot be read needs no gateway.
        let command = match command {
            Command::Import(import) => Prepared::Import(import.read()?),
            Command::Ids(ids) => return Ok(ids.run(&self.place)),
            command => Prepared::Other(command),
        };
        let archive = match command.changes_something() {
            true => self.place.open(),
            false => self.place.open_to_read(),
        }?;
        let done = command.run(&archive, reader, &self.place);
        archive.close();
        done.map(|()| ExitCode::SUCCESS)
    }
}

/// A command that needs nothing more than a gateway.
enum Prepared {
    Import(import::Imported),
    Other(Command),
}

impl Prepared {
    fn changes_something(&self) -> bool {
        match self {
            Self::Import(_) => true,
            Self::Other(command) => match command {
                Command::Import(_) | Command::Delete(_) | Command::Fork(_) => true,
                Command::List(_) | Command::Show(_) | Command::Export(_) | Command::Ids(_) => false,
            },
        }
    }

    fn run(self, archive: &Archive, reader: Reader, place: &GatewayOptions) -> Result<()> {
        match self {
            Self::Import(imported) => imported.run(archive, reader),
            Self::Other(Command::List(list)) => list.run(archive, reader, place),
            Self::Other(Command::Show(show)) => show.run(archive, reader),
            Self::Other(Command::Export(export)) => export.run(archive, reader),
            Self::Other(Command::Delete(delete)) => delete.run(archive, reader),
            Self::Other(Command::Fork(fork)) => fork.run(archive, reader),
            Self::Other(Command::Import(_) | Command::Ids(_)) => Ok(()),
        }
    }
}

/// The path of one conversation.
fn path_of(id: &str) -> String {
    format!("{PATH}/{}", percent::encode(id))
}
