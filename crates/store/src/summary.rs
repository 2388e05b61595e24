//! Summaries of conversations: each covers all messages up to one, and the newest is the one in force.

use crate::clock::Time;
use crate::conversation::Fork;
use crate::engine::{Session, Work};
use crate::error::{Error, Result};
use crate::id::{ConversationId, Hash, Owner};
use crate::message::depth_of;
use crate::record::Record;

/// A summary in place of all messages up to `covers`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    pub covers: Hash,
    pub created_at: Time,
    pub record: Record,
}

pub(crate) struct PutSummary {
    pub(crate) owner: Owner,
    pub(crate) conversation: ConversationId,
    pub(crate) covers: Hash,
    pub(crate) record: Record,
    pub(crate) now: Time,
}

pub(crate) struct ReadSummary {
    pub(crate) owner: Owner,
    pub(crate) conversation: ConversationId,
}

const INSERT: &str = "INSERT INTO summary (owner, conversation, number, covers, created_at, record)
    SELECT $1, $2, COALESCE(MAX(number), 0) + 1, $3, $4, $5
    FROM summary WHERE owner = $1 AND conversation = $2";

impl Work for PutSummary {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        let sql = "SELECT 1 FROM conversation WHERE owner = $1 AND id = $2";
        let key = [(&self.owner).into(), (&self.conversation).into()];
        if session.first(sql, &key).await?.is_none() {
            return Err(Error::not_found("conversation"));
        }
        depth_of(session, &self.owner, &self.covers).await?;
        let [owner, conversation] = key;
        let (covers, record) = ((&self.covers).into(), (&self.record).into());
        let params = [owner, conversation, covers, self.now.into(), record];
        session.execute(INSERT, &params).await.map(|_| ())
    }
}

impl Work for ReadSummary {
    type Output = Option<Summary>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Option<Summary>> {
        active(session, &self.owner, &self.conversation).await
    }
}

/// A fork has the summary of its origin, unless that covers messages which the fork does not share.
pub(crate) async fn share<S: Session>(
    session: &mut S,
    fork: &Fork,
    tip: &Hash,
    now: Time,
) -> Result<()> {
    let Some(summary) = active(session, &fork.owner, &fork.from).await? else {
        return Ok(());
    };
    let covered = depth_of(session, &fork.owner, &summary.covers).await?;
    if covered > depth_of(session, &fork.owner, tip).await? {
        return Ok(());
    }
    let (covers, record) = ((&summary.covers).into(), (&summary.record).into());
    let params = [(&fork.owner).into(), (&fork.id).into(), covers, now.into(), record];
    session.execute(INSERT, &params).await.map(|_| ())
}

async fn active<S: Session>(
    session: &mut S,
    owner: &Owner,
    conversation: &ConversationId,
) -> Result<Option<Summary>> {
    let sql = "SELECT covers, created_at, record FROM summary
        WHERE owner = $1 AND conversation = $2 ORDER BY number DESC LIMIT 1";
    let row = session.first(sql, &[owner.into(), conversation.into()]).await?;
    row.map(|mut row| {
        Ok(Summary { covers: row.take()?, created_at: row.take()?, record: row.take()? })
    })
    .transpose()
}
