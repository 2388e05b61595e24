//! PostgreSQL, for any number of nodes: a pool of connections that are made anew when they break, and transactions that are
//! run again when the database asks for it.

mod address;
mod fault;
mod session;
mod tls;

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use tokio::runtime::Handle;

use super::{Activity, Durability, Work};
use crate::error::{Error, Kind, Result};
use address::Address;
use session::PostgresSession;

/// Connections of one node.
const CONNECTIONS: usize = 16;
/// How long a connection may take to come, be it new or another's.
const CONNECT: Duration = Duration::from_secs(5);
/// How long one work may take with all its repetitions.
const DEADLINE: Duration = Duration::from_secs(20);
/// How often a transaction is run before its conflict is the caller's.
const ATTEMPTS: usize = 8;

#[derive(Debug)]
pub(crate) struct Postgres {
    pool: Pool,
    /// Where connections live: with whoever opened the store. One that was made by a caller would end with the caller's
    /// runtime, under the hands of others.
    runtime: Handle,
    /// Whether the database knows commits that do not wait for the disk; some that speak its protocol do not.
    has_volatile_commits: AtomicBool,
    durable_writes: AtomicU64,
}

/// In what work is run.
#[derive(Clone, Copy)]
enum Mode {
    /// No transaction: each query sees what is committed.
    Read,
    Write(Durability),
}

impl Postgres {
    pub(crate) fn new(url: &str) -> Result<Self> {
        let runtime = Handle::try_current();
        let runtime = runtime
            .map_err(|_| Error::new(Kind::Unavailable, "a store is opened within a runtime"))?;
        let address = Address::parse(url)?;
        let connector = tls::connector(&address)?;
        let settings = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(address.config, connector, settings);
        let pool = Pool::builder(manager)
            .max_size(CONNECTIONS)
            .wait_timeout(Some(CONNECT))
            .create_timeout(Some(CONNECT))
            .recycle_timeout(Some(CONNECT))
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|_| Error::new(Kind::Unavailable, "no pool of connections can be made"))?;
        let has_volatile_commits = AtomicBool::new(true);
        Ok(Self { pool, runtime, has_volatile_commits, durable_writes: AtomicU64::new(0) })
    }

    /// Where this URL leads, for people; an error if it leads nowhere.
    pub(crate) fn describe(url: &str) -> Result<String> {
        Address::parse(url).map(|address| address.shown())
    }

    pub(crate) async fn read<W: Work>(&self, work: W) -> Result<W::Output> {
        self.repeat(Mode::Read, &work).await
    }

    pub(crate) async fn write<W: Work>(
        &self,
        durability: Durability,
        work: W,
    ) -> Result<W::Output> {
        let output = self.repeat(Mode::Write(durability), &work).await?;
        let durable = u64::from(durability == Durability::Durable);
        self.durable_writes.fetch_add(durable, Ordering::Relaxed);
        Ok(output)
    }

    /// The server groups commits by itself; what is counted is one for each.
    pub(crate) fn activity(&self) -> Activity {
        let durable_writes = self.durable_writes.load(Ordering::Relaxed);
        Activity { durable_writes, durable_commits: durable_writes }
    }

    /// Runs work until it succeeds, fails for good, or has taken too long.
    async fn repeat<W: Work>(&self, mode: Mode, work: &W) -> Result<W::Output> {
        let attempts = async {
            let mut attempt = 1;
            loop {
                let client = self.pool.get().await.map_err(|error| fault::no_connection(&error))?;
                let mut session = PostgresSession::new(client);
                let outcome = match mode {
                    Mode::Read => work.run(&mut session).await,
                    Mode::Write(durability) => self.transact(&mut session, durability, work).await,
                };
                match outcome {
                    Err(_) if session.may_repeat() && attempt < ATTEMPTS => attempt += 1,
                    outcome => return outcome,
                }
            }
        };
        let in_time = async { tokio::time::timeout(DEADLINE, attempts).await };
        within(&self.runtime, in_time).await.unwrap_or_else(|_| Err(too_slow()))
    }

    async fn transact<W: Work>(
        &self,
        session: &mut PostgresSession,
        durability: Durability,
        work: &W,
    ) -> Result<W::Output> {
        self.begin(session, durability).await?;
        match work.run(session).await {
            Ok(output) => session.commit().await.map(|()| output),
            Err(error) => {
                session.roll_back().await;
                Err(error)
            }
        }
    }

    async fn begin(&self, session: &mut PostgresSession, durability: Durability) -> Result<()> {
        let volatile =
            durability != Durability::Durable && self.has_volatile_commits.load(Ordering::Relaxed);
        if !volatile {
            return session.begin("BEGIN").await;
        }
        let begun = session.begin("BEGIN; SET LOCAL synchronous_commit = off").await;
        if begun.is_err() && !session.may_repeat() {
            self.has_volatile_commits.store(false, Ordering::Relaxed);
            session.roll_back().await;
            return session.begin("BEGIN").await;
        }
        begun
    }
}

/// Works with the sockets and the clock of another runtime, on the caller's thread.
async fn within<F: Future>(runtime: &Handle, work: F) -> F::Output {
    let mut work = pin!(work);
    poll_fn(|cx| {
        let _entered = runtime.enter();
        work.as_mut().poll(cx)
    })
    .await
}

fn too_slow() -> Error {
    Error::new(
        Kind::Unavailable,
        "PostgreSQL does not answer in time: check the server's load and its locks",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn debug_output_hides_the_password() {
        let postgres = Postgres::new("postgres://u:hunter2@h/db").unwrap();
        assert!(!format!("{postgres:?}").contains("hunter2"));
    }
}
