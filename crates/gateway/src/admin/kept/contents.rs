//! The items of a conversation, read off the log: each under the id by which the client knows it, lines of other protocols
//! as the items that would say the same.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sabir_store::{
    Conversation, Direction, Hash, ItemPage, Message, Order, PAGE_MAX, ResponseId, Turn, Window,
};
use sabir_wire::{FaultKind, Protocol};

use super::Shelf;
use super::item::Item;
use crate::failure::{Failure, Result, Whose};
use crate::recall::{derived_id, elements, found, in_words_of, out_of_order, output_of, own_id};
use crate::record::{Details, digits, read_record};

/// All items of a conversation, the oldest first. No two have the same id.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) items: Vec<Placed>,
}

/// An item and where it stands.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) item: Item,
    /// The line before those that spell the item. Items that are spelled together have the same.
    pub(super) before: Option<Hash>,
    /// How many lines stand before those.
    pub(super) depth: usize,
}

/// Bytes of a conversation that are looked through at most.
const BYTES_MAX: u64 = 64 << 20;

/// An answer whose items the client was given.
struct GivenItems {
    /// The place of its last line.
    end: usize,
    response: String,
}

/// The ids of elements that were sent, by line and place.
type Sent = HashMap<(Hash, u32), String>;

/// What turns say of the lines that they added.
#[derive(Default)]
struct Names {
    sent: Sent,
    /// Answers by the places of their first lines.
    answers: HashMap<usize, GivenItems>,
}

impl Contents {
    pub(super) fn position(&self, id: &str) -> Option<usize> {
        self.items.iter().position(|placed| placed.item.id == id)
    }
}

impl Shelf<'_> {
    pub(super) async fn contents(&self, conversation: &Conversation) -> Result<Contents> {
        let Some(tip) = conversation.tip else { return Ok(Contents::default()) };
        let window = Window { bytes: BYTES_MAX, ..Window::default() };
        let history = self.store.history(&self.owner, tip, window).await;
        let history = history.map_err(|error| out_of_order(&error))?;
        if !history.is_complete() {
            return Err(too_long());
        }
        let names = self.names(conversation, &history.messages).await?;
        let lines = Arc::from(history.messages);
        self.read_lines(&lines, &names).await
    }

    async fn read_lines(&self, lines: &Arc<[Message]>, names: &Names) -> Result<Contents> {
        let (mut contents, mut ids) = (Contents::default(), HashSet::new());
        let mut spelled = self.spelled(lines, &names.sent).await?;
        let mut at = 0;
        while at < lines.len() {
            let before = at.checked_sub(1).map(|last| lines[last].hash);
            let answer = names.answers.get(&at);
            let given = match answer {
                Some(answer) => self.given(answer).await?,
                None => None,
            };
            let (last, items) = match (given, answer) {
                (Some(items), Some(answer)) => (answer.end, items),
                _ => (at, std::mem::take(&mut spelled[at])),
            };
            for (mut item, part) in items.into_iter().zip(0..) {
                if item.id.is_empty() || ids.contains(&item.id) {
                    item.id = derived_id((&lines[last].hash, part), item.text());
                }
                ids.insert(item.id.clone());
                contents.items.push(Placed { item, before, depth: at });
            }
            at = last + 1;
        }
        Ok(contents)
    }

    /// The items of an answer as they were given, if the answer is still kept.
    async fn given(&self, answer: &GivenItems) -> Result<Option<Vec<Item>>> {
        let Ok(id) = ResponseId::new(&*answer.response) else { return Ok(None) };
        let response = found(self.store.response(&self.owner, &id).await)?;
        let body = response.and_then(|it| String::from_utf8(it.body.into_bytes()).ok());
        let output = body.and_then(|body| output_of(&body));
        Ok(output.map(|items| items.into_iter().map(named_by_itself).collect()))
    }

    /// The items of each line. Those without an id have an empty one.
    async fn spelled(&self, lines: &Arc<[Message]>, sent: &Sent) -> Result<Vec<Vec<Item>>> {
        let bytes = lines.iter().map(|line| line.record.as_bytes().len()).sum();
        let (client, read) = (self.client, Arc::clone(lines));
        let mut spelled =
            self.snapshot.shared.pool.run_on(bytes, move |_| spelled(client, &read)).await?;
        for (line, items) in lines.iter().zip(&mut spelled) {
            for (item, part) in items.iter_mut().zip(0..) {
                if let Some(id) = sent.get(&(line.hash, part)) {
                    item.id.clone_from(id);
                }
            }
        }
        Ok(spelled)
    }

    /// Which ids the client was given for what is in these lines.
    async fn names(&self, conversation: &Conversation, lines: &[Message]) -> Result<Names> {
        let places: HashMap<Hash, usize> = lines.iter().map(|line| line.hash).zip(0..).collect();
        let by_digits: HashMap<String, usize> =
            lines.iter().map(|line| digits(&line.hash)).zip(0..).collect();
        let mut names = Names::default();
        for turn in self.turns_of(conversation).await? {
            let Details { response: Some(response), input_end, .. } = Details::read(&turn.details)
            else {
                continue;
            };
            if turn.protocol.as_str() != self.client.as_str() {
                continue;
            }
            self.name_input(&turn, &mut names).await?;
            let start = match &input_end {
                Some(end) => by_digits.get(end).map(|place| place + 1),
                None => turn.base.is_none().then_some(0),
            };
            let end = turn.tip.and_then(|tip| places.get(&tip).copied());
            if let (Some(start), Some(end)) = (start, end)
                && start <= end
            {
                names.answers.insert(start, GivenItems { end, response });
            }
        }
        Ok(names)
    }

    /// All turns of a conversation, the newest first.
    pub(super) async fn turns_of(&self, conversation: &Conversation) -> Result<Vec<Turn>> {
        let mut turns: Vec<Turn> = Vec::new();
        let mut next = conversation.last_turn.clone();
        while let Some(from) = next {
            let more = found(self.store.turns(&self.owner, &from, PAGE_MAX).await)?;
            let more = more.unwrap_or_default();
            next = more.last().and_then(|turn| turn.previous.clone());
            next = next.filter(|_| more.len() == PAGE_MAX as usize);
            turns.extend(more);
        }
        Ok(turns)
    }

    async fn name_input(&self, turn: &Turn, names: &mut Names) -> Result<()> {
        let mut after = None;
        loop {
            let (direction, order) = (Direction::Input, Order::Ascending);
            let page = ItemPage { direction, order, after, limit: PAGE_MAX };
            let rows = found(self.store.list_items(&self.owner, &turn.id, page).await)?;
            let rows = rows.unwrap_or_default();
            let is_all = rows.len() < PAGE_MAX as usize;
            after = rows.last().map(|row| row.id.clone()).filter(|_| !is_all);
            let named =
                rows.iter().map(|row| ((row.message, row.part), row.id.as_str().to_owned()));
            names.sent.extend(named);
            if after.is_none() {
                return Ok(());
            }
        }
    }
}

/// The items of each line, with no ids but their own.
fn spelled(client: Protocol, lines: &[Message]) -> Result<Vec<Vec<Item>>> {
    let records = lines.iter().map(|line| read_record(&line.record).ok_or_else(unreadable));
    let records = records.collect::<Result<Vec<_>>>()?;
    let foreign = records.iter().copied().filter(|(protocol, _)| *protocol != client);
    let mut foreign = in_words_of(client, &foreign.collect::<Vec<_>>())?.into_iter();
    let mut spelled = Vec::with_capacity(lines.len());
    for (protocol, text) in records {
        let items = match protocol == client {
            true => elements(&format!("[{text}]"))?,
            false => foreign.next().unwrap_or_default(),
        };
        spelled.push(items.into_iter().map(named_by_itself).collect());
    }
    Ok(spelled)
}

fn named_by_itself(text: String) -> Item {
    Item::new(own_id(&text).unwrap_or_default(), text)
}

fn too_long() -> Box<Failure> {
    let message = "the conversation is longer than this gateway lists";
    Failure::client(FaultKind::TooLarge, message)
}

fn unreadable() -> Box<Failure> {
    let message = "a message of this conversation cannot be read; it was kept by another version";
    Failure::new(Whose::Gateway, FaultKind::Internal, message)
}
