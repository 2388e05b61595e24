//! The events of an answer that nobody waits for, from any number on: what is kept of them, then what comes, whichever node
//! works on it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use sabir_store::{Job, JobStatus, Piece, Store};
use sabir_wire::Protocol;
use sabir_wire::sse::Parser;
use tokio::sync::watch;

use crate::answer::Cut;
use crate::background::shown;
use crate::egress::KeptBody;
use crate::jobs::JobKey;
use crate::state::Snapshot;
use crate::surface;
use crate::surface::Background;

/// How often it is looked for more of what another node works on.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Looks at an answer that is kept while its last event is not.
const LAST_LOOKS: u32 = 4;

/// The stream of an answer from the event of a number on.
pub(crate) fn tail(snapshot: &Arc<Snapshot>, key: JobKey, client: Protocol, from: u64) -> KeptBody {
    let following = snapshot.shared.jobs.follow(&key);
    let memory = snapshot.shared.memory.as_ref();
    let state = memory.zip(surface::of(client).state.background).map(|(memory, background)| Tail {
        snapshot: Arc::clone(snapshot),
        store: memory.store().clone(),
        key,
        background,
        closing: surface::of(client).closing_frame,
        following,
        next: from,
        last_looks: 0,
        is_over: false,
    });
    Box::pin(Tailing { reading: state.map(|tail| Box::pin(tail.read()) as Reading) })
}

type Reading = Pin<Box<dyn Future<Output = Option<(Bytes, Tail)>>>>;

/// A body that reads piece after piece.
struct Tailing {
    reading: Option<Reading>,
}

impl Body for Tailing {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        let Some(reading) = &mut self.reading else { return Poll::Ready(None) };
        let read = ready!(reading.as_mut().poll(cx));
        let (bytes, tail) = read.unzip();
        self.reading = tail.map(|tail| Box::pin(tail.read()) as Reading);
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// How far a stream was read.
struct Tail {
    snapshot: Arc<Snapshot>,
    store: Store,
    key: JobKey,
    background: Background,
    /// What follows the last event.
    closing: &'static str,
    /// Tells of more, if this process works on the answer.
    following: Option<watch::Receiver<()>>,
    /// The number of the next event.
    next: u64,
    last_looks: u32,
    is_over: bool,
}

impl Tail {
    /// The next bytes, and the rest.
    async fn read(mut self) -> Option<(Bytes, Self)> {
        while !self.is_over && !self.snapshot.shared.is_over() {
            // How it stands is asked first: whatever was said before is there.
            let (owner, id) = &self.key;
            let job = self.store.job(owner, id).await.ok()?;
            let pieces = self.store.pieces(owner, id, self.next).await.ok()?;
            let mut bytes = String::new();
            pieces.iter().for_each(|piece| self.take(piece, &mut bytes));
            if bytes.is_empty() && !job.status.is_open() {
                self.finish(&job, &mut bytes).await;
            }
            if self.is_over {
                bytes.push_str(self.closing);
            }
            if !bytes.is_empty() {
                return Some((bytes.into(), self));
            }
            self.wait().await;
        }
        None
    }

    /// Takes what was not read of a piece.
    fn take(&mut self, piece: &Piece, bytes: &mut String) {
        let Ok(text) = std::str::from_utf8(piece.record.as_bytes()) else { return };
        let Self { background, next, is_over, .. } = self;
        let mut parser = Parser::with_limit(usize::MAX);
        let mut at = piece.first;
        let _ = parser.push(text.as_bytes(), &mut |frame| {
            let number = (background.number)(frame.data).unwrap_or(at);
            at = number + 1;
            if number >= *next {
                *next = at;
                *is_over |= (background.stated_end)(frame.data).is_some();
                super::job::write_frame(bytes, frame.event, frame.data);
            }
            Ok(())
        });
    }

    /// The end of an answer that says nothing more. Its own last event may be on its way.
    async fn finish(&mut self, job: &Job, bytes: &mut String) {
        if job.status == JobStatus::Finished && self.last_looks < LAST_LOOKS {
            self.last_looks += 1;
            return;
        }
        let (owner, id) = &self.key;
        let last = self.store.last_piece(owner, id).await.ok().flatten();
        let number = last.as_ref().map_or(0, |piece| piece.last + 1);
        if number > self.next {
            // It has come since.
            return;
        }
        self.is_over = true;
        // Whoever asks for what is behind the end gets nothing: there is nothing.
        if number < self.next || last.is_some_and(|piece| self.is_ending(&piece)) {
            return;
        }
        let body = match job.status {
            JobStatus::Finished => {
                let kept = self.store.response(owner, id).await;
                kept.ok().and_then(|kept| String::from_utf8(kept.body.into_bytes()).ok())
            }
            _ => Some(shown(&self.background, job)),
        };
        let ending = body.and_then(|body| (self.background.ending)(&body, number));
        bytes.extend(ending);
    }

    /// Whether the last event is in a piece.
    fn is_ending(&self, piece: &Piece) -> bool {
        let mut is_ending = false;
        let _ = Parser::with_limit(usize::MAX).push(piece.record.as_bytes(), &mut |frame| {
            is_ending |= (self.background.stated_end)(frame.data).is_some();
            Ok(())
        });
        is_ending
    }

    /// Waits until there may be more.
    async fn wait(&mut self) {
        let changed = async {
            match &mut self.following {
                Some(following) => following.changed().await.is_ok(),
                None => std::future::pending().await,
            }
        };
        let goes_on = tokio::time::timeout(LOOK_EVERY, changed).await;
        if goes_on == Ok(false) {
            self.following = None;
        }
    }
}
