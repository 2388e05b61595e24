//! Elements of a conversation as lines of the log: each in the spelling of its own protocol, under a hash over all that was
//! meant up to it.

use sabir_store::{Hash, NewMessage, Record};
use sabir_wire::Protocol;
use sabir_wire::json::Reader;
use sabir_wire::protocol::Entry;

/// Lines of the log, and where each element stands in them.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pub(crate) messages: Vec<NewMessage>,
    /// The line of each element, and its place there.
    pub(crate) places: Vec<(Hash, u32)>,
    /// The id of each element, where it has one.
    pub(crate) ids: Vec<Option<String>>,
    /// The hash up to and with each element; that of one without a meaning is that of the element before it.
    pub(crate) states: Vec<Option<Hash>>,
}

/// What an element that means nothing by itself is hashed as where nothing follows it.
const THOUGHT: &[u8] = b"thought";

/// Makes lines of elements that stand after `base`. An element without a meaning of its own, such as thinking, shares the
/// line of the next one: clients leave it out as they like.
pub(crate) fn lines(
    protocol: Protocol,
    base: Option<Hash>,
    entries: &[Entry<'_>],
) -> sabir_store::Result<Lines> {
    let mut lines = Lines::default();
    let mut parent = base;
    let mut waiting: Vec<&str> = Vec::new();
    for entry in entries {
        let id = Reader::new(&entry.json).peek_tag("id").ok().flatten();
        lines.ids.push(id.map(|id| id.into_str().into_owned()));
        waiting.push(&entry.json);
        if entry.meanings.is_empty() {
            lines.states.push(parent);
            continue;
        }
        let mut hash = parent;
        for meaning in &entry.meanings {
            hash = Some(Hash::of_message(hash.as_ref(), meaning));
        }
        lines.states.push(hash);
        parent = hash;
        lines.close(protocol, hash, &mut waiting)?;
    }
    if !waiting.is_empty() {
        let hash = Hash::of_message(parent.as_ref(), THOUGHT);
        lines.close(protocol, Some(hash), &mut waiting)?;
    }
    Ok(lines)
}

impl Lines {
    fn close(
        &mut self,
        protocol: Protocol,
        hash: Option<Hash>,
        elements: &mut Vec<&str>,
    ) -> sabir_store::Result<()> {
        let Some(hash) = hash else { return Ok(()) };
        let places = (0..).take(elements.len()).map(|part| (hash, part));
        self.places.extend(places);
        let record = record(protocol, &elements.join(","))?;
        self.messages.push(NewMessage { hash, record });
        elements.clear();
        Ok(())
    }

    /// The hash of the history that ends with these lines.
    pub(crate) fn tip(&self) -> Option<Hash> {
        self.messages.last().map(|message| message.hash)
    }
}

/// A record: the protocol, then what it says.
pub(crate) fn record(protocol: Protocol, text: &str) -> sabir_store::Result<Record> {
    Record::new(format!("{}\n{text}", protocol.as_str()))
}

/// Reads a record.
pub(crate) fn read(record: &Record) -> Option<(Protocol, &str)> {
    let text = std::str::from_utf8(record.as_bytes()).ok()?;
    let (protocol, text) = text.split_once('\n')?;
    Some((Protocol::parse(protocol)?, text))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn entry(json: &'static str, meanings: &[&str]) -> Entry<'static> {
        let meanings = meanings.iter().map(|meaning| meaning.as_bytes().to_vec()).collect();
        Entry { json: Cow::Borrowed(json), meanings }
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
