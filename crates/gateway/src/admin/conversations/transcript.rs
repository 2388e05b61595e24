//! Transcripts: plain messages with the times at which they were said, read into lines of the log and written from them.

use std::collections::{HashMap, VecDeque};

use sabir_store::{Conversation, Hash, Message, Record, Time, Window};
use sabir_wire::json::{Json, Kind, Reader, Writer};
use sabir_wire::unified::{UnifiedMessage, UnifiedRole};

use super::Archive;
use crate::admin::kept::metadata::mistyped;
use crate::failure::{Failure, Result};
use crate::recall::{out_of_order, settings_in, title};
use crate::record::{Lines, lines, read_record, record, record_of, time_of};
use crate::surface;

/// A transcript that can be kept.
pub(super) struct Import {
    pub(super) lines: Lines,
    /// The leading system messages.
    pub(super) system: Option<Record>,
    pub(super) title: String,
}

/// A message and when it was said.
struct Timed {
    message: UnifiedMessage,
    time: Option<Time>,
}

/// Reads a transcript. Its messages are those of the protocol that belongs to none, but for their times.
pub(super) fn import(transcript: &Json<'_>) -> Result<Import> {
    let messages = read(transcript)?;
    let plain: Vec<String> = messages.iter().map(|timed| timed.message.to_json()).collect();
    let list = surface::of(surface::DEFAULT).state.messages;
    let body = format!("{{\"{list}\":[{}]}}", plain.join(","));
    let exchange = surface::DEFAULT.decode_request_text(&body)?;
    let entries = exchange.entries()?;
    let stored = |error: sabir_store::Error| out_of_order(&error);
    let mut lines = lines(surface::DEFAULT, None, &entries.entries).map_err(stored)?;
    let leading = messages.len().saturating_sub(entries.entries.len());
    let times = messages[leading..].iter().map(|timed| timed.time);
    keep_times(&mut lines, times).map_err(stored)?;
    let system = entries.system.as_deref().map(|system| record(surface::DEFAULT, system));
    let title = title(&exchange.request().messages);
    Ok(Import { lines, system: system.transpose().map_err(stored)?, title })
}

fn read(transcript: &Json<'_>) -> Result<Vec<Timed>> {
    if transcript.kind() != Kind::Array {
        return Err(mistyped("transcript", "an array of messages", transcript.kind()));
    }
    let mut messages = Vec::new();
    transcript.reader().array(|_, element| {
        let element = element.raw()?;
        messages.push((UnifiedMessage::from_json(element.as_str()), time(&element)));
        Ok(())
    })?;
    let timed = messages.into_iter().enumerate().map(|(index, (message, time))| {
        let message = message.map_err(|error| misread(index, &error))?;
        Ok(Timed { message, time })
    });
    timed.collect()
}

fn misread(index: usize, error: &sabir_wire::Error) -> Box<Failure> {
    let param = format!("transcript[{index}]{}", error.pointer().replace('/', "."));
    let message = format!("{} at {param}", error.message());
    crate::admin::kept::metadata::invalid(&param, message, "invalid_value")
}

/// The time that a message says.
fn time(message: &Json<'_>) -> Option<Time> {
    let mut time = None;
    let read = message.reader().object(|key, reader| {
        let value = reader.raw()?;
        if key == "timestamp" && value.kind() == Kind::Number {
            time = value.as_str().parse::<f64>().ok().map(|ms| Time(ms as i64));
        }
        Ok(())
    });
    read.ok().and(time)
}

/// Writes each line with the time of its last element.
fn keep_times(
    lines: &mut Lines,
    times: impl Iterator<Item = Option<Time>>,
) -> sabir_store::Result<()> {
    let placed = lines.places.iter().zip(times);
    let times: HashMap<Hash, Time> =
        placed.filter_map(|((line, _), time)| time.map(|time| (*line, time))).collect();
    for message in &mut lines.messages {
        let timed = match (times.get(&message.hash), read_record(&message.record)) {
            (Some(time), Some((protocol, text))) => Some(record_of(protocol, text, *time)?),
            _ => None,
        };
        if let Some(timed) = timed {
            message.record = timed;
        }
    }
    Ok(())
}

impl Archive<'_> {
    /// A conversation as a transcript.
    pub(super) async fn transcript(&self, conversation: &Conversation) -> Result<String> {
        let mut messages = self.instructions(conversation).await?;
        if let Some(tip) = conversation.tip {
            let history = self.store.history(&self.owner, tip, Window::default()).await;
            let history = history.map_err(|error| out_of_order(&error))?;
            let bytes = history.messages.iter().map(|line| line.record.as_bytes().len()).sum();
            let lines = history.messages;
            messages.extend(self.pool.run_on(bytes, move |_| restored(&lines)).await?);
        }
        pair(&mut messages);
        Ok(written(&messages))
    }

    async fn instructions(&self, conversation: &Conversation) -> Result<Vec<Timed>> {
        let settings = settings_in(&self.store, &self.owner, conversation).await?;
        let Some((protocol, system)) = settings.and_then(|settings| settings.system) else {
            return Ok(Vec::new());
        };
        let (messages, _) = protocol.restore_settings(Some(&system), None, surface::DEFAULT)?;
        let time = Some(conversation.created_at);
        let plain = messages.iter().flat_map(UnifiedMessage::of);
        Ok(plain.map(|message| Timed { message, time }).collect())
    }
}

/// Lines of the log as plain messages.
fn restored(lines: &[Message]) -> Result<Vec<Timed>> {
    let mut messages = Vec::with_capacity(lines.len());
    for line in lines {
        let Some((protocol, text)) = read_record(&line.record) else { continue };
        let time = Some(time_of(&line.record).unwrap_or(line.created_at));
        let restored = protocol.restore_messages(text, 0, surface::DEFAULT)?;
        let plain = restored.iter().flat_map(UnifiedMessage::of);
        messages.extend(plain.map(|message| Timed { message, time }));
    }
    Ok(messages)
}

/// Gives ids to calls that have none, and to their results, which stand in the same order.
fn pair(messages: &mut [Timed]) {
    let mut open: VecDeque<String> = VecDeque::new();
    let mut made = 0;
    for Timed { message, .. } in messages {
        for call in message.tool_calls.iter_mut().filter(|call| call.id.is_empty()) {
            made += 1;
            call.id = format!("call_{made}");
            open.push_back(call.id.clone());
        }
        if message.role == UnifiedRole::Tool && message.tool_call_id.is_none() {
            message.tool_call_id = open.pop_front();
        }
    }
}

fn written(messages: &[Timed]) -> String {
    let mut writer = Writer::with_capacity(4096);
    writer.array(|list| {
        for Timed { message, time } in messages {
            let json = message.to_json();
            list.object(|it| {
                let copied = Reader::new(&json).object(|key, reader| {
                    it.field(&key, &reader.raw()?);
                    Ok(())
                });
                debug_assert!(copied.is_ok(), "what was written can be read");
                it.optional("timestamp", time.map(|time| time.0).as_ref());
            });
        }
    });
    writer.into_string()
}
