//! A connection as a session. Nothing here waits: every future is ready when it is first asked.

use std::borrow::Cow;
use std::collections::HashMap;
use std::future::Future;
use std::hash::{BuildHasherDefault, Hasher};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, ToSql, params_from_iter};

use super::super::{Dialect, Param, RETURNING, Row, Session, Value};
use super::fault;
use crate::error::Result;
use crate::pack::packed;

/// Pages given back to the file system in one go.
const SHRINK: &str = "PRAGMA incremental_vacuum(256)";

pub(super) struct SqliteSession {
    pub(super) connection: Connection,
    /// Queries as SQLite spells them, by where they stand in the program: there are some dozens, and each is run millions of
    /// times.
    spelled: HashMap<(usize, usize), Box<str>, BuildHasherDefault<Places>>,
}

/// Tells places in the program apart. Nobody else chooses them.
#[derive(Default)]
struct Places(u64);

impl Hasher for Places {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    fn write_usize(&mut self, number: usize) {
        self.0 = (self.0.rotate_left(5) ^ number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl SqliteSession {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection, spelled: HashMap::default() }
    }

    /// A query, prepared once.
    fn prepared(&mut self, sql: &'static str) -> rusqlite::Result<CachedStatement<'_>> {
        let place = (sql.as_ptr() as usize, sql.len());
        let spelled = self.spelled.entry(place).or_insert_with(|| spelt(sql).into());
        self.connection.prepare_cached(spelled)
    }

    /// Runs a statement that has no parameters and gives no rows.
    pub(super) fn run(&mut self, sql: &'static str) -> Result<()> {
        let run = self.prepared(sql).and_then(|mut statement| statement.execute([]));
        run.map(|_| ()).map_err(|error| fault::error(&error))
    }
}

/// The result of a future over this session.
pub(super) fn ready<F: Future>(future: F) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("a session of SQLite never waits"),
    }
}

impl Session for SqliteSession {
    async fn execute(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64> {
        #[cfg(test)]
        plans::note(&self.connection, sql);
        let run = |mut statement: CachedStatement<'_>| {
            let rows = statement.execute(params_from_iter(params));
            #[cfg(test)]
            plans::check(&statement, sql);
            rows
        };
        self.prepared(sql)
            .and_then(run)
            .map(|rows| rows as u64)
            .map_err(|error| fault::error(&error))
    }

    /// SQLite knows the number of the row that it inserted last, and makes a table of what a statement returns.
    async fn insert(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<Option<i64>> {
        let sql = sql.strip_suffix(RETURNING).unwrap_or(sql);
        let is_new = self.execute(sql, params).await? == 1;
        Ok(is_new.then(|| self.connection.last_insert_rowid()))
    }

    async fn query(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<Vec<Row>> {
        #[cfg(test)]
        plans::note(&self.connection, sql);
        let run = |mut statement: CachedStatement<'_>| {
            let columns = statement.column_count();
            let rows = statement.query_map(params_from_iter(params), |row| {
                let values = (0..columns).map(|column| row.get_ref(column).map(value));
                values.collect::<rusqlite::Result<Vec<_>>>().map(Row::new)
            })?;
            let rows = rows.collect::<rusqlite::Result<Vec<_>>>();
            #[cfg(test)]
            plans::check(&statement, sql);
            rows
        };
        self.prepared(sql).and_then(run).map_err(|error| fault::error(&error))
    }

    async fn batch(&mut self, sql: &str) -> Result<()> {
        self.connection.execute_batch(sql).map_err(|error| fault::error(&error))
    }

    async fn shrink(&mut self) -> Result<()> {
        self.query(SHRINK, &[]).await.map(|_| ())
    }

    fn dialect(&self) -> Dialect {
        Dialect { bytes: "BLOB", narrow: "WITHOUT ROWID", number: "INTEGER PRIMARY KEY" }
    }
}

/// SQLite numbers its parameters with a question mark; `$1` would be a name. A prepared statement is found by its text, which is
/// read for that each time, so line breaks and what they indent are left out.
fn spelt(sql: &str) -> String {
    let words: Vec<&str> = sql.split_ascii_whitespace().collect();
    words.join(" ").replace('$', "?")
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        // The store keeps no fractions; a column that holds one is reported when it is read.
        ValueRef::Real(_) => Value::Null,
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_owned()),
    }
}

impl ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
            Self::Record(record) => {
                return Ok(match packed(record) {
                    Cow::Borrowed(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
                    Cow::Owned(bytes) => ToSqlOutput::Owned(bytes.into()),
                });
            }
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

/// The plans of all queries of this process, for the test that looks at them.
#[cfg(test)]
pub(crate) mod plans {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Mutex;

    use rusqlite::{CachedStatement, Connection, StatementStatus};

    pub(crate) static SEEN: Mutex<BTreeMap<&'static str, Vec<String>>> =
        Mutex::new(BTreeMap::new());

    /// Queries that SQLite prepared more than once more, as it does where the plan hangs on what they are given. Once it does so where
    /// another connection has made the tables meanwhile.
    pub(crate) static PREPARED_AGAIN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

    pub(super) fn check(statement: &CachedStatement<'_>, sql: &'static str) {
        if statement.get_status(StatementStatus::RePrepare) > 1 {
            PREPARED_AGAIN.lock().unwrap().insert(sql);
        }
    }

    pub(super) fn note(connection: &Connection, sql: &'static str) {
        let mut seen = SEEN.lock().unwrap();
        if sql.starts_with("PRAGMA") || seen.contains_key(sql) {
            return;
        }
        let explained = format!("EXPLAIN QUERY PLAN {}", super::spelt(sql));
        let mut statement = connection.prepare(&explained).unwrap();
        let mut rows = statement.raw_query();
        let mut steps = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            steps.push(row.get("detail").unwrap());
        }
        seen.insert(sql, steps);
    }
}
