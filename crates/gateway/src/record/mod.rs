//! What is kept of a call: its messages and its answer, as lines of the log, under the turn that was opened for it.

mod closing;
mod received;
mod recorder;

pub(crate) use crate::lines::{
    HeldLines, KnownBy, Lines, Position, Step, digits, instructed_at, lines, read as read_record,
    record, record_of_all, time_of, times_of,
};
pub(crate) use recorder::Recorder;

use sabir_store::{Advance, Begun, Hash, NewConversation, Opening, Record, ResponseId};
use sabir_wire::Protocol;
use sabir_wire::json::{Json, Reader};

use crate::memory::Mark;

/// What is known of a turn before its provider is asked.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) opening: Opening,
    pub(crate) client: Protocol,
    /// What the client added.
    pub(crate) input: Lines,
    pub(crate) system: Option<Record>,
    pub(crate) tools: Option<Record>,
    /// The conversation that the turn advances.
    pub(crate) conversation: Option<Advance>,
    /// The same conversation, if it begins with the turn.
    pub(crate) begins: Option<NewConversation>,
    /// The conversation that begins with the turn where that one has gone on meanwhile, if anything is to be kept then.
    pub(crate) beside: Option<NewConversation>,
    /// The conversation that begins with the turn unless the store finds one that goes on with it, where that is for the store to
    /// find.
    pub(crate) follows: Option<NewConversation>,
    /// By what the end of the call is known again, and the epoch of the store in which it is kept.
    pub(crate) end: Option<(Mark, u64)>,
    /// The conversation that began with the call, as long as nothing comes of it.
    pub(crate) begun: Option<Begun>,
    /// Whether an answer that breaks off is kept as far as it came.
    pub(crate) keeps_broken: bool,
    /// Whether clients may name the answer by its id.
    pub(crate) is_named: bool,
    /// Whether the client waits until all is stored.
    pub(crate) is_awaited: bool,
    /// Whether rules may change the answer, so that its provider keeps another.
    pub(crate) is_governed: bool,
    /// Whether it is kept as plain messages, which have no room for thinking.
    pub(crate) is_plain: bool,
    /// The request without its conversation, for those who go on with its settings.
    pub(crate) settings: Option<String>,
    /// The id of the answer, where nobody waits for it and the gateway works on it.
    pub(crate) job: Option<ResponseId>,
}

impl Plan {
    /// Whether a client that sends everything may ask for the answer again.
    fn is_repeatable(&self) -> bool {
        self.keeps_broken && self.is_awaited && !self.is_plain
    }
}

/// What a turn says of itself beside its columns, as JSON.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Details {
    /// The id of its answer.
    pub(crate) response: Option<String>,
    /// Whether the provider serves the client's own protocol and keeps the answer as well.
    pub(crate) is_passed: bool,
    /// Usage in the words of the client's protocol.
    pub(crate) usage: Option<String>,
    /// The losses of the request and of its answer.
    pub(crate) losses: Option<String>,
    pub(crate) settings: Option<String>,
    /// The exchange in which the conversation was summarised for it.
    pub(crate) compacted: Option<String>,
    /// The conversation that it advanced, where its answer can be named.
    pub(crate) conversation: Option<String>,
    /// The line of the log that its input ends with, in hexadecimal digits; the answer stands behind it. Where that can be named.
    pub(crate) input_end: Option<String>,
    /// What was meant up to the end of its input, where a client may ask again by sending everything.
    pub(crate) asked: Option<Hash>,
    /// Where it ends, where its last line alone does not say it.
    pub(crate) end: Option<Position>,
}

impl Details {
    pub(crate) fn write(&self) -> String {
        let long = [&self.usage, &self.losses, &self.settings];
        let bytes: usize = long.into_iter().flatten().map(String::len).sum();
        let mut writer = sabir_wire::json::Writer::with_capacity(bytes + 1024);
        writer.object(|it| {
            it.optional("response", self.response.as_deref());
            it.optional("conversation", self.conversation.as_deref());
            it.optional("compacted", self.compacted.as_deref());
            it.optional("input_end", self.input_end.as_deref());
            it.optional("asked", self.asked.as_ref().map(digits).as_deref());
            if let Some(Position { meaning: Some(meaning), calls: Some(calls) }) = &self.end {
                it.field("meaning", &*digits(meaning));
                it.field("calls", &*digits(calls));
            }
            it.field("passed", &self.is_passed);
            for (name, json) in
                [("usage", &self.usage), ("losses", &self.losses), ("settings", &self.settings)]
            {
                let json = json.as_deref().and_then(|json| Json::parse(json).ok());
                it.optional(name, json.as_ref());
            }
        });
        writer.into_string()
    }

    /// The line of the log that the input ends with.
    pub(crate) fn input_tip(&self) -> Option<Hash> {
        self.input_end.as_deref().and_then(hash)
    }

    /// Reads what was written. What cannot be read says nothing.
    pub(crate) fn read(record: &Record) -> Self {
        let mut details = Self::default();
        let mut end = Position::default();
        let Ok(mut reader) = Reader::from_slice(record.as_bytes()) else { return details };
        let _ = reader.object(|key, reader| {
            match &*key {
                "response" => details.response = Some(reader.string()?.into_str().into_owned()),
                "conversation" => {
                    details.conversation = Some(reader.string()?.into_str().into_owned());
                }
                "compacted" => details.compacted = Some(reader.string()?.into_str().into_owned()),
                "input_end" => details.input_end = Some(reader.string()?.into_str().into_owned()),
                "asked" => details.asked = hash(&reader.string()?.into_str()),
                "meaning" => end.meaning = hash(&reader.string()?.into_str()),
                "calls" => end.calls = hash(&reader.string()?.into_str()),
                "passed" => details.is_passed = reader.boolean()?,
                "usage" => details.usage = Some(reader.raw()?.as_str().to_owned()),
                "losses" => details.losses = Some(reader.raw()?.as_str().to_owned()),
                "settings" => details.settings = Some(reader.raw()?.as_str().to_owned()),
                _ => reader.skip()?,
            }
            Ok(())
        });
        details.end = (end.meaning.is_some() && end.calls.is_some()).then_some(end);
        details
    }
}

/// A hash out of its digits.
fn hash(digits: &str) -> Option<Hash> {
    let pairs = digits.as_bytes().chunks_exact(2);
    let bytes: Option<Vec<u8>> =
        pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect();
    Hash::from_bytes(&bytes?).ok()
}
