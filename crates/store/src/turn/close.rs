//! The end of a turn: all that it leaves, in one transaction.

use super::open::{add_reference, ensure};
use super::{Closing, Ending, Status};
use crate::clock::Time;
use crate::conversation::{Step, advance, begin};
use crate::engine::{Param, Session, Work, optional};
use crate::error::{Error, Result};
use crate::id::{NodeId, Owner, TurnId};
use crate::limit::{ITEMS_MAX, MESSAGES_MAX, count};
use crate::message::{Tip, append};
use crate::response::{add_items, add_response};
use crate::setting::{Setting, keep};
use crate::{hold, job};

pub(crate) struct Close {
    pub(crate) closing: Closing,
    pub(crate) node: NodeId,
    pub(crate) now: Time,
    /// When it was opened, if that was not written.
    pub(crate) unopened_since: Option<Time>,
}

/// What a turn leaves, by numbers in this database.
#[derive(Clone, Copy)]
struct Left {
    tip: Option<Tip>,
    system: Option<Setting>,
    tools: Option<Setting>,
}

/// The turn never was: its provider gave no answer.
pub(crate) struct Abandon {
    pub(crate) owner: Owner,
    pub(crate) turn: TurnId,
}

impl Work for Close {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        let closing = &self.closing;
        let (owner, turn) = (&closing.turn.owner, &closing.turn.id);
        count("messages", closing.messages.len(), MESSAGES_MAX)?;
        count("items", closing.items.len(), ITEMS_MAX)?;
        let base = closing.turn.base.as_ref();
        let tip = append(session, owner, base, &closing.messages, self.now).await?;
        self.end(session, tip).await?;
        for response in &closing.responses {
            add_response(session, owner, turn, response, self.now).await?;
        }
        add_items(session, owner, turn, &closing.items).await?;
        self.advance(session, tip).await?;
        if let Some(job) = &closing.job {
            job::finish(session, owner, job, self.now).await?;
        }
        match closing.ending {
            Ending::Finished => hold::settle(session, owner, turn).await,
            Ending::Interrupted | Ending::Failed => hold::release(session, owner, turn).await,
        }
    }
}

impl Close {
    /// A turn ends once. One that was taken for dead and is not may still end.
    async fn end<S: Session>(&self, session: &mut S, tip: Option<Tip>) -> Result<()> {
        let closing = &self.closing;
        let owner = &closing.turn.owner;
        let left = Left {
            tip,
            system: keep(session, owner, closing.system.as_ref()).await?,
            tools: keep(session, owner, closing.tools.as_ref()).await?,
        };
        if let Some(since) = self.unopened_since
            && self.insert(session, since, left).await?
        {
            return Ok(());
        }
        if self.update(session, left).await? {
            return Ok(());
        }
        ensure(session, &closing.turn, &self.node, self.now).await?;
        match self.update(session, left).await? {
            true => Ok(()),
            false => Err(Error::conflict("the turn has ended already")),
        }
    }

    /// Ends a turn that is open, if there is one.
    async fn update<S: Session>(&self, session: &mut S, left: Left) -> Result<bool> {
        let closing = &self.closing;
        // Its base stands there since it was opened. What is not named here is not written again, nor its index.
        let sql = "UPDATE turn SET status = $3, node = '', tip = $4, provider = $5, model = $6,
                system = $7, tools = $8, closed_at = $9, used_at = $9, details = $10,
                refs = refs + $11
            WHERE owner = $1 AND id = $2 AND status IN ('opened', 'streaming', 'interrupted')";
        let params = [
            (&closing.turn.owner).into(),
            (&closing.turn.id).into(),
            Status::from(closing.ending).as_str().into(),
            Tip::column(left.tip),
            optional(closing.provider.as_ref()),
            optional(closing.model.as_ref()),
            Setting::column(left.system),
            Setting::column(left.tools),
            self.now.into(),
            (&closing.details).into(),
            self.refs().into(),
        ];
        Ok(session.execute(sql, &params).await? == 1)
    }

    /// Writes a turn that was not opened, with its end, unless it is there.
    async fn insert<S: Session>(&self, session: &mut S, since: Time, left: Left) -> Result<bool> {
        let Closing { turn, .. } = &self.closing;
        let sql = "INSERT INTO turn (owner, id, previous, base, status, node, protocol, exchange,
                opened_at, tip, provider, model, system, tools, closed_at, used_at, details, refs)
            VALUES ($1, $2, $3, (SELECT number FROM message WHERE owner = $1 AND hash = $4), $5,
                '', $6, $7, $8, $9, $10, $11, $12, $13, $14, $14, $15, $16)
            ON CONFLICT (owner, id) DO NOTHING";
        let params = [
            (&turn.owner).into(),
            (&turn.id).into(),
            optional(turn.previous.as_ref()),
            optional(turn.base.as_ref()),
            Status::from(self.closing.ending).as_str().into(),
            (&turn.protocol).into(),
            optional(turn.exchange.as_ref()),
            since.into(),
            Tip::column(left.tip),
            optional(self.closing.provider.as_ref()),
            optional(self.closing.model.as_ref()),
            Setting::column(left.system),
            Setting::column(left.tools),
            self.now.into(),
            (&self.closing.details).into(),
            self.refs().into(),
        ];
        let is_new = session.execute(sql, &params).await? == 1;
        if is_new && let Some(previous) = &turn.previous {
            add_reference(session, &turn.owner, previous, since).await?;
        }
        Ok(is_new)
    }

    /// The conversation that it advances ends on it.
    fn refs(&self) -> i64 {
        i64::from(self.closing.conversation.is_some())
    }

    async fn advance<S: Session>(&self, session: &mut S, tip: Option<Tip>) -> Result<()> {
        let closing = &self.closing;
        let Some(target) = &closing.conversation else {
            return Ok(());
        };
        let step = Step {
            from: target.from,
            to: tip,
            is_longer: closing.turn.base == target.from && !closing.messages.is_empty(),
            turn: Some(&closing.turn.id),
            turns: 1,
            protocol: Some(&closing.turn.protocol),
            model: closing.model.as_ref(),
            now: self.now,
        };
        if let Some(new) = &closing.begins
            && begin(session, new, &step).await?
        {
            return Ok(());
        }
        advance(session, &closing.turn.owner, &target.id, &step).await
    }
}

impl Work for Abandon {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        let key = [(&self.owner).into(), (&self.turn).into()];
        let sql = "SELECT previous FROM turn WHERE owner = $1 AND id = $2 AND closed_at IS NULL";
        if let Some(mut row) = session.first(sql, &key).await? {
            let previous = row.take::<Option<TurnId>>()?;
            session.execute("DELETE FROM turn WHERE owner = $1 AND id = $2", &key).await?;
            drop_reference(session, &self.owner, previous.as_ref()).await?;
        }
        hold::release(session, &self.owner, &self.turn).await
    }
}

/// One turn or conversation fewer goes on from this one.
pub(crate) async fn drop_reference<S: Session>(
    session: &mut S,
    owner: &Owner,
    turn: Option<&TurnId>,
) -> Result<()> {
    let sql = "UPDATE turn SET refs = refs - 1 WHERE owner = $1 AND id = $2 AND refs > 0";
    let Some(turn) = turn else {
        return Ok(());
    };
    let params: [Param<'_>; 2] = [owner.into(), turn.into()];
    session.execute(sql, &params).await.map(|_| ())
}
