//! What is deleted when: what was not used for as long as things are kept, then what only that had used. A step takes few
//! rows, so that nobody waits behind it.

use std::time::Duration;

use crate::clock::Time;
use crate::conversation::{Deletion, ReadConversation, delete};
use crate::engine::{Row, Session, Work};
use crate::error::Result;
use crate::id::{ConversationId, Hash, Owner, ResponseId, TurnId};
use crate::job;
use crate::turn::{USE_RESOLUTION, drop_reference};

/// How long what nobody uses is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Forever,
    For(Duration),
}

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Turns, conversations, artefacts, exchanges and jobs.
    pub rows: u64,
    /// Messages and settings that nothing used any more.
    pub contents: u64,
    /// Whether another step would find more.
    pub more: bool,
}

/// Rows of each kind that one step looks at.
const AT_ONCE: i64 = 64;

pub(crate) struct Sweep {
    pub(crate) keep: Keep,
    pub(crate) now: Time,
}

/// What can lose its last user.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Message,
    Setting,
}

impl Work for Sweep {
    type Output = Swept;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Swept> {
        let before = self.before();
        let steps = [
            conversations(session, before).await?,
            turns(session, before).await?,
            artefacts(session, self.now).await?,
            exchanges(session, before).await?,
            events(session, self.now).await?,
            jobs(session, before).await?,
        ];
        let orphans = orphans(session).await?;
        session.shrink().await?;
        let rows = steps.iter().sum();
        // What was deleted may have been the last user of more.
        let more = rows > 0 || orphans.looked > 0;
        Ok(Swept { rows, contents: orphans.deleted, more })
    }
}

impl Sweep {
    /// Whatever was used before this goes. The last use is only known to the hour; what was deleted by its owner has none.
    fn before(&self) -> Time {
        match self.keep {
            Keep::Forever => Time(1),
            Keep::For(duration) => {
                let before = self.now.minus(duration).minus(USE_RESOLUTION);
                Time(before.0.max(1))
            }
        }
    }
}

/// Notes that this may have lost its last user.
pub(crate) async fn suspect_orphan<S: Session>(
    session: &mut S,
    owner: &Owner,
    kind: Kind,
    hash: Option<&Hash>,
) -> Result<()> {
    let Some(hash) = hash else {
        return Ok(());
    };
    let sql = match kind {
        Kind::Message => "SELECT number FROM message WHERE owner = $1 AND hash = $2",
        Kind::Setting => "SELECT number FROM setting WHERE owner = $1 AND hash = $2",
    };
    let row = session.first(sql, &[owner.into(), hash.into()]).await?;
    let number = row.map(|mut row| row.take()).transpose()?;
    suspect_number(session, kind, number).await
}

async fn suspect_number<S: Session>(
    session: &mut S,
    kind: Kind,
    number: Option<i64>,
) -> Result<()> {
    let Some(number) = number else {
        return Ok(());
    };
    let sql = "INSERT INTO orphan (kind, number) VALUES ($1, $2)
        ON CONFLICT (kind, number) DO NOTHING";
    session.execute(sql, &[kind.as_str().into(), number.into()]).await.map(|_| ())
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Setting => "setting",
        }
    }
}

const OLD_CONVERSATIONS: &str =
    "SELECT owner, id FROM conversation WHERE used_at < $1 ORDER BY used_at LIMIT $2";

async fn conversations<S: Session>(session: &mut S, before: Time) -> Result<u64> {
    let old = session.query(OLD_CONVERSATIONS, &[before.into(), AT_ONCE.into()]).await?;
    let count = old.len() as u64;
    for mut row in old {
        let (owner, id): (Owner, ConversationId) = (row.take()?, row.take()?);
        let conversation = ReadConversation { owner: owner.clone(), id }.run(session).await?;
        delete(session, &owner, &conversation, Deletion::Name).await?;
    }
    Ok(count)
}

const OLD_TURNS: &str = "SELECT owner, id, previous, used_at, base, tip, system, tools
    FROM turn WHERE refs = 0 AND used_at < $1 AND closed_at IS NOT NULL ORDER BY used_at LIMIT $2";

/// Only turns that nothing goes on from: a chain goes from its end.
async fn turns<S: Session>(session: &mut S, before: Time) -> Result<u64> {
    let mut count = 0;
    while count < AT_ONCE {
        let old = session.query(OLD_TURNS, &[before.into(), (AT_ONCE - count).into()]).await?;
        if old.is_empty() {
            break;
        }
        for row in old {
            delete_turn(session, row).await?;
            count += 1;
        }
    }
    Ok(count.unsigned_abs())
}

async fn delete_turn<S: Session>(session: &mut S, mut row: Row) -> Result<()> {
    let (owner, id): (Owner, TurnId) = (row.take()?, row.take()?);
    let (previous, used_at): (Option<TurnId>, Time) = (row.take()?, row.take()?);
    let key = [(&owner).into(), (&id).into()];
    let sql = "DELETE FROM turn WHERE owner = $1 AND id = $2 AND refs = 0";
    if session.execute(sql, &key).await? == 0 {
        return Ok(());
    }
    session.execute("DELETE FROM item WHERE owner = $1 AND turn = $2", &key).await?;
    session.execute("DELETE FROM response WHERE owner = $1 AND turn = $2", &key).await?;
    session.execute("DELETE FROM hold WHERE owner = $1 AND turn = $2", &key).await?;
    drop_reference(session, &owner, previous.as_ref()).await?;
    if let (Time(0), Some(previous)) = (used_at, &previous) {
        pass_on_deletion(session, &owner, previous).await?;
    }
    for kind in [Kind::Message, Kind::Message, Kind::Setting, Kind::Setting] {
        suspect_number(session, kind, row.take()?).await?;
    }
    Ok(())
}

/// What an owner deleted goes whole, as far back as nothing else goes on from it and no id names it.
async fn pass_on_deletion<S: Session>(session: &mut S, owner: &Owner, turn: &TurnId) -> Result<()> {
    let sql = "UPDATE turn SET used_at = 0 WHERE owner = $1 AND id = $2 AND refs = 0";
    session.execute(sql, &[owner.into(), turn.into()]).await.map(|_| ())
}

const OLD_ARTEFACTS: &str = "SELECT owner, issuer, call, digest FROM artefact
    WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2";

async fn artefacts<S: Session>(session: &mut S, now: Time) -> Result<u64> {
    let old = session.query(OLD_ARTEFACTS, &[now.into(), AT_ONCE.into()]).await?;
    let count = old.len() as u64;
    for mut row in old {
        let (owner, issuer, call): (Owner, String, String) =
            (row.take()?, row.take()?, row.take()?);
        let digest = row.take::<Hash>()?;
        let sql = "DELETE FROM artefact
            WHERE owner = $1 AND issuer = $2 AND call = $3 AND digest = $4";
        let (issuer, call) = (issuer.as_str().into(), call.as_str().into());
        session.execute(sql, &[(&owner).into(), issuer, call, (&digest).into()]).await?;
    }
    Ok(count)
}

const OLD_EXCHANGES: &str = "SELECT owner, id FROM exchange WHERE at < $1 ORDER BY at LIMIT $2";

/// The sums of the days stay: they are few, and hold nothing of anybody's content.
async fn exchanges<S: Session>(session: &mut S, before: Time) -> Result<u64> {
    let old = session.query(OLD_EXCHANGES, &[before.into(), AT_ONCE.into()]).await?;
    let count = old.len() as u64;
    for mut row in old {
        let (owner, id): (Owner, String) = (row.take()?, row.take()?);
        let key = [(&owner).into(), id.as_str().into()];
        session.execute("DELETE FROM attempt WHERE owner = $1 AND exchange = $2", &key).await?;
        session.execute("DELETE FROM exchange WHERE owner = $1 AND id = $2", &key).await?;
    }
    Ok(count)
}

const OLD_EVENTS: &str = "SELECT owner, id FROM job
    WHERE events_until < $1 ORDER BY events_until LIMIT $2";

/// The events of answers that ended some time ago; the answers stay.
async fn events<S: Session>(session: &mut S, now: Time) -> Result<u64> {
    let old = session.query(OLD_EVENTS, &[now.into(), AT_ONCE.into()]).await?;
    let count = old.len() as u64;
    for mut row in old {
        let (owner, id): (Owner, ResponseId) = (row.take()?, row.take()?);
        let key = [(&owner).into(), (&id).into()];
        session.execute("DELETE FROM job_event WHERE owner = $1 AND job = $2", &key).await?;
        let sql = "UPDATE job SET events_until = NULL WHERE owner = $1 AND id = $2";
        session.execute(sql, &key).await?;
    }
    Ok(count)
}

const OLD_JOBS: &str = "SELECT owner, id FROM job WHERE closed_at < $1 ORDER BY closed_at LIMIT $2";

async fn jobs<S: Session>(session: &mut S, before: Time) -> Result<u64> {
    let old = session.query(OLD_JOBS, &[before.into(), AT_ONCE.into()]).await?;
    let count = old.len() as u64;
    for mut row in old {
        let (owner, id): (Owner, ResponseId) = (row.take()?, row.take()?);
        job::delete(session, &owner, &id).await?;
    }
    Ok(count)
}

#[derive(Default)]
struct Orphans {
    looked: i64,
    deleted: u64,
}

/// What is deleted may have been the last user of the next.
async fn orphans<S: Session>(session: &mut S) -> Result<Orphans> {
    let mut orphans = Orphans::default();
    while orphans.looked < AT_ONCE {
        let sql = "SELECT kind, number FROM orphan LIMIT $1";
        let rows = session.query(sql, &[(AT_ONCE - orphans.looked).into()]).await?;
        if rows.is_empty() {
            break;
        }
        for row in rows {
            orphans.looked += 1;
            orphans.deleted += u64::from(delete_orphan(session, row).await?);
        }
    }
    Ok(orphans)
}

/// Deletes it if nothing uses it, and says so.
async fn delete_orphan<S: Session>(session: &mut S, mut row: Row) -> Result<bool> {
    let (kind, number): (String, i64) = (row.take()?, row.take()?);
    let sql = "DELETE FROM orphan WHERE kind = $1 AND number = $2";
    session.execute(sql, &[kind.as_str().into(), number.into()]).await?;
    match kind == Kind::Message.as_str() {
        true => delete_message(session, number).await,
        false => delete_setting(session, number).await,
    }
}

/// A message goes when none follows it and no turn and no conversation ends or continues there; then its parent may.
async fn delete_message<S: Session>(session: &mut S, number: i64) -> Result<bool> {
    let sql = "DELETE FROM message WHERE number = $1
            AND NOT EXISTS (SELECT 1 FROM message c WHERE c.parent = $1)
            AND NOT EXISTS (SELECT 1 FROM turn t WHERE t.tip = $1)
            AND NOT EXISTS (SELECT 1 FROM turn t WHERE t.base = $1)
            AND NOT EXISTS (SELECT 1 FROM conversation c WHERE c.tip = $1)
        RETURNING parent";
    let Some(mut row) = session.first(sql, &[number.into()]).await? else {
        return Ok(false);
    };
    suspect_number(session, Kind::Message, row.take()?).await?;
    Ok(true)
}

async fn delete_setting<S: Session>(session: &mut S, number: i64) -> Result<bool> {
    let sql = "DELETE FROM setting WHERE number = $1
            AND NOT EXISTS (SELECT 1 FROM turn t WHERE t.system = $1)
            AND NOT EXISTS (SELECT 1 FROM turn t WHERE t.tools = $1)
            AND NOT EXISTS (SELECT 1 FROM conversation c WHERE c.system = $1)
            AND NOT EXISTS (SELECT 1 FROM conversation c WHERE c.tools = $1)";
    Ok(session.execute(sql, &[number.into()]).await? == 1)
}
