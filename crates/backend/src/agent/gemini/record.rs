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

/// Writes the record of a session that is kept anew, so that the CLI finds it and all that is in it is known: how many updates it will
/// send of it. None without a record.
pub(super) fn renew(kept: &Path, session: &str) -> io::Result<Option<usize>> {
    let ending = format!("-{}.jsonl", short(session));
    let mut files = Vec::new();
    for project in fs::read_dir(kept.join("home/.gemini/tmp"))?.flatten() {
        let chats = fs::read_dir(project.path().join("chats")).into_iter().flatten().flatten();
        let own = chats.filter(|it| it.file_name().to_string_lossy().ends_with(&ending));
        files.extend(own.map(|entry| (entry.metadata().map_or(0, |it| it.len()), entry.path())));
    }
    // The CLI begins another record whenever it takes one up, and goes on in the one that it took up.
    let longest = files.iter().max().filter(|(bytes, _)| *bytes <= RECORD_BYTES_MAX);
    let Some((_, file)) = longest else { return Ok(None) };
    let record = Kept::of(&fs::read_to_string(file)?);
    for (_, file) in &files {
        fs::remove_file(file)?;
    }
    fs::write(file.with_file_name(format!("session-0{ending}")), record.lines.join("\n") + "\n")?;
    Ok(Some(record.updates()))
}

/// A record as it reads in the end: its heading, and each message once.
struct Kept {
    lines: Vec<String>,
    ids: Vec<Option<String>>,
}

impl Kept {
    fn of(record: &str) -> Self {
        let mut kept = Self { lines: Vec::new(), ids: Vec::new() };
        for line in record.lines().filter(|line| !line.starts_with("{\"$")) {
            let id = Json::parse(line).ok().and_then(|line| text(&line, "id"));
            match id.as_ref().and_then(|id| kept.ids.iter().position(|it| it.as_ref() == Some(id)))
            {
                Some(known) => kept.lines[known] = line.to_owned(),
                None if id.is_some() || kept.lines.is_empty() => {
                    kept.lines.push(line.to_owned());
                    kept.ids.push(id);
                }
                None => {}
            }
        }
        kept
    }

    /// The CLI sends each text, thought and call of the history.
    fn updates(&self) -> usize {
        let count = |line: &String| {
            let Ok(line) = Json::parse(line.as_str()) else { return 0 };
            let is_models = match text(&line, "type").as_deref() {
                Some("user") => false,
                Some("gemini") => true,
                _ => return 0,
            };
            let said = usize::from(member(&line, "content").is_some_and(|it| has_text(&it)));
            let more = ["thoughts", "toolCalls"].iter().filter_map(|name| member(&line, name));
            said + more.map(|list| length(&list)).sum::<usize>() * usize::from(is_models)
        };
        self.lines.iter().map(count).sum()
    }
}

/// Whether the content of a message, a text or a list of parts, says anything.
fn has_text(content: &Json<'_>) -> bool {
    if content.kind() == Kind::String {
        return content.reader().string().is_ok_and(|it| !it.to_str().trim().is_empty());
    }
    let mut has = false;
    let _ = content.reader().array(|_, reader| {
        let part = reader.raw()?;
        has |= text(&part, "text").is_some_and(|it| !it.trim().is_empty());
        Ok(())
    });
    has
}

fn length(list: &Json<'_>) -> usize {
    let mut length = 0;
    if list.kind() == Kind::Array {
        let _ = list.reader().array(|_, reader| {
            length += 1;
            reader.skip()
        });
    }
    length
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_as_it_ended_and_says_how_much_the_cli_will_repeat() {
        let record = [
            r#"{"sessionId":"s","kind":"main"}"#,
            r#"{"id":"a","type":"user","content":[{"text":"one"}]}"#,
            r#"{"id":"b","type":"gemini","content":""}"#,
            r#"{"$set":{"messages":[]}}"#,
            r#"{"id":"b","type":"gemini","content":" ","thoughts":[{},{}],"toolCalls":[{}]}"#,
            r#"{"id":"c","type":"gemini","content":"two"}"#,
            r#"{"id":"d","type":"info","content":"three"}"#,
        ];
        let kept = Kept::of(&record.join("\n"));
        assert_eq!(kept.lines, [record[0], record[1], record[4], record[5], record[6]]);
        assert_eq!(kept.updates(), 5);
    }
}
