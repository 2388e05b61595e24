//! The log of messages: each after its parent, found by its hash, never changed.

use std::cmp::Reverse;

use crate::clock::Time;
use crate::engine::{Param, Row, Session, Work};
use crate::error::{Error, Result};
use crate::id::{Hash, Owner};
use crate::limit::{PATH_BYTES_MAX, PATH_MESSAGES_MAX};
use crate::record::Record;

/// A message to keep. Its hash is over its parent's and its meaning, so what is there already is the same message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    pub hash: Hash,
    pub record: Record,
}

/// A message as it was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub hash: Hash,
    /// How many messages stand before it.
    pub depth: u64,
    pub created_at: Time,
    pub record: Record,
}

/// How much of a history is wanted, counted from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub messages: u32,
    /// No message is added once there are so many bytes.
    pub bytes: u64,
    /// The message before the first that is wanted; none to begin where the conversation began.
    pub after: Option<Hash>,
}

impl Default for Window {
    fn default() -> Self {
        Self { messages: PATH_MESSAGES_MAX, bytes: PATH_BYTES_MAX, after: None }
    }
}

/// The messages up to a tip, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    pub messages: Vec<Message>,
    /// The message before the first, where that was to be left out and is part of the conversation.
    pub after: Option<Hash>,
}

impl History {
    /// Whether it begins where the conversation began, or where it was to begin, and not where there was no more room.
    pub fn is_complete(&self) -> bool {
        self.after.is_some() || self.messages.first().is_none_or(|message| message.depth == 0)
    }
}

/// The path from a message to its root.
pub(crate) struct Path {
    pub(crate) owner: Owner,
    pub(crate) tip: Hash,
    pub(crate) window: Window,
}

/// The message whose hash begins with these bytes.
pub(crate) struct Beginning {
    pub(crate) owner: Owner,
    pub(crate) bytes: Vec<u8>,
}

/// How many of a history's messages are there, from its beginning.
pub(crate) struct Known {
    pub(crate) owner: Owner,
    pub(crate) hashes: Vec<Hash>,
}

const PATH: &str =
    "WITH RECURSIVE path (hash, parent, depth, created_at, record, place, total) AS (
        SELECT hash, parent, depth, created_at, record, CAST(1 AS BIGINT),
            CAST(length(record) AS BIGINT)
        FROM message WHERE owner = $1 AND hash = $2
        UNION ALL
        SELECT m.hash, m.parent, m.depth, m.created_at, m.record, p.place + 1,
            p.total + length(m.record)
        FROM path p JOIN message m ON m.number = p.parent
        WHERE p.place < $3 AND p.total < $4 AND p.hash <> $5
    )
    SELECT depth, hash, created_at, record FROM path";

const PLACE: &str = "SELECT number, depth FROM message WHERE owner = $1 AND hash = $2";

/// Where a message is: by its number in this database, and by how many stand before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) tip: Tip,
    depth: i64,
}

impl Work for Path {
    type Output = History;

    async fn run<S: Session>(&self, session: &mut S) -> Result<History> {
        let most = i64::from(self.window.messages.clamp(1, PATH_MESSAGES_MAX));
        let bytes = self.window.bytes.min(PATH_BYTES_MAX).cast_signed();
        // No message has an empty hash.
        let end = self.window.after.as_ref().map_or(Param::Bytes(&[]), Param::from);
        let params = [(&self.owner).into(), (&self.tip).into(), most.into(), bytes.into(), end];
        let rows = session.query(PATH, &params).await?.into_iter();
        let rows = rows.map(|mut row| Ok((row.take::<i64>()?, row)));
        let mut rows = rows.collect::<Result<Vec<_>>>()?;
        rows.sort_unstable_by_key(|(depth, _)| Reverse(*depth));
        let mut messages = newest(rows, self.window.bytes)?;
        let Some(first) = messages.first() else { return Err(Error::not_found("message")) };
        let after = self.window.after.filter(|after| first.hash == *after);
        messages.drain(..usize::from(after.is_some()));
        Ok(History { messages, after })
    }
}

/// The messages that fit, the oldest first. The query counts bytes as they are kept; here they are unpacked and count in full.
fn newest(rows: Vec<(i64, Row)>, most: u64) -> Result<Vec<Message>> {
    let (mut messages, mut bytes) = (Vec::with_capacity(rows.len()), 0);
    for (depth, row) in rows {
        if bytes >= most && !messages.is_empty() {
            break;
        }
        let message = message(depth, row)?;
        bytes += message.record.as_bytes().len() as u64;
        messages.push(message);
    }
    messages.reverse();
    Ok(messages)
}

impl Work for Beginning {
    type Output = Message;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Message> {
        let sql = "SELECT depth, hash, created_at, record FROM message
            WHERE owner = $1 AND hash >= $2 AND hash <= $3 ORDER BY hash LIMIT 1";
        let (least, most) = (Hash::beginning(&self.bytes, 0), Hash::beginning(&self.bytes, 0xff));
        let params = [(&self.owner).into(), (&least).into(), (&most).into()];
        let row = session.first(sql, &params).await?;
        let mut row = row.ok_or_else(|| Error::not_found("message"))?;
        message(row.take()?, row)
    }
}

impl Work for Known {
    type Output = usize;

    async fn run<S: Session>(&self, session: &mut S) -> Result<usize> {
        known(session, &self.owner, &self.hashes).await
    }
}

/// How many of these messages are there, from the first on. A message is only there with all before it, so the border can be
/// searched by halves, from the end that is likely.
pub(crate) async fn known<S: Session>(
    session: &mut S,
    owner: &Owner,
    hashes: &[Hash],
) -> Result<usize> {
    let (mut known, mut unknown) = (0, hashes.len() + 1);
    let mut step = 1;
    while known + 1 < unknown {
        let middle = unknown.saturating_sub(step).max(known + 1);
        if find(session, owner, &hashes[middle - 1]).await?.is_some() {
            (known, step) = (middle, ((unknown - middle) / 2).max(1));
        } else {
            unknown = middle;
            step = (step * 2).min(((unknown - known) / 2).max(1));
        }
    }
    Ok(known)
}

/// The last of some messages, by its hash and by its number in this database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tip {
    pub(crate) hash: Hash,
    pub(crate) number: i64,
}

impl Tip {
    /// The number, for a column.
    pub(crate) fn column(tip: Option<Self>) -> Param<'static> {
        tip.map_or(Param::Null, |tip| tip.number.into())
    }
}

/// Adds messages after `base`, those that are there already included, and returns the last.
pub(crate) async fn append<S: Session>(
    session: &mut S,
    owner: &Owner,
    base: Option<Place>,
    messages: &[NewMessage],
    now: Time,
) -> Result<Option<Tip>> {
    let (known, mut last) = match base {
        Some(base) => (0, Some(base)),
        None => kept(session, owner, messages).await?,
    };
    let sql = "INSERT INTO message (owner, hash, parent, depth, created_at, record)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (owner, hash) DO NOTHING RETURNING number";
    for message in &messages[known..] {
        let (hash, record) = ((&message.hash).into(), (&message.record).into());
        let parent = last.map_or(Param::Null, |last| last.tip.number.into());
        let depth = last.map_or(0, |last| last.depth + 1);
        let params = [owner.into(), hash, parent, depth.into(), now.into(), record];
        last = Some(match session.insert(sql, &params).await? {
            Some(number) => Place { tip: Tip { hash: message.hash, number }, depth },
            None => place(session, owner, &message.hash).await?,
        });
    }
    Ok(last.map(|last| last.tip))
}

/// How many of the messages of a conversation that begins with them are there, and the last of these. Whoever begins with the
/// same words as others did mostly goes on with the same ones; who does not is known by the first.
async fn kept<S: Session>(
    session: &mut S,
    owner: &Owner,
    messages: &[NewMessage],
) -> Result<(usize, Option<Place>)> {
    let Some(first) = messages.first() else { return Ok((0, None)) };
    let Some(mut last) = find(session, owner, &first.hash).await? else { return Ok((0, None)) };
    let (mut known, mut unknown) = (1, messages.len() + 1);
    while known + 1 < unknown {
        let middle = if unknown > messages.len() { messages.len() } else { (known + unknown) / 2 };
        match find(session, owner, &messages[middle - 1].hash).await? {
            Some(place) => (known, last) = (middle, place),
            None => unknown = middle,
        }
    }
    Ok((known, Some(last)))
}

/// A message that is there.
pub(crate) async fn tip_of<S: Session>(session: &mut S, owner: &Owner, hash: &Hash) -> Result<Tip> {
    place(session, owner, hash).await.map(|place| place.tip)
}

async fn find<S: Session>(session: &mut S, owner: &Owner, hash: &Hash) -> Result<Option<Place>> {
    let row = session.first(PLACE, &[owner.into(), hash.into()]).await?;
    let place = |mut row: Row| {
        let tip = Tip { hash: *hash, number: row.take()? };
        Ok(Place { tip, depth: row.take()? })
    };
    row.map(place).transpose()
}

/// Where a message is that others go on from, if there is one.
pub(crate) async fn base_at<S: Session>(
    session: &mut S,
    owner: &Owner,
    hash: Option<&Hash>,
) -> Result<Option<Place>> {
    match hash {
        Some(hash) => place(session, owner, hash).await.map(Some),
        None => Ok(None),
    }
}

async fn place<S: Session>(session: &mut S, owner: &Owner, hash: &Hash) -> Result<Place> {
    find(session, owner, hash).await?.ok_or_else(|| Error::not_found("message"))
}

/// How many messages stand before this one.
pub(crate) async fn depth_of<S: Session>(
    session: &mut S,
    owner: &Owner,
    hash: &Hash,
) -> Result<i64> {
    place(session, owner, hash).await.map(|place| place.depth)
}

fn message(depth: i64, mut row: Row) -> Result<Message> {
    Ok(Message {
        hash: row.take()?,
        depth: depth.cast_unsigned(),
        created_at: row.take()?,
        record: row.take()?,
    })
}
