//! `sabir conversations import`: a conversation from a file. What the file is, is found out by [`reading`](super::reading).

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use sabir_wire::Protocol;
use sabir_wire::json::{Json, Writer};
use serde_json::Value;

use super::reading::{Content, History, read};
use super::{PATH, Reader};
use crate::archive::Archive;
use crate::arguments::protocols;
use crate::input::Input;
use crate::output::{printable, printable_lines};
use crate::{output, report};

/// Begin a conversation from a file.
///
/// Reads transcripts as `export` writes them, as one array or one message a line, the messages of
/// a request of any protocol, which are kept as they are, and session files of Claude Code, Codex
/// and Gemini CLI. A session keeps its id; of one that is kept already only what is new is added.
///
/// Example:
///   sabir conversations import tour.json --id tour-2
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Import {
    /// The file to read; standard input if it is `-`
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The id to give it [default: a new one]
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    /// The protocol of the messages in the file [default: what the file looks like]
    #[arg(long, value_name = "PROTOCOL", value_parser = protocols())]
    from: Option<Protocol>,
}

/// A file that has been read.
pub(super) struct Imported {
    id: Option<String>,
    history: History,
}

const MEND: &str = "mend the file there, or name the protocol of its messages with --from";

impl Import {
    pub(super) fn read(self) -> Result<Imported> {
        let input = match self.file.as_os_str() == "-" {
            true => Input::Stdin,
            false => Input::File(self.file),
        };
        let text = input.text()?;
        let history = read(&text, self.from).with_context(|| format!("cannot import {input}"));
        let history = history.map_err(|error| output::advised(error, MEND))?;
        Ok(Imported { id: self.id, history })
    }
}

impl Imported {
    pub(super) fn run(self, archive: &Archive, reader: Reader) -> Result<()> {
        let Self { id, history: History { content, note } } = self;
        let is_session = matches!(content, Content::Session(_));
        let order = order(&content, id.as_deref());
        let begun = archive.post(PATH, &order)?;
        if let Some(note) = note {
            output::to_stderr(&format!("{}\n", printable_lines(&note)));
        }
        match reader {
            Reader::Program => output::print(&begun),
            Reader::Person => {
                let begun: Value = serde_json::from_str(&begun)?;
                if is_session {
                    output::to_stderr(&became(&begun));
                }
                if let Some(losses) = begun.get("losses") {
                    output::to_stderr(&report::text(&report::read(&losses.to_string())));
                }
                output::print(&printable(begun["id"].as_str().unwrap_or_default()))
            }
        }
    }
}

/// What became of a session that may have been kept already.
fn became(begun: &Value) -> String {
    let added = match begun["added"].as_u64() {
        None | Some(0) => "nothing was new\n".to_owned(),
        Some(added) => format!("{added} messages were new\n"),
    };
    match begun["kept_as"].as_str() {
        Some(id) => format!(
            "{added}the session went another way since; what was kept of it is now {}\n",
            printable(id).trim_end()
        ),
        None => added,
    }
}

/// What the gateway is asked for. The history goes as it stands in the file: its order, its numbers and its texts are the file's.
fn order(content: &Content, id: Option<&str>) -> String {
    let mut writer = Writer::with_capacity(4096);
    writer.object(|order| {
        let own = match content {
            Content::Session(session) => Some(session.id()),
            Content::Transcript(_) | Content::Messages { .. } => None,
        };
        order.optional("id", id.or(own));
        match content {
            Content::Transcript(transcript) => order.field("transcript", &json(transcript)),
            Content::Messages { protocol, body, times } => {
                order.field("as", protocol.as_str());
                order.field("messages", &json(body));
                order.field("times", times);
            }
            Content::Session(session) => {
                order.field("title", session.title());
                order.field("as", session.protocol().as_str());
                order.field("messages", &json(session.request()));
                let instructed = session.instructed_at().map(Some);
                let times = instructed.into_iter().chain(session.times().iter().copied());
                order.field("times", &times.collect::<Vec<Option<i64>>>());
                // A name of the user's own begins a conversation, whatever is kept of the session.
                order.field("join", &id.is_none());
            }
        }
    });
    writer.into_string()
}

/// JSON that was read before.
fn json(text: &str) -> Json<'_> {
    Json::parse(text).unwrap_or(Json::literal("null"))
}
