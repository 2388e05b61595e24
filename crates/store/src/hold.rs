//! What only one turn at a time may do: work on a conversation, continue a thread, answer a response's calls.

use crate::clock::Time;
use crate::engine::{Session, Work};
use crate::error::Result;
use crate::id::{ConversationId, NodeId, Owner, TurnId};

/// What is held.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A conversation, as long as the turn lasts.
    Conversation(ConversationId),
    /// The continuation of a turn that may be continued once.
    Continue(TurnId),
    /// The answer to a turn's calls, which may be given once.
    Submit(TurnId),
}

/// The column of holds of conversations, which end with their turn.
pub(crate) const CONVERSATION: &str = "conversation";

/// What became of the attempt to hold something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// It is the turn's now.
    Taken,
    /// Another turn of a node that is alive has it.
    Busy,
    /// Another turn had it and has finished: it is used up.
    Used,
}

impl Purpose {
    /// The columns: what it is for, and the id.
    fn columns(&self) -> (&'static str, &str) {
        match self {
            Self::Conversation(id) => (CONVERSATION, id.as_str()),
            Self::Continue(turn) => ("continue", turn.as_str()),
            Self::Submit(turn) => ("submit", turn.as_str()),
        }
    }
}

pub(crate) struct Take {
    pub(crate) owner: Owner,
    pub(crate) purpose: Purpose,
    pub(crate) turn: TurnId,
    pub(crate) node: NodeId,
    pub(crate) now: Time,
}

pub(crate) struct Release {
    pub(crate) owner: Owner,
    pub(crate) turn: TurnId,
}

impl Work for Take {
    type Output = Held;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Held> {
        let sql = "INSERT INTO hold (owner, purpose, id, turn, node, settled)
            VALUES ($1, $2, $3, $4, $5, 0)
            ON CONFLICT (owner, purpose, id) DO UPDATE SET turn = excluded.turn, node = excluded.node
            WHERE hold.settled = 0 AND (hold.turn = excluded.turn OR NOT EXISTS
                (SELECT 1 FROM node WHERE node.id = hold.node AND node.alive_until >= $6))";
        let (purpose, id) = self.purpose.columns();
        let key = [(&self.owner).into(), purpose.into(), id.into()];
        let [owner, purpose, id] = key;
        let params =
            [owner, purpose, id, (&self.turn).into(), (&self.node).into(), self.now.into()];
        if session.execute(sql, &params).await? == 1 {
            return Ok(Held::Taken);
        }
        let sql = "SELECT settled FROM hold WHERE owner = $1 AND purpose = $2 AND id = $3";
        let settled =
            session.first(sql, &key).await?.map(|mut row| row.take::<i64>()).transpose()?;
        Ok(if settled == Some(1) { Held::Used } else { Held::Busy })
    }
}

impl Work for Release {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        release(session, &self.owner, &self.turn).await
    }
}

/// The turn ends without success: whatever it holds is free again.
pub(crate) async fn release<S: Session>(
    session: &mut S,
    owner: &Owner,
    turn: &TurnId,
) -> Result<()> {
    let sql = "DELETE FROM hold WHERE owner = $1 AND turn = $2 AND settled = 0";
    session.execute(sql, &[owner.into(), turn.into()]).await.map(|_| ())
}

/// The turn has finished: its conversation is free again, and what may be done once is used up.
pub(crate) async fn settle<S: Session>(
    session: &mut S,
    owner: &Owner,
    turn: &TurnId,
) -> Result<()> {
    let sql = "UPDATE hold SET settled = 1 WHERE owner = $1 AND turn = $2 AND purpose <> $3";
    session.execute(sql, &[owner.into(), turn.into(), CONVERSATION.into()]).await?;
    release(session, owner, turn).await
}
