//! System prompts and tools, kept once for all turns and conversations that have the same.

use crate::engine::{Param, Session, Work};
use crate::error::{Error, Result};
use crate::id::{Hash, Owner};
use crate::record::Record;

pub(crate) struct ReadSetting {
    pub(crate) owner: Owner,
    pub(crate) hash: Hash,
}

impl Work for ReadSetting {
    type Output = Record;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Record> {
        let sql = "SELECT record FROM setting WHERE owner = $1 AND hash = $2";
        let row = session.first(sql, &[(&self.owner).into(), (&self.hash).into()]).await?;
        row.ok_or_else(|| Error::not_found("setting"))?.take()
    }
}

/// A setting, by its hash and by its number in this database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) hash: Hash,
    pub(crate) number: i64,
}

impl Setting {
    /// The number, for a column.
    pub(crate) fn column(setting: Option<Self>) -> Param<'static> {
        setting.map_or(Param::Null, |setting| setting.number.into())
    }
}

/// Keeps a setting if there is one.
pub(crate) async fn keep<S: Session>(
    session: &mut S,
    owner: &Owner,
    record: Option<&Record>,
) -> Result<Option<Setting>> {
    let Some(record) = record else {
        return Ok(None);
    };
    let hash = Hash::of_bytes(record.as_bytes());
    // Most are there already, and long.
    if let Some(number) = find(session, owner, &hash).await? {
        return Ok(Some(Setting { hash, number }));
    }
    let sql = "INSERT INTO setting (owner, hash, record) VALUES ($1, $2, $3)
        ON CONFLICT (owner, hash) DO NOTHING RETURNING number";
    let params = [owner.into(), (&hash).into(), record.into()];
    let number = match session.insert(sql, &params).await? {
        Some(number) => number,
        // Somebody else was faster.
        None => find(session, owner, &hash).await?.ok_or_else(|| Error::not_found("setting"))?,
    };
    Ok(Some(Setting { hash, number }))
}

async fn find<S: Session>(session: &mut S, owner: &Owner, hash: &Hash) -> Result<Option<i64>> {
    let sql = "SELECT number FROM setting WHERE owner = $1 AND hash = $2";
    let row = session.first(sql, &[owner.into(), hash.into()]).await?;
    row.map(|mut row| row.take()).transpose()
}
