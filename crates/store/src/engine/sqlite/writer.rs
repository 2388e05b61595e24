//! The thread that writes. What arrives while the disk is busy shares the next transaction, and so one sync of the disk; where
//! nobody waits, or many do, a moment is left for more.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

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

#[derive(Debug)]
pub(super) struct Writer {
    jobs: SyncSender<Box<dyn Job>>,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
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

struct Pending<W: Work> {
    work: W,
    wait: Wait,
    outcome: Option<Result<W::Output>>,
    reply: oneshot::Sender<Result<W::Output>>,
}

impl Writer {
    pub(super) fn start(connection: Connection) -> Result<Self> {
        let (jobs, queue) = mpsc::sync_channel(QUEUE);
        let state = Arc::new(State::default());
        let (session, shared) = (SqliteSession::new(connection), Arc::clone(&state));
        thread::Builder::new()
            .name("store-write".to_owned())
            .spawn(move || serve(session, &queue, &shared))
            .map_err(|_| Error::new(Kind::Unavailable, "no thread for the store's writer"))?;
        Ok(Self { jobs, state })
    }

    pub(super) async fn write<W: Work>(
        &self,
        durability: Durability,
        work: W,
    ) -> Result<W::Output> {
        let wait = match durability {
            Durability::Volatile => Wait::Commit,
            Durability::Durable => Wait::Disk,
        };
        let outcome = self.enqueue(wait, work)?;
        outcome.await.unwrap_or_else(|_| Err(stopped()))
    }

    /// Hands work over and does not wait for it, unless the newest transaction failed: then the caller must know whether
    /// this one does as well.
    pub(super) async fn start_work<W: Work<Output = ()>>(&self, work: W) -> Result<()> {
        let outcome = self.enqueue(Wait::Nothing, work)?;
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

    fn enqueue<W: Work>(
        &self,
        wait: Wait,
        work: W,
    ) -> Result<oneshot::Receiver<Result<W::Output>>> {
        let (reply, outcome) = oneshot::channel();
        let job = Pending { work, wait, outcome: None, reply };
        self.jobs.try_send(Box::new(job)).map_err(|error| match error {
            mpsc::TrySendError::Full(_) => Error::new(
                Kind::Unavailable,
                "the store's disk does not keep up with what is written",
            ),
            mpsc::TrySendError::Disconnected(_) => stopped(),
        })?;
        Ok(outcome)
    }
}

impl State {
    fn trouble(&self) -> Option<Error> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn count(&self, durable_writes: u64) {
        self.durable_writes.fetch_add(durable_writes, Ordering::Relaxed);
        self.durable_commits.fetch_add(u64::from(durable_writes > 0), Ordering::Relaxed);
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

fn serve(mut session: SqliteSession, queue: &Receiver<Box<dyn Job>>, state: &State) {
    let mut is_crowded = false;
    while let Ok(first) = queue.recv() {
        if is_crowded {
            thread::sleep(MOMENT);
        }
        let mut batch = gather(first, queue);
        let durable = batch.iter().filter(|job| job.wait() == Wait::Disk).count();
        is_crowded = durable >= CROWD;
        let committed = transact(&mut session, &mut batch, durable > 0);
        if committed.is_ok() {
            state.count(durable as u64);
        }
        let trouble = committed.clone().err().or_else(|| batch.iter().find_map(|job| job.outage()));
        *state.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
        batch.into_iter().for_each(|job| job.settle(committed.clone()));
    }
}

/// What shares the next transaction: all that is there, and what comes within a moment while nobody waits.
fn gather(first: Box<dyn Job>, queue: &Receiver<Box<dyn Job>>) -> Vec<Box<dyn Job>> {
    let until = Instant::now() + MOMENT;
    let mut batch = vec![first];
    loop {
        batch.extend(queue.try_iter().take(BATCH - batch.len()));
        if batch.len() == BATCH || batch.iter().any(|job| job.wait() != Wait::Nothing) {
            return batch;
        }
        match queue.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(job) => batch.push(job),
            Err(_) => return batch,
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

fn stopped() -> Error {
    Error::new(Kind::Unavailable, "the store's writer has stopped")
}
