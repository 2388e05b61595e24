//! Turns, one by its id or many from one back to the first.

use super::{Status, Turn};
use crate::engine::{Row, Session, Work};
use crate::error::{Error, Result};
use crate::id::{Owner, TurnId};
use crate::limit::page;

pub(crate) struct ReadTurn {
    pub(crate) owner: Owner,
    pub(crate) turn: TurnId,
}

/// This turn and those before it, the newest first.
pub(crate) struct Turns {
    pub(crate) owner: Owner,
    pub(crate) from: TurnId,
    pub(crate) limit: u32,
}

const TURN: &str = "SELECT id, previous, (SELECT hash FROM message WHERE number = base),
        (SELECT hash FROM message WHERE number = tip), status, protocol, provider, model, exchange,
        (SELECT hash FROM setting WHERE number = system),
        (SELECT hash FROM setting WHERE number = tools), opened_at, closed_at, used_at, details
    FROM turn WHERE owner = $1 AND id = $2";

/// All columns ride along: a second look at the table could be planned the other way round, from all turns of the owner.
const TURNS: &str = "WITH RECURSIVE chain (place, id, previous, base, tip, status, protocol,
        provider, model, exchange, system, tools, opened_at, closed_at, used_at, details) AS (
        SELECT CAST(1 AS BIGINT), id, previous, base, tip, status, protocol, provider, model,
            exchange, system, tools, opened_at, closed_at, used_at, details
        FROM turn WHERE owner = $1 AND id = $2
        UNION ALL
        SELECT chain.place + 1, t.id, t.previous, t.base, t.tip, t.status, t.protocol, t.provider,
            t.model, t.exchange, t.system, t.tools, t.opened_at, t.closed_at, t.used_at, t.details
        FROM chain JOIN turn t ON t.owner = $1 AND t.id = chain.previous WHERE chain.place < $3
    )
    SELECT place, id, previous, (SELECT hash FROM message WHERE number = base),
        (SELECT hash FROM message WHERE number = tip), status, protocol, provider, model, exchange,
        (SELECT hash FROM setting WHERE number = system),
        (SELECT hash FROM setting WHERE number = tools), opened_at, closed_at, used_at, details
    FROM chain";

impl Work for ReadTurn {
    type Output = Turn;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Turn> {
        read(session, &self.owner, &self.turn).await
    }
}

impl Work for Turns {
    type Output = Vec<Turn>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Vec<Turn>> {
        let params = [(&self.owner).into(), (&self.from).into(), page(self.limit).into()];
        let rows = session.query(TURNS, &params).await?;
        let placed = rows.into_iter().map(|mut row| Ok((row.take::<i64>()?, turn(row)?)));
        let mut placed = placed.collect::<Result<Vec<_>>>()?;
        placed.sort_unstable_by_key(|(place, _)| *place);
        Ok(placed.into_iter().map(|(_, turn)| turn).collect())
    }
}

pub(crate) async fn read<S: Session>(session: &mut S, owner: &Owner, id: &TurnId) -> Result<Turn> {
    let row = session.first(TURN, &[owner.into(), id.into()]).await?;
    turn(row.ok_or_else(|| Error::not_found("turn"))?)
}

fn turn(mut row: Row) -> Result<Turn> {
    Ok(Turn {
        id: row.take()?,
        previous: row.take()?,
        base: row.take()?,
        tip: row.take()?,
        status: Status::parse(&row.take::<String>()?)?,
        protocol: row.take()?,
        provider: row.take()?,
        model: row.take()?,
        exchange: row.take()?,
        system: row.take()?,
        tools: row.take()?,
        opened_at: row.take()?,
        closed_at: row.take()?,
        used_at: row.take()?,
        details: row.take()?,
    })
}
