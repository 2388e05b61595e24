//! Threads that read, each with a connection of its own: readers of a write-ahead log wait for nobody.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::{fmt, thread};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::super::Work;
use super::session::{SqliteSession, ready};
use crate::error::{Error, Kind, Result};

const THREADS: usize = 2;
/// Reads that wait for a thread. More than that is a store that does not keep up.
const QUEUE: usize = 4096;

type Job = Box<dyn FnOnce(&mut SqliteSession) + Send>;

#[derive(Debug)]
pub(super) struct Reader {
    queue: Arc<Queue>,
}

/// What is to be read, for whichever thread is free. One of them is woken for each, and none where all are at work.
#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    some: Condvar,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    is_over: bool,
}

impl Reader {
    /// Each thread opens a connection for itself.
    pub(super) fn start(open: impl Fn() -> Result<Connection>) -> Result<Self> {
        let queue = Arc::<Queue>::default();
        for _ in 0..THREADS {
            let session = SqliteSession::new(open()?);
            let queue = Arc::clone(&queue);
            thread::Builder::new()
                .name("store-read".to_owned())
                .spawn(move || serve(session, &queue))
                .map_err(|_| Error::new(Kind::Unavailable, "no thread for the store's reader"))?;
        }
        Ok(Self { queue })
    }

    pub(super) async fn read<W: Work>(&self, work: W) -> Result<W::Output> {
        let (reply, outcome) = oneshot::channel();
        let job: Job = Box::new(move |session| {
            // This fails only if nobody waits any more.
            let _ = reply.send(in_one_view(session, &work));
        });
        self.queue.push(job)?;
        outcome.await.unwrap_or_else(|_| Err(overloaded()))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.queue.waiting().is_over = true;
        self.queue.some.notify_all();
    }
}

impl Queue {
    fn push(&self, job: Job) -> Result<()> {
        let mut waiting = self.waiting();
        if waiting.jobs.len() >= QUEUE {
            return Err(overloaded());
        }
        waiting.jobs.push_back(job);
        drop(waiting);
        self.some.notify_one();
        Ok(())
    }

    /// The next one; none if there will be no more.
    fn next(&self) -> Option<Job> {
        let is_idle = |waiting: &mut Waiting| waiting.jobs.is_empty() && !waiting.is_over;
        let mut waiting =
            self.some.wait_while(self.waiting(), is_idle).unwrap_or_else(PoisonError::into_inner);
        waiting.jobs.pop_front()
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says nothing of what waits.
impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

fn serve(mut session: SqliteSession, queue: &Queue) {
    while let Some(job) = queue.next() {
        job(&mut session);
    }
}

/// All queries of one work see the same state of the database.
fn in_one_view<W: Work>(session: &mut SqliteSession, work: &W) -> Result<W::Output> {
    session.run("BEGIN")?;
    let outcome = ready(work.run(session));
    session.run("ROLLBACK").and(outcome)
}

fn overloaded() -> Error {
    Error::new(Kind::Unavailable, "the store does not keep up with what is asked of it")
}
