//! Signatures and ciphertexts that a client's protocol cannot carry, until the same call returns to their issuer.

use crate::clock::Time;
use crate::engine::{Param, Session, Work};
use crate::error::Result;
use crate::id::{Hash, Name, Owner};
use crate::record::Record;

/// By what an artefact is found: an edited call has another digest, and so no artefact.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArtefactKey {
    pub owner: Owner,
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
    pub(crate) artefacts: Vec<Artefact>,
}

pub(crate) struct ReadArtefacts {
    pub(crate) owner: Owner,
    pub(crate) issuer: Name,
    pub(crate) calls: Vec<Name>,
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
            let ArtefactKey { owner, issuer, call, digest } = &artefact.key;
            let (expires, record) = (artefact.expires_at.into(), (&artefact.record).into());
            let params = [owner.into(), issuer.into(), call.into(), digest.into(), expires, record];
            session.execute(sql, &params).await?;
        }
        Ok(())
    }
}

/// How many calls one query asks for: a long conversation has hundreds, and a server is some way off.
const AT_ONCE: usize = 16;

const READ: &str = "SELECT call, digest, record, expires_at FROM artefact
    WHERE owner = $1 AND issuer = $2 AND expires_at > $3 AND call IN ($4, $5, $6, $7, $8, $9,
        $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)";

impl Work for ReadArtefacts {
    type Output = Vec<Artefact>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Vec<Artefact>> {
        let Self { owner, issuer, calls, now } = self;
        let mut found = Vec::new();
        for some in calls.chunks(AT_ONCE) {
            let head: [Param<'_>; 3] = [owner.into(), issuer.into(), (*now).into()];
            // A query has as many parameters as ever: the first call stands in those that are left.
            let rest = some.iter().chain(std::iter::repeat(&some[0])).take(AT_ONCE);
            let params: Vec<Param<'_>> = head.into_iter().chain(rest.map(Into::into)).collect();
            for mut row in session.query(READ, &params).await? {
                let (owner, issuer) = (owner.clone(), issuer.clone());
                let key = ArtefactKey { owner, issuer, call: row.take()?, digest: row.take()? };
                found.push(Artefact { key, record: row.take()?, expires_at: row.take()? });
            }
        }
        Ok(found)
    }
}
