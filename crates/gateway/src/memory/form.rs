//! Conversations in files: transcripts, which hold texts, tool calls and their results. What else a call says is refused.

use std::collections::{HashSet, VecDeque};
use std::iter::repeat;

use sabir_store::{Added, Content, Error, Form, NewMessage, Outline, Record, Result, Time, Title};
use sabir_wire::conversation::{Content as Parts, Message, Part};
use sabir_wire::unified::{Transcript, TranscriptMessage, UnifiedMessage, UnifiedRole};

use super::lost::{NO_REASONING, lost_of};
use crate::lines::{KnownBy, read, time_of, timed_lines, times_of};
use crate::surface;

/// The form of the files.
#[derive(Debug)]
pub(super) struct Transcripts;

/// Whether a transcript can hold these messages, all of them.
pub(crate) fn check(messages: &[NewMessage]) -> Result<()> {
    match thinks(messages)? {
        true => Err(Error::unsupported(NO_REASONING)),
        false => messages.iter().try_for_each(|message| plain(&message.record).map(|_| ())),
    }
}

/// Whether there is thinking among messages, which a transcript has no room for.
fn thinks(messages: &[NewMessage]) -> Result<bool> {
    for message in messages {
        if restored(&message.record)?.iter().flat_map(|message| &message.parts).any(is_thought) {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Form for Transcripts {
    fn read(&self, file: &[u8]) -> Result<Content> {
        let transcript = parse(file)?;
        let unreadable = |error: sabir_wire::Error| Error::unreadable(error.to_string());
        let body = as_request(&transcript);
        let decoded = surface::DEFAULT.decode_request_text(&body).map_err(unreadable)?;
        let entries = decoded.entries().map_err(unreadable)?;
        let times = times(&transcript);
        let (lines, system) = timed_lines(surface::DEFAULT, &entries, &times, KnownBy::Message)?;
        let outline = outline_of(&transcript);
        Ok(Content { messages: lines.messages, system, outline })
    }

    fn outline(&self, file: &[u8]) -> Outline {
        match parse(file) {
            Ok(transcript) => outline_of(&transcript),
            Err(error) => Outline { unreadable: Some(error.to_string()), ..Outline::default() },
        }
    }

    fn extend(&self, file: &[u8], added: &Added<'_>) -> Result<Vec<u8>> {
        let mut kept = parse(file)?.into_messages();
        if let Some(stays) = added.after {
            kept.truncate(leading(&kept) + count(stays)?);
        }
        if let Some(system) = added.system {
            instruct(&mut kept, system, added.now)?;
        }
        for message in added.messages {
            let time = time_of(&message.record).unwrap_or(added.now).0;
            for plain in plain(&message.record)? {
                add(&mut kept, (&message.record, plain), time);
            }
        }
        Ok(kept.into_iter().collect::<Transcript>().to_json().into_bytes())
    }

    fn empty(&self) -> Vec<u8> {
        Transcript::default().to_json().into_bytes()
    }
}

/// Puts a message that a line of the log says to a transcript.
fn add(kept: &mut Vec<TranscriptMessage>, (line, message): (&Record, UnifiedMessage), time: i64) {
    let message = with_ids(kept, message);
    match kept.pop() {
        Some(before) if continues((line, &message), before.message()) => {
            let time = before.timestamp_ms();
            let mut joined = before.into_message();
            join(&mut joined, message);
            kept.push(TranscriptMessage::timed(joined, time));
        }
        before => {
            kept.extend(before);
            kept.push(TranscriptMessage::new(message, time));
        }
    }
}

/// How many messages of a transcript these lines are.
fn count(lines: &[Record]) -> Result<usize> {
    let mut count = 0;
    let mut last: Option<UnifiedMessage> = None;
    for line in lines {
        for message in plain(line)? {
            match &mut last {
                Some(before) if continues((line, &message), before) => join(before, message),
                _ => {
                    count += 1;
                    last = Some(message);
                }
            }
        }
    }
    Ok(count)
}

/// Whether a message says the rest of an answer. In the transcript's own protocol each stands for itself; in others the calls of
/// one answer may be several, and a transcript has them in one, since their results may stand behind no other message.
pub(crate) fn continues((line, rest): (&Record, &UnifiedMessage), before: &UnifiedMessage) -> bool {
    let both = [before, rest];
    let is_other = read(line).is_some_and(|(protocol, _)| protocol != surface::DEFAULT);
    is_other
        && both.iter().all(|message| message.role == UnifiedRole::Assistant)
        && both.iter().any(|message| !message.tool_calls.is_empty())
}

/// Puts the rest of an answer behind its beginning.
pub(crate) fn join(before: &mut UnifiedMessage, rest: UnifiedMessage) {
    if !before.content.is_empty() && !rest.content.is_empty() {
        before.content.push('\n');
    }
    before.content.push_str(&rest.content);
    before.tool_calls.extend(rest.tool_calls);
}

/// A transcript's messages are those of the protocol that belongs to none, but for their times.
pub(crate) fn as_request(transcript: &Transcript) -> String {
    let messages = transcript.messages().iter().map(|kept| kept.message().to_json());
    let list = surface::of(surface::DEFAULT).state.messages;
    format!("{{\"{list}\":[{}]}}", messages.collect::<Vec<_>>().join(","))
}

pub(crate) fn times(transcript: &Transcript) -> Vec<Option<Time>> {
    transcript.messages().iter().map(|kept| kept.timestamp_ms().map(Time)).collect()
}

fn parse(file: &[u8]) -> Result<Transcript> {
    let text = std::str::from_utf8(file);
    let text = text.map_err(|error| Error::unreadable(error.to_string()))?;
    // A file that lost its content looks like this; a conversation without messages is `[]`.
    if text.trim().is_empty() {
        return Err(Error::unreadable("the file is empty, and a transcript is a list of messages"));
    }
    Transcript::parse(text).map_err(|error| Error::unreadable(error.to_string()))
}

/// What a list shows: the first words of the user, when it began, and how often the user spoke.
fn outline_of(transcript: &Transcript) -> Outline {
    let messages = transcript.messages();
    let users = messages.iter().filter(|kept| kept.message().role == UnifiedRole::User);
    let first = users.clone().next().map(|kept| kept.message().content.trim());
    let line = first.and_then(|text| text.lines().next()).unwrap_or_default();
    Outline {
        title: Title::new(&line.chars().take(80).collect::<String>()),
        created_at: messages.iter().find_map(|kept| kept.timestamp_ms()).map(Time),
        turns: users.count() as u64,
        unreadable: None,
    }
}

/// Puts instructions in place of those that lead; the same stay as they stand.
fn instruct(kept: &mut Vec<TranscriptMessage>, system: Option<&Record>, now: Time) -> Result<()> {
    let leading = leading(kept);
    let new = match system.and_then(read) {
        None => Vec::new(),
        Some((protocol, text)) => {
            let restored = protocol.restore_settings(Some(text), None, surface::DEFAULT);
            let (messages, _) = restored.map_err(|error| Error::unreadable(error.to_string()))?;
            messages.iter().flat_map(UnifiedMessage::lined).collect()
        }
    };
    if !kept[..leading].iter().map(TranscriptMessage::message).eq(&new) {
        let times = system.map(times_of).unwrap_or_default().into_iter().chain(repeat(None));
        let new = new.into_iter().zip(times.map(|time| time.unwrap_or(now).0));
        kept.splice(..leading, new.map(|(message, time)| TranscriptMessage::new(message, time)));
    }
    Ok(())
}

/// How many messages are the instructions.
fn leading(kept: &[TranscriptMessage]) -> usize {
    let leads = |kept: &&TranscriptMessage| kept.message().role == UnifiedRole::System;
    kept.iter().take_while(leads).count()
}

fn restored(line: &Record) -> Result<Vec<Message<'_>>> {
    let Some((protocol, text)) = read(line) else { return Ok(Vec::new()) };
    let restored = protocol.restore_messages(text, 0, surface::DEFAULT);
    restored.map_err(|error| Error::unreadable(error.to_string()))
}

/// A line of the log as plain messages, without those that are nothing but thinking.
fn plain(line: &Record) -> Result<Vec<UnifiedMessage>> {
    let is_kept =
        |message: &&Message<'_>| message.parts.is_empty() || !message.parts.iter().all(is_thought);
    let mut messages = Vec::new();
    for message in restored(line)?.iter().filter(is_kept) {
        message.parts.iter().try_for_each(refuse)?;
        messages.extend(UnifiedMessage::of(message));
    }
    Ok(messages)
}

fn is_thought(part: &Part<'_>) -> bool {
    matches!(part.content(), Parts::Reasoning(_))
}

fn refuse(part: &Part<'_>) -> Result<()> {
    match lost_of(part).into_iter().find(|reason| *reason != NO_REASONING) {
        Some(reason) => Err(Error::unsupported(reason)),
        None => Ok(()),
    }
}

/// Gives an id to calls that have none, and to their results, which stand in the same order.
fn with_ids(kept: &[TranscriptMessage], mut message: UnifiedMessage) -> UnifiedMessage {
    let calls = kept.iter().flat_map(|kept| &kept.message().tool_calls);
    let known: HashSet<&str> = calls.clone().map(|call| call.id.as_str()).collect();
    let mut free = (1_u64..).map(|number| format!("call_{number}"));
    for call in message.tool_calls.iter_mut().filter(|call| call.id.is_empty()) {
        call.id = free.find(|id| !known.contains(id.as_str())).unwrap_or_default();
    }
    if message.role == UnifiedRole::Tool && message.tool_call_id.is_none() {
        let answered: HashSet<&str> =
            kept.iter().filter_map(|kept| kept.message().tool_call_id.as_deref()).collect();
        let mut open: VecDeque<&str> =
            calls.map(|call| call.id.as_str()).filter(|id| !answered.contains(id)).collect();
        message.tool_call_id = open.pop_front().map(str::to_owned);
    }
    message
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sabir_store::Hash;
    use sabir_wire::Protocol;
    use sabir_wire::unified::UnifiedToolCall;

    use super::*;
    use crate::lines::record;

    const NOW: Time = Time(7);

    fn line(protocol: Protocol, text: &str) -> NewMessage {
        let hash = Hash::of_bytes(text.as_bytes());
        NewMessage { hash, record: record(protocol, text).unwrap() }
    }

    fn extended(file: &str, messages: &[NewMessage]) -> Result<String> {
        let added = Added { system: None, after: None, messages, now: NOW };
        let written = Transcripts.extend(file.as_bytes(), &added)?;
        Ok(String::from_utf8(written).unwrap())
    }

    #[test]
    fn what_is_added_stands_behind_what_is_there_as_it_was() {
        let file = r#"[{"role":"user","content":"Hi","mark":1.0}]"#;
        let answer = line(
            Protocol::AnthropicMessages,
            r#"{"role":"assistant","content":[{"type":"text","text":"Hello"},{"type":"tool_use","id":"c","name":"f","input":{}}]}"#,
        );
        let written = extended(file, &[answer]).unwrap();
        assert!(written.contains("\"mark\": 1.0"), "{written}");
        let read = Transcripts.read(written.as_bytes()).unwrap();
        assert_eq!((read.messages.len(), read.outline.turns), (2, 1));
        assert_eq!(read.outline.title.as_str(), "Hi");
        let kept = Transcript::parse(&written).unwrap();
        assert_eq!(kept.messages()[1].timestamp_ms(), Some(7));
        assert_eq!(kept.messages()[1].message().tool_calls[0].id, "c");
    }

    #[test]
    fn a_file_without_content_is_no_transcript() {
        for file in ["", " \n"] {
            assert!(Transcripts.read(file.as_bytes()).is_err());
            assert!(extended(file, &[]).is_err());
        }
        assert!(Transcripts.read(&Transcripts.empty()).unwrap().messages.is_empty());
    }

    #[test]
    fn what_a_transcript_cannot_hold_is_refused() {
        let image = line(
            Protocol::OpenaiChat,
            r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a.example/b.png"}}]}"#,
        );
        assert_eq!(check(&[image]).unwrap_err().kind(), sabir_store::Kind::Unsupported);
        let thought = line(
            Protocol::AnthropicMessages,
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"Hi"}]}"#,
        );
        let thought = [thought];
        assert_eq!(check(&thought).unwrap_err().kind(), sabir_store::Kind::Unsupported);
        // That of an answer is left out.
        assert!(!extended("[]", &thought).unwrap().contains("hm"));
    }

    #[test]
    fn the_same_instructions_stay_as_they_stand() {
        let file = r#"[{"role":"system","content":"Be brief.","mark":1}]"#;
        let body = r#"{"system":"Be brief.","messages":[]}"#;
        let decoded = Protocol::AnthropicMessages.decode_request_text(body).unwrap();
        let system = decoded.entries().unwrap().system.unwrap();
        let same = record(Protocol::AnthropicMessages, &system).unwrap();
        for (system, expected) in [(Some(&same), true), (None, false)] {
            let added = Added { system: Some(system), after: None, messages: &[], now: NOW };
            let written = Transcripts.extend(file.as_bytes(), &added).unwrap();
            let written = String::from_utf8(written).unwrap();
            assert_eq!(written.contains("\"mark\": 1"), expected, "{written}");
        }
    }

    #[test]
    fn a_file_that_is_no_transcript_is_said_to_be_none() {
        for file in ["nonsense", "[{\"role\":\"robot\"}]"] {
            let error = Transcripts.read(file.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), sabir_store::Kind::Corrupt, "{file}");
            let outline = Transcripts.outline(file.as_bytes());
            assert_eq!(outline.unreadable, Some(error.to_string()));
        }
    }

    /// One round: what the user says, perhaps calls with their results, and an answer.
    fn round() -> impl Strategy<Value = Vec<UnifiedMessage>> {
        let text = "[ -~é😀\n]{0,20}[a-z]";
        let calls = prop::collection::vec((text, any::<bool>()), 0..3);
        (text, calls, text, "[ -~é]{0,9}").prop_map(|(asked, calls, answer, beside)| {
            let mut messages = vec![UnifiedMessage::user(asked)];
            if !calls.is_empty() {
                let mut calling = UnifiedMessage::assistant(beside);
                let call = |(number, (name, is_long)): (usize, &(String, bool))| UnifiedToolCall {
                    id: format!("call_{number}"),
                    name: format!("tool_{number}"),
                    arguments: if *is_long {
                        format!("{{\"a\": {name:?}}}")
                    } else {
                        "{}".to_owned()
                    },
                };
                calling.tool_calls = calls.iter().enumerate().map(call).collect();
                messages.push(calling);
                messages.extend(calls.into_iter().enumerate().map(|(number, (result, _))| {
                    UnifiedMessage::tool(format!("call_{number}"), result)
                }));
            }
            messages.push(UnifiedMessage::assistant(answer));
            messages
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_transcript_that_is_imported_and_exported_is_the_same_byte_for_byte(
            system in prop::option::of("[ -~é]{1,20}"),
            rounds in prop::collection::vec(round(), 0..4),
            first in 0_i64..2_000_000_000_000,
        ) {
            let instructions = system.map(UnifiedMessage::system).into_iter();
            let messages = instructions.chain(rounds.into_iter().flatten()).zip(first..);
            let transcript: Transcript =
                messages.map(|(message, time)| TranscriptMessage::new(message, time)).collect();
            let file = transcript.to_json();
            let read = Transcripts.read(file.as_bytes()).unwrap();
            let system = Some(read.system.as_ref());
            let added = Added { system, after: None, messages: &read.messages, now: NOW };
            let written = Transcripts.extend(&Transcripts.empty(), &added).unwrap();
            prop_assert_eq!(String::from_utf8(written).unwrap(), file);
        }
    }
}
