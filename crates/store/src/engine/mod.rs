//! The engines behind one session. A piece of work is written once, as queries of a session; each engine runs it in a
//! transaction in its own way.

mod postgres;
mod sqlite;
mod value;

use std::future::Future;

use crate::error::Result;
pub(crate) use postgres::Postgres;
pub(crate) use sqlite::Sqlite;
#[cfg(test)]
pub(crate) use sqlite::plans;
pub(crate) use value::{Param, Row, Value, optional};

/// One transaction of an engine. SQL is what both engines read, with `$1` for the first parameter.
pub(crate) trait Session: Send {
    fn execute(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> impl Future<Output = Result<u64>> + Send;

    fn query(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> impl Future<Output = Result<Vec<Row>>> + Send;

    /// Inserts a row by a statement that ends with [`RETURNING`], and returns its number; none if it was there.
    fn insert(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> impl Future<Output = Result<Option<i64>>> + Send {
        async move { self.first(sql, params).await?.map(|mut row| row.take()).transpose() }
    }

    /// Runs statements without parameters: the tables of a migration.
    fn batch(&mut self, sql: &str) -> impl Future<Output = Result<()>> + Send;

    /// Gives some of the free space back to the file system, where the engine does not do so by itself.
    fn shrink(&mut self) -> impl Future<Output = Result<()>> + Send;

    /// How this engine spells what the two spell differently.
    fn dialect(&self) -> Dialect;

    /// The first row, or none.
    fn first(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> impl Future<Output = Result<Option<Row>>> + Send {
        async move { Ok(self.query(sql, params).await?.into_iter().next()) }
    }
}

/// What a statement ends with that inserts a row with a number of its own.
pub(crate) const RETURNING: &str = " RETURNING number";

/// What differs between the engines in a table's definition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    pub(crate) bytes: &'static str,
    pub(crate) narrow: &'static str,
    pub(crate) number: &'static str,
}

/// Something to do in one transaction. It may be run again from the start if the database asks for that.
pub(crate) trait Work: Send + Sync + 'static {
    type Output: Send + 'static;

    fn run<S: Session>(&self, session: &mut S)
    -> impl Future<Output = Result<Self::Output>> + Send;
}

/// What is long is moved once, and not with every future that it goes through.
impl<W: Work> Work for Box<W> {
    type Output = W::Output;

    fn run<S: Session>(
        &self,
        session: &mut S,
    ) -> impl Future<Output = Result<Self::Output>> + Send {
        W::run(self, session)
    }
}

/// What a writer may take for done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// It is written before long, with others: nobody needs it soon. A crash may undo it.
    Late,
    /// A crash of the machine may undo it.
    Volatile,
    /// It is on disk when the caller is answered.
    Durable,
}

/// How much was written, and in how many syncs of the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Writes that were asked to be durable.
    pub durable_writes: u64,
    /// Commits that waited for the disk.
    pub durable_commits: u64,
}

#[derive(Debug)]
pub(crate) enum Engine {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Engine {
    pub(crate) async fn read<W: Work>(&self, work: W) -> Result<W::Output> {
        match self {
            Self::Sqlite(sqlite) => sqlite.read(work).await,
            // Boxed here and below: a connection's futures are large, and part of every future that asks the store.
            Self::Postgres(postgres) => Box::pin(postgres.read(work)).await,
        }
    }

    pub(crate) async fn write<W: Work>(
        &self,
        durability: Durability,
        work: W,
    ) -> Result<W::Output> {
        match self {
            Self::Sqlite(sqlite) => sqlite.write(durability, work).await,
            Self::Postgres(postgres) => Box::pin(postgres.write(durability, work)).await,
        }
    }

    /// Writes without waiting where that is possible; an engine in trouble is waited for, so that its error is known.
    pub(crate) async fn start<W: Work<Output = ()>>(
        &self,
        durability: Durability,
        work: W,
    ) -> Result<()> {
        match self {
            Self::Sqlite(sqlite) => sqlite.start(durability, work).await,
            // A server is asked without waiting for its disk.
            Self::Postgres(postgres) => Box::pin(postgres.write(durability, work)).await,
        }
    }

    /// Writes what was to be written late.
    pub(crate) async fn flush(&self) -> Result<()> {
        match self {
            Self::Sqlite(sqlite) => sqlite.flush().await,
            // A server is asked at once.
            Self::Postgres(_) => Ok(()),
        }
    }

    /// Leaves nothing beside what a backup copies, and nothing of what was deleted.
    pub(crate) async fn settle(&self) -> Result<()> {
        match self {
            Self::Sqlite(sqlite) => sqlite.settle().await,
            // A server has its own upkeep.
            Self::Postgres(_) => Ok(()),
        }
    }

    pub(crate) fn activity(&self) -> Activity {
        match self {
            Self::Sqlite(sqlite) => sqlite.activity(),
            Self::Postgres(postgres) => postgres.activity(),
        }
    }
}
