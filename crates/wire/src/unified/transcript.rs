//! Transcripts: plain messages and when each was said, as a JSON list that people can read and edit.

use std::fmt;

use crate::error::{Error, ErrorKind, Result};
use crate::json::{Encode, Json, Kind, Number, Reader, Writer, indented};
use crate::protocol::object::put;
use crate::unified::UnifiedMessage;

/// A conversation as it is kept in a file. What people add to a message stays in it.
///
/// ```
/// use sabir_wire::unified::{Transcript, TranscriptMessage, UnifiedMessage};
///
/// let mut transcript = Transcript::default();
/// transcript.push(TranscriptMessage::new(UnifiedMessage::user("Hello"), 1_700_000_000_000));
/// let json = transcript.to_json();
/// assert_eq!(json, "[\n  {\n    \"role\": \"user\",\n    \"content\": \"Hello\",\n    \"timestamp\": 1700000000000\n  }\n]");
/// assert_eq!(Transcript::parse(&json)?.to_json(), json);
/// # Ok::<(), sabir_wire::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    messages: Vec<TranscriptMessage>,
}

/// A message, and when it was said.
#[derive(Clone, PartialEq)]
pub struct TranscriptMessage {
    message: UnifiedMessage,
    timestamp_ms: Option<i64>,
    /// The message as it stands in the list.
    written: Json<'static>,
}

impl Transcript {
    /// Reads a list of messages, or lines with a message each.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if !text.trim_start().starts_with('[') {
            return Self::parse_lines(text);
        }
        let list = |reader: &mut Reader<'_>| reader.list(|_, it| TranscriptMessage::read(it));
        Ok(Self { messages: Reader::whole(text, list)? })
    }

    fn parse_lines(text: &str) -> Result<Self> {
        let lines = text.lines().filter(|line| !line.trim().is_empty()).enumerate();
        let messages = lines.map(|(index, line)| {
            Reader::whole(line, TranscriptMessage::read).map_err(|error| error.under_index(index))
        });
        Ok(Self { messages: messages.collect::<Result<_>>()? })
    }

    pub fn push(&mut self, message: TranscriptMessage) {
        self.messages.push(message);
    }

    pub fn messages(&self) -> &[TranscriptMessage] {
        &self.messages
    }

    pub fn into_messages(self) -> Vec<TranscriptMessage> {
        self.messages
    }

    /// The messages without their times, as a request holds them.
    pub fn plain(&self) -> Vec<UnifiedMessage> {
        self.messages.iter().map(|kept| kept.message.clone()).collect()
    }

    /// The list, indented by two spaces.
    pub fn to_json(&self) -> String {
        indented(&self.to_compact_json())
    }

    /// The list without white space.
    pub fn to_compact_json(&self) -> String {
        let mut writer = Writer::with_capacity(4096);
        writer.value(self);
        writer.into_string()
    }

    /// A message in each line.
    pub fn to_lines(&self) -> String {
        let lines = self.messages.iter().map(|kept| format!("{}\n", kept.written.compact()));
        lines.collect()
    }
}

impl Encode for Transcript {
    fn encode(&self, writer: &mut Writer) {
        writer.array(|list| {
            let written = self.messages.iter().map(|kept| kept.written.compact());
            written.for_each(|message| list.value(&Json::trusted(message)));
        });
    }
}

impl FromIterator<TranscriptMessage> for Transcript {
    fn from_iter<I: IntoIterator<Item = TranscriptMessage>>(messages: I) -> Self {
        Self { messages: messages.into_iter().collect() }
    }
}

impl TranscriptMessage {
    /// A message that is said at a time, in milliseconds since 1970.
    pub fn new(message: UnifiedMessage, timestamp_ms: i64) -> Self {
        Self::timed(message, Some(timestamp_ms))
    }

    /// A message of which nobody may know when it was said.
    pub fn timed(message: UnifiedMessage, timestamp_ms: Option<i64>) -> Self {
        let written = Json::written(|writer| {
            writer.object(|object| {
                message.write_members(object);
                object.optional("timestamp", timestamp_ms.as_ref());
            });
        });
        Self { message, timestamp_ms, written }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        if reader.kind()? != Kind::Object {
            let message = format!("expected a message, found {}", reader.kind()?);
            return Err(Error::new(ErrorKind::Type, message));
        }
        let written = reader.raw()?;
        let message = UnifiedMessage::from_json(written.as_str())?;
        let timestamp_ms = timestamp(&written)?;
        Ok(Self { message, timestamp_ms, written: written.into_owned() })
    }

    pub fn message(&self) -> &UnifiedMessage {
        &self.message
    }

    /// Milliseconds since 1970.
    pub fn timestamp_ms(&self) -> Option<i64> {
        self.timestamp_ms
    }

    pub fn into_message(self) -> UnifiedMessage {
        self.message
    }
}

/// The last millisecond of the year 9999. What is beyond is no time of a conversation.
const TIMESTAMP_MS_MAX: i64 = 253_402_300_799_999;

/// The time that a message states.
fn timestamp(written: &Json<'_>) -> Result<Option<i64>> {
    let mut time = None;
    written.reader().object(|key, reader| match &*key {
        "timestamp" => put(&mut time, read_timestamp(reader)),
        _ => reader.skip(),
    })?;
    Ok(time)
}

/// Reads a time in milliseconds since 1970; none if it is null.
pub fn read_timestamp(reader: &mut Reader<'_>) -> Result<Option<i64>> {
    let kind = reader.kind()?;
    match kind {
        Kind::Null => return reader.null().map(|()| None),
        Kind::Number => {}
        _ => {
            return Err(Error::new(ErrorKind::Type, format!("{TIMESTAMP_EXPECTED}, found {kind}")));
        }
    }
    let number: Number<'_> = reader.number()?;
    let ms = number.as_i64().or_else(|| number.as_f64().map(|ms| ms as i64));
    let ms = ms.filter(|ms| (0..=TIMESTAMP_MS_MAX).contains(ms));
    let unknown = || Error::new(ErrorKind::Value, format!("{TIMESTAMP_EXPECTED} and before 10000"));
    ms.map(Some).ok_or_else(unknown)
}

const TIMESTAMP_EXPECTED: &str = "expected a time in milliseconds since 1970";

// Conversations do not belong in logs.
impl fmt::Debug for TranscriptMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TranscriptMessage")
            .field("message", &self.message)
            .field("timestamp_ms", &self.timestamp_ms)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::unified::{UnifiedRole, UnifiedToolCall};

    #[test]
    fn what_people_add_to_a_message_stays() {
        let edited = r#"[{"role":"user","content":"a","note":[1.0,"x"],"timestamp":1e3}]"#;
        let transcript = Transcript::parse(edited).unwrap();
        assert_eq!(transcript.messages()[0].timestamp_ms(), Some(1000));
        assert_eq!(transcript.to_compact_json(), edited);
        assert_eq!(transcript.plain()[0].to_json(), r#"{"role":"user","content":"a"}"#);
    }

    #[test]
    fn lines_and_lists_are_the_same_transcript() {
        let lines = "{\"role\":\"user\",\"content\":\"a\"}\n\n{\"role\":\"assistant\",\"content\":\"b\"}\r\n";
        let transcript = Transcript::parse(lines).unwrap();
        assert!(transcript == Transcript::parse(&transcript.to_json()).unwrap());
        assert!(transcript == Transcript::parse(&transcript.to_lines()).unwrap());
        assert_eq!(Transcript::parse("").unwrap().to_json(), "[]");
    }

    #[test]
    fn what_is_no_message_is_refused_with_its_place() {
        for (text, pointer) in [
            (r#"[{"role":"user","content":"a"},{"role":"robot"}]"#, "/1/role"),
            (r#"[{"role":"user","content":[]}]"#, "/0/content"),
            ("[1]", "/0"),
            ("{\"role\":\"user\"}\n{\"role\":1}", "/1/role"),
            (r#"[{"content":"a"}]"#, "/0"),
            (r#"[{"role":"user","timestamp":"yesterday"}]"#, "/0/timestamp"),
            (r#"[{"role":"user","timestamp":-1}]"#, "/0/timestamp"),
            (r#"[{"role":"user","timestamp":1e300}]"#, "/0/timestamp"),
            ("{\"role\":\"user\"}\n{\"role\":\"us", "/1"),
            ("[", "/0"),
            ("[] []", ""),
        ] {
            assert_eq!(Transcript::parse(text).unwrap_err().pointer(), pointer, "{text}");
        }
    }

    fn message() -> impl Strategy<Value = TranscriptMessage> {
        let role = prop::sample::select(vec![
            UnifiedRole::System,
            UnifiedRole::User,
            UnifiedRole::Assistant,
            UnifiedRole::Tool,
        ]);
        let call = (any::<String>(), any::<String>(), any::<String>())
            .prop_map(|(id, name, arguments)| UnifiedToolCall { id, name, arguments });
        let calls = prop::collection::vec(call, 0..3);
        let id = prop::option::of(any::<String>());
        (role, any::<String>(), id, calls, prop::option::of(0..=TIMESTAMP_MS_MAX)).prop_map(
            |(role, content, tool_call_id, tool_calls, time)| {
                let message = UnifiedMessage { role, content, tool_call_id, tool_calls };
                TranscriptMessage::timed(message, time)
            },
        )
    }

    proptest! {
        #[test]
        fn a_written_transcript_reads_back_byte_for_byte(messages in prop::collection::vec(message(), 0..8)) {
            let transcript: Transcript = messages.into_iter().collect();
            let json = transcript.to_json();
            let read = Transcript::parse(&json).unwrap();
            prop_assert!(read == transcript);
            prop_assert_eq!(read.to_json(), json);
            prop_assert_eq!(Transcript::parse(&transcript.to_lines()).unwrap().to_lines(), transcript.to_lines());
        }
    }
}
