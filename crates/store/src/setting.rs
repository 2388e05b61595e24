//! System prompts and tools, kept once for all turns and conversations that have the same.

use crate::engine::{Session, Work};
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

/// Keeps a setting if there is one, and returns its hash.
pub(crate) async fn keep<S: Session>(
    session: &mut S,
    owner: &Owner,
    record: Option<&Record>,
) -> Result<Option<Hash>> {
    let Some(record) = record else {
        return Ok(None);
    };
    let hash = Hash::of_bytes(record.as_bytes());
    // Most are there already, and long.
    let sql = "SELECT number FROM setting WHERE owner = $1 AND hash = $2";
    if session.first(sql, &[owner.into(), (&hash).into()]).await?.is_none() {
        let sql = "INSERT INTO setting (owner, hash, record) VALUES ($1, $2, $3)
            ON CONFLICT (owner, hash) DO NOTHING";
        session.execute(sql, &[owner.into(), (&hash).into(), record.into()]).await?;
    }
    Ok(Some(hash))
}
