//! Histories from elsewhere, read into lines of the log: plain messages with the times at which they were said, or the messages
//! of a request in any protocol.

use std::borrow::Cow;

use sabir_store::{MESSAGES_MAX, Record, Time};
use sabir_wire::json::{Json, Kind};
use sabir_wire::protocol::Entry;
use sabir_wire::unified::Transcript;
use sabir_wire::{FaultKind, Protocol};

use crate::admin::kept::metadata::{invalid, mistyped};
use crate::failure::{Failure, Result};
use crate::recall::{out_of_order, title};
use crate::record::{KnownBy, Lines, record, timed_lines};
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
    pub(super) fn read(&self, known_by: KnownBy) -> Result<Import> {
        match self {
            Self::Transcript(transcript) => {
                let transcript = read(transcript)?;
                let (body, times) = (memory::as_request(&transcript), memory::times(&transcript));
                import(surface::DEFAULT, &body, &times, KnownBy::Message)
            }
            Self::Messages(Written { protocol, body, times }) => {
                import(*protocol, body.as_str(), times, known_by)
            }
        }
    }

    /// The history element by element, with what each means.
    pub(super) fn entries(&self) -> Result<(Protocol, Vec<Entry<'static>>)> {
        let (protocol, body) = match self {
            Self::Transcript(transcript) => {
                (surface::DEFAULT, Cow::Owned(memory::as_request(&read(transcript)?)))
            }
            Self::Messages(written) => (written.protocol, Cow::Borrowed(written.body.as_str())),
        };
        let decoded = protocol.decode_request_text(&body)?;
        let entries = decoded.entries()?.entries;
        Ok((protocol, entries.into_iter().map(Entry::into_owned).collect()))
    }
}

/// Makes lines of the log of a request's messages, in their own protocol: nothing is lost.
fn import(
    protocol: Protocol,
    body: &str,
    times: &[Option<Time>],
    known_by: KnownBy,
) -> Result<Import> {
    ingress::check_history_density(body)?;
    let decoded = protocol.decode_request_text(body)?;
    let history = decoded.entries()?;
    if history.entries.len() > MESSAGES_MAX {
        return Err(too_many("messages", MESSAGES_MAX, history.entries.len()));
    }
    let stored = |error: sabir_store::Error| out_of_order(&error);
    let (lines, system) = timed_lines(protocol, &history, times, known_by).map_err(stored)?;
    let tools = history.tools.as_deref().map(|tools| record(protocol, tools));
    Ok(Import {
        lines,
        system,
        tools: tools.transpose().map_err(stored)?,
        title: title(&decoded.request().messages),
        from_user: history.entries.iter().map(Entry::is_from_user).collect(),
    })
}

pub(super) fn too_many(what: &str, most: usize, found: usize) -> Box<Failure> {
    let message = format!("expected at most {most} {what}, found {found}");
    Failure::client(FaultKind::TooLarge, message)
}

fn read(transcript: &Json<'_>) -> Result<Transcript> {
    if transcript.kind() != Kind::Array {
        return Err(mistyped("transcript", "an array of messages", transcript.kind()));
    }
    // Messages take more memory than their text: there are not more than can be kept.
    let mut count = 0;
    transcript.reader().array(|_, element| {
        count += 1;
        element.skip()
    })?;
    match count > MESSAGES_MAX {
        true => Err(too_many("messages", MESSAGES_MAX, count)),
        false => Transcript::parse(transcript.as_str()).map_err(|error| misread(&error)),
    }
}

fn misread(error: &sabir_wire::Error) -> Box<Failure> {
    let pointer = error.pointer().trim_start_matches('/');
    let (index, below) = pointer.split_once('/').unwrap_or((pointer, ""));
    let below = if below.is_empty() { String::new() } else { format!(".{below}") };
    let param = format!("transcript[{index}]{}", below.replace('/', "."));
    let message = format!("{} at {param}", error.message());
    invalid(&param, message, "invalid_value")
}
