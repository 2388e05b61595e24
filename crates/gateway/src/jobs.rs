//! The answers that this process works on while nobody waits: how many there are, and how others learn of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sabir_store::{Owner, ResponseId};
use sabir_wire::FaultKind;
use tokio::sync::{Notify, watch};

use crate::failure::{Failure, Result, Whose};

/// All of them. Clones are handles to the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jobs(Arc<Mutex<HashMap<JobKey, Arc<Signals>>>>);

/// An answer by its owner and its id.
pub(crate) type JobKey = (Owner, ResponseId);

/// How whoever works on an answer and whoever waits for it learn of each other.
#[derive(Debug)]
struct Signals {
    /// Changes whenever there is more of the answer.
    progress: watch::Sender<()>,
    stop: Notify,
}

/// A place among those that are worked on, until it is dropped.
#[derive(Debug)]
pub(crate) struct JobGuard {
    jobs: Jobs,
    key: JobKey,
    signals: Arc<Signals>,
}

impl Jobs {
    /// Takes a place for an answer, if there is one left.
    pub(crate) fn begin(&self, key: JobKey, jobs_max: usize) -> Result<JobGuard> {
        let mut running = self.running();
        if running.len() >= jobs_max {
            return Err(full(jobs_max));
        }
        let signals = Signals { progress: watch::Sender::new(()), stop: Notify::new() };
        let signals = Arc::new(signals);
        running.insert(key.clone(), Arc::clone(&signals));
        Ok(JobGuard { jobs: self.clone(), key, signals })
    }

    /// Stops the work on an answer, if it is done here.
    pub(crate) fn stop(&self, key: &JobKey) {
        if let Some(signals) = self.running().get(key) {
            signals.stop.notify_one();
        }
    }

    /// Notifies when there is more of an answer, if it is worked on here.
    pub(crate) fn follow(&self, key: &JobKey) -> Option<watch::Receiver<()>> {
        self.running().get(key).map(|signals| signals.progress.subscribe())
    }

    fn running(&self) -> MutexGuard<'_, HashMap<JobKey, Arc<Signals>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl JobGuard {
    /// There is more of the answer.
    pub(crate) fn progress(&self) {
        self.signals.progress.send_replace(());
    }

    /// Waits until nobody wants the answer any more.
    pub(crate) async fn stopped(&self) {
        self.signals.stop.notified().await;
    }
}

impl Drop for JobGuard {
    fn drop(&mut self) {
        self.jobs.running().remove(&self.key);
        self.progress();
    }
}

fn full(jobs_max: usize) -> Box<Failure> {
    let message = format!(
        "this gateway works on {jobs_max} background responses, as many as `max_background` in [limits] allows; try \
         again when one of them has ended"
    );
    let mut failure = Failure::new(Whose::Gateway, FaultKind::Overloaded, message);
    failure.fault.retry_after_s = Some(RETRY_AFTER_S);
    failure
}

/// Such answers take long.
const RETRY_AFTER_S: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: &str) -> JobKey {
        (Owner::nobody(), ResponseId::new(id).unwrap())
    }

    #[tokio::test]
    async fn a_place_is_given_back_and_whoever_follows_learns_of_it() {
        let jobs = Jobs::default();
        let guard = jobs.begin(key("a"), 1).unwrap();
        assert!(jobs.begin(key("b"), 1).is_err());
        let mut following = jobs.follow(&key("a")).unwrap();
        assert!(jobs.follow(&key("b")).is_none());
        jobs.stop(&key("a"));
        guard.stopped().await;
        drop(guard);
        following.changed().await.unwrap();
        assert!(following.changed().await.is_err(), "nobody is left to tell of more");
        assert!(jobs.begin(key("b"), 1).is_ok());
    }
}
