//! One conversation, by its id.

use super::{Conversation, Followed, names};
use crate::engine::{Row, Session, Work};
use crate::error::{Error, Result};
use crate::id::{ConversationId, Hash, Owner};
use crate::limit::TIPS_MAX;
use crate::message::{Tip, known, tip_of};

pub(crate) struct ReadConversation {
    pub(crate) owner: Owner,
    pub(crate) id: ConversationId,
}

/// How much of a history is kept, and which conversation goes on with it.
pub(crate) struct Follow {
    pub(crate) owner: Owner,
    pub(crate) hashes: Vec<Hash>,
}

/// The newest conversation that nobody asked for and that ends with this message, or with the last before it that has one. Mostly
/// it is this message, and nothing before it is looked at.
const FOLLOWED: &str = "WITH RECURSIVE path (parent, place, found) AS (
        SELECT m.parent, CAST(1 AS BIGINT), (SELECT c.id FROM conversation c
            WHERE c.tip = m.number AND c.followed = 1 ORDER BY c.updated_at DESC LIMIT 1)
        FROM message m WHERE m.number = $1
        UNION ALL
        SELECT m.parent, p.place + 1, (SELECT c.id FROM conversation c
            WHERE c.tip = m.number AND c.followed = 1 ORDER BY c.updated_at DESC LIMIT 1)
        FROM path p JOIN message m ON m.number = p.parent WHERE p.place < $2 AND p.found IS NULL
    )
    SELECT found FROM path WHERE found IS NOT NULL";

impl Work for Follow {
    type Output = Followed;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Followed> {
        let known = known(session, &self.owner, &self.hashes).await?;
        let Some(last) = known.checked_sub(1).map(|last| &self.hashes[last]) else {
            return Ok(Followed { known, conversation: None });
        };
        let last = tip_of(session, &self.owner, last).await?;
        let conversation = followed(session, &self.owner, last).await?;
        Ok(Followed { known, conversation })
    }
}

/// The conversation that nobody asked for and that goes on with what ends with this message.
pub(crate) async fn followed<S: Session>(
    session: &mut S,
    owner: &Owner,
    last: Tip,
) -> Result<Option<Conversation>> {
    let params = [last.number.into(), (TIPS_MAX as i64).into()];
    match session.first(FOLLOWED, &params).await? {
        Some(mut row) => read(session, owner, &row.take()?).await.map(Some),
        None => Ok(None),
    }
}

impl Work for ReadConversation {
    type Output = Conversation;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Conversation> {
        read(session, &self.owner, &self.id).await
    }
}

pub(super) async fn read<S: Session>(
    session: &mut S,
    owner: &Owner,
    id: &ConversationId,
) -> Result<Conversation> {
    let sql = "SELECT id, (SELECT hash FROM message WHERE number = tip), last_turn,
            (SELECT hash FROM setting WHERE number = system),
            (SELECT hash FROM setting WHERE number = tools), title, metadata, created_at,
            updated_at, used_at, turns, protocols, models
        FROM conversation WHERE owner = $1 AND id = $2";
    let row = session.first(sql, &[owner.into(), id.into()]).await?;
    conversation(row.ok_or_else(|| Error::not_found("conversation"))?)
}

fn conversation(mut row: Row) -> Result<Conversation> {
    Ok(Conversation {
        id: row.take()?,
        tip: row.take()?,
        last_turn: row.take()?,
        system: row.take()?,
        tools: row.take()?,
        title: row.take()?,
        metadata: row.take()?,
        created_at: row.take()?,
        updated_at: row.take()?,
        used_at: row.take()?,
        turns: row.take::<i64>()?.cast_unsigned(),
        protocols: names(&row.take::<String>()?)?,
        models: names(&row.take::<String>()?)?,
    })
}
