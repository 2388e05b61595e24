//! Rows of calls added by one statement for several: each goes on from where the last one was put, and a server is asked less often.

use std::sync::LazyLock;

use super::{Attempt, Exchange};
use crate::engine::{Param, Row, Session, optional};
use crate::error::Result;

/// The columns of a call's row, in the order of [`columns`].
const COLUMNS: &str = "owner, id, at, turn, protocol, provider, model, outcome, failed, milliseconds, \
                       first_milliseconds, input, output, cache_read, cache_write, reasoning, losses, \
                       last_milliseconds";
const COLUMN_COUNT: usize = 18;

/// Rows that one statement adds. A statement that goes on from row to row begins its search where the last one ended.
const ROWS: usize = 16;

static INSERT_ONE: LazyLock<String> = LazyLock::new(|| insert_sql(1));
static INSERT_SEVERAL: LazyLock<String> = LazyLock::new(|| insert_sql(ROWS));

/// Adds the rows of calls, and returns those that were not there: a batch that is sent again counts nothing twice.
pub(super) async fn insert<'e, S: Session>(
    session: &mut S,
    exchanges: &'e [Exchange],
) -> Result<Vec<&'e Exchange>> {
    let mut ordered: Vec<&Exchange> = exchanges.iter().collect();
    // Of a call that is there twice the first row counts.
    ordered.sort_by_key(|exchange| (&exchange.owner, &exchange.id));
    let mut new = Vec::with_capacity(ordered.len());
    let (several, rest) = ordered.as_chunks::<ROWS>();
    for rows in several {
        insert_rows(session, (&INSERT_SEVERAL, rows), &mut new).await?;
    }
    for row in rest.chunks(1) {
        insert_rows(session, (&INSERT_ONE, row), &mut new).await?;
    }
    for exchange in &new {
        let (earlier, _) = exchange.tries();
        for (attempt, number) in earlier.iter().zip(1_i64..) {
            insert_attempt(session, exchange, attempt, number).await?;
        }
    }
    Ok(new)
}

/// Adds so many rows and returns the owners and ids of those that were not there.
fn insert_sql(rows: usize) -> String {
    let numbers =
        |row: usize| (1..=COLUMN_COUNT).map(move |at| format!("${}", row * COLUMN_COUNT + at));
    let row = |row: usize| format!("({})", numbers(row).collect::<Vec<_>>().join(", "));
    let values = (0..rows).map(row).collect::<Vec<_>>().join(", ");
    format!(
        "INSERT INTO exchange ({COLUMNS}) VALUES {values} ON CONFLICT (owner, id) DO NOTHING RETURNING owner, id"
    )
}

/// Adds rows by a statement for so many, and those that were not there to `new`.
async fn insert_rows<'e, S: Session>(
    session: &mut S,
    (sql, rows): (&'static str, &[&'e Exchange]),
    new: &mut Vec<&'e Exchange>,
) -> Result<()> {
    let params: Vec<Param<'_>> = rows.iter().flat_map(|exchange| columns(exchange)).collect();
    let added = session.query(sql, &params).await?;
    let key = |mut row: Row| Ok((row.take::<String>()?, row.take::<String>()?));
    let mut added = added.into_iter().map(key).collect::<Result<Vec<_>>>()?;
    for exchange in rows {
        let is_it = |(owner, id): &(String, String)| {
            id == exchange.id.as_str() && owner == exchange.owner.as_str()
        };
        // Of a call that is there twice the second row is not new.
        if let Some(at) = added.iter().position(is_it) {
            added.swap_remove(at);
            new.push(exchange);
        }
    }
    Ok(())
}

fn columns(exchange: &Exchange) -> [Param<'_>; COLUMN_COUNT] {
    let first = exchange.first_milliseconds.map(i64::from);
    let (_, last) = exchange.tries();
    let [input, output, cache_read, cache_write, reasoning] = exchange.tokens.columns();
    [
        (&exchange.owner).into(),
        (&exchange.id).into(),
        exchange.at.into(),
        optional(exchange.turn.as_ref()),
        (&exchange.protocol).into(),
        optional(exchange.provider.as_ref()),
        optional(exchange.model.as_ref()),
        (&exchange.outcome).into(),
        i64::from(exchange.has_failed).into(),
        i64::from(exchange.milliseconds).into(),
        first.map_or(Param::Null, Into::into),
        input.into(),
        output.into(),
        cache_read.into(),
        cache_write.into(),
        reasoning.into(),
        i64::from(exchange.losses).into(),
        last.map_or(Param::Null, |last| i64::from(last.milliseconds).into()),
    ]
}

async fn insert_attempt<S: Session>(
    session: &mut S,
    exchange: &Exchange,
    attempt: &Attempt,
    number: i64,
) -> Result<()> {
    let sql =
        "INSERT INTO attempt (owner, exchange, number, provider, model, outcome, milliseconds)
        VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let params = [
        (&exchange.owner).into(),
        (&exchange.id).into(),
        number.into(),
        (&attempt.provider).into(),
        (&attempt.model).into(),
        (&attempt.outcome).into(),
        i64::from(attempt.milliseconds).into(),
    ];
    session.execute(sql, &params).await.map(|_| ())
}
