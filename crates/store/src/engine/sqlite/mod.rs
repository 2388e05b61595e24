//! SQLite: a file or memory, one thread that writes, one that waits for the disk, one that keeps the log short, and a few
//! that read.

mod batch;
mod checkpoint;
mod connection;
mod fault;
mod reader;
mod session;
mod sync;
#[cfg(test)]
mod tests;
mod writer;

use std::path::{Path, PathBuf};

use super::{Activity, Durability, Session, Work};
use crate::error::{Error, Kind, Result};
use reader::Reader;
#[cfg(test)]
pub(crate) use session::plans;
use sync::Log;
use writer::Writer;

#[derive(Debug)]
pub(crate) struct Sqlite {
    /// None where nothing can be written.
    writer: Option<Writer>,
    /// A store in memory is one connection: its writer reads as well.
    reader: Option<Reader>,
    /// The file, if it is one.
    path: Option<PathBuf>,
}

/// Work that is done when all before it is.
struct Nothing;

impl Work for Nothing {
    type Output = ();

    async fn run<S: Session>(&self, _: &mut S) -> Result<()> {
        Ok(())
    }
}

impl Sqlite {
    pub(crate) fn in_memory() -> Result<Self> {
        let writer = Writer::start(connection::in_memory()?, None::<Log>)?;
        Ok(Self { writer: Some(writer), reader: None, path: None })
    }

    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut connection = connection::open_to_write(path)?;
        checkpoint::start(path, &mut connection)?;
        let log = Log::of(&connection);
        let writer = Some(Writer::start(connection, log)?);
        let reader = Reader::start(|| connection::open_to_read(path))?;
        Ok(Self { writer, reader: Some(reader), path: Some(path.to_owned()) })
    }

    /// Opens a file that is there and cannot be written.
    pub(crate) fn open_unwritable(path: &Path) -> Result<Self> {
        let reader = Reader::start(|| connection::open_unwritable(path))?;
        Ok(Self { writer: None, reader: Some(reader), path: None })
    }

    pub(crate) async fn read<W: Work>(&self, work: W) -> Result<W::Output> {
        match &self.reader {
            Some(reader) => reader.read(work).await,
            None => self.writer()?.write(Durability::Volatile, work).await,
        }
    }

    pub(crate) async fn write<W: Work>(
        &self,
        durability: Durability,
        work: W,
    ) -> Result<W::Output> {
        self.writer()?.write(durability, work).await
    }

    pub(crate) async fn start<W: Work<Output = ()>>(
        &self,
        durability: Durability,
        work: W,
    ) -> Result<()> {
        self.writer()?.start_work(durability, work).await
    }

    pub(crate) async fn flush(&self) -> Result<()> {
        match &self.writer {
            Some(writer) => writer.flush(Nothing).await,
            None => Ok(()),
        }
    }

    /// Leaves nothing in the log, so that a copy of the file is one of the store.
    pub(crate) async fn settle(&self) -> Result<()> {
        let Some(path) = self.path.clone() else {
            return Ok(());
        };
        let settled = tokio::task::spawn_blocking(move || checkpoint::settle(&path)).await;
        settled
            .unwrap_or_else(|_| Err(Error::new(Kind::Unavailable, "no thread for the store's log")))
    }

    pub(crate) fn activity(&self) -> Activity {
        self.writer.as_ref().map(Writer::activity).unwrap_or_default()
    }

    fn writer(&self) -> Result<&Writer> {
        let unwritable = || Error::new(Kind::ReadOnly, "the store can be read and not written");
        self.writer.as_ref().ok_or_else(unwritable)
    }
}
