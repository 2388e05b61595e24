//! Histories from elsewhere, read into lines of the log: plain messages with the times at which they were said, or the messages
//! of a request in any protocol.

use std::borrow::Cow;

use sabir_store::{MESSAGES_MAX, Record, Time};
use sabir_wire::json::{Json, Kind};
use sabir_wire::protocol::Entry;
use sabir_wire::unified::UnifiedMessage;
use sabir_wire::{FaultKind, Protocol};

use crate::admin::kept::metadata::{invalid, mistyped};
use crate::failure::{Failure, Result};
use crate::recall::{out_of_order, title};
use crate::record::{Lines, lines, record, record_of};
use crate::{ingress, surface};

/// A history that can be kept.
pub(super) struct Import {
    pub(super) lines: Lines,
    /// The leading system messages.
    pub(super) system: Option<Record>,
    pub(super) tools: Option<Record>,
    pub(super) title: String,
}

/// A message and when it was said.
struct Timed {
    message: UnifiedMessage,
    time: Option<Time>,
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
    pub(super) fn read(&self) -> Result<Import> {
        match self {
            Self::Transcript(transcript) => {
                let messages = read(transcript)?;
                let times: Vec<Option<Time>> = messages.iter().map(|timed| timed.time).collect();
                import(surface::DEFAULT, &plain(&messages), &times)
            }
            Self::Messages(Written { protocol, body, times }) => {
                import(*protocol, body.as_str(), times)
            }
        }
    }

    /// The history element by element, with what each means.
    pub(super) fn entries(&self) -> Result<(Protocol, Vec<Entry<'static>>)> {
        let (protocol, body) = match self {
            Self::Transcript(transcript) => {
                (surface::DEFAULT, Cow::Owned(plain(&read(transcript)?)))
            }
            Self::Messages(written) => (written.protocol, Cow::Borrowed(written.body.as_str())),
        };
        let decoded = protocol.decode_request_text(&body)?;
        let entries = decoded.entries()?.entries;
        Ok((protocol, entries.into_iter().map(Entry::into_owned).collect()))
    }
}

/// A transcript's messages are those of the protocol that belongs to none, but for their times.
fn plain(messages: &[Timed]) -> String {
    let plain: Vec<String> = messages.iter().map(|timed| timed.message.to_json()).collect();
    let list = surface::of(surface::DEFAULT).state.messages;
    format!("{{\"{list}\":[{}]}}", plain.join(","))
}

/// Makes lines of the log of a request's messages, in their own protocol: nothing is lost.
fn import(protocol: Protocol, body: &str, times: &[Option<Time>]) -> Result<Import> {
    ingress::survey(body)?;
    let decoded = protocol.decode_request_text(body)?;
    let entries = decoded.entries()?;
    let stored = |error: sabir_store::Error| out_of_order(&error);
    let mut lines = lines(protocol, None, &entries.entries).map_err(stored)?;
    if lines.messages.len() > MESSAGES_MAX {
        return Err(too_long(lines.messages.len()));
    }
    let leading = times.len().saturating_sub(entries.entries.len());
    lines.keep_times(times[leading..].iter().copied()).map_err(stored)?;
    let instructed = times[..leading].first().copied().flatten();
    let kept = |setting: &str| match instructed {
        Some(time) => record_of(protocol, setting, time),
        None => record(protocol, setting),
    };
    let system = entries.system.as_deref().map(kept).transpose().map_err(stored)?;
    let tools = entries.tools.as_deref().map(|tools| record(protocol, tools));
    let tools = tools.transpose().map_err(stored)?;
    Ok(Import { lines, system, tools, title: title(&decoded.request().messages) })
}

fn too_long(messages: usize) -> Box<Failure> {
    let message = format!("expected at most {MESSAGES_MAX} messages, found {messages}");
    Failure::client(FaultKind::TooLarge, message)
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
    invalid(&param, message, "invalid_value")
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
