//! The beginning of a turn, before anything is known of its answer.

use super::Opening;
use crate::clock::Time;
use crate::engine::{Param, Session, Work, optional};
use crate::error::Result;
use crate::id::{NodeId, Owner, TurnId};

pub(crate) struct Open {
    pub(crate) opening: Opening,
    pub(crate) node: NodeId,
    pub(crate) now: Time,
}

/// The first event of the answer is there.
pub(crate) struct Stream {
    pub(crate) owner: Owner,
    pub(crate) turn: TurnId,
}

impl Work for Open {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        ensure(session, &self.opening, &self.node, self.now).await
    }
}

impl Work for Stream {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        let sql = "UPDATE turn SET status = 'streaming'
            WHERE owner = $1 AND id = $2 AND status = 'opened'";
        session.execute(sql, &[(&self.owner).into(), (&self.turn).into()]).await.map(|_| ())
    }
}

/// Makes the turn unless it is there.
pub(super) async fn ensure<S: Session>(
    session: &mut S,
    opening: &Opening,
    node: &NodeId,
    now: Time,
) -> Result<()> {
    let sql = "INSERT INTO turn (owner, id, previous, base, status, node, protocol, exchange,
            opened_at, used_at, refs, details)
        VALUES ($1, $2, $3, (SELECT number FROM message WHERE owner = $1 AND hash = $4), 'opened',
            $5, $6, $7, $8, $8, 0, $9)
        ON CONFLICT (owner, id) DO NOTHING";
    let params = [
        (&opening.owner).into(),
        (&opening.id).into(),
        optional(opening.previous.as_ref()),
        optional(opening.base.as_ref()),
        node.into(),
        (&opening.protocol).into(),
        optional(opening.exchange.as_ref()),
        now.into(),
        Param::Bytes(&[]),
    ];
    let is_new = session.execute(sql, &params).await? == 1;
    match &opening.previous {
        Some(previous) if is_new => add_reference(session, &opening.owner, previous, now).await,
        _ => Ok(()),
    }
}

/// Another turn or conversation goes on from this one.
pub(crate) async fn add_reference<S: Session>(
    session: &mut S,
    owner: &Owner,
    turn: &TurnId,
    now: Time,
) -> Result<()> {
    let sql = "UPDATE turn SET refs = refs + 1, used_at = $3 WHERE owner = $1 AND id = $2";
    session.execute(sql, &[owner.into(), turn.into(), now.into()]).await.map(|_| ())
}
