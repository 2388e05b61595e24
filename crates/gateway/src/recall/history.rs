//! A conversation as it is kept, made ready to be put before a call: stretches of one turn and one protocol.

use std::collections::HashMap;
use std::sync::Arc;

use sabir_store::{Hash, History, Owner, PAGE_MAX, Store, Summary, Turn, TurnId, Window};
use sabir_wire::Protocol;
use sabir_wire::protocol::Kept;

use crate::failure::{Failure, Result};
use crate::pool::Pool;
use crate::recall::base::found;
use crate::recall::out_of_order;
use crate::recalled::{Recalled, Stretch};
use crate::record::read_record;
use crate::summaries::{Carried, KeptSummary, Summaries};

/// A conversation and its turns.
#[derive(Default)]
pub(crate) struct Recollection {
    pub(crate) stretches: Vec<Stretch>,
    /// By their numbers.
    pub(crate) turns: Vec<String>,
}

/// The lines of a conversation, the oldest first, and its turns.
#[derive(Default)]
pub(crate) struct HistoryLines {
    pub(crate) lines: Vec<HistoryLine>,
    /// By their numbers.
    pub(crate) turns: Vec<String>,
    /// The summary of all that stands before the lines.
    pub(crate) summary: Option<KeptSummary>,
}

/// A line of the log with its turn.
pub(crate) struct HistoryLine {
    /// None for one that stayed whole when those around it were summarised.
    pub(crate) hash: Option<Hash>,
    pub(crate) protocol: Protocol,
    /// The number of the turn.
    pub(crate) turn: u32,
    pub(crate) elements: String,
}

/// Where a conversation ends.
#[derive(Clone, Copy)]
pub(crate) struct End<'a> {
    pub(crate) tip: Option<Hash>,
    /// The turn that added the last message.
    pub(crate) last: Option<&'a TurnId>,
    /// The summary in force, which stands for everything up to a line.
    pub(crate) summary: Option<&'a Summary>,
}

/// Bytes of a conversation that are recalled at most: no provider takes more.
const BYTES_MAX: u64 = 64 << 20;

/// Everything up to a line of the log, which turns up to the last one have added.
pub(crate) async fn recollect(
    pool: &Pool,
    store: (&Store, &Owner),
    tip: Option<Hash>,
    last: Option<&TurnId>,
) -> Result<Recollection> {
    let lines = recollect_lines(pool, store, End { tip, last, summary: None }).await?;
    let bytes = lines.bytes();
    pool.run_on(bytes, move |_| Ok(lines.into_recollection())).await
}

/// The same line by line, with a summary in place of what it covers.
pub(crate) async fn recollect_lines(
    pool: &Pool,
    (store, owner): (&Store, &Owner),
    end: End<'_>,
) -> Result<HistoryLines> {
    let Some(tip) = end.tip else { return Ok(HistoryLines::default()) };
    let after = end.summary.map(|summary| summary.covers);
    let window = Window { bytes: BYTES_MAX, after, ..Window::default() };
    let history = store.history(owner, tip, window).await.map_err(|error| out_of_order(&error))?;
    if !history.is_complete() {
        return Err(too_long());
    }
    // A conversation that went another way is not what was summarised.
    let summary = end.summary.filter(|summary| history.after == Some(summary.covers));
    let summary = summary.and_then(|summary| KeptSummary::read(&summary.record));
    let turns = turns(store, owner, end.last).await?;
    let bytes = history.messages.iter().map(|message| message.record.as_bytes().len()).sum();
    pool.run_on(bytes, move |_| lines_of(&history, &turns, summary)).await
}

/// A history as lines with the numbers of their turns.
fn lines_of(
    history: &History,
    turns: &[Turn],
    summary: Option<KeptSummary>,
) -> Result<HistoryLines> {
    let ends: HashMap<Hash, usize> =
        turns.iter().enumerate().filter_map(|(at, turn)| turn.tip.map(|tip| (tip, at))).collect();
    // Each message belongs to the turn whose end comes next.
    let mut number = turns.len();
    let mut lines = Vec::with_capacity(history.messages.len());
    for message in history.messages.iter().rev() {
        number = ends.get(&message.hash).copied().unwrap_or(number);
        let (protocol, elements) = read_record(&message.record).ok_or_else(unreadable)?;
        let turn = u32::try_from(number).unwrap_or(u32::MAX);
        let (hash, elements) = (Some(message.hash), elements.to_owned());
        lines.push(HistoryLine { hash, protocol, turn, elements });
    }
    lines.reverse();
    let turns = turns.iter().map(|turn| turn.id.as_str().to_owned()).collect();
    Ok(HistoryLines { lines, turns, summary: None }.behind(summary))
}

impl HistoryLines {
    /// The same with a summary before it, and what stayed whole of what that covers.
    fn behind(mut self, summary: Option<KeptSummary>) -> Self {
        let carried = summary.iter().flat_map(|summary| &summary.carried);
        let mut lines = Vec::new();
        for Carried { protocol, turn, elements } in carried {
            let number = u32::try_from(self.turns.len()).unwrap_or(u32::MAX);
            self.turns.push(turn.clone());
            let (protocol, elements) = (*protocol, elements.clone());
            lines.push(HistoryLine { hash: None, protocol, turn: number, elements });
        }
        lines.append(&mut self.lines);
        Self { lines, summary, ..self }
    }

    /// The call behind this conversation.
    pub(crate) fn before(mut self, call: Recalled) -> Recalled {
        let kept = self.summary.take().map(Arc::new);
        let Recollection { stretches, turns } = self.into_recollection();
        let summaries = Summaries { kept, ..call.summaries };
        Recalled { stretches, turns, summaries, ..call }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.lines.iter().map(|line| line.elements.len()).sum()
    }

    /// Lines of one turn and one protocol together.
    pub(crate) fn into_recollection(self) -> Recollection {
        let mut stretches: Vec<Stretch> = Vec::new();
        for HistoryLine { protocol, turn, elements, .. } in self.lines {
            match stretches.last_mut() {
                Some(last) if last.kept.protocol() == protocol && last.turn == turn => {
                    last.kept.push(&elements);
                }
                _ => stretches.push(Stretch { turn, kept: Kept::new(protocol, &elements) }),
            }
        }
        Recollection { stretches, turns: self.turns }
    }
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
