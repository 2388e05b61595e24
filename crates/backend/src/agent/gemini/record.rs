//! The record that Gemini CLI keeps of a session: there stands which calls its model made, and what its answer cost.

use std::path::{Path, PathBuf};
use std::{fs, io};

use sabir_wire::conversation::{Count, Counts};
use sabir_wire::json::{Json, Kind, Writer};

use super::read::number;
use crate::agent::json;
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

/// Where the record of a session waits for the next call: among those of its own the CLI deletes it when it begins.
const STOWED: &str = "record.jsonl";

/// Takes the record of a session away from the CLI, and writes it anew, so that all that is in it is known.
pub(super) fn stow(kept: &Path, session: &str) -> io::Result<()> {
    let ending = format!("-{}.jsonl", short(session));
    let mut files = Vec::new();
    for chats in chats(kept)? {
        let own = fs::read_dir(chats)?.flatten();
        let own = own.filter(|it| it.file_name().to_string_lossy().ends_with(&ending));
        files.extend(own.map(|entry| (entry.metadata().map_or(0, |it| it.len()), entry.path())));
    }
    // The CLI begins another record whenever it takes one up, and goes on in the one that it took up.
    let longest = files.iter().max().filter(|(bytes, _)| *bytes <= RECORD_BYTES_MAX);
    if let Some((_, file)) = longest {
        let rewritten = Kept::of(&fs::read_to_string(file)?).rewritten();
        fs::write(kept.join(STOWED), rewritten.join("\n") + "\n")?;
    }
    files.iter().try_for_each(|(_, file)| fs::remove_file(file))
}

/// Puts the record back where the CLI looks for sessions: how many updates it will send of it. None without a record.
pub(super) fn restore(kept: &Path, session: &str) -> io::Result<Option<usize>> {
    let Ok(record) = fs::read_to_string(kept.join(STOWED)) else { return Ok(None) };
    let Some(chats) = chats(kept)?.into_iter().next() else { return Ok(None) };
    fs::write(chats.join(format!("session-0-{}.jsonl", short(session))), &record)?;
    Ok(Some(record.lines().count().saturating_sub(1)))
}

/// The folders of records, of which the CLI makes one for each folder that it works in.
fn chats(kept: &Path) -> io::Result<Vec<PathBuf>> {
    let projects = fs::read_dir(kept.join("home/.gemini/tmp"))?.flatten();
    Ok(projects.map(|it| it.path().join("chats")).filter(|it| it.is_dir()).collect())
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

    /// The heading, and what was said and done as parts of messages, of which the CLI sends an update each. From calls that it recorded as
    /// such it would send every result twice.
    fn rewritten(&self) -> Vec<String> {
        let (heading, messages) = self.lines.split_at(self.lines.len().min(1));
        let (mut rewritten, mut answered) = (heading.to_vec(), Vec::new());
        for message in messages {
            let Ok(message) = Json::parse(message.as_str()) else { continue };
            let (mut stated, results) = parts(&message);
            stated.retain(|part| answer_id(part).is_none_or(|id| !answered.contains(&id)));
            answered.extend(results.iter().filter_map(|part| answer_id(part)));
            match text(&message, "type").as_deref() {
                Some("user") => rewritten.extend(line(&message, "user", &stated)),
                Some("gemini") => {
                    rewritten.extend(line(&message, "gemini", &stated));
                    rewritten.extend(line(&message, "user", &results));
                }
                _ => {}
            }
        }
        rewritten
    }
}

/// A message of a record; none that says nothing.
fn line(message: &Json<'_>, kind: &str, parts: &[String]) -> Option<String> {
    let mut writer = Writer::default();
    writer.object(|it| {
        let id = text(message, "id").unwrap_or_default();
        it.field("id", &format!("{id}-{kind}"));
        it.optional("timestamp", text(message, "timestamp").as_ref());
        it.field("type", kind);
        it.array_field("content", |it| parts.iter().for_each(|part| json::write(part, it)));
    });
    (!parts.is_empty()).then(|| writer.into_string())
}

/// What a message says and calls, and what came of its calls, as parts.
fn parts(message: &Json<'_>) -> (Vec<String>, Vec<String>) {
    let (mut stated, mut results) = (Vec::new(), Vec::new());
    let written = |write: &dyn Fn(&mut Writer)| {
        let mut writer = Writer::default();
        writer.object(write);
        writer.into_string()
    };
    if let Some(content) = text(message, "content").filter(|it| !it.trim().is_empty()) {
        stated.push(written(&|it| it.field("text", &content)));
    }
    stated.extend(elements(message, "content").into_iter().filter(|it| !is_blank(it)));
    for call in elements(message, "toolCalls") {
        let Ok(call) = Json::parse(call.as_str()) else { continue };
        let id = text(&call, "id").unwrap_or_default();
        let name = text(&call, "name").unwrap_or_default();
        stated.push(written(&|it| {
            it.object_field("functionCall", |it| {
                it.field("id", &id);
                it.field("name", &name);
                it.optional("args", member(&call, "args").as_ref());
            });
        }));
        let result =
            elements(&call, "result").into_iter().find(|it| it.contains("functionResponse"));
        results.push(result.unwrap_or_else(|| {
            written(&|it| {
                it.object_field("functionResponse", |it| {
                    it.field("id", &id);
                    it.field("name", &name);
                    it.object_field("response", |it| it.field("error", "it was not run"));
                });
            })
        }));
    }
    (stated, results)
}

/// The elements of a list, as JSON.
fn elements(object: &Json<'_>, name: &str) -> Vec<String> {
    let mut elements = Vec::new();
    if let Some(list) = member(object, name).filter(|it| it.kind() == Kind::Array) {
        // What cannot be read was not written by the CLI.
        let _ = list.reader().array(|_, reader| {
            elements.push(reader.raw()?.as_str().to_owned());
            Ok(())
        });
    }
    elements
}

/// The call that a part is the result of. A result stands in the record with its call, and as a message besides.
fn answer_id(part: &str) -> Option<String> {
    let part = Json::parse(part).ok()?;
    text(&member(&part, "functionResponse")?, "id")
}

/// Whether a part is a text that says nothing.
fn is_blank(part: &str) -> bool {
    let text = Json::parse(part).ok().and_then(|part| text(&part, "text"));
    text.is_some_and(|text| text.trim().is_empty())
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
    fn a_record_reads_as_it_ended_with_calls_and_results_as_parts() {
        let record = [
            r#"{"sessionId":"s","kind":"main"}"#,
            r#"{"id":"a","type":"user","content":[{"text":"one"}]}"#,
            r#"{"id":"b","type":"gemini","content":""}"#,
            r#"{"$set":{"messages":[]}}"#,
            r#"{"id":"b","type":"gemini","content":" ","thoughts":[{}],"toolCalls":[{"id":"x","name":"ls","args":{"p":1},"result":[{"functionResponse":{"id":"x","name":"ls","response":{"output":"a"}}}]},{"id":"y","name":"rm"}]}"#,
            r#"{"id":"e","type":"user","content":[{"functionResponse":{"id":"x","name":"ls","response":{"output":"a"}}}]}"#,
            r#"{"id":"c","type":"gemini","content":"two"}"#,
            r#"{"id":"d","type":"info","content":"three"}"#,
        ];
        let rewritten = Kept::of(&record.join("\n")).rewritten();
        assert_eq!(
            rewritten,
            [
                record[0],
                r#"{"id":"a-user","type":"user","content":[{"text":"one"}]}"#,
                r#"{"id":"b-gemini","type":"gemini","content":[{"functionCall":{"id":"x","name":"ls","args":{"p":1}}},{"functionCall":{"id":"y","name":"rm"}}]}"#,
                r#"{"id":"b-user","type":"user","content":[{"functionResponse":{"id":"x","name":"ls","response":{"output":"a"}}},{"functionResponse":{"id":"y","name":"rm","response":{"error":"it was not run"}}}]}"#,
                r#"{"id":"c-gemini","type":"gemini","content":[{"text":"two"}]}"#,
            ]
        );
    }
}
