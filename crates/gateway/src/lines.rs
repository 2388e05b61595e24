//! Elements of a conversation as lines of the log: each in the spelling of its own protocol, under a hash over all that was
//! meant up to it and over the ids of all calls.

use sabir_store::{Conversation, Direction, Hash, ItemId, NewItem, NewMessage, Record, Time};
use sabir_wire::Protocol;
use sabir_wire::json::Reader;
use sabir_wire::protocol::{Element, Entries, Entry};

/// The end of a history: what was meant up to it, by which it is known again whoever sends it, and the ids by which its calls
/// went. A line is found by both: the results of a call must find the call that they answer, not one that meant the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) meaning: Option<Hash>,
    /// The ids, behind what the lines belong to alone, if to anything. None if nothing was called by an id, and whoever means
    /// the same may share them.
    pub(crate) calls: Option<Hash>,
}

impl Position {
    /// The beginning of a conversation, whose messages have times and thoughts of their own: its lines belong to it alone.
    pub(crate) fn of_conversation(conversation: &Conversation) -> Self {
        let Conversation { id, created_at, .. } = conversation;
        let own = Hash::of_bytes(format!("{id}\n{}", created_at.0).as_bytes());
        Self { calls: Some(own), ..Self::default() }
    }

    /// The end of lines that say this and end with `tip`. What follows lines that are not known by their meaning belongs to
    /// them alone.
    pub(crate) fn of_lines<'e>(entries: impl IntoIterator<Item = Entry<'e>>, tip: Hash) -> Self {
        let mut end = Self::default();
        for entry in entries {
            end.step(&entry.content);
        }
        if end.meaning.map(|meaning| end.line(meaning)) != Some(tip) {
            end.calls = Some(Hash::of_message(end.calls.as_ref(), tip.as_bytes()));
        }
        end
    }

    /// Goes on by an element.
    pub(crate) fn step(&mut self, content: &Element) -> Step {
        for meaning in &content.meanings {
            self.mean(meaning);
        }
        let Some(meaning) = self.meaning.filter(|_| !content.meanings.is_empty()) else {
            return Step::Silent;
        };
        if !content.call_ids.is_empty() {
            self.calls = Some(Hash::of_message(self.calls.as_ref(), &content.call_ids));
        }
        Step::Line { hash: self.line(meaning), end: *self }
    }

    /// Goes on by elements that mean nothing, and that nothing follows. Answers with their line.
    pub(crate) fn think(&mut self) -> Hash {
        let meaning = self.mean(THOUGHT);
        self.line(meaning)
    }

    fn mean(&mut self, meaning: &[u8]) -> Hash {
        *self.meaning.insert(Hash::of_message(self.meaning.as_ref(), meaning))
    }

    /// The line of the log that ends with this meaning.
    fn line(&self, meaning: Hash) -> Hash {
        match &self.calls {
            Some(calls) => Hash::of_message(Some(&meaning), calls.as_bytes()),
            None => meaning,
        }
    }
}

/// An element of a history, behind all that stand before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It is one of the leading instructions, which are no part of the conversation.
    Instructs,
    /// It means nothing by itself, and shares the line of what follows.
    Silent,
    /// A line ends with it.
    Line { hash: Hash, end: Position },
}

impl Step {
    /// Where the history ends that ends with it, if a line does.
    pub(crate) fn end(&self) -> Option<Position> {
        match self {
            Self::Line { end, .. } => Some(*end),
            Self::Instructs | Self::Silent => None,
        }
    }
}

/// A line of which nothing else is known.
impl From<Option<Hash>> for Position {
    fn from(line: Option<Hash>) -> Self {
        Self { meaning: line, calls: None }
    }
}

/// Lines of the log, and where each element stands in them.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pub(crate) messages: Vec<NewMessage>,
    /// The line of each element, and its place there.
    pub(crate) places: Vec<(Hash, u32)>,
    /// The id of each element, where it has one.
    pub(crate) ids: Vec<Option<String>>,
    /// What was meant up to and with each element; for one without a meaning, up to the element before it.
    pub(crate) states: Vec<Option<Hash>>,
    /// Where they end.
    pub(crate) end: Position,
}

/// What an element that means nothing by itself is hashed as where nothing follows it.
const THOUGHT: &[u8] = b"thought";

/// Makes lines of elements that stand after `base`. An element without a meaning of its own, such as thinking, shares the
/// line of the next one: clients leave it out as they like.
pub(crate) fn lines(
    protocol: Protocol,
    base: impl Into<Position>,
    entries: &[Entry<'_>],
) -> sabir_store::Result<Lines> {
    let mut lines = Lines { end: base.into(), ..Lines::default() };
    let mut waiting: Vec<&str> = Vec::new();
    for entry in entries {
        let id = Reader::new(&entry.json).peek_tag("id").ok().flatten();
        lines.ids.push(id.map(|id| id.into_str().into_owned()));
        waiting.push(&entry.json);
        let step = lines.end.step(&entry.content);
        lines.states.push(lines.end.meaning);
        if let Step::Line { hash, .. } = step {
            lines.close(protocol, hash, &mut waiting)?;
        }
    }
    if !waiting.is_empty() {
        let hash = lines.end.think();
        lines.close(protocol, hash, &mut waiting)?;
    }
    Ok(lines)
}

/// What the lines of a history are known by that was held elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownBy {
    /// What they mean: what is kept already is not added twice, however it was spelled.
    Meaning,
    /// How they are written: they come back as they are, whatever else means the same.
    Writing,
    /// The same with a line for each element: plain messages, each with a time of its own.
    Message,
}

/// What the first line of what was written elsewhere stands behind.
const WRITTEN: &[u8] = b"written";

/// A history that was held elsewhere: its lines with the times of its elements, and its instructions. Times that stand before
/// those of the elements are times of the instructions.
pub(crate) fn timed_lines(
    protocol: Protocol,
    history: &Entries<'_>,
    times: &[Option<Time>],
    known_by: KnownBy,
) -> sabir_store::Result<(Lines, Option<Record>)> {
    let leading = times.len().saturating_sub(history.entries.len());
    let (instructed, times) = times.split_at(leading);
    let mut lines = HeldLines::new(protocol, known_by);
    for (index, entry) in history.entries.iter().enumerate() {
        lines.add(&entry.json, &entry.content, times.get(index).copied().flatten())?;
    }
    let lines = lines.finish()?;
    let instructed = instructed_at(instructed, (1, &lines));
    let system = history.system.as_deref();
    let system = system.map(|system| record_of_all(protocol, system, &instructed));
    Ok((lines, system.transpose()?))
}

/// When each of the instructions was given. Where nobody knows it, they are as old as what they led.
pub(crate) fn instructed_at(
    known: &[Option<Time>],
    (count, lines): (usize, &Lines),
) -> Vec<Option<Time>> {
    let first = lines.messages.iter().find_map(|line| time_of(&line.record));
    match known.iter().any(Option::is_some) || first.is_none() {
        true => known.to_vec(),
        false => vec![first; known.len().max(count).max(1)],
    }
}

/// Lines of a history that was held elsewhere, in the making. Of its elements nothing but their places is kept beside.
#[derive(Debug)]
pub(crate) struct HeldLines {
    protocol: Protocol,
    known_by: KnownBy,
    lines: Lines,
    /// The elements of the next line, and how many there are.
    waiting: String,
    waiting_count: u32,
    /// When the last of them was said that has a time.
    time: Option<Time>,
    /// The last line as it is written.
    written: Hash,
}

impl HeldLines {
    pub(crate) fn new(protocol: Protocol, known_by: KnownBy) -> Self {
        Self {
            protocol,
            known_by,
            lines: Lines::default(),
            waiting: String::new(),
            waiting_count: 0,
            time: None,
            written: Hash::of_bytes(WRITTEN),
        }
    }

    /// Lines that go on from a line of the same kind, as if all had been held together.
    pub(crate) fn after(line: Hash, protocol: Protocol, known_by: KnownBy) -> Self {
        Self { written: line, ..Self::new(protocol, known_by) }
    }

    /// Lines that are known by their meaning and go on from a history that is kept already.
    pub(crate) fn behind(protocol: Protocol, end: Position) -> Self {
        let lines = Lines { end, ..Lines::default() };
        Self { lines, ..Self::new(protocol, KnownBy::Meaning) }
    }

    pub(crate) fn add(
        &mut self,
        json: &str,
        content: &Element,
        time: Option<Time>,
    ) -> sabir_store::Result<()> {
        if self.waiting_count > 0 {
            self.waiting.push(',');
        }
        self.waiting.push_str(json);
        self.waiting_count += 1;
        self.time = time.or(self.time);
        match self.known_by {
            KnownBy::Message => self.close(None),
            KnownBy::Meaning | KnownBy::Writing => match self.lines.end.step(content) {
                Step::Line { hash, .. } => self.close(Some(hash)),
                Step::Instructs | Step::Silent => Ok(()),
            },
        }
    }

    pub(crate) fn finish(mut self) -> sabir_store::Result<Lines> {
        if self.waiting_count > 0 {
            let hash = self.lines.end.think();
            self.close(Some(hash))?;
        }
        Ok(self.lines)
    }

    /// Ends a line, which is known by its meaning or by how it is written, told apart from all that mean the same.
    fn close(&mut self, meant: Option<Hash>) -> sabir_store::Result<()> {
        let record = match self.time.take() {
            Some(time) => record_of(self.protocol, &self.waiting, time)?,
            None => record(self.protocol, &self.waiting)?,
        };
        self.written = Hash::of_message(Some(&self.written), record.as_bytes());
        let hash = meant.filter(|_| self.known_by == KnownBy::Meaning).unwrap_or(self.written);
        self.lines.places.extend((0..self.waiting_count).map(|part| (hash, part)));
        self.lines.messages.push(NewMessage { hash, record });
        self.waiting.clear();
        self.waiting_count = 0;
        Ok(())
    }
}

impl Lines {
    fn close(
        &mut self,
        protocol: Protocol,
        hash: Hash,
        elements: &mut Vec<&str>,
    ) -> sabir_store::Result<()> {
        let places = (0..).take(elements.len()).map(|part| (hash, part));
        self.places.extend(places);
        let record = record(protocol, &elements.join(","))?;
        self.messages.push(NewMessage { hash, record });
        elements.clear();
        Ok(())
    }

    /// Elements that came with an id are found by it.
    pub(crate) fn named(&self, direction: Direction) -> sabir_store::Result<Vec<NewItem>> {
        let named = self.ids.iter().zip(&self.places);
        let named = named.filter_map(|(id, place)| id.as_ref().map(|id| (id, place)));
        named
            .map(|(id, (message, part))| {
                let (id, message, part) = (ItemId::new(id)?, *message, *part);
                Ok(NewItem { id, direction, message, part })
            })
            .collect()
    }

    /// Adds lines that go on from the end of these.
    pub(crate) fn append(&mut self, more: Self) {
        self.messages.extend(more.messages);
        self.places.extend(more.places);
        self.ids.extend(more.ids);
        self.states.extend(more.states);
        self.end = more.end;
    }

    /// The hash of the history that ends with these lines.
    pub(crate) fn tip(&self) -> Option<Hash> {
        self.messages.last().map(|message| message.hash)
    }
}

/// A hash in hexadecimal digits.
pub(crate) fn digits(hash: &Hash) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let halves = hash.as_bytes().iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    halves.map(|half| char::from(DIGITS[usize::from(half)])).collect()
}

/// A record: the protocol, then what it says.
pub(crate) fn record(protocol: Protocol, text: &str) -> sabir_store::Result<Record> {
    Record::new(format!("{}\n{text}", protocol.as_str()))
}

/// The same of what was said at a time of its own, in milliseconds since 1970.
pub(crate) fn record_of(protocol: Protocol, text: &str, time: Time) -> sabir_store::Result<Record> {
    record_of_all(protocol, text, &[Some(time)])
}

/// The same of several things, each of which may have been said at a time of its own.
pub(crate) fn record_of_all(
    protocol: Protocol,
    text: &str,
    times: &[Option<Time>],
) -> sabir_store::Result<Record> {
    let spelled = times.iter().map(|time| time.map_or("-".to_owned(), |time| time.0.to_string()));
    let head: Vec<String> = [protocol.as_str().to_owned()].into_iter().chain(spelled).collect();
    Record::new(format!("{}\n{text}", head.join(" ")))
}

/// Reads a record.
pub(crate) fn read(record: &Record) -> Option<(Protocol, &str)> {
    let (head, text) = parts(record)?;
    let protocol = head.split(' ').next().unwrap_or_default();
    Some((Protocol::parse(protocol)?, text))
}

/// When it was said, if the record states it.
pub(crate) fn time_of(record: &Record) -> Option<Time> {
    times_of(record).into_iter().next().flatten()
}

/// When each of several things was said, as far as the record tells.
pub(crate) fn times_of(record: &Record) -> Vec<Option<Time>> {
    let head = parts(record).map(|(head, _)| head).unwrap_or_default();
    head.split(' ').skip(1).map(|time| time.parse().ok().map(Time)).collect()
}

fn parts(record: &Record) -> Option<(&str, &str)> {
    std::str::from_utf8(record.as_bytes()).ok()?.split_once('\n')
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn entry(json: &'static str, meanings: &[&str]) -> Entry<'static> {
        let meanings = meanings.iter().map(|meaning| meaning.as_bytes().to_vec()).collect();
        Entry { json: Cow::Borrowed(json), content: Element { meanings, call_ids: Vec::new() } }
    }

    #[test]
    fn calls_that_mean_the_same_are_told_apart_by_their_ids() {
        let called = |id: &str| {
            let mut call = entry("call", &["call"]);
            call.content.call_ids = id.as_bytes().to_vec();
            call
        };
        let [one, other] = ["a", "b"].map(|id| {
            let texts = [entry("1", &["x"]), called(id), entry("2", &["y"])];
            lines(Protocol::OpenaiResponses, None, &texts).unwrap()
        });
        assert_eq!(one.states, other.states);
        assert_eq!(one.messages[0].hash, other.messages[0].hash);
        assert_ne!(one.messages[1].hash, other.messages[1].hash);
        assert_ne!(one.messages[2].hash, other.messages[2].hash);
        // What follows goes on from where it stands, in a later turn too.
        let more = [entry("3", &["z"])];
        let later = lines(Protocol::OpenaiResponses, one.end, &more).unwrap();
        let texts = [entry("1", &["x"]), called("a"), entry("2", &["y"]), entry("3", &["z"])];
        let whole = lines(Protocol::OpenaiResponses, None, &texts).unwrap();
        assert_eq!((later.tip(), later.end), (whole.tip(), whole.end));
    }

    #[test]
    fn equal_meanings_have_equal_hashes_however_they_are_grouped() {
        let apart = [entry("1", &["a"]), entry("2", &["b"]), entry("3", &["c"])];
        let together = [entry("12", &["a", "b"]), entry("3", &["c"])];
        let apart = lines(Protocol::OpenaiResponses, None, &apart).unwrap();
        let together = lines(Protocol::AnthropicMessages, None, &together).unwrap();
        assert_eq!(apart.tip(), together.tip());
        assert_eq!(apart.messages[1].hash, together.messages[0].hash);
        assert_eq!(apart.messages.len(), 3);
    }

    #[test]
    fn a_record_may_tell_its_time() {
        let plain = record(Protocol::Gemini, "a b").unwrap();
        let timed = record_of(Protocol::Gemini, "a b", Time(7)).unwrap();
        assert_eq!(read(&plain), read(&timed));
        assert_eq!((time_of(&plain), time_of(&timed)), (None, Some(Time(7))));
        let several = [Some(Time(7)), None, Some(Time(9))];
        let timed = record_of_all(Protocol::Gemini, "a b", &several).unwrap();
        assert_eq!((read(&plain), times_of(&timed)), (read(&timed), several.to_vec()));
    }

    #[test]
    fn what_was_written_elsewhere_is_told_apart_from_what_means_the_same() {
        let texts = [entry("1", &["x"]), entry("2", &[])];
        let meant = lines(Protocol::OpenaiChat, None, &texts).unwrap();
        let history = Entries { entries: texts.to_vec(), ..Entries::default() };
        let written = |times: &[Option<Time>]| {
            let lines = timed_lines(Protocol::OpenaiChat, &history, times, KnownBy::Message);
            lines.unwrap().0.tip()
        };
        assert_eq!(written(&[]), written(&[None, None]));
        let tips = [meant.tip(), written(&[]), written(&[None, Some(Time(1))])];
        assert!(tips[0] != tips[1] && tips[1] != tips[2] && tips[0] != tips[2]);
        let end = Position::of_lines(texts.clone(), written(&[]).unwrap());
        assert_eq!((end.meaning, end.calls.is_some()), (meant.states[1], true));
    }

    #[test]
    fn thinking_shares_the_line_of_what_follows() {
        let thought = [entry("t", &[]), entry("x", &["x"]), entry("last", &[])];
        let with = lines(Protocol::OpenaiResponses, None, &thought).unwrap();
        let without = lines(Protocol::OpenaiResponses, None, &[entry("x", &["x"])]).unwrap();
        assert_eq!(with.messages[0].hash, without.messages[0].hash);
        assert_eq!(read(&with.messages[0].record), Some((Protocol::OpenaiResponses, "t,x")));
        assert_eq!(with.places.len(), 3);
        assert_eq!(with.messages.len(), 2);
    }
}
