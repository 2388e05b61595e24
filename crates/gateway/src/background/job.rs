//! The work on an answer that nobody waits for: the reply that a client would have got is kept as it comes, until it ends,
//! is cancelled on whichever node, or has taken too long.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sabir_store::{JobStatus, Owner, Piece, Record, ResponseId, Store};
use sabir_wire::json::{Json, Writer};
use sabir_wire::sse::Parser;
use tokio::time::MissedTickBehavior;

use crate::answer::Cut;
use crate::egress::{Reply, next_bytes};
use crate::failure::{Failure, Result};
use crate::jobs::JobGuard;
use crate::recall::out_of_order;
use crate::state::Snapshot;
use crate::surface::{Background, Standing};

/// An answer that is worked on.
pub(crate) struct Job {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) store: Store,
    pub(super) owner: Owner,
    pub(super) id: ResponseId,
    pub(super) background: Background,
    /// The answer before anybody works on it.
    pub(super) announced: Bytes,
    pub(super) guard: JobGuard,
    pub(super) is_streamed: bool,
}

/// How often it is looked whether another node has cancelled it.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Why the work ended without the answer's own end.
enum Broken {
    /// Nobody wants it any more, and that is known.
    Unwanted,
    /// With the error in the protocol's words.
    Failed(Json<'static>),
}

impl Job {
    /// Keeps the events that its stream begins with.
    pub(super) async fn emit_first(&self, frames: String) -> Result<()> {
        let last = frames.matches("\n\n").count().saturating_sub(1) as u64;
        let record = Record::new(frames).map_err(|error| out_of_order(&error))?;
        let piece = Piece { first: 0, last, record };
        let added = self.store.add_piece(&self.owner, &self.id, piece).await;
        added.map(|_| ()).map_err(|error| out_of_order(&error))
    }

    /// Works on it to its end.
    pub(crate) async fn run(mut self, answering: impl Future<Output = Reply>) {
        let deadline = self.snapshot.config().limits.job_duration_max;
        let announced = std::mem::take(&mut self.announced);
        let broken = tokio::select! {
            worked = self.work(announced, answering) => worked.err(),
            () = self.guard.stopped() => Some(Broken::Unwanted),
            () = self.unwanted() => Some(Broken::Unwanted),
            () = tokio::time::sleep(deadline) => Some(Broken::Failed(late(deadline))),
        };
        if let Some(Broken::Failed(error)) = broken {
            self.fail(error).await;
        }
    }

    async fn work(
        &self,
        announced: Bytes,
        answering: impl Future<Output = Reply>,
    ) -> Result<(), Broken> {
        let running = self.running(announced).await?;
        let begun = self.store.begin_job(&self.owner, &self.id, running).await;
        if !begun.map_err(|error| unkept(&error))? {
            return Err(Broken::Unwanted);
        }
        let reply = answering.await;
        match reply.status().is_success() && self.is_streamed {
            true => self.keep_events(reply).await,
            false => self.keep_whole(reply).await,
        }
    }

    /// What it is while somebody works on it.
    async fn running(&self, announced: Bytes) -> Result<Record, Broken> {
        let (bytes, restate) = (announced.len(), self.background.restate);
        let restated =
            move |_: &_| Ok(restate(&String::from_utf8_lossy(&announced), &Standing::Running));
        let restated = self.snapshot.shared.pool.run_on(bytes, restated).await;
        let refused =
            |failure: Box<Failure>| Broken::Failed(error(&failure.fault.message.to_str()));
        Record::new(restated.map_err(refused)?).map_err(|error| unkept(&error))
    }

    /// A whole answer is kept by whoever records it; an error is the end of the answer.
    async fn keep_whole(&self, mut reply: Reply) -> Result<(), Broken> {
        let is_refused = !reply.status().is_success();
        let mut body = Vec::new();
        while let Some(bytes) = next_bytes(&mut reply).await {
            let bytes = bytes.map_err(|Cut| Broken::Failed(cut()))?;
            if is_refused {
                body.extend_from_slice(&bytes);
            }
        }
        if is_refused {
            let error = (self.background.error)(&String::from_utf8_lossy(&body));
            return Err(Broken::Failed(error));
        }
        self.settle(None).await
    }

    /// Keeps the events of an answer as they come.
    async fn keep_events(&self, mut reply: Reply) -> Result<(), Broken> {
        let limits = &self.snapshot.config().limits;
        let mut keeping = Keeping::new(limits.frame_bytes_max, &self.background);
        let mut kept_bytes = 0;
        while let Some(bytes) = next_bytes(&mut reply).await {
            let bytes = bytes.map_err(|Cut| Broken::Failed(cut()))?;
            kept_bytes += bytes.len();
            if kept_bytes > limits.answer_bytes_max {
                return Err(Broken::Failed(long(limits.answer_bytes_max)));
            }
            if let Some(piece) = keeping.push(&bytes) {
                let piece = piece.map_err(|error| unkept(&error))?;
                let added = self.store.add_piece(&self.owner, &self.id, piece).await;
                if !added.map_err(|error| unkept(&error))? {
                    return Err(Broken::Unwanted);
                }
                self.guard.progress();
            }
        }
        self.settle(keeping.ending).await
    }

    /// An answer that broke off was not recorded: what it said last is what there is of it.
    async fn settle(&self, ending: Option<String>) -> Result<(), Broken> {
        let status = self.store.job_status(&self.owner, &self.id).await;
        if status.is_ok_and(|status| !status.is_open()) {
            return Ok(());
        }
        match ending.map(Record::new) {
            Some(Ok(body)) => {
                let ended = self.store.end_job(&self.owner, &self.id, JobStatus::Failed, body);
                ended.await.map(|_| ()).map_err(|error| unkept(&error))
            }
            _ => Err(Broken::Failed(cut())),
        }
    }

    async fn fail(&self, error: Json<'static>) {
        // What cannot be said here is said by the nodes that find this one's lease run out.
        if let Err(error) = self.end_by(error).await {
            tracing::warn!(target: "sabir", %error, "the end of a background response could not be kept");
        }
    }

    /// Ends it by an error. The rest of what it says is read where it is kept: it may be long, and so may the work.
    async fn end_by(&self, error: Json<'static>) -> sabir_store::Result<()> {
        let job = Arc::new(self.store.job(&self.owner, &self.id).await?);
        let (bytes, restate) = (job.body.as_bytes().len(), self.background.restate);
        let restated = move || {
            let body = String::from_utf8_lossy(job.body.as_bytes());
            restate(&body, &Standing::Failed(&error))
        };
        let elsewhere = restated.clone();
        let body = self.snapshot.shared.pool.run_on(bytes, move |_| Ok(elsewhere())).await;
        // It is said even where other threads have too much to do.
        let body = Record::new(body.unwrap_or_else(|_| restated()))?;
        self.store.end_job(&self.owner, &self.id, JobStatus::Failed, body).await.map(|_| ())
    }

    /// Waits until another node has ended the job.
    async fn unwanted(&self) {
        let mut looks = tokio::time::interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            match self.store.job_status(&self.owner, &self.id).await {
                Ok(JobStatus::Cancelled | JobStatus::Interrupted) => return,
                Err(error) if error.kind() == sabir_store::Kind::NotFound => return,
                Ok(_) | Err(_) => {}
            }
        }
    }
}

/// Events on their way into the store.
struct Keeping<'b> {
    parser: Parser,
    background: &'b Background,
    /// The number that an event without one has.
    next: u64,
    /// The answer that the last event repeats.
    ending: Option<String>,
}

impl<'b> Keeping<'b> {
    fn new(frame_bytes_max: usize, background: &'b Background) -> Self {
        let parser = Parser::with_limit(frame_bytes_max);
        Self { parser, background, next: 0, ending: None }
    }

    /// The events that these bytes complete, as they are to be read again.
    fn push(&mut self, bytes: &[u8]) -> Option<sabir_store::Result<Piece>> {
        let Self { parser, background, next, ending } = self;
        let (mut frames, mut first) = (String::with_capacity(bytes.len()), None);
        // It was written here, so it can be read.
        let _ = parser.push(bytes, &mut |frame| {
            if !frame.data.starts_with('{') {
                return Ok(());
            }
            let number = (background.number)(frame.data).unwrap_or(*next);
            first.get_or_insert(number);
            *next = number + 1;
            if let Some(body) = (background.stated_end)(frame.data) {
                *ending = Some(body);
            }
            write_frame(&mut frames, frame.event, frame.data);
            Ok(())
        });
        let (first, last) = (first?, next.saturating_sub(1));
        Some(Record::new(frames).map(|record| Piece { first, last, record }))
    }
}

/// Writes an event as it is sent. Its data is JSON on one line.
pub(super) fn write_frame(out: &mut String, event: Option<&str>, data: &str) {
    if let Some(event) = event {
        out.extend(["event: ", event, "\n"]);
    }
    out.extend(["data: ", data, "\n\n"]);
}

fn error(message: &str) -> Json<'static> {
    let mut writer = Writer::default();
    writer.object(|it| {
        it.field("code", "server_error");
        it.field("message", message);
    });
    Json::parse(writer.into_string()).unwrap_or(Json::literal("null"))
}

fn cut() -> Json<'static> {
    error("the answer broke off")
}

fn late(deadline: Duration) -> Json<'static> {
    let seconds = deadline.as_secs();
    error(&format!(
        "the answer took longer than {seconds} s, which `max_background_duration` in [limits] of this gateway allows"
    ))
}

fn long(bytes_max: usize) -> Json<'static> {
    error(&format!(
        "the answer has more than {bytes_max} bytes, which `max_answer_size` in [limits] of this gateway allows"
    ))
}

fn unkept(error_of_store: &sabir_store::Error) -> Broken {
    Broken::Failed(error(&format!("the answer could not be stored: {error_of_store}")))
}
