//! The log of messages: each after its parent, found by its hash, never changed.

use crate::clock::Time;
use crate::engine::{Row, Session, Work, optional};
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
    pub parent: Option<Hash>,
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
}

impl Default for Window {
    fn default() -> Self {
        Self { messages: PATH_MESSAGES_MAX, bytes: PATH_BYTES_MAX }
    }
}

/// The messages up to a tip, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    pub messages: Vec<Message>,
}

impl History {
    /// Whether it begins where the conversation began, and not where the window did.
    pub fn is_complete(&self) -> bool {
        self.messages.first().is_none_or(|message| message.parent.is_none())
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
        FROM path p JOIN message m ON m.owner = $1 AND m.hash = p.parent
        WHERE p.place < $3 AND p.total < $4
    )
    SELECT hash, parent, depth, created_at, record FROM path";

const EXISTS: &str = "SELECT depth FROM message WHERE owner = $1 AND hash = $2";

impl Work for Path {
    type Output = History;

    async fn run<S: Session>(&self, session: &mut S) -> Result<History> {
        let most = i64::from(self.window.messages.clamp(1, PATH_MESSAGES_MAX));
        let bytes = self.window.bytes.min(PATH_BYTES_MAX).cast_signed();
        let params = [(&self.owner).into(), (&self.tip).into(), most.into(), bytes.into()];
        let rows = session.query(PATH, &params).await?;
        let mut messages = rows.into_iter().map(message).collect::<Result<Vec<_>>>()?;
        if messages.is_empty() {
            return Err(Error::not_found("message"));
        }
        messages.sort_unstable_by_key(|message| message.depth);
        Ok(History { messages })
    }
}

impl Work for Beginning {
    type Output = Message;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Message> {
        let sql = "SELECT hash, parent, depth, created_at, record FROM message
            WHERE owner = $1 AND hash >= $2 AND hash <= $3 ORDER BY hash LIMIT 1";
        let (least, most) = (Hash::beginning(&self.bytes, 0), Hash::beginning(&self.bytes, 0xff));
        let params = [(&self.owner).into(), (&least).into(), (&most).into()];
        let row = session.first(sql, &params).await?;
        message(row.ok_or_else(|| Error::not_found("message"))?)
    }
}

impl Work for Known {
    type Output = usize;

    /// A message is only there with all before it, so the border can be searched by halves, from the end that is likely.
    async fn run<S: Session>(&self, session: &mut S) -> Result<usize> {
        let (mut known, mut unknown) = (0, self.hashes.len() + 1);
        let mut step = 1;
        while known + 1 < unknown {
            let middle = unknown.saturating_sub(step).max(known + 1);
            if depth(session, &self.owner, &self.hashes[middle - 1]).await?.is_some() {
                (known, step) = (middle, ((unknown - middle) / 2).max(1));
            } else {
                unknown = middle;
                step = (step * 2).min(((unknown - known) / 2).max(1));
            }
        }
        Ok(known)
    }
}

/// Adds messages after `base`, those that are there already included, and returns the last.
pub(crate) async fn append<S: Session>(
    session: &mut S,
    owner: &Owner,
    base: Option<&Hash>,
    messages: &[NewMessage],
    now: Time,
) -> Result<Option<Hash>> {
    let mut parent = base.copied();
    let mut below = match base {
        Some(base) => depth_of(session, owner, base).await? + 1,
        None => 0,
    };
    let sql = "INSERT INTO message (owner, hash, parent, depth, created_at, record)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (owner, hash) DO NOTHING";
    for message in messages {
        let (hash, parent_column) = ((&message.hash).into(), optional(parent.as_ref()));
        let record = (&message.record).into();
        let params = [owner.into(), hash, parent_column, below.into(), now.into(), record];
        session.execute(sql, &params).await?;
        parent = Some(message.hash);
        below += 1;
    }
    Ok(parent)
}

async fn depth<S: Session>(session: &mut S, owner: &Owner, hash: &Hash) -> Result<Option<i64>> {
    let row = session.first(EXISTS, &[owner.into(), hash.into()]).await?;
    row.map(|mut row| row.take()).transpose()
}

/// How many messages stand before this one.
pub(crate) async fn depth_of<S: Session>(
    session: &mut S,
    owner: &Owner,
    hash: &Hash,
) -> Result<i64> {
    depth(session, owner, hash).await?.ok_or_else(|| Error::not_found("message"))
}

fn message(mut row: Row) -> Result<Message> {
    Ok(Message {
        hash: row.take()?,
        parent: row.take()?,
        depth: row.take::<i64>()?.cast_unsigned(),
        created_at: row.take()?,
        record: row.take()?,
    })
}
