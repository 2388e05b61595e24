//! A connection of the pool as a session. One that is left in the middle of a transaction is closed, never given back.

use deadpool_postgres::Object;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::super::{Dialect, Param, Row, Session, Value};
use super::fault;
use crate::error::{Error, Result};

pub(super) struct PostgresSession {
    /// Taken only when this is dropped.
    client: Option<Object>,
    /// In a transaction, or broken: no connection for anybody else.
    is_dirty: bool,
    may_repeat: bool,
}

impl PostgresSession {
    pub(super) fn new(client: Object) -> Self {
        Self { client: Some(client), is_dirty: false, may_repeat: false }
    }

    /// Whether the newest error would not come again, and nothing was committed.
    pub(super) fn may_repeat(&self) -> bool {
        self.may_repeat
    }

    pub(super) async fn begin(&mut self, sql: &'static str) -> Result<()> {
        self.is_dirty = true;
        self.batch(sql).await
    }

    /// Whether a commit that breaks off happened is not known, so it is not repeated.
    pub(super) async fn commit(&mut self) -> Result<()> {
        let committed = self.client().batch_execute("COMMIT").await;
        self.is_dirty = committed.is_err();
        committed.map_err(|error| {
            self.may_repeat = fault::is_conflict(&error);
            fault::error(&error)
        })
    }

    pub(super) async fn roll_back(&mut self) {
        // Where this fails, the connection is closed, and the server undoes the rest.
        self.is_dirty = self.client().batch_execute("ROLLBACK").await.is_err();
    }

    fn client(&self) -> &Object {
        self.client.as_ref().expect("the connection is taken when the session is dropped")
    }

    fn fail(&mut self, error: &tokio_postgres::Error) -> Error {
        let is_broken = fault::is_broken(error);
        self.is_dirty |= is_broken;
        self.may_repeat = is_broken || fault::is_conflict(error);
        fault::error(error)
    }

    async fn rows(&self, sql: &'static str, params: &[Param<'_>]) -> Outcome<Vec<Row>> {
        let statement = self.client().prepare_cached(sql).await?;
        let params = references(params);
        let rows = self.client().query(&statement, &params).await?;
        rows.iter().map(row).collect()
    }

    async fn count(&self, sql: &'static str, params: &[Param<'_>]) -> Outcome<u64> {
        let statement = self.client().prepare_cached(sql).await?;
        let params = references(params);
        self.client().execute(&statement, &params).await
    }
}

type Outcome<T> = std::result::Result<T, tokio_postgres::Error>;

impl Drop for PostgresSession {
    fn drop(&mut self) {
        if let Some(client) = self.client.take().filter(|_| self.is_dirty) {
            // Out of the pool, and closed with its last handle.
            drop(Object::take(client));
        }
    }
}

impl Session for PostgresSession {
    async fn execute(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64> {
        let outcome = self.count(sql, params).await;
        outcome.map_err(|error| self.fail(&error))
    }

    async fn query(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<Vec<Row>> {
        let outcome = self.rows(sql, params).await;
        outcome.map_err(|error| self.fail(&error))
    }

    async fn batch(&mut self, sql: &str) -> Result<()> {
        let outcome = self.client().batch_execute(sql).await;
        outcome.map_err(|error| self.fail(&error))
    }

    /// The server's own vacuum does it.
    async fn shrink(&mut self) -> Result<()> {
        Ok(())
    }

    fn dialect(&self) -> Dialect {
        Dialect { bytes: "BYTEA", narrow: "" }
    }
}

fn references<'a>(params: &'a [Param<'_>]) -> Vec<&'a (dyn ToSql + Sync)> {
    params.iter().map(|param| param as &(dyn ToSql + Sync)).collect()
}

fn row(row: &tokio_postgres::Row) -> Outcome<Row> {
    let values = row.columns().iter().enumerate().map(|(index, column)| {
        let value = match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(index)?.map(Value::Integer),
            Type::INT4 => row.try_get::<_, Option<i32>>(index)?.map(|it| Value::Integer(it.into())),
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(index)?.map(Value::Bytes),
            _ => row.try_get::<_, Option<String>>(index)?.map(Value::Text),
        };
        Ok(value.unwrap_or(Value::Null))
    });
    values.collect::<Outcome<Vec<_>>>().map(Row::new)
}

impl std::fmt::Debug for Param<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Parameters are content.
        f.write_str("Param")
    }
}

impl ToSql for Param<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut bytes::BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(number) => number.to_sql(ty, out),
            Self::Text(text) => text.to_sql(ty, out),
            Self::Bytes(bytes) => bytes.to_sql(ty, out),
        }
    }

    fn accepts(ty: &Type) -> bool {
        matches!(*ty, Type::INT8 | Type::TEXT | Type::BYTEA)
    }

    to_sql_checked!();
}
