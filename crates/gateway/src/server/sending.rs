//! The time that a client has to take an answer. The body of an answer looks at the clock only when it is asked for more,
//! and nobody asks while the client reads nothing: so the connection itself does.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use crate::config::types::Limits;
use crate::server::worker::LAST_WRITE_MAX;

/// The answer that a connection sends, as far as the clock is concerned.
#[derive(Debug)]
pub(super) struct Sending {
    /// How long nothing of it may be taken.
    stall_max: Duration,
    /// How long it may take in all, unless it says so itself.
    duration_max: Duration,
    /// When it must have been sent. An answer that does not say so has its time from when it first has to wait.
    until: Cell<Option<Instant>>,
}

impl Sending {
    pub(super) fn new(limits: &Limits) -> Self {
        let (stall_max, duration_max) = (limits.write_timeout, limits.stream_duration_max);
        Self { stall_max, duration_max, until: Cell::new(None) }
    }

    /// An answer begins, which may have a time of its own.
    pub(super) fn begin(&self, deadline: Option<Instant>) {
        self.until.set(deadline);
    }

    /// When the wait that began then is too long. An answer whose time is over has a moment to say so.
    fn due(&self, since: Instant) -> Instant {
        let until = self.until.get().unwrap_or_else(|| since + self.duration_max);
        self.until.set(Some(until));
        (since + self.stall_max).min(until + LAST_WRITE_MAX)
    }
}

/// A connection that cannot be written to, and since when.
#[derive(Debug, Default)]
pub(super) struct Stall {
    since: Option<Instant>,
    alarm: Option<Pin<Box<Sleep>>>,
}

impl Stall {
    /// Something could be written.
    pub(super) fn end(&mut self) {
        self.since = None;
    }

    /// Nothing can be written: an error once that has lasted too long.
    pub(super) fn poll<T>(
        &mut self,
        sending: &Sending,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        let due = sending.due(*self.since.get_or_insert_with(Instant::now));
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due)));
        if alarm.deadline() != due {
            alarm.as_mut().reset(due);
        }
        alarm.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    fn sending() -> Sending {
        let limits = Limits {
            write_timeout: Duration::from_secs(10),
            stream_duration_max: Duration::from_secs(60),
            ..Limits::default()
        };
        Sending::new(&limits)
    }

    /// How many seconds a client has that takes something every so often.
    async fn time_of(sending: &Sending, takes_every: Duration) -> u64 {
        let began = Instant::now();
        let mut stall = Stall::default();
        loop {
            let waiting = poll_fn(|cx| stall.poll::<()>(sending, cx));
            match tokio::time::timeout(takes_every, waiting).await {
                Ok(ended) => {
                    assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::TimedOut);
                    return began.elapsed().as_secs();
                }
                Err(_) => stall.end(),
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_has_the_time_of_a_write() {
        assert_eq!(time_of(&sending(), Duration::from_secs(3_600)).await, 10);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_little_has_the_time_of_an_answer() {
        assert_eq!(time_of(&sending(), Duration::from_secs(9)).await, 61);
        let sending = sending();
        sending.begin(Some(Instant::now() + Duration::from_secs(20)));
        assert_eq!(time_of(&sending, Duration::from_secs(9)).await, 21);
        sending.begin(None);
        assert_eq!(time_of(&sending, Duration::from_secs(9)).await, 61);
    }
}
