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
use crate::error::Result;
use reader::Reader;
#[cfg(test)]
pub(crate) use session::plans;
use sync::Log;
use writer::Writer;

#[derive(Debug)]
pub(crate) struct Sqlite {
    writer: Writer,
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
        Ok(Self { writer, reader: None, path: None })
    }

    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut connection = connection::open_to_write(path)?;
        checkpoint::start(path, &mut connection)?;
        let log = Log::of(&connection);
        let writer = Writer::start(connection, log)?;
        Ok(Self { writer, reader: Some(Reader::start(path)?), path: Some(path.to_owned()) })
    }

    pub(crate) async fn read<W: Work>(&self, work: W) -> Result<W::Output> {
        match &self.reader {
            Some(reader) => reader.read(work).await,
            None => self.writer.write(Durability::Volatile, work).await,
        }
    }

    pub(crate) async fn write<W: Work>(
        &self,
        durability: Durability,
        work: W,
    ) -> Result<W::Output> {
        self.writer.write(durability, work).await
    }

    pub(crate) async fn start<W: Work<Output = ()>>(
        &self,
        durability: Durability,
        work: W,
    ) -> Result<()> {
        self.writer.start_work(durability, work).await
    }

    pub(crate) async fn flush(&self) -> Result<()> {
        self.writer.write(Durability::Volatile, Nothing).await
    }

    /// Leaves nothing in the log, so that a copy of the file is one of the store.
    pub(crate) fn settle(&self) -> Result<()> {
        self.path.as_deref().map_or(Ok(()), checkpoint::settle)
    }

    pub(crate) fn activity(&self) -> Activity {
        self.writer.activity()
    }
}
