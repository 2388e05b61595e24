//! Answers that nobody waits for: announced, worked on by a task that somebody owns, kept in the store while they come, and
//! read from there by whoever asks on whichever node.

mod announce;
mod job;
mod supervisor;
mod tail;

pub(crate) use announce::{Announced, announce, passes};
pub(crate) use supervisor::{Supervisor, Task};
pub(crate) use tail::tail;

use sabir_store::{JobStatus, Record};
use sabir_wire::json::Json;

use crate::surface::{Background, Standing};

/// The answer of a job as it is shown, which depends on how the job stands.
pub(crate) fn shown(background: &Background, job: &sabir_store::Job) -> String {
    let body = String::from_utf8_lossy(job.body.as_bytes());
    match job.status {
        JobStatus::Interrupted => (background.restate)(&body, &Standing::Failed(&DIED)),
        _ => body.into_owned(),
    }
}

/// The answer of a job as it is shown once it is cancelled.
pub(crate) fn cancelled(
    background: &Background,
    job: &sabir_store::Job,
) -> sabir_store::Result<Record> {
    let body = String::from_utf8_lossy(job.body.as_bytes());
    Record::new((background.restate)(&body, &Standing::Cancelled))
}

const DIED: Json<'_> = Json::literal(
    r#"{"code":"server_error","message":"the gateway that worked on this response stopped before it was done; create it anew"}"#,
);
