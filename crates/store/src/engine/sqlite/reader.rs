//! Threads that read, each with a connection of its own: readers of a write-ahead log wait for nobody.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tokio::sync::oneshot;

use super::super::Work;
use super::connection;
use super::session::{SqliteSession, ready};
use crate::error::{Error, Kind, Result};

const THREADS: usize = 2;
/// Reads that wait for a thread. More than that is a store that does not keep up.
const QUEUE: usize = 4096;

type Job = Box<dyn FnOnce(&mut SqliteSession) + Send>;

#[derive(Debug)]
pub(super) struct Reader {
    jobs: SyncSender<Job>,
}

impl Reader {
    pub(super) fn start(path: &Path) -> Result<Self> {
        let (jobs, queue) = mpsc::sync_channel::<Job>(QUEUE);
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..THREADS {
            let session = SqliteSession::new(connection::open_to_read(path)?);
            let queue = Arc::clone(&queue);
            thread::Builder::new()
                .name("store-read".to_owned())
                .spawn(move || serve(session, &queue))
                .map_err(|_| Error::new(Kind::Unavailable, "no thread for the store's reader"))?;
        }
        Ok(Self { jobs })
    }

    pub(super) async fn read<W: Work>(&self, work: W) -> Result<W::Output> {
        let (reply, outcome) = oneshot::channel();
        let job: Job = Box::new(move |session| {
            // This fails only if nobody waits any more.
            let _ = reply.send(in_one_view(session, &work));
        });
        self.jobs.try_send(job).map_err(|_| overloaded())?;
        outcome.await.unwrap_or_else(|_| Err(overloaded()))
    }
}

fn serve(mut session: SqliteSession, queue: &Mutex<Receiver<Job>>) {
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match job {
            Ok(job) => job(&mut session),
            Err(_) => return,
        }
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
