//! The tables, as numbered steps that only go forward. Each is applied once, in one transaction with its row.

#[cfg(test)]
mod tests;

use crate::engine::{Session, Work};
use crate::error::{Error, Kind, Result};
use crate::id::Hash;

struct Migration {
    number: i64,
    text: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration { number: 1, text: include_str!("0001_memory.sql") },
    Migration { number: 2, text: include_str!("0002_secret.sql") },
    Migration { number: 3, text: include_str!("0003_errors.sql") },
    Migration { number: 4, text: include_str!("0004_followed.sql") },
    Migration { number: 5, text: include_str!("0005_background.sql") },
    Migration { number: 6, text: include_str!("0006_numbers.sql") },
    Migration { number: 7, text: include_str!("0007_runs.sql") },
];

const TABLE: &str = "CREATE TABLE IF NOT EXISTS migration (
    number BIGINT NOT NULL PRIMARY KEY,
    checksum TEXT NOT NULL
)";

/// Brings the tables up to date, or says why they cannot be used.
pub(crate) struct Migrate;

impl Work for Migrate {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        bring_up_to_date(session, MIGRATIONS).await
    }
}

/// Says why the tables cannot be used as they are, if they cannot.
pub(crate) struct CheckTables;

impl Work for CheckTables {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        let applied = applied(session).await?;
        check(&applied, MIGRATIONS)?;
        match applied.len() == MIGRATIONS.len() {
            true => Ok(()),
            false => Err(older()),
        }
    }
}

async fn bring_up_to_date<S: Session>(session: &mut S, known: &[Migration]) -> Result<()> {
    session.batch(TABLE).await?;
    let applied = applied(session).await?;
    check(&applied, known)?;
    for migration in &known[applied.len()..] {
        apply(session, migration).await?;
    }
    Ok(())
}

async fn applied<S: Session>(session: &mut S) -> Result<Vec<(i64, String)>> {
    let rows = session.query("SELECT number, checksum FROM migration ORDER BY number", &[]).await?;
    rows.into_iter().map(|mut row| Ok((row.take()?, row.take()?))).collect()
}

fn check(applied: &[(i64, String)], known: &[Migration]) -> Result<()> {
    for (index, (number, checksum)) in applied.iter().enumerate() {
        let Some(migration) = known.get(index) else {
            return Err(newer(*number, known.len()));
        };
        if migration.number != *number || migration.checksum() != *checksum {
            return Err(changed(*number));
        }
    }
    Ok(())
}

/// The row comes first: where two nodes start at once, the second waits here and finds the tables made.
async fn apply<S: Session>(session: &mut S, migration: &Migration) -> Result<()> {
    let sql = "INSERT INTO migration (number, checksum) VALUES ($1, $2)";
    let checksum = migration.checksum();
    session.execute(sql, &[migration.number.into(), checksum.as_str().into()]).await?;
    let dialect = session.dialect();
    let tables = migration.text.replace("{bytes}", dialect.bytes);
    let tables = tables.replace("{narrow}", dialect.narrow).replace("{number}", dialect.number);
    session.batch(&tables).await
}

impl Migration {
    fn checksum(&self) -> String {
        let hash = Hash::of_bytes(self.text.as_bytes());
        hash.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

fn older() -> Error {
    let text = "the store was written by an older version of this program, and cannot be brought up to date as long as it \
                cannot be written";
    Error::new(Kind::Schema, text)
}

fn newer(number: i64, known: usize) -> Error {
    let text = format!(
        "the store was written by a newer version of this program (schema {number}, this one knows {known}): \
         start that version, or give this one another `store.url`"
    );
    Error::new(Kind::Schema, text)
}

fn changed(number: i64) -> Error {
    let text = format!(
        "schema {number} of the store is not the one that this version was built with: \
         start the version that made it, or give this one another `store.url`"
    );
    Error::new(Kind::Schema, text)
}
