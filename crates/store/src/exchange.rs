//! A narrow row for each call and each try, without content, and the sums of each day in the same transaction.

mod insert;

use std::collections::BTreeMap;

use crate::clock::Time;
use crate::engine::{Row, Session, Work};
use crate::error::{Error, Result};
use crate::exchange::insert::insert;
use crate::id::{ExchangeId, Name, Owner, TurnId};
use crate::limit::{ITEMS_MAX, PAGE_MAX, count};

/// Tokens by their class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub reasoning: u64,
}

/// One call, as it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    pub owner: Owner,
    pub id: ExchangeId,
    pub at: Time,
    pub turn: Option<TurnId>,
    pub protocol: Name,
    /// Who answered, if anybody did.
    pub provider: Option<Name>,
    pub model: Option<Name>,
    pub outcome: Name,
    /// Whether its day counts it among the errors.
    pub has_failed: bool,
    pub milliseconds: u32,
    pub first_milliseconds: Option<u32>,
    pub tokens: Tokens,
    pub losses: u32,
    pub attempts: Vec<Attempt>,
}

/// One try of a call at one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub provider: Name,
    pub model: Name,
    pub outcome: Name,
    pub milliseconds: u32,
}

/// What an owner used of a model on a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayUsage {
    /// Days since 1970, in UTC.
    pub day: i64,
    pub provider: String,
    pub model: String,
    pub calls: u64,
    pub errors: u64,
    pub tokens: Tokens,
}

/// What usage is summed up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    Model,
    Provider,
    /// Days since 1970, in UTC.
    Day,
    /// All in one.
    Owner,
}

/// The sums of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupUsage {
    /// The model, the provider or the number of the day; empty where no provider was reached, and for all in one.
    pub name: String,
    pub calls: u64,
    pub errors: u64,
    pub tokens: Tokens,
}

pub(crate) struct RecordExchanges {
    pub(crate) exchanges: Vec<Exchange>,
}

pub(crate) struct ReadExchange {
    pub(crate) owner: Owner,
    pub(crate) id: ExchangeId,
}

pub(crate) struct ReadUsage {
    pub(crate) owner: Owner,
    pub(crate) from: Time,
}

pub(crate) struct SumUsage {
    pub(crate) owner: Owner,
    pub(crate) from: Time,
    pub(crate) by: Grouping,
}

type DayKey<'a> = (&'a Owner, i64, &'a str, &'a str);

/// What is added to a day.
#[derive(Default)]
struct Sum {
    calls: i64,
    errors: i64,
    tokens: Tokens,
}

impl Work for RecordExchanges {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        count("exchanges", self.exchanges.len(), ITEMS_MAX)?;
        let mut sums = BTreeMap::<DayKey<'_>, Sum>::new();
        for exchange in insert(session, &self.exchanges).await? {
            let sum = sums.entry(exchange.day()).or_default();
            sum.calls += 1;
            sum.errors += i64::from(exchange.has_failed);
            sum.tokens.add(&exchange.tokens);
        }
        for (key, sum) in sums {
            add(session, key, &sum).await?;
        }
        Ok(())
    }
}

impl Work for ReadExchange {
    type Output = Exchange;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Exchange> {
        let sql = "SELECT at, turn, protocol, provider, model, outcome, failed, milliseconds,
                first_milliseconds, input, output, cache_read, cache_write, reasoning, losses,
                last_milliseconds
            FROM exchange WHERE owner = $1 AND id = $2";
        let params = [(&self.owner).into(), (&self.id).into()];
        let row = session.first(sql, &params).await?;
        let mut row = row.ok_or_else(|| Error::not_found("exchange"))?;
        let mut exchange = self.exchange(&mut row)?;
        let last = exchange.last_attempt(row.take()?);
        let sql = "SELECT provider, model, outcome, milliseconds FROM attempt
            WHERE owner = $1 AND exchange = $2 ORDER BY number";
        let rows = session.query(sql, &params).await?;
        exchange.attempts = rows.into_iter().map(attempt).collect::<Result<_>>()?;
        exchange.attempts.extend(last);
        Ok(exchange)
    }
}

impl ReadExchange {
    /// The row without its attempts.
    fn exchange(&self, row: &mut Row) -> Result<Exchange> {
        Ok(Exchange {
            owner: self.owner.clone(),
            id: self.id.clone(),
            at: row.take()?,
            turn: row.take()?,
            protocol: row.take()?,
            provider: row.take()?,
            model: row.take()?,
            outcome: row.take()?,
            has_failed: row.take::<i64>()? != 0,
            milliseconds: narrow(row.take()?),
            first_milliseconds: row.take::<Option<i64>>()?.map(narrow),
            tokens: tokens(row)?,
            losses: narrow(row.take()?),
            attempts: Vec::new(),
        })
    }
}

fn attempt(mut row: Row) -> Result<Attempt> {
    let (provider, model, outcome) = (row.take()?, row.take()?, row.take()?);
    Ok(Attempt { provider, model, outcome, milliseconds: narrow(row.take()?) })
}

fn tokens(row: &mut Row) -> Result<Tokens> {
    let mut next = || row.take::<i64>().map(i64::cast_unsigned);
    let (input, output, cache_read) = (next()?, next()?, next()?);
    let (cache_write, reasoning) = (next()?, next()?);
    Ok(Tokens { input, output, cache_read, cache_write, reasoning })
}

/// A number that was kept as a narrower one.
fn narrow(column: i64) -> u32 {
    u32::try_from(column).unwrap_or(u32::MAX)
}

impl Work for ReadUsage {
    type Output = Vec<DayUsage>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Vec<DayUsage>> {
        let sql =
            "SELECT day, provider, model, calls, errors, input, output, cache_read, cache_write,
                reasoning
            FROM usage_day WHERE owner = $1 AND day >= $2 ORDER BY day, provider, model LIMIT $3";
        let most = i64::from(PAGE_MAX);
        let params = [(&self.owner).into(), self.from.day().into(), most.into()];
        let rows = session.query(sql, &params).await?;
        rows.into_iter()
            .map(|mut row| {
                let (day, provider, model) = (row.take()?, row.take()?, row.take()?);
                let (calls, errors) = (count_of(&mut row)?, count_of(&mut row)?);
                let tokens = tokens(&mut row)?;
                Ok(DayUsage { day, provider, model, calls, errors, tokens })
            })
            .collect()
    }
}

/// The sums by a column, the newest or the most used first. What reached no provider counts only where it failed: all else
/// of it asked no model anything.
macro_rules! sums_by {
    ($column:literal, $order:literal) => {
        concat!(
            "SELECT ",
            $column,
            " AS name,
                CAST(SUM(CASE WHEN provider = '' THEN errors ELSE calls END) AS BIGINT) AS calls,
                CAST(SUM(errors) AS BIGINT), CAST(SUM(input) AS BIGINT),
                CAST(SUM(output) AS BIGINT), CAST(SUM(cache_read) AS BIGINT),
                CAST(SUM(cache_write) AS BIGINT), CAST(SUM(reasoning) AS BIGINT)
            FROM usage_day
            WHERE owner = $1 AND day >= $2 AND (provider <> '' OR errors > 0)
            GROUP BY 1 ORDER BY ",
            $order,
            " LIMIT $3"
        )
    };
}

impl Grouping {
    fn sums(self) -> &'static str {
        match self {
            Self::Model => sums_by!("model", "2 DESC, 1"),
            Self::Provider => sums_by!("provider", "2 DESC, 1"),
            Self::Day => sums_by!("CAST(day AS TEXT)", "MIN(day) DESC"),
            Self::Owner => sums_by!("''", "1"),
        }
    }
}

impl Work for SumUsage {
    type Output = Vec<GroupUsage>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Vec<GroupUsage>> {
        let most = i64::from(PAGE_MAX);
        let params = [(&self.owner).into(), self.from.day().into(), most.into()];
        let rows = session.query(self.by.sums(), &params).await?;
        rows.into_iter()
            .map(|mut row| {
                let name = row.take()?;
                let (calls, errors) = (count_of(&mut row)?, count_of(&mut row)?);
                Ok(GroupUsage { name, calls, errors, tokens: tokens(&mut row)? })
            })
            .collect()
    }
}

fn count_of(row: &mut Row) -> Result<u64> {
    row.take::<i64>().map(i64::cast_unsigned)
}

impl Exchange {
    fn day(&self) -> DayKey<'_> {
        let provider = self.provider.as_ref().map_or("", Name::as_str);
        let model = self.model.as_ref().map_or("", Name::as_str);
        (&self.owner, self.at.day(), provider, model)
    }

    /// The tries that have rows of their own, and the last one if the call's row tells it.
    fn tries(&self) -> (&[Attempt], Option<&Attempt>) {
        match self.attempts.split_last() {
            Some((last, earlier))
                if self.last_attempt(Some(last.milliseconds.into())).as_ref() == Some(last) =>
            {
                (earlier, Some(last))
            }
            _ => (&self.attempts, None),
        }
    }

    /// A try that ended as the call did.
    fn last_attempt(&self, milliseconds: Option<i64>) -> Option<Attempt> {
        Some(Attempt {
            provider: self.provider.clone()?,
            model: self.model.clone()?,
            outcome: self.outcome.clone(),
            milliseconds: narrow(milliseconds?),
        })
    }
}

impl Tokens {
    fn add(&mut self, other: &Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.reasoning += other.reasoning;
    }

    /// As columns, which have a sign.
    fn columns(&self) -> [i64; 5] {
        [self.input, self.output, self.cache_read, self.cache_write, self.reasoning]
            .map(|count| i64::try_from(count).unwrap_or(i64::MAX))
    }
}

async fn add<S: Session>(session: &mut S, key: DayKey<'_>, sum: &Sum) -> Result<()> {
    let sql = "INSERT INTO usage_day (owner, day, provider, model, calls, errors, input, output,
            cache_read, cache_write, reasoning)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        ON CONFLICT (owner, day, provider, model) DO UPDATE SET
            calls = usage_day.calls + excluded.calls,
            errors = usage_day.errors + excluded.errors,
            input = usage_day.input + excluded.input,
            output = usage_day.output + excluded.output,
            cache_read = usage_day.cache_read + excluded.cache_read,
            cache_write = usage_day.cache_write + excluded.cache_write,
            reasoning = usage_day.reasoning + excluded.reasoning";
    let (owner, day, provider, model) = key;
    let [input, output, cache_read, cache_write, reasoning] = sum.tokens.columns();
    let params = [
        owner.into(),
        day.into(),
        provider.into(),
        model.into(),
        sum.calls.into(),
        sum.errors.into(),
        input.into(),
        output.into(),
        cache_read.into(),
        cache_write.into(),
        reasoning.into(),
    ];
    session.execute(sql, &params).await.map(|_| ())
}
