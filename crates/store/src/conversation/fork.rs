//! A second conversation that shares the beginning of the first. No message is copied.

use super::read::read;
use super::{Conversation, Fork, searchable};
use crate::clock::Time;
use crate::engine::{Session, Work, optional};
use crate::error::{Error, Result};
use crate::id::{Hash, Owner, TurnId};
use crate::response::share_items;
use crate::summary;
use crate::turn::{self, add_reference};

pub(crate) struct ForkConversation {
    pub(crate) fork: Fork,
    pub(crate) now: Time,
}

/// The common end of both.
struct Point {
    tip: Option<Hash>,
    turn: Option<TurnId>,
    turns: i64,
}

impl Work for ForkConversation {
    type Output = Conversation;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Conversation> {
        let fork = &self.fork;
        let from = read(session, &fork.owner, &fork.from).await?;
        let point = self.point(session, &from).await?;
        self.insert(session, &from, &point).await?;
        share_items(session, &fork.owner, (&fork.from, &fork.id)).await?;
        if let Some(turn) = &point.turn {
            add_reference(session, &fork.owner, turn, self.now).await?;
        }
        if let Some(tip) = &point.tip {
            summary::share(session, fork, tip, self.now).await?;
        }
        read(session, &fork.owner, &fork.id).await
    }
}

impl ForkConversation {
    async fn point<S: Session>(&self, session: &mut S, from: &Conversation) -> Result<Point> {
        let owner = &self.fork.owner;
        let turns = from.turns.cast_signed();
        let Some(after) = &self.fork.after else {
            return Ok(Point { tip: from.tip, turn: from.last_turn.clone(), turns });
        };
        let last = from.last_turn.as_ref().ok_or_else(|| Error::not_found("turn"))?;
        let back = distance(session, owner, last, after).await?;
        let turn = turn::read(session, owner, after).await?;
        Ok(Point { tip: turn.tip.or(turn.base), turn: Some(turn.id), turns: turns - back })
    }

    async fn insert<S: Session>(
        &self,
        session: &mut S,
        from: &Conversation,
        point: &Point,
    ) -> Result<()> {
        let fork = &self.fork;
        let search = searchable(&fork.id, &from.title);
        let sql = "INSERT INTO conversation (owner, id, tip, last_turn, system, tools, title,
                search, metadata, created_at, updated_at, used_at, turns, protocols, models)
            SELECT owner, $3, (SELECT number FROM message WHERE owner = $1 AND hash = $4), $5, system, tools, title, $6, metadata, $7, $7, $7, $8,
                protocols, models
            FROM conversation WHERE owner = $1 AND id = $2
            ON CONFLICT (owner, id) DO NOTHING";
        let params = [
            (&fork.owner).into(),
            (&fork.from).into(),
            (&fork.id).into(),
            optional(point.tip.as_ref()),
            optional(point.turn.as_ref()),
            search.as_str().into(),
            self.now.into(),
            point.turns.into(),
        ];
        match session.execute(sql, &params).await? {
            1 => Ok(()),
            _ => Err(Error::conflict("there is a conversation of this id already")),
        }
    }
}

/// How many turns `after` stands before `last`, on its own path.
async fn distance<S: Session>(
    session: &mut S,
    owner: &Owner,
    last: &TurnId,
    after: &TurnId,
) -> Result<i64> {
    let sql = "WITH RECURSIVE chain (id, previous, place) AS (
            SELECT id, previous, CAST(0 AS BIGINT) FROM turn WHERE owner = $1 AND id = $2
            UNION ALL
            SELECT t.id, t.previous, chain.place + 1
            FROM chain JOIN turn t ON t.owner = $1 AND t.id = chain.previous WHERE chain.id <> $3
        )
        SELECT place FROM chain WHERE id = $3";
    let row = session.first(sql, &[owner.into(), last.into(), after.into()]).await?;
    row.ok_or_else(|| Error::not_found("turn"))?.take()
}
