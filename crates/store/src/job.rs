//! Answers that are worked on while nobody waits for them: what they are so far, and what was said on the way.

use std::time::Duration;

use crate::clock::Time;
use crate::engine::{Param, Row, Session, Work, optional};
use crate::error::{Error, Result};
use crate::id::{Name, NodeId, Owner, ResponseId, TurnId};
use crate::record::Record;

/// How long the events of an answer can be read again once it has ended. The answer itself is kept like any other.
pub const EVENTS_KEPT: Duration = Duration::from_secs(60 * 60);
/// Pieces that one look returns.
const PIECES_AT_ONCE: i64 = 64;

/// How far an answer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobStatus {
    Queued,
    Running,
    /// The answer is kept under its id.
    Finished,
    Failed,
    Cancelled,
    /// Its node died.
    Interrupted,
    /// Its provider works on it by itself.
    Passed,
}

/// An answer that is about to be worked on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewJob {
    pub owner: Owner,
    pub id: ResponseId,
    pub turn: TurnId,
    /// Who works on it by itself; nobody here does then.
    pub provider: Option<Name>,
    /// Whether what is said on the way can be read again.
    pub is_streamed: bool,
    /// The answer as it stands.
    pub body: Record,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub id: ResponseId,
    pub turn: TurnId,
    pub provider: Option<Name>,
    pub status: JobStatus,
    pub is_streamed: bool,
    /// Whether its events can no longer be read.
    pub is_silent: bool,
    pub body: Record,
}

/// Some of what was said, from an event's number to another's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub first: u64,
    pub last: u64,
    pub record: Record,
}

impl JobStatus {
    const ALL: [Self; 7] = [
        Self::Queued,
        Self::Running,
        Self::Finished,
        Self::Failed,
        Self::Cancelled,
        Self::Interrupted,
        Self::Passed,
    ];

    /// Whether somebody here still works on it.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
            Self::Passed => "passed",
        }
    }

    fn parse(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|status| status.as_str() == text);
        found.ok_or_else(|| Error::corrupt("a job in the store has a status that nobody knows"))
    }
}

pub(crate) struct AddJob {
    pub(crate) job: NewJob,
    pub(crate) node: NodeId,
    pub(crate) now: Time,
}

pub(crate) struct ReadJob {
    pub(crate) owner: Owner,
    pub(crate) id: ResponseId,
}

pub(crate) struct ReadJobStatus {
    pub(crate) owner: Owner,
    pub(crate) id: ResponseId,
}

/// Somebody works on it now.
pub(crate) struct BeginJob {
    pub(crate) owner: Owner,
    pub(crate) id: ResponseId,
    pub(crate) body: Record,
}

/// It ends without an answer.
pub(crate) struct EndJob {
    pub(crate) owner: Owner,
    pub(crate) id: ResponseId,
    pub(crate) status: JobStatus,
    pub(crate) body: Record,
    pub(crate) now: Time,
}

pub(crate) struct AddPiece {
    pub(crate) owner: Owner,
    pub(crate) id: ResponseId,
    pub(crate) piece: Piece,
}

pub(crate) struct ReadPieces {
    pub(crate) owner: Owner,
    pub(crate) id: ResponseId,
    pub(crate) from: u64,
}

pub(crate) struct ReadLastPiece {
    pub(crate) owner: Owner,
    pub(crate) id: ResponseId,
}

impl Work for AddJob {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        let Self { job, node, now } = self;
        let (status, closed_at) = match job.provider {
            Some(_) => (JobStatus::Passed, (*now).into()),
            None => (JobStatus::Queued, Param::Null),
        };
        let sql = "INSERT INTO job (owner, id, turn, node, provider, status, streamed, opened_at,
                closed_at, body)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            ON CONFLICT (owner, id) DO NOTHING";
        let params = [
            (&job.owner).into(),
            (&job.id).into(),
            (&job.turn).into(),
            node.into(),
            optional(job.provider.as_ref()),
            status.as_str().into(),
            i64::from(job.is_streamed).into(),
            (*now).into(),
            closed_at,
            (&job.body).into(),
        ];
        session.execute(sql, &params).await.map(|_| ())
    }
}

impl Work for ReadJob {
    type Output = Job;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Job> {
        let sql = "SELECT id, turn, provider, status, streamed, closed_at, events_until, body
            FROM job WHERE owner = $1 AND id = $2";
        let row = session.first(sql, &[(&self.owner).into(), (&self.id).into()]).await?;
        job(row.ok_or_else(|| Error::not_found("job"))?)
    }
}

impl Work for ReadJobStatus {
    type Output = JobStatus;

    async fn run<S: Session>(&self, session: &mut S) -> Result<JobStatus> {
        let sql = "SELECT status FROM job WHERE owner = $1 AND id = $2";
        let row = session.first(sql, &[(&self.owner).into(), (&self.id).into()]).await?;
        let mut row = row.ok_or_else(|| Error::not_found("job"))?;
        JobStatus::parse(&row.take::<String>()?)
    }
}

impl Work for BeginJob {
    /// Whether it is still wanted.
    type Output = bool;

    async fn run<S: Session>(&self, session: &mut S) -> Result<bool> {
        let sql = "UPDATE job SET status = 'running', body = $3
            WHERE owner = $1 AND id = $2 AND closed_at IS NULL";
        let params = [(&self.owner).into(), (&self.id).into(), (&self.body).into()];
        Ok(session.execute(sql, &params).await? == 1)
    }
}

impl Work for EndJob {
    /// Whether it had not ended before.
    type Output = bool;

    async fn run<S: Session>(&self, session: &mut S) -> Result<bool> {
        let sql = "UPDATE job SET status = $3, body = $4, closed_at = $5, events_until = $6
            WHERE owner = $1 AND id = $2 AND closed_at IS NULL";
        let params = [
            (&self.owner).into(),
            (&self.id).into(),
            self.status.as_str().into(),
            (&self.body).into(),
            self.now.into(),
            self.now.plus(EVENTS_KEPT).into(),
        ];
        Ok(session.execute(sql, &params).await? == 1)
    }
}

/// The answer of a job is kept from here on, unless the job has ended in another way. One that was answered at once has
/// none.
pub(crate) async fn finish<S: Session>(
    session: &mut S,
    owner: &Owner,
    id: &ResponseId,
    now: Time,
) -> Result<()> {
    let sql = "UPDATE job SET status = 'finished', closed_at = $3, events_until = $4
        WHERE owner = $1 AND id = $2 AND closed_at IS NULL";
    let params = [owner.into(), id.into(), now.into(), now.plus(EVENTS_KEPT).into()];
    if session.execute(sql, &params).await? == 1 {
        return Ok(());
    }
    let sql = "SELECT id FROM job WHERE owner = $1 AND id = $2";
    match session.first(sql, &[owner.into(), id.into()]).await? {
        Some(_) => Err(Error::conflict("the job has ended already")),
        None => Ok(()),
    }
}

/// Ends what a dead node worked on.
pub(crate) async fn interrupt<S: Session>(
    session: &mut S,
    node: &NodeId,
    now: Time,
) -> Result<u64> {
    let sql = "UPDATE job SET status = 'interrupted', closed_at = $2, events_until = $3
        WHERE node = $1 AND closed_at IS NULL";
    session.execute(sql, &[node.into(), now.into(), now.plus(EVENTS_KEPT).into()]).await
}

/// Deletes a job with its events. Whoever works on it finds it gone.
pub(crate) async fn delete<S: Session>(
    session: &mut S,
    owner: &Owner,
    id: &ResponseId,
) -> Result<bool> {
    let key = [owner.into(), id.into()];
    session.execute("DELETE FROM job_event WHERE owner = $1 AND job = $2", &key).await?;
    Ok(session.execute("DELETE FROM job WHERE owner = $1 AND id = $2", &key).await? == 1)
}

impl Work for AddPiece {
    /// Whether the job is still wanted; else nothing was added.
    type Output = bool;

    async fn run<S: Session>(&self, session: &mut S) -> Result<bool> {
        let sql = "SELECT id FROM job
            WHERE owner = $1 AND id = $2 AND status IN ('queued', 'running', 'finished')";
        if session.first(sql, &[(&self.owner).into(), (&self.id).into()]).await?.is_none() {
            return Ok(false);
        }
        let sql = "INSERT INTO job_event (owner, job, first, last, record)
            VALUES ($1, $2, $3, $4, $5) ON CONFLICT (owner, job, first) DO NOTHING";
        let Piece { first, last, record } = &self.piece;
        let (first, last) = (column(*first)?, column(*last)?);
        let params =
            [(&self.owner).into(), (&self.id).into(), first.into(), last.into(), record.into()];
        session.execute(sql, &params).await.map(|_| true)
    }
}

impl Work for ReadPieces {
    type Output = Vec<Piece>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Vec<Piece>> {
        let sql = "SELECT first, last, record FROM job_event
            WHERE owner = $1 AND job = $2 AND last >= $3 ORDER BY first LIMIT $4";
        let from = column(self.from)?;
        let params = [(&self.owner).into(), (&self.id).into(), from.into(), PIECES_AT_ONCE.into()];
        let rows = session.query(sql, &params).await?;
        rows.into_iter().map(piece).collect()
    }
}

impl Work for ReadLastPiece {
    type Output = Option<Piece>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Option<Piece>> {
        let sql = "SELECT first, last, record FROM job_event
            WHERE owner = $1 AND job = $2 ORDER BY first DESC LIMIT 1";
        let row = session.first(sql, &[(&self.owner).into(), (&self.id).into()]).await?;
        row.map(piece).transpose()
    }
}

fn column(number: u64) -> Result<i64> {
    i64::try_from(number).map_err(|_| Error::invalid("an event has too high a number"))
}

fn piece(mut row: Row) -> Result<Piece> {
    let mut number = || {
        let number = u64::try_from(row.take::<i64>()?);
        number.map_err(|_| Error::corrupt("an event in the store has a number below zero"))
    };
    let (first, last) = (number()?, number()?);
    Ok(Piece { first, last, record: row.take()? })
}

fn job(mut row: Row) -> Result<Job> {
    let (id, turn, provider) = (row.take()?, row.take()?, row.take()?);
    let status = JobStatus::parse(&row.take::<String>()?)?;
    let is_streamed = row.take::<i64>()? != 0;
    let (closed_at, events_until): (Option<Time>, Option<Time>) = (row.take()?, row.take()?);
    let is_silent = closed_at.is_some() && events_until.is_none();
    Ok(Job { id, turn, provider, status, is_streamed, is_silent, body: row.take()? })
}
