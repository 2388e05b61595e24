//! What a call adds to the conversation that it continues.

use std::borrow::Cow;

use sabir_store::Hash;
use sabir_wire::Protocol;

use crate::failure::Result;
use crate::recall::base::Base;
use crate::recall::body::{Known, without_known, without_members};
use crate::recall::out_of_order;
use crate::recall::wish::Wish;
use crate::recalled::{KeptBy, Settings};
use crate::record::{Lines, Position, lines};
use crate::{pool, surface};

/// What a call goes on from.
#[derive(Debug, Default)]
pub(super) struct Continued {
    pub(super) end: Position,
    pub(super) settings: Option<Settings>,
    /// Whether the call may begin with all that it goes on from.
    pub(super) may_repeat: bool,
    /// What was meant up to the end of the last call's input.
    asked: Option<Hash>,
    /// Whether there is anything.
    is_something: bool,
}

impl Continued {
    pub(super) fn of(wish: &Wish, base: &Base) -> Self {
        Self {
            end: base.end,
            settings: base.settings.clone(),
            may_repeat: wish.header.is_some(),
            asked: base.asked,
            is_something: base.tip.is_some() || matches!(base.kept_by, KeptBy::Somebody(_)),
        }
    }
}

/// What was read of a call.
#[derive(Debug)]
pub(super) struct Read {
    /// How many elements it has, apart from leading instructions.
    pub(super) entries: usize,
    /// How many of those are in the conversation already.
    pub(super) known: usize,
    /// Whether they are all that the last call was asked with: it is asked again.
    pub(super) is_repeated: bool,
    pub(super) input: Lines,
    /// What it goes on with, having none of its own.
    pub(super) settings: Option<Settings>,
    /// What is in force for it.
    pub(super) effective: Settings,
}

/// What is left of the body of a call.
#[derive(Debug)]
pub(super) struct Left {
    /// Without what the conversation has already; none if all stays as the client sent it, with nothing before it.
    pub(super) body: Option<String>,
    /// The settings, where answers can be gone on from by their ids.
    pub(super) request: Option<String>,
}

/// Reads a body, and takes out of it what is known; one that is owned is not the client's own any more. That takes as long as
/// it is large.
pub(super) fn read_on(
    client: Protocol,
    body: Cow<'_, str>,
    continued: Continued,
) -> Result<(Read, Left)> {
    let state = &surface::of(client).state;
    // What later calls repeat is spelled from the first call on as they will.
    let is_repeated = continued.may_repeat && state.has_spellings;
    let is_something = continued.is_something || is_repeated;
    let read = read(client, &body, continued)?;
    let request = match state.has_responses {
        true => Some(without_members(&body, &[state.own_members, &[state.messages]].concat())?),
        false => None,
    };
    let body = match (read.known, body) {
        (0, Cow::Owned(body)) => Some(body),
        (0, Cow::Borrowed(body)) => {
            (is_something || read.settings.is_some()).then(|| body.to_owned())
        }
        (known, body) => {
            let known = Known { known, entries: read.entries };
            Some(without_known(&body, state.messages, &known)?)
        }
    };
    Ok((read, Left { body, request }))
}

/// Reads what a body says. That takes as long as it is large.
pub(super) fn read(client: Protocol, body: &str, continued: Continued) -> Result<Read> {
    pool::check_thread(body.len());
    let exchange = client.decode_request_text(body)?;
    let entries = exchange.entries()?;
    let Continued { end, settings, may_repeat, asked, .. } = continued;
    let log =
        |base: Position, entries: &_| lines(client, base, entries).map_err(|it| out_of_order(&it));
    let (known, is_repeated, input) = match end.meaning.filter(|_| may_repeat) {
        Some(known) => {
            let whole = log(Position::default(), &entries.entries)?;
            // Of what was taken in from elsewhere only the last line is known.
            let is_end = |(state, (line, _)): (&Option<Hash>, &(Hash, u32))| {
                *state == Some(known) || *line == known
            };
            let last = whole.states.iter().zip(&whole.places).rposition(is_end);
            let known = last.map_or(0, |last| last + 1);
            let sent = whole.states.iter().flatten().next_back();
            let is_repeated = known == 0 && asked.is_some() && sent == asked.as_ref();
            (known, is_repeated, log(end, &entries.entries[known..])?)
        }
        None => (0, false, log(end, &entries.entries)?),
    };
    let kept = |text: Option<String>| text.map(|text| (client, text));
    let own = Settings { system: kept(entries.system), tools: kept(entries.tools) };
    let (settings, effective) = own.before(settings);
    let entries = entries.entries.len();
    Ok(Read { entries, known, is_repeated, input, settings, effective })
}
