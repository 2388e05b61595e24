//! Keys that all nodes of a store share, made by whoever needs one first.

use std::fmt;

use crate::engine::{Param, Session, Work};
use crate::error::{Error, Result};
use crate::id::Name;

/// A key of the store. It never shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

pub(crate) struct EnsureSecret {
    pub(crate) name: Name,
    /// What it is from now on, if there is none.
    pub(crate) fresh: Secret,
}

impl Work for EnsureSecret {
    type Output = Secret;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Secret> {
        let sql = "INSERT INTO secret (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
        let fresh = Param::Bytes(self.fresh.expose());
        session.execute(sql, &[(&self.name).into(), fresh]).await?;
        let sql = "SELECT value FROM secret WHERE name = $1";
        let row = session.first(sql, &[(&self.name).into()]).await?;
        let mut row = row.ok_or_else(|| Error::not_found("secret"))?;
        Ok(Secret::new(row.take::<Vec<u8>>()?))
    }
}
