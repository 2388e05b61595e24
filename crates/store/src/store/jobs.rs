//! Answers that are worked on while nobody waits.

use crate::engine::Durability;
use crate::error::Result;
use crate::id::{Owner, ResponseId};
use crate::job::{
    AddJob, AddPiece, BeginJob, EndJob, Job, JobStatus, NewJob, Piece, ReadJob, ReadJobStatus,
    ReadLastPiece, ReadPieces,
};
use crate::record::Record;
use crate::store::Store;

impl Store {
    /// Adds one that is about to be worked on. It is on disk when this returns.
    pub async fn add_job(&self, job: NewJob) -> Result<()> {
        self.stay_alive().await?;
        let add = AddJob { job, node: self.inner.node.clone(), now: self.now() };
        self.inner.engine.write(Durability::Durable, add).await
    }

    pub async fn job(&self, owner: &Owner, id: &ResponseId) -> Result<Job> {
        self.inner.engine.read(ReadJob { owner: owner.clone(), id: id.clone() }).await
    }

    /// How far it has come. What it is so far, which may be long, is not read.
    pub async fn job_status(&self, owner: &Owner, id: &ResponseId) -> Result<JobStatus> {
        let read = ReadJobStatus { owner: owner.clone(), id: id.clone() };
        self.inner.engine.read(read).await
    }

    /// Somebody begins to work on it, which changes what it is so far. False if it is no longer wanted.
    pub async fn begin_job(&self, owner: &Owner, id: &ResponseId, body: Record) -> Result<bool> {
        let begin = BeginJob { owner: owner.clone(), id: id.clone(), body };
        self.inner.engine.write(Durability::Volatile, begin).await
    }

    /// Ends it without an answer. False if it has ended before.
    pub async fn end_job(
        &self,
        owner: &Owner,
        id: &ResponseId,
        status: JobStatus,
        body: Record,
    ) -> Result<bool> {
        let (owner, id, now) = (owner.clone(), id.clone(), self.now());
        let end = EndJob { owner, id, status, body, now };
        self.inner.engine.write(Durability::Durable, end).await
    }

    /// Adds what was said. False, and nothing added, if nobody wants it any more.
    pub async fn add_piece(&self, owner: &Owner, id: &ResponseId, piece: Piece) -> Result<bool> {
        let add = AddPiece { owner: owner.clone(), id: id.clone(), piece };
        self.inner.engine.write(Durability::Volatile, add).await
    }

    /// Some of what was said, from the event of this number on.
    pub async fn pieces(&self, owner: &Owner, id: &ResponseId, from: u64) -> Result<Vec<Piece>> {
        let read = ReadPieces { owner: owner.clone(), id: id.clone(), from };
        self.inner.engine.read(read).await
    }

    /// The newest of what was said, if anything was.
    pub async fn last_piece(&self, owner: &Owner, id: &ResponseId) -> Result<Option<Piece>> {
        let read = ReadLastPiece { owner: owner.clone(), id: id.clone() };
        self.inner.engine.read(read).await
    }
}
