//! One conversation, by its id.

use super::{Conversation, names};
use crate::engine::{Row, Session, Work};
use crate::error::{Error, Result};
use crate::id::{ConversationId, Hash, Owner};
use crate::limit::TIPS_MAX;

pub(crate) struct ReadConversation {
    pub(crate) owner: Owner,
    pub(crate) id: ConversationId,
}

/// The conversation that nobody asked for and that ends with one of these messages: the last of them that has one. The
/// newest, should there be several.
pub(crate) struct ReadFollowed {
    pub(crate) owner: Owner,
    pub(crate) hashes: Vec<Hash>,
}

impl Work for ReadFollowed {
    type Output = Option<Conversation>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Option<Conversation>> {
        let sql = "SELECT id FROM conversation
            WHERE tip = (SELECT number FROM message WHERE owner = $1 AND hash = $2) AND followed = 1
            ORDER BY updated_at DESC LIMIT 1";
        for hash in self.hashes.iter().rev().take(TIPS_MAX) {
            if let Some(mut row) = session.first(sql, &[(&self.owner).into(), hash.into()]).await? {
                return read(session, &self.owner, &row.take()?).await.map(Some);
            }
        }
        Ok(None)
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
