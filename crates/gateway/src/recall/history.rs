//! A conversation as it is kept, made ready to be put before a call: stretches of one turn and one protocol.

use std::collections::HashMap;

use sabir_store::{Hash, History, Owner, PAGE_MAX, Store, Turn, TurnId, Window};

use sabir_wire::protocol::Kept;

use crate::failure::{Failure, Result};
use crate::pool::Pool;
use crate::recall::base::{Base, found};
use crate::recall::out_of_order;
use crate::recalled::Stretch;
use crate::record::read_record;

/// A conversation and its turns.
#[derive(Default)]
pub(crate) struct Recollection {
    pub(crate) stretches: Vec<Stretch>,
    /// By their numbers.
    pub(crate) turns: Vec<String>,
}

/// Bytes of a conversation that are recalled at most: no provider takes more.
const BYTES_MAX: u64 = 64 << 20;

/// Everything up to where a call goes on.
pub(super) async fn stretches(
    pool: &Pool,
    store: &Store,
    owner: &Owner,
    base: &Base,
) -> Result<Recollection> {
    recollect(pool, (store, owner), base.tip, base.previous.as_ref()).await
}

/// Everything up to a line of the log, which turns up to the last one have added.
pub(crate) async fn recollect(
    pool: &Pool,
    (store, owner): (&Store, &Owner),
    tip: Option<Hash>,
    last: Option<&TurnId>,
) -> Result<Recollection> {
    let Some(tip) = tip else { return Ok(Recollection::default()) };
    let window = Window { bytes: BYTES_MAX, ..Window::default() };
    let history = store.history(owner, tip, window).await.map_err(|error| out_of_order(&error))?;
    if !history.is_complete() {
        return Err(too_long());
    }
    let turns = turns(store, owner, last).await?;
    let bytes = history.messages.iter().map(|message| message.record.as_bytes().len()).sum();
    pool.run_on(bytes, move |_| stretched(&history, &turns)).await
}

/// A history as stretches of its turns.
fn stretched(history: &History, turns: &[Turn]) -> Result<Recollection> {
    let ends: HashMap<Hash, usize> =
        turns.iter().enumerate().filter_map(|(at, turn)| turn.tip.map(|tip| (tip, at))).collect();
    // Each message belongs to the turn whose end comes next.
    let mut number = turns.len();
    let mut numbered: Vec<(usize, &sabir_store::Message)> = Vec::new();
    for message in history.messages.iter().rev() {
        number = ends.get(&message.hash).copied().unwrap_or(number);
        numbered.push((number, message));
    }
    let mut recollection = Recollection {
        stretches: Vec::new(),
        turns: turns.iter().map(|turn| turn.id.as_str().to_owned()).collect(),
    };
    for (number, message) in numbered.into_iter().rev() {
        let (protocol, elements) = read_record(&message.record).ok_or_else(unreadable)?;
        let turn = u32::try_from(number).unwrap_or(u32::MAX);
        match recollection.stretches.last_mut() {
            Some(last) if last.kept.protocol() == protocol && last.turn == turn => {
                last.kept.push(elements);
            }
            _ => {
                let kept = Kept::new(protocol, elements);
                recollection.stretches.push(Stretch { turn, kept });
            }
        }
    }
    Ok(recollection)
}

/// The newest turns before a call, the oldest of them first.
async fn turns(store: &Store, owner: &Owner, last: Option<&TurnId>) -> Result<Vec<Turn>> {
    let Some(last) = last else { return Ok(Vec::new()) };
    let mut turns = found(store.turns(owner, last, PAGE_MAX).await)?.unwrap_or_default();
    turns.reverse();
    Ok(turns)
}

fn too_long() -> Box<Failure> {
    let message = "the conversation is longer than this gateway recalls at once";
    Failure::client(sabir_wire::FaultKind::TooLarge, message)
}

fn unreadable() -> Box<Failure> {
    let message = "a message of this conversation cannot be read; it was kept by another version";
    Failure::new(crate::failure::Whose::Gateway, sabir_wire::FaultKind::Internal, message)
}
