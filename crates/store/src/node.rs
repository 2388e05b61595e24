//! Which processes are alive. A node renews one lease for all that it holds and all its open turns; when the lease ends,
//! both are anybody's.

use std::time::Duration;

use crate::clock::Time;
use crate::engine::{Session, Work};
use crate::error::Result;
use crate::id::NodeId;
use crate::{conversation, job};

/// How long a node that does not answer counts as alive. Locks and open turns of a dead node last no longer.
pub(crate) const LEASE: Duration = Duration::from_secs(25);
/// Dead nodes that one look takes care of.
const NODES_AT_ONCE: i64 = 16;

/// Renews the lease of this node.
pub(crate) struct Heartbeat {
    pub(crate) node: NodeId,
    pub(crate) now: Time,
}

/// Takes care of what dead nodes left: turns and jobs are marked interrupted, holds end.
pub(crate) struct Recover {
    pub(crate) now: Time,
}

impl Work for Heartbeat {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        let sql = "INSERT INTO node (id, alive_until) VALUES ($1, $2)
            ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until";
        let until = self.now.plus(LEASE);
        session.execute(sql, &[(&self.node).into(), until.into()]).await.map(|_| ())
    }
}

impl Work for Recover {
    type Output = u64;

    async fn run<S: Session>(&self, session: &mut S) -> Result<u64> {
        let sql = "SELECT id FROM node WHERE alive_until < $1 ORDER BY alive_until LIMIT $2";
        let dead = session.query(sql, &[self.now.into(), NODES_AT_ONCE.into()]).await?;
        let mut turns = 0;
        for mut row in dead {
            turns += recover(session, &row.take()?, self.now).await?;
        }
        Ok(turns)
    }
}

async fn recover<S: Session>(session: &mut S, node: &NodeId, now: Time) -> Result<u64> {
    let held = conversation::interrupt_all(session, node, now).await?;
    let sql = "UPDATE turn SET status = 'interrupted', node = '', closed_at = $2
        WHERE node = $1 AND closed_at IS NULL";
    let turns = session.execute(sql, &[node.into(), now.into()]).await?;
    let sql = "DELETE FROM hold WHERE node = $1 AND settled = 0";
    session.execute(sql, &[node.into()]).await?;
    job::interrupt(session, node, now).await?;
    let sql = "DELETE FROM node WHERE id = $1 AND alive_until < $2";
    session.execute(sql, &[node.into(), now.into()]).await?;
    Ok(held + turns)
}
