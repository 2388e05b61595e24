//! What only one turn at a time may do: work on a conversation, continue a thread, answer a response's calls.

use crate::clock::Time;
use crate::engine::{Session, Work};
use crate::error::Result;
use crate::id::{ConversationId, NodeId, Owner, TurnId};
use crate::turn::Turn;
use crate::{conversation, turn};

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

/// The turn that works on a conversation.
pub(crate) struct Working {
    pub(crate) owner: Owner,
    pub(crate) conversation: ConversationId,
}

pub(crate) struct Release {
    pub(crate) owner: Owner,
    pub(crate) turn: TurnId,
}

impl Work for Take {
    type Output = Held;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Held> {
        let sql = "INSERT INTO hold (owner, purpose, id, turn, node, settled)
            VALUES ($1, $2, $3, $4, $5, 0) ON CONFLICT (owner, purpose, id) DO NOTHING";
        let (purpose, id) = self.purpose.columns();
        let [owner, purpose, id] = [(&self.owner).into(), purpose.into(), id.into()];
        let params = [owner, purpose, id, (&self.turn).into(), (&self.node).into()];
        match session.execute(sql, &params).await? {
            1 => Ok(Held::Taken),
            _ => self.take_over(session).await,
        }
    }
}

impl Take {
    /// Takes what the same turn has already, or what a dead node left.
    async fn take_over<S: Session>(&self, session: &mut S) -> Result<Held> {
        if let Purpose::Conversation(id) = &self.purpose {
            self.interrupt(session, id).await?;
        }
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

    /// Ends the turn of a dead node that still holds a conversation, before it is forgotten whose it was.
    async fn interrupt<S: Session>(&self, session: &mut S, id: &ConversationId) -> Result<()> {
        let sql = "SELECT turn FROM hold
            WHERE owner = $1 AND purpose = $2 AND id = $3 AND turn <> $4 AND NOT EXISTS
                (SELECT 1 FROM node WHERE node.id = hold.node AND node.alive_until >= $5)";
        let params = [
            (&self.owner).into(),
            CONVERSATION.into(),
            id.into(),
            (&self.turn).into(),
            self.now.into(),
        ];
        match session.first(sql, &params).await? {
            Some(mut row) => {
                let turn: TurnId = row.take()?;
                conversation::interrupt(session, &self.owner, (id, &turn), self.now).await
            }
            None => Ok(()),
        }
    }
}

impl Work for Working {
    type Output = Option<Turn>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Option<Turn>> {
        let sql = "SELECT hold.turn FROM hold
            JOIN turn ON turn.owner = hold.owner AND turn.id = hold.turn
            WHERE hold.owner = $1 AND hold.purpose = $2 AND hold.id = $3 AND hold.settled = 0";
        let key = [(&self.owner).into(), CONVERSATION.into(), (&self.conversation).into()];
        match session.first(sql, &key).await? {
            Some(mut row) => turn::read(session, &self.owner, &row.take()?).await.map(Some),
            None => Ok(None),
        }
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
    // Most hold nothing.
    let sql = "SELECT 1 FROM hold WHERE owner = $1 AND turn = $2 LIMIT 1";
    if session.first(sql, &[owner.into(), turn.into()]).await?.is_none() {
        return Ok(());
    }
    let sql = "UPDATE hold SET settled = 1 WHERE owner = $1 AND turn = $2 AND purpose <> $3";
    session.execute(sql, &[owner.into(), turn.into(), CONVERSATION.into()]).await?;
    release(session, owner, turn).await
}
