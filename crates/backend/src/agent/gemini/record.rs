//! The record that Gemini CLI keeps of a session: there stands which calls its model made, and what its answer cost.

use std::path::Path;
use std::{fs, io};

use sabir_wire::conversation::{Count, Counts};
use sabir_wire::json::{Json, Kind};

use super::read::number;
use crate::agent::json::{member, text};

/// Where the records are in the folder of a process that works in `work`.
const CHATS: &str = "home/.gemini/tmp/work/chats";

const LOGS: &str = "home/.gemini/tmp/work/logs";

/// How long a record may be: it has the history several times.
const RECORD_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// What the newest answer was.
#[derive(Default)]
pub(super) struct Answered {
    pub(super) calls: Vec<Call>,
    pub(super) counts: Option<Counts>,
}

/// A call of a tool.
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    /// As JSON.
    pub(super) arguments: String,
}

/// Puts a record where the CLI looks for sessions. Its name differs from that of the record that the CLI begins.
pub(super) fn write(folder: &Path, session: &str, record: &str) -> io::Result<()> {
    let chats = folder.join(CHATS);
    fs::create_dir_all(&chats)?;
    fs::write(chats.join(format!("session-0-{}.jsonl", short(session))), record)
}

/// What the records of a session say of the newest answer.
pub(super) fn read(folder: &Path, session: &str) -> io::Result<Answered> {
    let mut answered = Answered::default();
    let ending = format!("-{}.jsonl", short(session));
    for entry in fs::read_dir(folder.join(CHATS))?.flatten() {
        let is_own = entry.file_name().to_string_lossy().ends_with(&ending);
        if is_own && entry.metadata()?.len() <= RECORD_BYTES_MAX {
            let record = fs::read_to_string(entry.path())?;
            record.lines().for_each(|line| answered.note(line));
        }
    }
    Ok(answered)
}

/// Removes what sessions left on disk.
pub(super) fn clear(folder: &Path) {
    for place in [CHATS, LOGS] {
        let _ = fs::remove_dir_all(folder.join(place));
    }
}

/// As much of a session's id as the name of its record has.
fn short(session: &str) -> &str {
    session.get(..8).unwrap_or(session)
}

impl Answered {
    /// A line says all of a message anew.
    fn note(&mut self, line: &str) {
        // Lines that set the whole history at once say nothing new.
        let Some(line) = Json::parse(line).ok().filter(|_| !line.starts_with("{\"$set\"")) else {
            return;
        };
        if text(&line, "type").as_deref() != Some("gemini") {
            return;
        }
        if let Some(calls) = member(&line, "toolCalls").filter(|it| it.kind() == Kind::Array) {
            self.calls = read_calls(&calls);
        }
        self.counts = member(&line, "tokens").map(|it| counts(&it)).or(self.counts.take());
    }
}

fn read_calls(calls: &Json<'_>) -> Vec<Call> {
    let mut read = Vec::new();
    // What cannot be read was not written by the CLI.
    let _ = calls.reader().array(|_, reader| {
        let call = reader.raw()?;
        let arguments =
            member(&call, "args").map_or_else(|| "{}".to_owned(), |it| it.as_str().to_owned());
        read.push(Call {
            id: text(&call, "id").unwrap_or_default(),
            name: text(&call, "name").unwrap_or_default(),
            arguments,
        });
        Ok(())
    });
    read
}

fn counts(tokens: &Json<'_>) -> Counts {
    let mut counts = Counts::default();
    counts[Count::Input] = number(tokens, "input");
    counts[Count::CacheRead] = number(tokens, "cached");
    counts[Count::Reasoning] = number(tokens, "thoughts");
    let thoughts = counts[Count::Reasoning].unwrap_or(0);
    counts[Count::Output] = number(tokens, "output").map(|it| it.saturating_add(thoughts));
    counts[Count::Total] = number(tokens, "total");
    counts
}
