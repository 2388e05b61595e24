//! What a call adds to the conversation that it continues.

use sabir_wire::Protocol;

use crate::failure::Result;
use crate::recall::out_of_order;
use crate::recalled::Settings;
use crate::record::{Lines, Position, lines};

/// What a call goes on from.
#[derive(Debug, Default)]
pub(super) struct Continued {
    pub(super) end: Position,
    pub(super) settings: Option<Settings>,
    /// Whether the call may begin with all that it goes on from.
    pub(super) may_repeat: bool,
}

/// What was read of a call.
#[derive(Debug)]
pub(super) struct Read {
    /// How many elements it has, apart from leading instructions.
    pub(super) entries: usize,
    /// How many of those are in the conversation already.
    pub(super) known: usize,
    pub(super) input: Lines,
    /// What it goes on with, having none of its own.
    pub(super) settings: Option<Settings>,
    /// What is in force for it.
    pub(super) effective: Settings,
}

/// Reads a body. That takes as long as it is large.
pub(super) fn read(client: Protocol, body: &str, continued: Continued) -> Result<Read> {
    let exchange = client.decode_request_text(body)?;
    let entries = exchange.entries()?;
    let Continued { end, settings, may_repeat } = continued;
    let log =
        |base: Position, entries: &_| lines(client, base, entries).map_err(|it| out_of_order(&it));
    let (known, input) = match end.meaning.filter(|_| may_repeat) {
        Some(known) => {
            let whole = log(Position::default(), &entries.entries)?;
            let last = whole.states.iter().rposition(|state| *state == Some(known));
            let known = last.map_or(0, |last| last + 1);
            (known, log(end, &entries.entries[known..])?)
        }
        None => (0, log(end, &entries.entries)?),
    };
    let kept = |text: Option<String>| text.map(|text| (client, text));
    let own = Settings { system: kept(entries.system), tools: kept(entries.tools) };
    let (settings, effective) = own.before(settings);
    Ok(Read { entries: entries.entries.len(), known, input, settings, effective })
}
