//! The events of a reply as they come, read where they stand. Nearly every event is a name and a line of data, and comes whole:
//! those are taken as they are, and only the others are put together.

use std::str;

use memchr::{memchr2, memmem};
use sabir_wire::Result;
use sabir_wire::sse::Parser;

pub(super) struct Events {
    parser: Parser,
    data_bytes_max: usize,
    /// How the last mere piece began, from the line that names it on, as far as that shows what it is.
    beginning: Vec<u8>,
    /// Where its data begins in it.
    data_at: usize,
}

/// Room for the beginning of a piece: its name, and the same once more as the type of its data.
const BEGINNING_BYTES: usize = 128;

/// Whoever takes the data of events: UTF-8, as the events of a stream are.
pub(super) trait Take {
    /// Takes a piece of an answer that begins like an earlier one.
    fn piece(&mut self, data: &[u8]);

    /// Takes any other event, and says how many of its first bytes show that it is a mere piece.
    fn event(&mut self, data: &[u8]) -> usize;
}

impl Events {
    pub(super) fn new(data_bytes_max: usize) -> Self {
        let parser = Parser::with_limit(data_bytes_max);
        Self { parser, data_bytes_max, beginning: Vec::with_capacity(BEGINNING_BYTES), data_at: 0 }
    }

    /// Reads the next bytes, and hands on the data of every event that they complete.
    pub(super) fn push(&mut self, mut bytes: &[u8], take: &mut impl Take) -> Result<()> {
        let data_bytes_max = self.data_bytes_max;
        let is_short = |data: &[u8]| data.len() <= data_bytes_max;
        while !bytes.is_empty() {
            if self.parser.is_between_frames() {
                while let Some((data, rest)) = self.alike(bytes).filter(|it| is_short(it.0)) {
                    take.piece(data);
                    bytes = rest;
                }
                if let Some(event) = Event::whole(bytes).filter(|event| is_short(event.data)) {
                    let shown = take.event(event.data);
                    if shown > 0 {
                        self.remember(&bytes[..event.data_at + shown], event.data_at);
                    }
                    bytes = event.rest;
                    continue;
                }
            }
            let end = memmem::find(bytes, b"\n\n").map_or(bytes.len(), |at| at + 2);
            self.parser.push(&bytes[..end], &mut |frame| {
                take.event(frame.data.as_bytes());
                Ok(())
            })?;
            bytes = &bytes[end..];
        }
        Ok(())
    }

    /// The data of an event at the beginning that begins like the last piece, and what stands behind it.
    fn alike<'b>(&self, bytes: &'b [u8]) -> Option<(&'b [u8], &'b [u8])> {
        let beginning = &*self.beginning;
        let (first, behind) = bytes.split_at_checked(beginning.len())?;
        if beginning.is_empty() || first != beginning {
            return None;
        }
        let (line, rest) = bytes.split_at(beginning.len() + line_length(behind)?);
        Some((&line[self.data_at..], rest.strip_prefix(b"\n\n")?))
    }

    fn remember(&mut self, beginning: &[u8], data_at: usize) {
        self.beginning.clear();
        self.beginning.extend_from_slice(beginning);
        self.data_at = data_at;
    }
}

/// An event that stands at the beginning of some bytes, whole and with one line of data.
struct Event<'b> {
    data: &'b [u8],
    /// Where the data begins.
    data_at: usize,
    /// What stands behind it.
    rest: &'b [u8],
}

impl<'b> Event<'b> {
    /// The event at the beginning.
    fn whole(bytes: &'b [u8]) -> Option<Self> {
        let name_bytes = match bytes.starts_with(b"event: ") {
            true => line_length(bytes)? + 1,
            false => 0,
        };
        let data = bytes[name_bytes..].strip_prefix(b"data: ")?;
        let data_at = bytes.len() - data.len();
        let (data, rest) = data.split_at(line_length(data)?);
        Some(Self { data, data_at, rest: rest.strip_prefix(b"\n\n")? })
    }
}

/// The length of the line at the beginning, if that is text and a line feed ends it.
fn line_length(bytes: &[u8]) -> Option<usize> {
    let plain = plain_length(bytes);
    if *bytes.get(plain)? == b'\n' {
        return Some(plain);
    }
    let length = plain + memchr2(b'\n', b'\r', &bytes[plain..])?;
    let is_text = || str::from_utf8(&bytes[plain..length]).is_ok();
    (bytes[length] == b'\n' && is_text()).then_some(length)
}

/// How many of the first bytes are printable ASCII. Most lines are nothing else, so that this finds their end, and in one look
/// that they are text; they are too short for a search that has to be called.
fn plain_length(bytes: &[u8]) -> usize {
    // Of signed bytes, those beyond ASCII are below all others.
    let is_plain = |byte: u8| byte.cast_signed() >= b' '.cast_signed();
    let (chunks, _) = bytes.as_chunks::<16>();
    let all = |chunk: &&[u8; 16]| chunk.iter().fold(true, |all, byte| all & is_plain(*byte));
    let whole = chunks.iter().take_while(all).count() * 16;
    let last = bytes[whole..].iter().take_while(|byte| is_plain(**byte));
    whole + last.count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DATA_BYTES_MAX: usize = 60;

    const PIECES: [&str; 17] = [
        "event: a\ndata: {\"type\":\"a\"}\n\n",
        "data: {\"type\":\"ü\"}\n\n",
        "data: {}\n\n",
        "data:{}\n\n",
        "event: a\r\ndata: {}\r\n\r\n",
        "event: a\rdata: {}\r\r",
        "data: {\ndata: }\n\n",
        ": comment\n\n",
        ": comment\ndata: [1]\n\n",
        "event: a\n\n",
        "id: 7\ndata: x\n\n",
        "\n",
        "data: 1\n",
        "data: 0123456789012345678901234567890123456789\n\n",
        "event: a\ndata: {\"type\":\"a\",\"delta\":\"0123456789 ü 0123456789\"}\n\n",
        "event: a\ndata: {\"type\":\"a\",\t\"delta\":\"0123456789\"}\n\n",
        "event: a\ndata: {\"type\":\"a\",\r\"delta\":\"0123456789\"}\n\n",
    ];

    /// Events whose type is shown by their first bytes are pieces.
    #[derive(Default)]
    struct Taken {
        all: Vec<Vec<u8>>,
        alike: usize,
    }

    impl Take for Taken {
        fn piece(&mut self, data: &[u8]) {
            self.alike += 1;
            assert!(data.starts_with(TYPE), "{data:?}");
            self.all.push(data.to_vec());
        }

        fn event(&mut self, data: &[u8]) -> usize {
            self.all.push(data.to_vec());
            if data.starts_with(TYPE) { TYPE.len() } else { 0 }
        }
    }

    const TYPE: &[u8] = br#"{"type":"a""#;

    /// The data of all events of a stream that comes in these pieces, up to an error.
    fn taken<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Vec<Vec<u8>> {
        let (mut events, mut taken) = (Events::new(DATA_BYTES_MAX), Taken::default());
        for piece in pieces {
            if events.push(piece, &mut taken).is_err() {
                break;
            }
        }
        taken.all
    }

    #[test]
    fn pieces_that_begin_like_the_last_are_not_looked_at_again() {
        let named = "event: a\ndata: {\"type\":\"a\",\"b\":1}\n\n".repeat(3);
        let other = "event: b\ndata: {\"type\":\"b\"}\n\ndata: {\"type\":\"a\"}\n\n";
        let stream = format!("{named}{other}{named}");
        let (mut events, mut taken) = (Events::new(DATA_BYTES_MAX), Taken::default());
        events.push(stream.as_bytes(), &mut taken).unwrap();
        assert_eq!((taken.all.len(), taken.alike), (8, 4));
    }

    /// The same by the parser alone.
    fn parsed(bytes: &[u8]) -> Vec<Vec<u8>> {
        let (mut parser, mut taken) = (Parser::with_limit(DATA_BYTES_MAX), Vec::new());
        let _ = parser.push(bytes, &mut |frame| {
            taken.push(frame.data.as_bytes().to_vec());
            Ok(())
        });
        taken
    }

    #[test]
    fn what_is_too_long_or_no_text_ends_the_events() {
        let long = format!("data: {}\n\n", "x".repeat(DATA_BYTES_MAX + 1));
        for wrong in [long.as_bytes(), b"data: \xff\n\n"] {
            let stream = [b"data: 1\n\n", wrong, b"data: 2\n\n"].concat();
            assert_eq!(taken([&*stream]), [b"1"]);
        }
    }

    #[test]
    fn the_end_of_a_line_is_found_wherever_it_is() {
        for length in 0..70 {
            let line = "x".repeat(length);
            for (text, expected) in [
                (format!("{line}\nxx\n"), Some(length)),
                (format!("{line}ü\t\n\r"), Some(length + 3)),
                (format!("{line}\r\n"), None),
                (format!("{line}\u{7f}\n"), Some(length + 1)),
                (line.clone(), None),
            ] {
                assert_eq!(line_length(text.as_bytes()), expected, "{text:?}");
            }
            assert_eq!(line_length(&[line.as_bytes(), b"\xff\n"].concat()), None);
        }
    }

    proptest! {
        #[test]
        fn the_events_are_those_that_the_parser_finds_however_they_come(
            kinds in prop::collection::vec(0..PIECES.len(), 0..10),
            ends in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let stream: String = kinds.iter().map(|kind| PIECES[*kind]).collect();
            let bytes = stream.as_bytes();
            let mut ends: Vec<usize> = ends.iter().map(|end| end.index(bytes.len() + 1)).collect();
            ends.extend([0, bytes.len()]);
            ends.sort_unstable();
            let pieces = ends.windows(2).map(|ends| &bytes[ends[0]..ends[1]]);
            prop_assert_eq!(taken(pieces), parsed(bytes));
        }
    }
}
