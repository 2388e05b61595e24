//! Histories from elsewhere, read into lines of the log: plain messages with the times at which they were said, or the messages
//! of a request in any protocol.

use std::borrow::Cow;
use std::iter::repeat;
use std::ops::Range;

use sabir_compose::history;
use sabir_store::{Hash, MESSAGES_MAX, Record, Time};
use sabir_wire::json::{Json, Kind, Reader, Survey};
use sabir_wire::protocol::{Entry, Outline};
use sabir_wire::unified::Transcript;
use sabir_wire::{FaultKind, Protocol};

use crate::admin::kept::metadata::{invalid, mistyped};
use crate::failure::{Failure, Result};
use crate::members::edited;
use crate::recall::{out_of_order, title};
use crate::record::{HeldLines, KnownBy, Lines, instructed_at, record, record_of_all};
use crate::{ingress, memory, surface};

/// A history that can be kept.
pub(super) struct Import {
    pub(super) lines: Lines,
    /// The leading system messages.
    pub(super) system: Option<Record>,
    pub(super) tools: Option<Record>,
    pub(super) title: String,
    /// Of each element whether the user says something in it.
    pub(super) from_user: Vec<bool>,
    /// When the first of it was said that has a time: where it was kept until now it began then.
    pub(super) began_at: Option<Time>,
}

/// What a conversation is to be made of.
pub(super) enum Source {
    /// Plain messages with their times.
    Transcript(Json<'static>),
    /// The messages of a request, with what leads them.
    Messages(Written),
}

/// A history in the words of a protocol.
pub(super) struct Written {
    pub(super) protocol: Protocol,
    /// A request, or what `sabir build --to` writes of one.
    pub(super) body: Json<'static>,
    /// When each element was said, from the first on.
    pub(super) times: Vec<Option<Time>>,
}

impl Source {
    /// The history as lines that are known by their meaning or by how they are written.
    pub(super) fn read(&self, known_by: KnownBy, now: Time) -> Result<Import> {
        match self {
            Self::Transcript(transcript) => import_transcript(transcript, None, now),
            Self::Messages(written) => written.import(known_by, now),
        }
    }

    /// The history element by element, with what each means.
    pub(super) fn entries(&self) -> Result<(Protocol, Vec<Entry<'static>>)> {
        let (protocol, body) = match self {
            Self::Transcript(transcript) => {
                let elements = listed(transcript)?;
                (surface::DEFAULT, Cow::Owned(memory::as_request(&read(&elements, 0)?)))
            }
            Self::Messages(written) => (written.protocol, Cow::Borrowed(written.body.as_str())),
        };
        let decoded = protocol.decode_request_text(&body)?;
        let entries = decoded.entries()?.entries;
        Ok((protocol, entries.into_iter().map(Entry::into_owned).collect()))
    }

    /// When each of so many entries was said. Times before theirs are times of the instructions.
    pub(super) fn times(&self, entries: usize) -> Vec<Option<Time>> {
        let times = match self {
            Self::Transcript(transcript) => {
                let read = listed(transcript).and_then(|elements| read(&elements, 0));
                read.map(|transcript| memory::times(&transcript)).unwrap_or_default()
            }
            Self::Messages(written) => written.times.clone(),
        };
        let instructed = times.len().saturating_sub(entries);
        times.into_iter().skip(instructed).chain(repeat(None)).take(entries).collect()
    }
}

impl Written {
    /// Makes lines of the log of a request's messages, in their own protocol: nothing is lost.
    fn import(&self, known_by: KnownBy, now: Time) -> Result<Import> {
        let (protocol, body) = (self.protocol, self.body.as_str());
        ingress::check_history_density(body)?;
        let list = surface::of(protocol).state.messages;
        check_count(body, list)?;
        check_roles(body, protocol)?;
        let emptied =
            |name: &str, value| Some(if name == list { Json::literal("[]") } else { value });
        protocol.decode_request_text(&edited(body, emptied)?)?;
        let survey = Survey::new(body);
        let outline = Outline::of(protocol, &survey)?;
        let count = outline.elements().len();
        let mut gathered = Gathered::new(protocol, known_by, now);
        for block in blocks(outline.elements()) {
            // Times that stand before those of the elements are times of the instructions.
            let time = |number: usize, leading: usize| {
                let instructed = self.times.len().saturating_sub(count - leading);
                self.times.get(instructed + number).copied().flatten()
            };
            gathered.add(&outline, block, time)?;
        }
        let instructed = self.times.len().saturating_sub(count - gathered.instructions.len());
        gathered.finish((outline.system(0), &self.times[..instructed]), outline.tools())
    }
}

/// Makes lines of plain messages, behind a line where one stands before them.
pub(super) fn import_transcript(
    transcript: &Json<'_>,
    after: Option<Hash>,
    now: Time,
) -> Result<Import> {
    let elements = listed(transcript)?;
    let mut gathered = Gathered::new(surface::DEFAULT, KnownBy::Message, now);
    if let Some(line) = after {
        gathered.lines = HeldLines::after(line, surface::DEFAULT, KnownBy::Message);
    }
    let mut instructed = Vec::new();
    for block in blocks(&elements) {
        let transcript = read(&elements[block.clone()], block.start)?;
        let (body, times) = (memory::as_request(&transcript), memory::times(&transcript));
        let survey = Survey::new(&body);
        let outline = Outline::of(surface::DEFAULT, &survey)?;
        let time = |number: usize, leading: usize| times[number + leading - block.start];
        let leading = gathered.add(&outline, 0..block.len(), time)?;
        instructed.extend_from_slice(&times[..leading]);
    }
    gathered.finish((None, &instructed), None)
}

/// How many elements a history has, leading instructions among them.
pub(super) const ELEMENTS_MAX: usize = 2 * MESSAGES_MAX;

/// How many elements are decoded at a time, and of how many bytes if they are long: what is decoded takes far more memory than
/// its text.
const BLOCK_ELEMENTS: usize = 1_024;
const BLOCK_BYTES: usize = 256 * 1024;

/// A history block by block.
fn blocks<T: AsRef<str>>(elements: &[T]) -> impl Iterator<Item = Range<usize>> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let (first, mut bytes) = (next, 0);
        let is_room = |bytes: usize, count: usize| bytes < BLOCK_BYTES && count < BLOCK_ELEMENTS;
        while next < elements.len() && is_room(bytes, next - first) {
            bytes += elements[next].as_ref().len();
            next += 1;
        }
        (next > first).then_some(first..next)
    })
}

/// What was read of a history so far.
struct Gathered {
    protocol: Protocol,
    lines: HeldLines,
    /// The leading instructions among its elements, if nothing else has come yet.
    instructions: Vec<String>,
    title: String,
    from_user: Vec<bool>,
    /// Whether the last element is of results of tools.
    is_behind_results: bool,
    /// The time of what has none. Lines that are known by their meaning are everybody's who means the same, and have none.
    untimed: Option<Time>,
    /// The first time that an element has.
    began_at: Option<Time>,
}

impl Gathered {
    fn new(protocol: Protocol, known_by: KnownBy, now: Time) -> Self {
        Self {
            protocol,
            lines: HeldLines::new(protocol, known_by),
            instructions: Vec::new(),
            title: String::new(),
            from_user: Vec::new(),
            is_behind_results: false,
            untimed: (known_by != KnownBy::Meaning).then_some(now),
            began_at: None,
        }
    }

    /// Adds a block, and says how many elements of it are leading instructions. When an element was said is known by its number
    /// and that of the instructions before it.
    fn add(
        &mut self,
        outline: &Outline<'_>,
        block: Range<usize>,
        time: impl Fn(usize, usize) -> Option<Time>,
    ) -> Result<usize> {
        let elements = &outline.elements()[block.clone()];
        let contents = outline.read_block(block, |messages, contents| {
            if self.title.is_empty() || self.title.starts_with('<') {
                let found = title(messages);
                if self.title.is_empty() || !found.is_empty() && !found.starts_with('<') {
                    self.title = found;
                }
            }
            contents
        })?;
        let leading = if self.from_user.is_empty() { contents.leading } else { 0 };
        self.instructions.extend(elements[..leading].iter().map(|it| it.clone().into_owned()));
        for (json, content) in elements.iter().zip(&contents.elements).skip(leading) {
            if self.from_user.len() == MESSAGES_MAX {
                return Err(too_many("messages", MESSAGES_MAX, MESSAGES_MAX + 1));
            }
            let moment = time(self.from_user.len(), self.instructions.len());
            self.began_at = self.began_at.or(moment);
            let added = self.lines.add(json, content, moment.or(self.untimed));
            added.map_err(|error| out_of_order(&error))?;
            // Protocols whose results hold no media have them behind, in a message of the user's.
            let is_of_results = self.is_behind_results && content.is_media_alone();
            self.is_behind_results = is_of_results || content.has_results();
            let is_from_user = content.is_from_user() || has_users_text(self.protocol, json);
            self.from_user.push(is_from_user && !is_of_results);
        }
        Ok(leading)
    }

    fn finish(
        self,
        (own, instructed): (Option<String>, &[Option<Time>]),
        tools: Option<&str>,
    ) -> Result<Import> {
        let stored = |error: sabir_store::Error| out_of_order(&error);
        let protocol = self.protocol;
        let list = surface::of(protocol).state.messages;
        let listed = (!self.instructions.is_empty())
            .then(|| format!("\"{list}\":[{}]", self.instructions.join(",")));
        let system: Vec<String> = own.into_iter().chain(listed).collect();
        let lines = self.lines.finish().map_err(stored)?;
        let began_at = instructed.iter().flatten().next().copied().or(self.began_at);
        let instructed = instructed_at(instructed, (self.instructions.len(), &lines));
        let system =
            (!system.is_empty()).then(|| record_of_all(protocol, &system.join(","), &instructed));
        Ok(Import {
            lines,
            system: system.transpose().map_err(stored)?,
            tools: tools.map(|tools| record(protocol, tools)).transpose().map_err(stored)?,
            title: self.title,
            from_user: self.from_user,
            began_at,
        })
    }
}

/// Whether an element says something of the user's beside what an agent says in tags. Its meaning has its texts in one.
fn has_users_text(protocol: Protocol, element: &str) -> bool {
    if memchr::memmem::find(element.as_bytes(), b"</").is_none() {
        return false;
    }
    let messages = protocol.restore_messages(element, 0, protocol);
    let words = messages.map(|messages| title(&messages)).unwrap_or_default();
    !words.is_empty() && !words.starts_with('<')
}

pub(super) fn too_many(what: &str, most: usize, found: usize) -> Box<Failure> {
    let message = format!("expected at most {most} {what}, found {found}");
    Failure::client(FaultKind::TooLarge, message)
}

/// The elements of a transcript as they are written.
fn listed<'t>(transcript: &'t Json<'_>) -> Result<Vec<Cow<'t, str>>> {
    if transcript.kind() != Kind::Array {
        return Err(mistyped("transcript", "an array of messages", transcript.kind()));
    }
    // Messages take more memory than their text: there are not more than can be kept.
    let mut count = 0;
    transcript.reader().array(|_, element| {
        count += 1;
        element.skip()
    })?;
    if count > MESSAGES_MAX {
        return Err(too_many("messages", MESSAGES_MAX, count));
    }
    let mut elements = Vec::with_capacity(count);
    transcript.reader().array(|_, element| {
        elements.push(element.raw()?.into_cow());
        Ok(())
    })?;
    Ok(elements)
}

/// Some elements of a transcript, behind so many others.
fn read(elements: &[Cow<'_, str>], before: usize) -> Result<Transcript> {
    let list = format!("[{}]", elements.join(","));
    Transcript::parse(&list).map_err(|error| misread(&error, before))
}

/// Refuses a list of more elements than a history has, before each takes a place in memory. Instructions may be among them.
fn check_count(body: &str, list: &str) -> Result<()> {
    let mut count = 0;
    Reader::new(body).object(|name, reader| {
        match name == list && reader.kind()? == Kind::Array {
            true => reader.array(|_, element| {
                count += 1;
                element.skip()
            }),
            false => reader.skip(),
        }
    })?;
    match count > ELEMENTS_MAX {
        true => Err(too_many("messages", MESSAGES_MAX, count)),
        false => Ok(()),
    }
}

/// Whoever is no known speaker would be taken for the user.
fn check_roles(body: &str, protocol: Protocol) -> Result<()> {
    let Some(stranger) = history::stranger(body, protocol) else { return Ok(()) };
    let param = format!("messages.{}[{}].role", protocol.facts().messages(), stranger.index);
    let message = format!("{stranger} at {param}");
    Err(invalid(&param, message, "invalid_value"))
}

fn misread(error: &sabir_wire::Error, before: usize) -> Box<Failure> {
    let pointer = error.pointer().trim_start_matches('/');
    let (index, below) = pointer.split_once('/').unwrap_or((pointer, ""));
    let index = index.parse::<usize>().unwrap_or_default() + before;
    let below = if below.is_empty() { String::new() } else { format!(".{below}") };
    let param = format!("transcript[{index}]{}", below.replace('/', "."));
    let message = format!("{} at {param}", error.message());
    invalid(&param, message, "invalid_value")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::lines::{time_of, timed_lines};

    /// A long history of a protocol: instructions, and elements without a meaning of their own at the ends of blocks.
    fn history(protocol: Protocol, count: usize) -> String {
        let list = surface::of(protocol).state.messages;
        let element = |number: usize| match protocol {
            Protocol::OpenaiResponses if number % BLOCK_ELEMENTS >= BLOCK_ELEMENTS - 2 => {
                json!({"type": "reasoning", "id": format!("rs_{number}"), "summary": []})
            }
            Protocol::Gemini => {
                let role = if number.is_multiple_of(2) { "user" } else { "model" };
                json!({"role": role, "parts": [{"text": number.to_string()}]})
            }
            _ => {
                let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
                json!({"role": role, "content": number.to_string()})
            }
        };
        let mut elements: Vec<Value> = (0..count).map(element).collect();
        if protocol == surface::DEFAULT {
            elements.insert(0, json!({"role": "system", "content": "be brief"}));
        }
        json!({ "max_tokens": 9, list: elements }).to_string()
    }

    #[test]
    fn a_history_in_blocks_is_read_like_one_at_once() {
        for protocol in Protocol::ALL {
            let body = history(protocol, 2 * BLOCK_ELEMENTS + 7);
            let decoded = protocol.decode_request_text(&body).unwrap();
            let entries = decoded.entries().unwrap();
            let times: Vec<Option<Time>> =
                (0..entries.entries.len()).map(|it| Some(Time(it as i64))).collect();
            for known_by in [KnownBy::Meaning, KnownBy::Writing, KnownBy::Message] {
                let (whole, system) = timed_lines(protocol, &entries, &times, known_by).unwrap();
                let json = Json::parse(body.clone()).unwrap();
                let written = Written { protocol, body: json, times: times.clone() };
                let read = written.import(known_by, Time(7)).unwrap();
                assert_eq!(read.lines.messages, whole.messages, "{protocol:?} {known_by:?}");
                assert_eq!(read.lines.places, whole.places, "{protocol:?} {known_by:?}");
                assert_eq!((read.system, &*read.title), (system, "0"), "{protocol:?}");
                assert_eq!(read.from_user.len(), entries.entries.len(), "{protocol:?}");
            }
        }
    }

    #[test]
    fn what_has_no_time_gets_that_of_the_import_and_none_of_an_equal_one() {
        let list =
            r#"[{"role":"user","content":"a"},{"role":"assistant","content":"b","timestamp":3}]"#;
        let transcript = Source::Transcript(Json::parse(list).unwrap());
        let body = Json::parse(r#"{"messages":[{"role":"user","content":"a"}]}"#).unwrap();
        let written = Written { protocol: Protocol::OpenaiChat, body, times: Vec::new() };
        let (first, later) = (Time(7), Time(8));
        for (source, began_at) in [(transcript, Some(Time(3))), (Source::Messages(written), None)] {
            let [one, other] =
                [first, later].map(|now| source.read(KnownBy::Writing, now).unwrap());
            assert_eq!(time_of(&one.lines.messages[0].record), Some(first));
            assert_ne!(one.lines.messages[0].hash, other.lines.messages[0].hash);
            assert_eq!(one.began_at, began_at);
        }
    }

    #[test]
    fn what_is_wrong_is_found_at_its_own_place_in_any_block() {
        let transcript = vec![r#"{"role":"user","content":"a"}"#; 3_000].join(",");
        let wrong =
            Json::parse(format!(r#"[{transcript},{{"role":"user","content":7}}]"#)).unwrap();
        let failure = Source::Transcript(wrong).read(KnownBy::Writing, Time(7)).err().unwrap();
        let message = failure.fault.message.to_str().into_owned();
        assert!(message.contains("transcript[3000]"), "{message}");
        let body = format!(r#"{{"messages":[{transcript},{{"role":"user","content":7}}]}}"#);
        let body = Json::parse(body).unwrap();
        let written = Written { protocol: Protocol::OpenaiChat, body, times: Vec::new() };
        let message = written
            .import(KnownBy::Writing, Time(7))
            .err()
            .unwrap()
            .fault
            .message
            .to_str()
            .into_owned();
        assert!(message.contains("/messages/3000"), "{message}");
    }
}
