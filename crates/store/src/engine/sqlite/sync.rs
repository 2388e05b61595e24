//! The thread that waits for the disk. A transaction is written into the log without waiting; what must be on disk is answered
//! after a sync that began behind it, while the next transaction is in the making.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use rusqlite::Connection;

use super::writer::{Job, State};
use crate::error::{Error, Kind, Result};

/// What a transaction was written to.
pub(super) trait Disk: Send + 'static {
    /// Returns when all that was written is there after a crash of the machine.
    fn sync(&mut self) -> io::Result<()>;
}

/// The write-ahead log of a database. It is the same file for as long as a connection is open, and there from the first
/// transaction on.
pub(super) struct Log {
    path: PathBuf,
    file: Option<File>,
}

impl Log {
    /// None for a database in memory.
    pub(super) fn of(connection: &Connection) -> Option<Self> {
        // The name with all links followed, beside which SQLite puts its log.
        let database = connection.path().filter(|path| !path.is_empty())?;
        Some(Self { path: format!("{database}-wal").into(), file: None })
    }
}

impl Disk for Log {
    fn sync(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(OpenOptions::new().write(true).open(&self.path)?),
        };
        file.sync_data()
    }
}

/// Takes what waits for the disk.
pub(super) struct Syncer {
    written: Sender<Vec<Box<dyn Job>>>,
    state: Arc<State>,
}

impl Syncer {
    pub(super) fn start(disk: impl Disk, state: &Arc<State>) -> Result<Self> {
        let (written, queue) = mpsc::channel();
        let shared = Arc::clone(state);
        thread::Builder::new()
            .name("store-sync".to_owned())
            .spawn(move || serve(disk, &queue, &shared))
            .map_err(|_| Error::new(Kind::Unavailable, "no thread for the store's disk"))?;
        Ok(Self { written, state: Arc::clone(state) })
    }

    /// Answers these when all that is written by now is on disk.
    pub(super) fn answer_later(&self, jobs: Vec<Box<dyn Job>>) {
        self.state.begin_sync();
        // The thread ends after this one.
        let _ = self.written.send(jobs);
    }
}

fn serve(mut disk: impl Disk, queue: &Receiver<Vec<Box<dyn Job>>>, state: &State) {
    while let Ok(mut jobs) = queue.recv() {
        let mut transactions = 1;
        while let Ok(more) = queue.try_recv() {
            jobs.extend(more);
            transactions += 1;
        }
        // What was written behind a gap in the log is as good as lost, until somebody has mended it.
        let synced = match state.is_torn() {
            true => Err(io::ErrorKind::Other.into()),
            false => disk.sync(),
        };
        let synced = synced.map_err(|error| failed(&error));
        state.end_sync(transactions, synced.as_ref().map(|()| jobs.len() as u64));
        jobs.into_iter().for_each(|job| job.settle(synced.clone()));
    }
}

fn failed(error: &io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Kind::Full,
        io::ErrorKind::ReadOnlyFilesystem => Kind::ReadOnly,
        _ => Kind::Unavailable,
    };
    let text =
        "the store's disk did not take what was written: check the disk and the system's log";
    Error::new(kind, text)
}
