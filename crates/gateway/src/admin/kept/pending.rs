//! Answers that are worked on while nobody waits: read as they stand, followed, and cancelled.

use http::Uri;
use sabir_store::{Job, JobStatus, ResponseId};
use sabir_wire::FaultKind;

use super::page::parameter;
use super::{Found, Sent, Shelf, present};
use crate::background::{cancelled, shown, tail};
use crate::failure::{Failure, Result};
use crate::recall::{found, out_of_order};
use crate::surface;
use crate::surface::{Background, Kept};

impl Shelf<'_> {
    /// What is known of an answer that was, or is, worked on while nobody waits; none if it is like any other.
    pub(super) async fn pending(&self, kept: &Kept, sent: &Sent<'_>) -> Result<Option<Found>> {
        let (Kept::ReadAnswer(id)
        | Kept::DeleteAnswer(id)
        | Kept::ListInput(id)
        | Kept::CancelAnswer(id)) = kept
        else {
            return Ok(None);
        };
        let background = surface::of(self.client).state.background;
        let (Some(background), Ok(id)) = (background, ResponseId::new(&**id)) else {
            return Ok(None);
        };
        let Some(job) = found(self.store.job(&self.owner, &id).await)? else { return Ok(None) };
        if let Some(provider) = &job.provider {
            return Ok(Some(Found::With(provider.as_str().to_owned())));
        }
        match kept {
            Kept::ReadAnswer(_) if wants_stream(sent.uri) => self.follow(&job, sent.uri).map(Some),
            Kept::ReadAnswer(_) if job.status == JobStatus::Finished => Ok(None),
            Kept::ReadAnswer(_) => Ok(Some(Found::Body(shown(&background, &job)))),
            Kept::CancelAnswer(_) => self.cancel(&background, &job).await.map(Some),
            Kept::ListInput(_) if job.status != JobStatus::Finished => Err(unlisted()),
            _ => {
                self.snapshot.shared.jobs.stop(&(self.owner.clone(), id));
                Ok(None)
            }
        }
    }

    /// The events of an answer behind the one that the client knows.
    fn follow(&self, job: &Job, uri: &Uri) -> Result<Found> {
        if !job.is_streamed {
            let message =
                "This response cannot be streamed because it was not created with stream=true.";
            return Err(Failure::client(FaultKind::BadRequest, message).with_param("stream"));
        }
        if job.is_silent {
            let message = "This response cannot be streamed any more: events are kept for an hour after its end. \
                           Ask for it without `stream`.";
            return Err(Failure::client(FaultKind::BadRequest, message).with_param("stream"));
        }
        let from = match parameter(uri, "starting_after") {
            None => 0,
            Some(number) => {
                let number = number.parse::<u32>().map_err(|_| uncounted())?;
                u64::from(number) + 1
            }
        };
        let key = (self.owner.clone(), job.id.clone());
        Ok(Found::Events(tail(self.snapshot, key, self.client, from)))
    }

    /// Cancels an answer that is worked on; one that has ended is returned as it is.
    async fn cancel(&self, background: &Background, job: &Job) -> Result<Found> {
        let body = cancelled(background, job).map_err(|error| out_of_order(&error))?;
        let ending = self.store.end_job(&self.owner, &job.id, JobStatus::Cancelled, body);
        ending.await.map_err(|error| out_of_order(&error))?;
        self.snapshot.shared.jobs.stop(&(self.owner.clone(), job.id.clone()));
        let missing = || super::absent(&Kept::CancelAnswer(job.id.as_str().to_owned()));
        let job = present(self.store.job(&self.owner, &job.id).await, missing)?;
        match job.status {
            JobStatus::Finished => {
                let answer = present(self.store.response(&self.owner, &job.id).await, missing)?;
                let body = String::from_utf8(answer.body.into_bytes()).map_err(|_| missing())?;
                Ok(Found::Body(body))
            }
            _ => Ok(Found::Body(shown(background, &job))),
        }
    }
}

fn wants_stream(uri: &Uri) -> bool {
    parameter(uri, "stream").is_some_and(|value| value == "true")
}

fn uncounted() -> Box<Failure> {
    let message = "Invalid 'starting_after': expected the number of an event.";
    Failure::client(FaultKind::BadRequest, message).with_param("starting_after")
}

fn unlisted() -> Box<Failure> {
    let message = "The input of this response can be listed once it is completed.";
    Failure::client(FaultKind::BadRequest, message)
}
