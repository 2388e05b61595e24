//! The end of a turn: all that it leaves, in one transaction.

use super::open::{add_reference, ensure};
use super::origin::Origin;
use super::{Closing, Ending, Status};
use crate::clock::Time;
use crate::conversation::{Begun, Step, TurnCount, advance, begin, withdraw};
use crate::engine::{Param, Session, Work, optional};
use crate::error::{Error, Kind, Result};
use crate::id::{NodeId, Owner, TurnId};
use crate::limit::{ITEMS_MAX, MESSAGES_MAX, count};
use crate::message::{Tip, append};
use crate::response::{add_items, add_response};
use crate::setting::{Setting, keep};
use crate::{hold, job};

pub(crate) struct Close {
    pub(crate) closing: Box<Closing>,
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
    /// The conversation that began with it, which then never was either.
    pub(crate) begun: Option<Begun>,
}

impl Work for Close {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        let closing = &self.closing;
        let (owner, turn) = (&closing.turn.owner, &closing.turn.id);
        count("messages", closing.messages.len(), MESSAGES_MAX)?;
        count("items", closing.items.len(), ITEMS_MAX)?;
        let origin = Origin::of(session, closing).await?;
        let messages = &closing.messages[origin.known..];
        let tip = append(session, owner, origin.base, messages, self.now).await?;
        self.end(session, &origin, tip).await?;
        for response in &closing.responses {
            add_response(session, owner, turn, response, self.now).await?;
        }
        add_items(session, owner, turn, &closing.items).await?;
        self.advance(session, &origin, tip).await?;
        if let Some(job) = &closing.job {
            job::finish(session, owner, job, self.now).await?;
        }
        // Nothing else knows of a turn whose opening was not written: it holds nothing.
        if self.unopened_since.is_some() {
            return Ok(());
        }
        match closing.ending {
            Ending::Finished => hold::settle(session, owner, turn).await,
            Ending::Interrupted | Ending::Failed => hold::release(session, owner, turn).await,
        }
    }
}

impl Close {
    /// A turn ends once. One that was taken for dead and is not may still end.
    async fn end<S: Session>(
        &self,
        session: &mut S,
        origin: &Origin,
        tip: Option<Tip>,
    ) -> Result<()> {
        let closing = &self.closing;
        let owner = &closing.turn.owner;
        let left = Left {
            tip,
            system: keep(session, owner, closing.system.as_ref()).await?,
            tools: keep(session, owner, closing.tools.as_ref()).await?,
        };
        if let Some(since) = self.unopened_since
            && self.insert(session, (origin, since), left).await?
        {
            return Ok(());
        }
        if !self.update(session, left).await? {
            ensure(session, &closing.turn, &self.node, self.now).await?;
            if !self.update(session, left).await? {
                return Err(Error::conflict("the turn has ended already"));
            }
        }
        if closing.follows.is_none() {
            return Ok(());
        }
        origin.settle(session, (owner, &closing.turn.id)).await?;
        match &origin.previous {
            Some(previous) => add_reference(session, owner, previous, self.now).await,
            None => Ok(()),
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
    async fn insert<S: Session>(
        &self,
        session: &mut S,
        (origin, since): (&Origin, Time),
        left: Left,
    ) -> Result<bool> {
        let Closing { turn, .. } = &*self.closing;
        let sql = "INSERT INTO turn (owner, id, previous, base, status, node, protocol, exchange,
                opened_at, tip, provider, model, system, tools, closed_at, used_at, details, refs)
            VALUES ($1, $2, $3, $4, $5, '', $6, $7, $8, $9, $10, $11, $12, $13, $14, $14, $15, $16)
            ON CONFLICT (owner, id) DO NOTHING";
        let params = [
            (&turn.owner).into(),
            (&turn.id).into(),
            optional(origin.previous.as_ref()),
            origin.base_column(),
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
        if is_new && let Some(previous) = &origin.previous {
            add_reference(session, &turn.owner, previous, since).await?;
        }
        Ok(is_new)
    }

    /// The conversation that it advances ends on it.
    fn refs(&self) -> i64 {
        i64::from(self.closing.conversation.is_some() || self.closing.follows.is_some())
    }

    async fn advance<S: Session>(
        &self,
        session: &mut S,
        origin: &Origin,
        tip: Option<Tip>,
    ) -> Result<()> {
        let closing = &self.closing;
        let beside = closing.follows.as_ref().map(|it| &it.begins).or(closing.beside.as_ref());
        let from = origin.conversation.as_ref().and_then(|target| target.from);
        let is_replacing = origin.conversation.as_ref().is_some_and(|target| target.is_replacing);
        let step = Step {
            from,
            to: tip,
            is_longer: origin.base.map(|base| base.tip.hash) == from
                && closing.messages.len() > origin.known,
            turn: Some(&closing.turn.id),
            turns: TurnCount::More(u64::from(!is_replacing)),
            protocol: Some(&closing.turn.protocol),
            model: closing.model.as_ref(),
            now: self.now,
        };
        let Some(target) = &origin.conversation else {
            return match &closing.follows {
                Some(follows) => begun(begin(session, &follows.begins, &step).await?),
                None => Ok(()),
            };
        };
        if let Some(new) = &closing.begins
            && begin(session, new, &step).await?
        {
            return Ok(());
        }
        let advanced = advance(session, &closing.turn.owner, &target.id, &step).await;
        match (advanced, beside) {
            // It has written nothing.
            (Err(error), Some(new)) if error.kind() == Kind::Conflict => {
                begun(begin(session, new, &Step { from: None, ..step }).await?)
            }
            (advanced, _) => advanced,
        }
    }
}

/// A conversation with a new id begins, unless somebody else has begun it.
fn begun(is_new: bool) -> Result<()> {
    match is_new {
        true => Ok(()),
        false => Err(Error::conflict("the conversation has been begun meanwhile")),
    }
}

impl Work for Abandon {
    /// Whether the conversation is gone with it.
    type Output = bool;

    async fn run<S: Session>(&self, session: &mut S) -> Result<bool> {
        let key = [(&self.owner).into(), (&self.turn).into()];
        let sql = "SELECT previous FROM turn WHERE owner = $1 AND id = $2 AND closed_at IS NULL";
        if let Some(mut row) = session.first(sql, &key).await? {
            let previous = row.take::<Option<TurnId>>()?;
            session.execute("DELETE FROM turn WHERE owner = $1 AND id = $2", &key).await?;
            drop_reference(session, &self.owner, previous.as_ref()).await?;
        }
        let is_withdrawn = match &self.begun {
            Some(begun) => withdraw(session, (&self.owner, &self.turn), begun).await?,
            None => false,
        };
        hold::release(session, &self.owner, &self.turn).await?;
        Ok(is_withdrawn)
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
