//! The writer as others see it: what it is handed, and what it says of itself. Its thread is another file's.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, thread};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::super::{Activity, Durability, Work};
use super::batch;
use super::session::{SqliteSession, ready};
use super::sync::{Disk, Syncer};
use crate::error::{Error, Kind, Result};

/// Writes that wait for the thread. More than that is a disk that does not keep up.
const QUEUE: usize = 4096;
/// Writes that share a transaction: enough for any crowd, and few enough that the first does not wait long.
pub(super) const BATCH: usize = 512;
/// How long a transaction is left open to more: most of its cost is that of the pages that all of them change.
pub(super) const MOMENT: Duration = Duration::from_millis(1);
/// How long what may be late waits for others: all that they share is written once.
const WHILE: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub(super) struct Writer {
    orders: SyncSender<Order>,
    state: Arc<State>,
}

/// What the thread is told.
pub(super) enum Order {
    Run(Box<dyn Job>),
    /// Something lies there that may be late, by so much.
    Look(Duration),
}

/// What may be late. The thread is not woken for each of it.
#[derive(Default)]
struct Late {
    /// Somebody waits for these, if not for the disk: they go with the next transaction.
    awaited: Vec<Box<dyn Job>>,
    /// Nobody waits for these: each goes when it is as late as it may be. Much of it is of no use any more by then.
    spare: VecDeque<(Instant, Box<dyn Job>)>,
}

#[derive(Default)]
pub(super) struct State {
    /// What waits for a transaction that somebody else needs.
    late: Mutex<Late>,
    /// What was wrong with the disk at the newest transaction, if anything was.
    trouble: Mutex<Option<Error>>,
    /// How many transactions the disk is given, and whoever waits until it has them.
    syncing: Mutex<usize>,
    synced: Condvar,
    /// Whether a sync failed: what it was to bring to disk may be missing there for ever, and with it all that is written behind.
    is_torn: AtomicBool,
    durable_writes: AtomicU64,
    durable_commits: AtomicU64,
}

/// A piece of work with whoever waits for it.
pub(super) trait Job: Send {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
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
    /// Without a disk, what is written is as safe as it will be.
    pub(super) fn start(connection: Connection, disk: Option<impl Disk>) -> Result<Self> {
        let (orders, queue) = mpsc::sync_channel(QUEUE);
        let state = Arc::new(State::default());
        let syncer = disk.map(|disk| Syncer::start(disk, &state)).transpose()?;
        let (session, shared) = (SqliteSession::new(connection), Arc::clone(&state));
        thread::Builder::new()
            .name("store-write".to_owned())
            .spawn(move || batch::serve(session, &queue, &shared, syncer.as_ref()))
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
        let is_well = self.state.trouble().is_none();
        if durability == Durability::Late && is_well {
            return self.spare(work);
        }
        let outcome = self.enqueue(Wait::Nothing, work)?;
        if is_well {
            return Ok(());
        }
        outcome.await.unwrap_or_else(|_| Err(stopped()))
    }

    /// Has all written that may be late.
    pub(super) async fn flush<W: Work>(&self, nothing: W) -> Result<W::Output> {
        self.state.hurry();
        self.write(Durability::Volatile, nothing).await
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
        if late.awaited.len() >= QUEUE {
            return Err(overloaded());
        }
        late.awaited.push(Box::new(job));
        let look = match late.awaited.len() {
            1 => WHILE,
            BATCH => Duration::ZERO,
            _ => return Ok(outcome),
        };
        drop(late);
        self.look(look).map(|()| outcome)
    }

    /// Lays work down that nobody waits for. Where there is too much of it, it is written at once.
    fn spare<W: Work>(&self, work: W) -> Result<()> {
        let mut late = self.state.late();
        if late.spare.len() >= QUEUE {
            drop(late);
            return self.enqueue(Wait::Nothing, work).map(|_| ());
        }
        let (job, _) = Pending::new(Wait::Nothing, work);
        late.spare.push_back((Instant::now() + WHILE, Box::new(job)));
        let is_first = late.spare.len() == 1;
        drop(late);
        // The thread knows when the next one is due.
        if is_first { self.look(WHILE) } else { Ok(()) }
    }

    /// Has the thread look for what may be late, by so much.
    fn look(&self, late_by: Duration) -> Result<()> {
        match self.orders.try_send(Order::Look(late_by)) {
            Err(mpsc::TrySendError::Disconnected(_)) => Err(stopped()),
            // Whatever fills the queue is followed by a look as well.
            Err(mpsc::TrySendError::Full(_)) | Ok(()) => Ok(()),
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
    fn late(&self) -> MutexGuard<'_, Late> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn trouble(&self) -> Option<Error> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What was laid down by now and goes with the next transaction.
    pub(super) fn take_late(&self) -> Vec<Box<dyn Job>> {
        let Late { awaited, spare } = &mut *self.late();
        let mut jobs = match spare.front() {
            Some(_) => due(spare, Instant::now()),
            None => Vec::new(),
        };
        jobs.append(awaited);
        jobs
    }

    /// When the next of what nobody waits for is as late as it may be.
    pub(super) fn spare_due(&self) -> Option<Instant> {
        self.late().spare.front().map(|(by, _)| *by)
    }

    /// All that may be late goes with the next transaction.
    pub(super) fn hurry(&self) {
        let Late { awaited, spare } = &mut *self.late();
        let waiting = std::mem::take(awaited);
        *awaited = spare.drain(..).map(|(_, job)| job).chain(waiting).collect();
    }

    /// How the newest transaction went.
    pub(super) fn set_trouble(&self, trouble: Option<Error>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    pub(super) fn count(&self, durable_writes: u64) {
        self.durable_writes.fetch_add(durable_writes, Ordering::Relaxed);
        self.durable_commits.fetch_add(u64::from(durable_writes > 0), Ordering::Relaxed);
    }

    fn syncing(&self) -> MutexGuard<'_, usize> {
        self.syncing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin_sync(&self) {
        *self.syncing() += 1;
    }

    /// So many transactions were brought to disk with so many writes, or they were not.
    pub(super) fn end_sync(&self, transactions: usize, writes: std::result::Result<u64, &Error>) {
        match writes {
            Ok(writes) => self.count(writes),
            Err(error) => {
                self.is_torn.store(true, Ordering::Release);
                self.set_trouble(Some(error.clone()));
            }
        }
        *self.syncing() -= transactions;
        self.synced.notify_one();
    }

    /// Waits until the disk has all that it was given.
    pub(super) fn wait_for_sync(&self) {
        let is_busy = |transactions: &mut usize| *transactions > 0;
        drop(self.synced.wait_while(self.syncing(), is_busy));
    }

    /// Whether the disk has all that it was given.
    pub(super) fn is_synced(&self) -> bool {
        *self.syncing() == 0
    }

    pub(super) fn is_torn(&self) -> bool {
        self.is_torn.load(Ordering::Acquire)
    }

    pub(super) fn is_mended(&self) {
        self.is_torn.store(false, Ordering::Release);
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
        self.outcome = Some(batch::alone(session, &self.work));
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

impl Order {
    /// How long it leaves to others.
    pub(super) fn patience(&self) -> Duration {
        match self {
            Self::Run(job) => job.wait().patience(),
            Self::Look(late_by) => *late_by,
        }
    }
}

/// Those that are as late as they may be.
fn due(spare: &mut VecDeque<(Instant, Box<dyn Job>)>, now: Instant) -> Vec<Box<dyn Job>> {
    let count = spare.partition_point(|(by, _)| *by <= now);
    spare.drain(..count).map(|(_, job)| job).collect()
}

fn overloaded() -> Error {
    Error::new(Kind::Unavailable, "the store's disk does not keep up with what is written")
}

fn stopped() -> Error {
    Error::new(Kind::Unavailable, "the store's writer has stopped")
}
