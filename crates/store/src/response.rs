//! What clients may name: ids of answers, and ids of the items in them.

mod run;

use std::cmp::Reverse;

use crate::clock::Time;
use crate::engine::{Param, Session, Work};
use crate::error::{Error, Result};
use crate::id::{ConversationId, Hash, ItemId, Owner, ResponseId, TurnId};
use crate::job;
use crate::limit::{PAGE_MAX, count, page};
use crate::record::Record;

/// The id of an answer, with the answer as it was given if it can be asked for again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewResponse {
    pub id: ResponseId,
    pub body: Record,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    pub id: ResponseId,
    pub turn: TurnId,
    pub created_at: Time,
    pub body: Record,
}

/// Whether an item was sent or answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    Input,
    Output,
}

/// The id of a part of a message. Items stand in the order in which they are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewItem {
    pub id: ItemId,
    pub direction: Direction,
    pub message: Hash,
    pub part: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub id: ItemId,
    pub turn: TurnId,
    pub direction: Direction,
    pub message: Hash,
    pub part: u32,
}

/// In which order a list is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    Ascending,
    Descending,
}

/// A part of a turn's items: those after an item, in an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemPage {
    pub direction: Direction,
    pub order: Order,
    pub after: Option<ItemId>,
    pub limit: u32,
}

pub(crate) struct ReadResponse {
    pub(crate) owner: Owner,
    pub(crate) id: ResponseId,
}

pub(crate) struct DeleteResponse {
    pub(crate) owner: Owner,
    pub(crate) id: ResponseId,
}

pub(crate) struct ReadItems {
    pub(crate) owner: Owner,
    pub(crate) ids: Vec<ItemId>,
}

pub(crate) struct ListItems {
    pub(crate) owner: Owner,
    pub(crate) turn: TurnId,
    pub(crate) page: ItemPage,
}

const ITEMS_UP: &str = "SELECT id, turn, direction, position, message, part, items FROM item
    WHERE owner = $1 AND turn = $2 AND direction = $3 AND position + items > $4
    ORDER BY position LIMIT $5";
const ITEMS_DOWN: &str = "SELECT id, turn, direction, position, message, part, items FROM item
    WHERE owner = $1 AND turn = $2 AND direction = $3 AND position < $4
    ORDER BY position DESC LIMIT $5";
const ITEM: &str = "SELECT id, turn, direction, position, message, part, items FROM item
    WHERE owner = $1 AND id = $2 AND items > $3 ORDER BY turn LIMIT 1";
const ITEM_OF_TURN: &str = "SELECT position FROM item
    WHERE owner = $1 AND id = $2 AND turn = $3 AND items > $4";

impl Work for ReadResponse {
    type Output = Response;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Response> {
        let sql = "SELECT id, turn, created_at, body FROM response WHERE owner = $1 AND id = $2";
        let row = session.first(sql, &[(&self.owner).into(), (&self.id).into()]).await?;
        let mut row = row.ok_or_else(|| Error::not_found("response"))?;
        let (id, turn) = (row.take()?, row.take()?);
        Ok(Response { id, turn, created_at: row.take()?, body: row.take()? })
    }
}

impl Work for DeleteResponse {
    type Output = ();

    /// Its items can no longer be named, and whoever still works on it stops. Its turn stays where others go on from it, and else goes with the next sweep.
    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        let key = [(&self.owner).into(), (&self.id).into()];
        let sql = "DELETE FROM response WHERE owner = $1 AND id = $2 RETURNING turn";
        let row = session.first(sql, &key).await?;
        let was_job = job::delete(session, &self.owner, &self.id).await?;
        let turn: TurnId = match row {
            Some(mut row) => row.take()?,
            None if was_job => return Ok(()),
            None => return Err(Error::not_found("response")),
        };
        let key = [(&self.owner).into(), (&turn).into()];
        session.execute("DELETE FROM item WHERE owner = $1 AND turn = $2", &key).await?;
        let sql = "UPDATE turn SET used_at = 0 WHERE owner = $1 AND id = $2 AND refs = 0";
        session.execute(sql, &key).await.map(|_| ())
    }
}

impl Work for ReadItems {
    type Output = Vec<Option<Item>>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Vec<Option<Item>>> {
        count("items", self.ids.len(), PAGE_MAX as usize)?;
        let mut items = Vec::with_capacity(self.ids.len());
        for id in &self.ids {
            items.push(find(session, &self.owner, id).await?);
        }
        Ok(items)
    }
}

/// The item of an id: of the first turn that has it.
async fn find<S: Session>(session: &mut S, owner: &Owner, id: &ItemId) -> Result<Option<Item>> {
    let alone = session.first(ITEM, &[owner.into(), id.into(), 0_i64.into()]).await?;
    let alone = alone.map(run::read).transpose()?.and_then(|items| items.into_iter().next());
    let numbered = match run::first_of(id.as_str()) {
        Some((first, number)) => {
            let params = [owner.into(), first.as_str().into(), number.into()];
            let row = session.first(ITEM, &params).await?;
            row.map(run::read)
                .transpose()?
                .and_then(|items| items.into_iter().nth(run::index(number)))
        }
        None => None,
    };
    let found = alone.into_iter().chain(numbered).map(|placed| placed.item);
    Ok(found.min_by(|one, other| one.turn.cmp(&other.turn)))
}

impl Work for ListItems {
    type Output = Vec<Item>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Vec<Item>> {
        let page_of = &self.page;
        let after = self.cursor(session).await?;
        let (sql, border) = match page_of.order {
            Order::Ascending => (ITEMS_UP, after.map_or(0, |after| after + 1)),
            Order::Descending => (ITEMS_DOWN, after.unwrap_or(i64::MAX)),
        };
        let limit = page(page_of.limit);
        let params = [
            (&self.owner).into(),
            (&self.turn).into(),
            page_of.direction.column().into(),
            border.into(),
            limit.into(),
        ];
        let rows = session.query(sql, &params).await?.into_iter().map(run::read);
        let rows = rows.collect::<Result<Vec<_>>>()?;
        let mut items = rows.into_iter().flatten().collect::<Vec<_>>();
        match page_of.order {
            Order::Ascending => items.retain(|placed| placed.position >= border),
            Order::Descending => {
                items.retain(|placed| placed.position < border);
                items.sort_by_key(|placed| Reverse(placed.position));
            }
        }
        items.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(items.into_iter().map(|placed| placed.item).collect())
    }
}

impl ListItems {
    async fn cursor<S: Session>(&self, session: &mut S) -> Result<Option<i64>> {
        let Some(after) = &self.page.after else {
            return Ok(None);
        };
        let (owner, turn) = (Param::from(&self.owner), Param::from(&self.turn));
        let alone = session.first(ITEM_OF_TURN, &[owner, after.into(), turn, 0_i64.into()]).await?;
        if let Some(mut row) = alone {
            return row.take().map(Some);
        }
        let unknown = || Error::not_found("item");
        let (first, number) = run::first_of(after.as_str()).ok_or_else(unknown)?;
        let params = [owner, first.as_str().into(), turn, number.into()];
        let mut row = session.first(ITEM_OF_TURN, &params).await?.ok_or_else(unknown)?;
        Ok(Some(row.take::<i64>()? + number))
    }
}

impl Direction {
    fn column(self) -> i64 {
        match self {
            Self::Input => 0,
            Self::Output => 1,
        }
    }

    fn of_column(column: i64) -> Self {
        match column {
            0 => Self::Input,
            _ => Self::Output,
        }
    }
}

/// Names the answer of a turn. Some servers give the same id again: then the newest answer has it.
pub(crate) async fn add_response<S: Session>(
    session: &mut S,
    owner: &Owner,
    turn: &TurnId,
    response: &NewResponse,
    now: Time,
) -> Result<()> {
    let sql = "INSERT INTO response (owner, id, turn, created_at, body)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (owner, id) DO UPDATE SET
            turn = excluded.turn, created_at = excluded.created_at, body = excluded.body";
    let body = (&response.body).into();
    let params = [owner.into(), (&response.id).into(), turn.into(), now.into(), body];
    session.execute(sql, &params).await.map(|_| ())
}

/// Adds the items of a turn. An id that another turn has too names the same item: clients send items back as they were.
pub(crate) async fn add_items<S: Session>(
    session: &mut S,
    owner: &Owner,
    turn: &TurnId,
    items: &[NewItem],
) -> Result<()> {
    let run = run::length(items);
    if let Some(first) = items.first().filter(|_| run > 1) {
        let written = run::written(&items[..run]);
        let many = i64::try_from(run).unwrap_or(i64::MAX);
        let row = ItemRow { item: first, position: 0, message: &written, items: many };
        row.add(session, owner, turn).await?;
        return add_each(session, owner, turn, (&items[run..], many)).await;
    }
    add_each(session, owner, turn, (items, 0)).await
}

/// Adds items in rows of their own, from a position on.
async fn add_each<S: Session>(
    session: &mut S,
    owner: &Owner,
    turn: &TurnId,
    (items, from): (&[NewItem], i64),
) -> Result<()> {
    for (item, position) in items.iter().zip(from..) {
        let row = ItemRow { item, position, message: item.message.as_bytes(), items: 1 };
        row.add(session, owner, turn).await?;
    }
    Ok(())
}

/// An item on its way into its table, or the first of several that share a row.
struct ItemRow<'i> {
    item: &'i NewItem,
    position: i64,
    message: &'i [u8],
    items: i64,
}

impl ItemRow<'_> {
    async fn add<S: Session>(&self, session: &mut S, owner: &Owner, turn: &TurnId) -> Result<()> {
        let sql = "INSERT INTO item (owner, id, turn, direction, position, message, part, items)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (owner, id, turn) DO NOTHING";
        let params = [
            owner.into(),
            (&self.item.id).into(),
            turn.into(),
            self.item.direction.column().into(),
            self.position.into(),
            Param::Bytes(self.message),
            i64::from(self.item.part).into(),
            self.items.into(),
        ];
        session.execute(sql, &params).await.map(|_| ())
    }
}

/// Names parts of messages that were put into a conversation without a call.
pub(crate) async fn name_items<S: Session>(
    session: &mut S,
    owner: &Owner,
    conversation: &ConversationId,
    items: &[NewItem],
) -> Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    let holder = TurnId::new(holder(conversation))?;
    for item in items {
        let sql = "DELETE FROM item WHERE owner = $1 AND id = $2 AND turn = $3";
        session.execute(sql, &[owner.into(), (&item.id).into(), (&holder).into()]).await?;
    }
    // Each may be taken away by itself.
    add_each(session, owner, &holder, (items, 0)).await
}

/// The names go with their conversation.
pub(crate) async fn forget_items<S: Session>(
    session: &mut S,
    owner: &Owner,
    conversation: &ConversationId,
) -> Result<()> {
    let holder = holder(conversation);
    let key = [owner.into(), holder.as_str().into()];
    session.execute("DELETE FROM item WHERE owner = $1 AND turn = $2", &key).await.map(|_| ())
}

/// What a conversation names, its fork names as well.
pub(crate) async fn share_items<S: Session>(
    session: &mut S,
    owner: &Owner,
    (from, to): (&ConversationId, &ConversationId),
) -> Result<()> {
    let sql = "INSERT INTO item (owner, id, turn, direction, position, message, part, items)
        SELECT owner, id, $3, direction, position, message, part, items FROM item
        WHERE owner = $1 AND turn = $2 ON CONFLICT (owner, id, turn) DO NOTHING";
    let (from, to) = (holder(from), holder(to));
    let params = [owner.into(), from.as_str().into(), to.as_str().into()];
    session.execute(sql, &params).await.map(|_| ())
}

/// Stands in the place of a turn; no turn has such an id.
fn holder(conversation: &ConversationId) -> String {
    format!("conversation:{conversation}")
}
