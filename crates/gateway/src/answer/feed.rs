//! An answer's bytes as they come, with an eye on the clock: silence and endless streams come to an end.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use sabir_backend::{Error, ErrorKind};
use sabir_wire::FaultKind;
use tokio::time::{Instant, Sleep};

use crate::answer::frames::Beginning;
use crate::answer::unreadable;
use crate::failure::{Failure, Result, Whose};
use crate::ingress;
use crate::redact::{Redacting, Redactor};
use crate::state::Snapshot;
use crate::upstream::{Body, Piece, unreached};

/// How long a provider may be silent behind the end of its answer, where a count of tokens may follow.
const AFTERMATH_MAX: Duration = Duration::from_secs(1);

/// How long a refusal or a count of tokens may be: nobody writes more, and both are read on the thread of the connection.
pub(crate) const SHORT_BYTES_MAX: usize = 1024 * 1024;

/// A body that is read against the clock.
#[derive(Debug)]
pub(crate) struct Feed {
    body: Body,
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
        body: Body,
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

    /// Whether it gives events instead of bytes.
    pub(crate) fn is_events(&self) -> bool {
        self.body.is_events()
    }

    /// Hands on what comes next; ready with none at the end.
    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(Piece<'_>),
    ) -> Poll<Option<sabir_backend::Result<()>>> {
        if !self.early.is_empty() {
            take(Piece::Bytes(&std::mem::take(&mut self.early)));
            return Poll::Ready(Some(Ok(())));
        }
        if self.has_ended {
            return Poll::Ready(None);
        }
        let Self { body, redacting, .. } = self;
        let polled = body.poll(cx, &mut |piece| match piece {
            Piece::Bytes(data) => redacting.push(data, &mut |data| take(Piece::Bytes(data))),
            Piece::Event(_) => take(piece),
        });
        match polled {
            Poll::Ready(outcome) => {
                self.last = Instant::now();
                if self.last >= self.deadline {
                    return Poll::Ready(Some(Err(too_long())));
                }
                self.has_ended = outcome.is_none();
                match outcome {
                    None if self.redacting.end(&mut |data| take(Piece::Bytes(data))) => {
                        Poll::Ready(Some(Ok(())))
                    }
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

    /// Waits for the first bytes: until then an answer can still become an error.
    pub(super) async fn begin(&mut self) -> Result<()> {
        self.look(|early| !early.is_empty()).await.map_err(unreached)
    }

    /// Looks at the first bytes, and no further than they need.
    pub(super) async fn begins_with_frames(&mut self) -> sabir_backend::Result<bool> {
        self.look(|early| Beginning::of(early) != Beginning::Unclear).await?;
        Ok(Beginning::of(&self.early) == Beginning::Events)
    }

    /// Reads until there is enough, or the end; what was read is handed on all the same.
    async fn look(&mut self, is_enough: fn(&[u8]) -> bool) -> sabir_backend::Result<()> {
        let mut early = Vec::new();
        while !is_enough(&early) {
            match poll_fn(|cx| self.poll(cx, &mut |piece| append(&mut early, &piece))).await {
                Some(read) => read?,
                None => break,
            }
        }
        self.early = early;
        Ok(())
    }

    /// Reads the whole body, within its limit.
    pub(crate) async fn collect(&mut self, bytes_max: usize) -> Result<Bytes> {
        let mut body = Vec::new();
        while let Some(read) =
            poll_fn(|cx| self.poll(cx, &mut |piece| append(&mut body, &piece))).await
        {
            read.map_err(unreached)?;
            if body.len() > bytes_max {
                return Err(too_large(bytes_max));
            }
        }
        Ok(body.into())
    }

    /// The same without the compression that nobody asked for, under which nothing could be redacted before.
    pub(crate) async fn collect_unpacked(
        &mut self,
        snapshot: &Arc<Snapshot>,
        headers: &HeaderMap,
        bytes_max: usize,
    ) -> Result<Bytes> {
        let body = self.collect(bytes_max).await?;
        if !is_packed(headers) {
            return Ok(body);
        }
        let unpacking = ingress::unpack(snapshot, body.into(), headers, bytes_max);
        let (body, _) = Box::pin(unpacking).await.map_err(|_| unreadable())?;
        let (redactor, bytes) = (self.redactor().clone(), body.len());
        let work = move |_: &_| Ok(redactor.redact_body(body).into());
        Box::pin(snapshot.shared.pool.run_on(bytes, work)).await
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

/// Adds the bytes of a body; who asked for bytes gets no events.
fn append(body: &mut Vec<u8>, piece: &Piece<'_>) {
    if let Piece::Bytes(bytes) = piece {
        body.extend_from_slice(bytes);
    }
}

pub(crate) fn is_packed(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).iter().any(|coding| coding != "identity")
}

/// An answer that this gateway may not hold. Asking again would only cost another one.
fn too_large(bytes_max: usize) -> Box<Failure> {
    let message = format!(
        "the provider's answer is larger than {bytes_max} bytes; raise `max_answer_size` in [limits]"
    );
    Failure::new(Whose::Gateway, FaultKind::Internal, message).with_status(502)
}

fn too_long() -> Error {
    Error::new(ErrorKind::IdleTimeout, "the answer took longer than this gateway allows")
}
