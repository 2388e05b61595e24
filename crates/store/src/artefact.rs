//! Signatures and ciphertexts that a client's protocol cannot carry, until the same call returns to their issuer.

use crate::clock::Time;
use crate::engine::{Session, Work};
use crate::error::Result;
use crate::id::{Hash, Name, Owner};
use crate::record::Record;

/// By what an artefact is found: an edited call has another digest, and so no artefact.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArtefactKey {
    pub issuer: Name,
    /// The id of the call, or of whatever else the artefact belongs to.
    pub call: Name,
    pub digest: Hash,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artefact {
    pub key: ArtefactKey,
    pub record: Record,
    pub expires_at: Time,
}

pub(crate) struct PutArtefacts {
    pub(crate) owner: Owner,
    pub(crate) artefacts: Vec<Artefact>,
}

pub(crate) struct ReadArtefacts {
    pub(crate) owner: Owner,
    pub(crate) keys: Vec<ArtefactKey>,
    pub(crate) now: Time,
}

impl Work for PutArtefacts {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        let sql = "INSERT INTO artefact (owner, issuer, call, digest, expires_at, record)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (owner, issuer, call, digest)
            DO UPDATE SET expires_at = excluded.expires_at, record = excluded.record";
        for artefact in &self.artefacts {
            let key = &artefact.key;
            let (issuer, call) = ((&key.issuer).into(), (&key.call).into());
            let (digest, record) = ((&key.digest).into(), (&artefact.record).into());
            let expires = artefact.expires_at.into();
            let params = [(&self.owner).into(), issuer, call, digest, expires, record];
            session.execute(sql, &params).await?;
        }
        Ok(())
    }
}

impl Work for ReadArtefacts {
    type Output = Vec<Option<Record>>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Vec<Option<Record>>> {
        let sql = "SELECT record FROM artefact
            WHERE owner = $1 AND issuer = $2 AND call = $3 AND digest = $4 AND expires_at > $5";
        let mut found = Vec::with_capacity(self.keys.len());
        for key in &self.keys {
            let (issuer, call) = ((&key.issuer).into(), (&key.call).into());
            let digest = (&key.digest).into();
            let params = [(&self.owner).into(), issuer, call, digest, self.now.into()];
            let row = session.first(sql, &params).await?;
            found.push(row.map(|mut row| row.take()).transpose()?);
        }
        Ok(found)
    }
}
