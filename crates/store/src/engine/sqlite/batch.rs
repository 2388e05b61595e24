//! The thread that writes. What arrives while the disk is busy shares the next transaction, and so one sync of the disk; where
//! nobody waits, or many do, a moment is left for more. What waits for the disk is answered by another thread.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::super::Work;
use super::checkpoint;
use super::session::{SqliteSession, ready};
use super::sync::Syncer;
use super::writer::{BATCH, Job, MOMENT, Order, State, Wait};
use crate::error::{Error, Kind, Result};

/// So many that waited for the disk together are a crowd: a few more are worth the wait.
const CROWD: usize = 4;
/// How long those who wait for the disk are kept from it by the work of others, if it is free: whoever is answered earlier is
/// back earlier, and a crowd that came at once does not come at once again.
const WORK: Duration = Duration::from_millis(2);

pub(super) fn serve(
    mut session: SqliteSession,
    queue: &Receiver<Order>,
    state: &State,
    syncer: Option<&Syncer>,
) {
    let mut not_before = Instant::now();
    while let Some(first) = next(queue, state) {
        let mut batch = Batch::new(&mut session, state);
        let mut due = Due { by: Instant::now() + first.patience(), not_before };
        batch.take(first);
        while !batch.is_full()
            && !batch.is_long()
            && let Some(order) = due.next(queue, state)
        {
            due.by = due.by.min(Instant::now() + order.patience());
            batch.take(order);
        }
        let (jobs, committed) = batch.commit();
        if settle(jobs, &committed, state, syncer) >= CROWD {
            not_before = Instant::now() + MOMENT;
        }
    }
}

/// What is ordered next, or has become as late as it may be; none if there will be no more.
fn next(queue: &Receiver<Order>, state: &State) -> Option<Order> {
    let Some(by) = state.spare_due() else { return queue.recv().ok() };
    match queue.recv_timeout(by.saturating_duration_since(Instant::now())) {
        Ok(order) => Some(order),
        Err(RecvTimeoutError::Timeout) => Some(Order::Look(Duration::ZERO)),
        Err(RecvTimeoutError::Disconnected) => {
            state.hurry();
            Some(Order::Look(Duration::ZERO))
        }
    }
}

/// When a transaction is to be committed.
struct Due {
    /// Nobody who is part of it waits for others any longer.
    by: Instant,
    /// There was a crowd, and a moment is left to it.
    not_before: Instant,
}

impl Due {
    /// What comes until then, and while the disk is busy. Nobody wakes this thread for it unless nothing else keeps it: what
    /// comes is found all together.
    fn next(&self, queue: &Receiver<Order>, state: &State) -> Option<Order> {
        if let Ok(order) = queue.try_recv() {
            return Some(order);
        }
        state.wait_for_sync();
        thread::sleep(self.not_before.saturating_duration_since(Instant::now()));
        match self.by.saturating_duration_since(Instant::now()) {
            Duration::ZERO => queue.try_recv().ok(),
            wait => queue.recv_timeout(wait).ok(),
        }
    }
}

/// Answers all who wait for nothing more, and says how many wait for the disk.
fn settle(
    jobs: Vec<Box<dyn Job>>,
    committed: &Result<()>,
    state: &State,
    syncer: Option<&Syncer>,
) -> usize {
    let trouble = committed.clone().err().or_else(|| jobs.iter().find_map(|job| job.outage()));
    state.set_trouble(trouble);
    let (waiting, done): (Vec<_>, Vec<_>) =
        jobs.into_iter().partition(|job| committed.is_ok() && job.wait() == Wait::Disk);
    let durable = waiting.len();
    match syncer {
        _ if durable == 0 => {}
        Some(syncer) => syncer.answer_later(waiting),
        None => {
            state.count(durable as u64);
            waiting.into_iter().for_each(|job| job.settle(Ok(())));
        }
    }
    done.into_iter().for_each(|job| job.settle(committed.clone()));
    durable
}

/// A transaction in the making.
struct Batch<'s> {
    session: &'s mut SqliteSession,
    state: &'s State,
    jobs: Vec<Box<dyn Job>>,
    /// Since when somebody waits for the disk.
    awaited_since: Option<Instant>,
    stage: Stage,
    /// What went wrong with all of it.
    trouble: Result<()>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    Begun,
    /// One has failed. From there on each runs so that it can be undone alone.
    Apart,
}

impl<'s> Batch<'s> {
    fn new(session: &'s mut SqliteSession, state: &'s State) -> Self {
        let (jobs, awaited_since) = (Vec::new(), None);
        Self { session, state, jobs, awaited_since, stage: Stage::New, trouble: Ok(()) }
    }

    fn is_full(&self) -> bool {
        self.jobs.len() >= BATCH || self.trouble.is_err()
    }

    /// Whether those who wait for the disk have waited long enough for others.
    fn is_long(&self) -> bool {
        self.awaited_since.is_some_and(|since| since.elapsed() >= WORK) && self.state.is_synced()
    }

    /// Does what is ordered. What may be late comes before: others may be about the same.
    fn take(&mut self, order: Order) {
        match order {
            Order::Run(job) => {
                self.take_late();
                self.add(job);
            }
            Order::Look(_) => {}
        }
    }

    fn take_late(&mut self) {
        self.state.take_late().into_iter().for_each(|job| self.add(job));
    }

    fn add(&mut self, job: Box<dyn Job>) {
        if job.wait() == Wait::Disk {
            self.awaited_since.get_or_insert_with(Instant::now);
        }
        self.jobs.push(job);
        if self.trouble.is_ok() {
            self.trouble = self.run_last();
        }
    }

    fn run_last(&mut self) -> Result<()> {
        if self.stage == Stage::New {
            begin(self.session, self.state)?;
            self.stage = Stage::Begun;
        }
        let Some(job) = self.jobs.last_mut() else { return Ok(()) };
        match self.stage {
            Stage::New | Stage::Begun => job.run(self.session),
            Stage::Apart => job.run_alone(self.session),
        }
        check(self.session, &**job)?;
        match job.has_failed() && self.stage == Stage::Begun {
            true => self.run_apart(),
            false => Ok(()),
        }
    }

    /// Begins anew, so that the one that failed is undone alone.
    fn run_apart(&mut self) -> Result<()> {
        self.session.run("ROLLBACK")?;
        begin(self.session, self.state)?;
        self.stage = Stage::Apart;
        for job in &mut self.jobs {
            job.run_alone(self.session);
            check(self.session, &**job)?;
        }
        Ok(())
    }

    /// A disk that fails undoes all of them.
    fn commit(mut self) -> (Vec<Box<dyn Job>>, Result<()>) {
        self.take_late();
        let committed = match (self.stage, self.trouble) {
            (Stage::New, trouble) => trouble,
            (_, Ok(())) => self.session.run("COMMIT"),
            (_, Err(error)) => Err(error),
        };
        if committed.is_err() {
            roll_back(self.session);
        }
        (self.jobs, committed)
    }
}

fn begin(session: &mut SqliteSession, state: &State) -> Result<()> {
    // A disk that lost a part of the log would lose with it all that is written behind, however often that is synced.
    if state.is_torn() {
        checkpoint::empty(&session.connection)?;
        state.is_mended();
    }
    session.run("BEGIN IMMEDIATE")
}

/// Whether SQLite has undone the transaction by itself.
fn check(session: &SqliteSession, job: &dyn Job) -> Result<()> {
    match session.connection.is_autocommit() {
        true => Err(job.outage().unwrap_or_else(undone)),
        false => Ok(()),
    }
}

/// Runs one work so that its failure leaves nothing of it behind.
pub(super) fn alone<W: Work>(session: &mut SqliteSession, work: &W) -> Result<W::Output> {
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

fn roll_back(session: &mut SqliteSession) {
    if !session.connection.is_autocommit() {
        // If even this fails, the next transaction reports why.
        let _ = session.run("ROLLBACK");
    }
}

fn undone() -> Error {
    Error::new(Kind::Unavailable, "the disk of the store failed, and the transaction with it")
}
