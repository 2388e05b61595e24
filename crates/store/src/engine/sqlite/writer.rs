//! The thread that writes. What arrives while the disk is busy shares the next transaction, and so one sync of the disk; where
//! nobody waits, or many do, a moment is left for more.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, thread};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::super::{Activity, Durability, Work};
use super::fault;
use super::session::{SqliteSession, ready};
use crate::error::{Error, Kind, Result};

/// Writes that wait for the thread. More than that is a disk that does not keep up.
const QUEUE: usize = 4096;
/// Writes that share a transaction: enough for any crowd, and few enough that the first does not wait long.
const BATCH: usize = 512;
/// How long a transaction is left open to more: most of its cost is that of the pages that all of them change.
const MOMENT: Duration = Duration::from_millis(1);
/// So many that waited for the disk together are a crowd: a few more are worth the wait.
const CROWD: usize = 4;
/// How long what may be late waits for others: all that they share is written once.
const WHILE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Writer {
    orders: SyncSender<Order>,
    state: Arc<State>,
}

/// What the thread is told.
enum Order {
    Run(Box<dyn Job>),
    /// Something lies there that may be late, by so much.
    Look(Duration),
}

#[derive(Default)]
struct State {
    /// What may be late, until the next transaction. The thread is not woken for each of it.
    late: Mutex<Vec<Box<dyn Job>>>,
    /// What was wrong with the disk at the newest transaction, if anything was.
    trouble: Mutex<Option<Error>>,
    durable_writes: AtomicU64,
    durable_commits: AtomicU64,
}

/// A piece of work with whoever waits for it.
trait Job: Send {
    fn wait(&self) -> Wait;
    fn run(&mut self, session: &mut SqliteSession);
    /// Runs so that a failure leaves nothing of it behind. SQLite copies every page before it changes for that.
    fn run_alone(&mut self, session: &mut SqliteSession);
    fn has_failed(&self) -> bool;
    /// The trouble with the store itself that this job met.
    fn outage(&self) -> Option<Error>;
    /// Answers the caller, now that the transaction is there or not.
    fn settle(self: Box<Self>, committed: Result<()>);
}

/// What whoever brought a job waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wait {
    Nothing,
    Commit,
    Disk,
}

impl Wait {
    /// How long it may wait for others.
    fn patience(self) -> Duration {
        match self {
            Self::Nothing => MOMENT,
            Self::Commit | Self::Disk => Duration::ZERO,
        }
    }
}

struct Pending<W: Work> {
    work: W,
    wait: Wait,
    outcome: Option<Result<W::Output>>,
    reply: oneshot::Sender<Result<W::Output>>,
}

impl Writer {
    pub(super) fn start(connection: Connection) -> Result<Self> {
        let (orders, queue) = mpsc::sync_channel(QUEUE);
        let state = Arc::new(State::default());
        let (session, shared) = (SqliteSession::new(connection), Arc::clone(&state));
        thread::Builder::new()
            .name("store-write".to_owned())
            .spawn(move || serve(session, &queue, &shared))
            .map_err(|_| Error::new(Kind::Unavailable, "no thread for the store's writer"))?;
        Ok(Self { orders, state })
    }

    pub(super) async fn write<W: Work>(
        &self,
        durability: Durability,
        work: W,
    ) -> Result<W::Output> {
        let outcome = match durability {
            Durability::Late => self.start_late(work)?,
            Durability::Volatile => self.enqueue(Wait::Commit, work)?,
            Durability::Durable => self.enqueue(Wait::Disk, work)?,
        };
        outcome.await.unwrap_or_else(|_| Err(stopped()))
    }

    /// Hands work over and does not wait for it, unless the newest transaction failed: then the caller must know whether
    /// this one does as well.
    pub(super) async fn start_work<W: Work<Output = ()>>(
        &self,
        durability: Durability,
        work: W,
    ) -> Result<()> {
        let outcome = match durability {
            Durability::Late => self.start_late(work)?,
            Durability::Volatile | Durability::Durable => self.enqueue(Wait::Nothing, work)?,
        };
        if self.state.trouble().is_none() {
            return Ok(());
        }
        outcome.await.unwrap_or_else(|_| Err(stopped()))
    }

    pub(super) fn activity(&self) -> Activity {
        Activity {
            durable_writes: self.state.durable_writes.load(Ordering::Relaxed),
            durable_commits: self.state.durable_commits.load(Ordering::Relaxed),
        }
    }

    /// Lays work down for the next transaction, and has the thread look for it in a while.
    pub(super) fn start_late<W: Work>(
        &self,
        work: W,
    ) -> Result<oneshot::Receiver<Result<W::Output>>> {
        let (job, outcome) = Pending::new(Wait::Nothing, work);
        let mut late = self.state.late();
        if late.len() >= QUEUE {
            return Err(overloaded());
        }
        late.push(Box::new(job));
        let look = match late.len() {
            1 => Order::Look(WHILE),
            BATCH => Order::Look(Duration::ZERO),
            _ => return Ok(outcome),
        };
        drop(late);
        match self.orders.try_send(look) {
            Err(mpsc::TrySendError::Disconnected(_)) => Err(stopped()),
            // Whatever fills the queue is followed by a look as well.
            Err(mpsc::TrySendError::Full(_)) | Ok(()) => Ok(outcome),
        }
    }

    fn enqueue<W: Work>(
        &self,
        wait: Wait,
        work: W,
    ) -> Result<oneshot::Receiver<Result<W::Output>>> {
        let (job, outcome) = Pending::new(wait, work);
        self.orders.try_send(Order::Run(Box::new(job))).map_err(|error| match error {
            mpsc::TrySendError::Full(_) => overloaded(),
            mpsc::TrySendError::Disconnected(_) => stopped(),
        })?;
        Ok(outcome)
    }
}

impl State {
    fn late(&self) -> MutexGuard<'_, Vec<Box<dyn Job>>> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn trouble(&self) -> Option<Error> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn count(&self, durable_writes: u64) {
        self.durable_writes.fetch_add(durable_writes, Ordering::Relaxed);
        self.durable_commits.fetch_add(u64::from(durable_writes > 0), Ordering::Relaxed);
    }
}

/// Says nothing of what waits.
impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").finish_non_exhaustive()
    }
}

impl<W: Work> Pending<W> {
    fn new(wait: Wait, work: W) -> (Self, oneshot::Receiver<Result<W::Output>>) {
        let (reply, outcome) = oneshot::channel();
        (Self { work, wait, outcome: None, reply }, outcome)
    }
}

impl<W: Work> Job for Pending<W> {
    fn wait(&self) -> Wait {
        self.wait
    }

    fn run(&mut self, session: &mut SqliteSession) {
        self.outcome = Some(ready(self.work.run(session)));
    }

    fn run_alone(&mut self, session: &mut SqliteSession) {
        self.outcome = Some(alone(session, &self.work));
    }

    fn has_failed(&self) -> bool {
        matches!(self.outcome, Some(Err(_)))
    }

    fn outage(&self) -> Option<Error> {
        let error = self.outcome.as_ref()?.as_ref().err()?;
        error.is_outage().then(|| error.clone())
    }

    fn settle(self: Box<Self>, committed: Result<()>) {
        let outcome = self.outcome.unwrap_or_else(|| Err(stopped()));
        // Where nobody waits, nobody needs an answer.
        let _ = self.reply.send(committed.and(outcome));
    }
}

fn serve(mut session: SqliteSession, queue: &Receiver<Order>, state: &State) {
    let mut is_crowded = false;
    while let Ok(first) = queue.recv() {
        if is_crowded {
            thread::sleep(MOMENT);
        }
        let mut batch = gather(first, queue, state);
        let durable = batch.iter().filter(|job| job.wait() == Wait::Disk).count();
        is_crowded = durable >= CROWD;
        let committed = match batch.is_empty() {
            true => continue,
            false => transact(&mut session, &mut batch, durable > 0),
        };
        if committed.is_ok() {
            state.count(durable as u64);
        }
        let trouble = committed.clone().err().or_else(|| batch.iter().find_map(|job| job.outage()));
        *state.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
        batch.into_iter().for_each(|job| job.settle(committed.clone()));
    }
}

/// What shares the next transaction: all that is there, and what comes while everybody can wait. What may be late comes
/// first: others may be about the same.
fn gather(first: Order, queue: &Receiver<Order>, state: &State) -> Vec<Box<dyn Job>> {
    let now = Instant::now();
    let mut until = now + first.patience();
    let mut jobs = Vec::from_iter(first.into_job());
    while jobs.len() < BATCH {
        let wait = until.saturating_duration_since(Instant::now());
        let next =
            if wait.is_zero() { queue.try_recv().ok() } else { queue.recv_timeout(wait).ok() };
        let Some(next) = next else { break };
        until = until.min(Instant::now() + next.patience());
        jobs.extend(next.into_job());
    }
    let mut batch = std::mem::take(&mut *state.late());
    batch.append(&mut jobs);
    batch
}

impl Order {
    fn patience(&self) -> Duration {
        match self {
            Self::Run(job) => job.wait().patience(),
            Self::Look(late_by) => *late_by,
        }
    }

    fn into_job(self) -> Option<Box<dyn Job>> {
        match self {
            Self::Run(job) => Some(job),
            Self::Look(_) => None,
        }
    }
}

/// One transaction for all. A job that fails is undone alone, with all of them begun anew; a disk that fails undoes all of them.
fn transact(session: &mut SqliteSession, batch: &mut [Box<dyn Job>], syncs: bool) -> Result<()> {
    begin(session, syncs)?;
    for job in &mut *batch {
        job.run(session);
        check(session, &**job)?;
        if job.has_failed() {
            run(session, "ROLLBACK")?;
            return transact_apart(session, batch, syncs);
        }
    }
    commit(session)
}

fn transact_apart(
    session: &mut SqliteSession,
    batch: &mut [Box<dyn Job>],
    syncs: bool,
) -> Result<()> {
    begin(session, syncs)?;
    for job in batch {
        job.run_alone(session);
        check(session, &**job)?;
    }
    commit(session)
}

fn begin(session: &SqliteSession, syncs: bool) -> Result<()> {
    // A commit without a sync is still whole and in order after a crash: the next one with a sync brings both to disk.
    let synchronous = if syncs { "FULL" } else { "NORMAL" };
    run(session, &format!("PRAGMA synchronous = {synchronous}; BEGIN IMMEDIATE"))
}

/// Whether SQLite has undone the transaction by itself.
fn check(session: &SqliteSession, job: &dyn Job) -> Result<()> {
    match session.connection.is_autocommit() {
        true => Err(job.outage().unwrap_or_else(undone)),
        false => Ok(()),
    }
}

fn commit(session: &SqliteSession) -> Result<()> {
    run(session, "COMMIT").inspect_err(|_| roll_back(session))
}

/// Runs one work so that its failure leaves nothing of it behind.
fn alone<W: Work>(session: &mut SqliteSession, work: &W) -> Result<W::Output> {
    session.run("SAVEPOINT work")?;
    let outcome = ready(work.run(session));
    let undone = match &outcome {
        Ok(_) => Ok(()),
        Err(_) => session.run("ROLLBACK TO work"),
    };
    // Where SQLite undid the whole transaction by itself, there is no savepoint left, and the work's own error says why.
    match undone.and_then(|()| session.run("RELEASE work")) {
        Err(error) if outcome.is_ok() => Err(error),
        _ => outcome,
    }
}

fn roll_back(session: &SqliteSession) {
    if !session.connection.is_autocommit() {
        // If even this fails, the next transaction reports why.
        let _ = run(session, "ROLLBACK");
    }
}

fn run(session: &SqliteSession, sql: &str) -> Result<()> {
    session.connection.execute_batch(sql).map_err(|error| fault::error(&error))
}

fn undone() -> Error {
    Error::new(Kind::Unavailable, "the disk of the store failed, and the transaction with it")
}

fn overloaded() -> Error {
    Error::new(Kind::Unavailable, "the store's disk does not keep up with what is written")
}

fn stopped() -> Error {
    Error::new(Kind::Unavailable, "the store's writer has stopped")
}
