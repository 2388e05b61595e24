//! An answer's bytes as they come, with an eye on the clock: silence and endless streams come to an end.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Context;
use std::task::Poll;
use std::time::Duration;

use sabir_backend::Error;
use sabir_backend::ErrorKind;
use tokio::time::Instant;
use tokio::time::Sleep;

use crate::attempt::AnswerBody;
use crate::egress::Beginning;
use crate::redact::Redacting;
use crate::redact::Redactor;

/// How long a provider may be silent behind the end of its answer, where a count of tokens may follow.
const AFTERMATH_MAX: Duration = Duration::from_secs(1);

/// A body that is read against the clock.
#[derive(Debug)]
pub(crate) struct Feed {
    body: AnswerBody,
    /// Everything passes here before anybody sees it.
    redacting: Redacting,
    has_ended: bool,
    /// What was looked at before its time.
    early: Vec<u8>,
    /// When something last came.
    last: Instant,
    idle_max: Duration,
    /// When the answer must be over, however lively it is.
    deadline: Instant,
    /// Made when the feed is first found silent, and put off only when it rings: most streams never look at it.
    alarm: Option<Pin<Box<Sleep>>>,
}

impl Feed {
    pub(crate) fn new(
        body: AnswerBody,
        redactor: Redactor,
        idle_max: Duration,
        duration_max: Duration,
    ) -> Self {
        let now = Instant::now();
        Self {
            body,
            redacting: Redacting::new(redactor),
            has_ended: false,
            early: Vec::new(),
            last: now,
            idle_max,
            deadline: now + duration_max,
            alarm: None,
        }
    }

    /// Hands on the next bytes; ready with none at the end.
    pub(crate) fn poll_data(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(&[u8]),
    ) -> Poll<Option<sabir_backend::Result<()>>> {
        if !self.early.is_empty() {
            take(&std::mem::take(&mut self.early));
            return Poll::Ready(Some(Ok(())));
        }
        if self.has_ended {
            return Poll::Ready(None);
        }
        let Self { body, redacting, .. } = self;
        match body.poll_data(cx, &mut |data| redacting.push(data, take)) {
            Poll::Ready(outcome) => {
                self.last = Instant::now();
                if self.last >= self.deadline {
                    return Poll::Ready(Some(Err(too_long())));
                }
                self.has_ended = outcome.is_none();
                match outcome {
                    None if self.redacting.end(take) => Poll::Ready(Some(Ok(()))),
                    outcome => Poll::Ready(outcome),
                }
            }
            Poll::Pending => self.poll_alarm(cx),
        }
    }

    /// For what can only be read once the body is all there.
    pub(crate) fn redactor(&self) -> &Redactor {
        self.redacting.redactor()
    }

    /// Looks at the first bytes, and no further than they need; they are handed on all the same.
    pub(crate) async fn begins_with_events(&mut self) -> sabir_backend::Result<bool> {
        let mut early = Vec::new();
        while Beginning::of(&early) == Beginning::Unclear {
            let mut take = |data: &[u8]| early.extend_from_slice(data);
            match poll_fn(|cx| self.poll_data(cx, &mut take)).await {
                Some(read) => read?,
                None => break,
            }
        }
        let beginning = Beginning::of(&early);
        self.early = early;
        Ok(beginning == Beginning::Events)
    }

    /// When the answer must be over.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The answer is complete: what may still come is not worth waiting long for.
    pub(crate) fn hasten(&mut self) {
        self.idle_max = self.idle_max.min(AFTERMATH_MAX);
    }

    fn poll_alarm(&mut self, cx: &mut Context<'_>) -> Poll<Option<sabir_backend::Result<()>>> {
        loop {
            let due = (self.last + self.idle_max).min(self.deadline);
            let alarm = self.alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due)));
            if alarm.deadline() > due {
                alarm.as_mut().reset(due);
            }
            if alarm.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            if Instant::now() >= due {
                let error = if due == self.deadline { too_long() } else { self.silent() };
                return Poll::Ready(Some(Err(error)));
            }
            alarm.as_mut().reset(due);
        }
    }

    fn silent(&self) -> Error {
        let detail = format!("the provider sent nothing for {:?}", self.idle_max);
        Error::new(ErrorKind::IdleTimeout, detail)
    }
}

fn too_long() -> Error {
    Error::new(ErrorKind::IdleTimeout, "the answer took longer than this gateway allows")
}
