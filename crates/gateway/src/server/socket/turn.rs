//! One call of a socket: it goes the way of every POST, and its reply is sent event by event, each in a frame of its own.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;
use std::str;
use std::sync::Arc;

use http::header::CONTENT_TYPE;
use http::request::Parts;
use sabir_wire::Protocol;

use crate::egress::{Reply, next_bytes};
use crate::failure::{Failure, Result};
use crate::pool::LARGE_BYTES;
use crate::server::socket::events::{Events, Take};
use crate::server::socket::frames::Frames;
use crate::server::socket::outlet::Outlet;
use crate::server::socket::recent::{Past, Recent};
use crate::server::worker::WorkerState;
use crate::stack;
use crate::stack::Entry;
use crate::state::Snapshot;
use crate::surface::socket::{Create, Ended, EventKind, Socket};

/// What all calls of a socket share.
pub(super) struct Shared {
    pub(super) state: Rc<WorkerState>,
    /// The head of the handshake, which every call has.
    pub(super) head: Parts,
    pub(super) protocol: Protocol,
    pub(super) socket: Socket,
    pub(super) is_local: bool,
    pub(super) recent: RefCell<Recent>,
    /// The way of frames out. Whoever sends waits until the client takes them.
    pub(super) outlet: Rc<Outlet>,
}

/// What is known of a call while its events pass.
struct Passing<'c> {
    shared: &'c Shared,
    lane: Option<&'c str>,
    /// The answer that it goes on from and that only the socket knows.
    previous: Option<&'c str>,
    ended: Option<Ended>,
    /// The last event that says nothing but that something went wrong.
    fault: Option<String>,
}

/// Events that were read at once.
struct Batch {
    /// Frames, and behind some of them an event that takes long to frame.
    before: Vec<(Frames, String)>,
    /// Those behind all of these.
    frames: Frames,
}

impl Batch {
    /// A batch of as many bytes as were read, about.
    fn with_capacity(bytes: usize) -> Self {
        Self { before: Vec::new(), frames: Frames::with_capacity(bytes) }
    }
}

/// Takes the events of a read into a batch.
struct Adding<'p, 'c> {
    passing: &'p mut Passing<'c>,
    batch: Batch,
}

impl Take for Adding<'_, '_> {
    fn piece(&mut self, data: &[u8]) {
        self.batch.frames.push(data);
    }

    fn event(&mut self, data: &[u8]) -> usize {
        // A stream may end with a word that is no event.
        let is_event = data.trim_ascii_start().starts_with(b"{");
        if is_event { self.passing.add(data, &mut self.batch) } else { 0 }
    }
}

/// What becomes of an event.
enum Framed<'e> {
    Frame(Cow<'e, str>),
    /// The last one of its answer.
    End(Cow<'e, str>, Option<Ended>),
    /// It says that something went wrong, which the answer may still say itself.
    Fault(String),
}

impl Shared {
    /// Answers a call.
    pub(super) async fn answer(&self, create: Create) {
        let known = create.previous.as_deref().and_then(|id| self.recent.borrow().find(id));
        let is_known = known.is_some();
        let past = match (known, &create.previous) {
            (Some(past), _) => past,
            (None, previous) => Past { base: previous.clone(), ..Past::default() },
        };
        let create = Arc::new(create);
        let ended = match self.body(&create, &past).await {
            Ok(body) => {
                let previous = create.previous.as_deref().filter(|_| is_known);
                let lane = create.lane.as_deref();
                let passing = Passing { shared: self, lane, previous, ended: None, fault: None };
                match create.is_generated {
                    true => passing.generate(body).await,
                    false => passing.prepare(body).await,
                }
            }
            Err(failure) => {
                let frame = self.refusal(&failure, create.lane.as_deref());
                self.outlet.send(Frames::of(frame.as_bytes())).await;
                None
            }
        };
        self.remember(create, past, ended).await;
    }

    /// The body that a POST would have.
    async fn body(&self, create: &Arc<Create>, past: &Past) -> Result<String> {
        let (write, create, past) = (self.socket.body, Arc::clone(create), past.clone());
        let bytes = create.bytes() + past.elements.len();
        self.work_on(bytes, move || write(&create, past.base.as_deref(), &past.elements)).await
    }

    /// Does work on so many bytes: elsewhere, if others of this thread would wait for it.
    async fn work_on<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.state.latest.snapshot().shared.pool.run_on(bytes, |_| Ok(work())).await
    }

    /// The frame that says why something cannot be done.
    pub(super) fn refusal(&self, failure: &Failure, lane: Option<&str>) -> String {
        let (status, body) = self.protocol.encode_fault(&failure.fault);
        (self.socket.refuse)(failure.status.unwrap_or(status), &body, lane)
    }

    /// Keeps what the next call may go on from. What failed is forgotten with what it went on from.
    async fn remember(&self, create: Arc<Create>, past: Past, ended: Option<Ended>) {
        match ended.filter(|ended| !ended.is_failed) {
            Some(ended) if ended.is_stored => self.recent.borrow_mut().forget_lane(&create.lane),
            Some(Ended { id, elements, .. }) => {
                let (lane, own) = (create.lane.clone(), self.socket.elements);
                let bytes = past.elements.len() + create.bytes() + elements.len();
                // What nobody generated has no elements but its input.
                let join = move || past.with(&[&own(&create), &elements]);
                match self.work_on(bytes, join).await {
                    Ok(past) => {
                        let snapshot = self.state.latest.snapshot();
                        self.recent.borrow_mut().keep(lane, (id, past), &snapshot);
                    }
                    Err(_) => self.recent.borrow_mut().forget_lane(&lane),
                }
            }
            None => {
                if let Some(previous) = &create.previous {
                    self.recent.borrow_mut().forget(previous);
                }
            }
        }
    }

    fn entry<'c>(&'c self, snapshot: &'c Arc<Snapshot>) -> Entry<'c> {
        Entry {
            gateway: self.state.latest.gateway(),
            snapshot,
            client: &self.state.client,
            supervisor: &self.state.supervisor,
            is_local: self.is_local,
        }
    }
}

impl Passing<'_> {
    async fn generate(self, body: String) -> Option<Ended> {
        let shared = self.shared;
        let snapshot = shared.state.latest.snapshot();
        let entry = shared.entry(&snapshot);
        let reply = stack::call_over_socket(entry, shared.protocol, &shared.head, body).await;
        self.pass(reply, snapshot.config().limits.frame_bytes_max).await
    }

    /// Answers a call that wants nothing but an id to go on from.
    async fn prepare(mut self, body: String) -> Option<Ended> {
        let shared = self.shared;
        let snapshot = shared.state.latest.snapshot();
        let entry = shared.entry(&snapshot);
        match stack::prepare_over_socket(entry, shared.protocol, &shared.head, &body).await {
            Ok(context) => {
                let (bytes, write) = (body.len(), shared.socket.prepared);
                let written = shared.work_on(bytes, move || write(&body, context)).await;
                let (events, ended) = written.ok()?;
                let mut batch = Batch::with_capacity(0);
                for event in &events {
                    self.add(event.as_bytes(), &mut batch);
                }
                self.send(batch).await;
                Some(ended)
            }
            Err(reply) => {
                self.refuse(*reply).await;
                None
            }
        }
    }

    /// Sends a reply, and says how the answer ended if it did.
    async fn pass(mut self, mut reply: Reply, frame_bytes_max: usize) -> Option<Ended> {
        if !reply.status().is_success() {
            self.refuse(reply).await;
            return None;
        }
        let content_type = reply.headers().get(CONTENT_TYPE).map(|it| it.as_bytes().to_owned());
        if !content_type.is_some_and(|it| it.starts_with(b"text/event-stream")) {
            return self.pass_whole(reply).await;
        }
        let mut events = Events::new(frame_bytes_max);
        while let Some(Ok(bytes)) = next_bytes(&mut reply).await {
            let mut adding =
                Adding { passing: &mut self, batch: Batch::with_capacity(bytes.len()) };
            // It was checked where it was written.
            let _ = events.push(&bytes, &mut adding);
            let batch = adding.batch;
            self.send(batch).await;
        }
        self.end().await
    }

    /// Some servers answer at once whoever asks for a stream.
    async fn pass_whole(mut self, mut reply: Reply) -> Option<Ended> {
        let body = whole(&mut reply).await;
        let (bytes, write) = (body.len(), self.shared.socket.completed);
        let event = self.shared.work_on(bytes, move || write(&body)).await;
        if let Some(event) = event.ok().flatten() {
            let mut batch = Batch::with_capacity(event.len());
            self.add(event.as_bytes(), &mut batch);
            self.send(batch).await;
        }
        self.end().await
    }

    /// Adds an event to those that were read with it, and says how many of its first bytes show that it is a mere piece.
    fn add(&mut self, event: &[u8], batch: &mut Batch) -> usize {
        let socket = self.shared.socket;
        let (kind, shown) = (socket.kind)(event);
        if let (EventKind::Piece, None) = (kind, self.lane) {
            batch.frames.push(event);
            return shown;
        }
        // It is text: so it was read.
        let Ok(event) = str::from_utf8(event) else { return 0 };
        if kind != EventKind::Piece && event.len() >= LARGE_BYTES {
            let frames = std::mem::take(&mut batch.frames);
            batch.before.push((frames, event.to_owned()));
            return 0;
        }
        let framed = framed(&socket, (kind, event.into()), (self.lane, self.previous));
        if let Some(frame) = self.note(framed) {
            batch.frames.push(frame.as_bytes());
        }
        0
    }

    /// Sends events, each in a frame.
    async fn send(&mut self, batch: Batch) {
        let mut all = batch.frames;
        if !batch.before.is_empty() {
            all = Box::pin(self.framed_large(batch.before, all)).await;
        }
        if !all.is_empty() {
            self.shared.outlet.send(all).await;
        }
    }

    /// The frames of a batch in which some events take long to frame.
    async fn framed_large(&mut self, before: Vec<(Frames, String)>, last: Frames) -> Frames {
        let mut all = Frames::default();
        for (frames, event) in before {
            all.append(frames);
            let frame = self.frame_large(event).await;
            frame.iter().for_each(|frame| all.push(frame.as_bytes()));
        }
        all.append(last);
        all
    }

    /// The frame of an event that others of this thread would wait for.
    async fn frame_large(&mut self, event: String) -> Option<Cow<'static, str>> {
        let socket = self.shared.socket;
        let (lane, previous) = (self.lane.map(str::to_owned), self.previous.map(str::to_owned));
        let bytes = event.len();
        let work = move || {
            let (kind, _) = (socket.kind)(event.as_bytes());
            framed(&socket, (kind, event.into()), (lane.as_deref(), previous.as_deref()))
        };
        let framed = self.shared.work_on(bytes, work).await.ok()?;
        self.note(framed)
    }

    /// Notes what an event says of the answer. Its frame, or none if the answer may still say the same itself.
    fn note<'e>(&mut self, framed: Framed<'e>) -> Option<Cow<'e, str>> {
        match framed {
            Framed::Frame(frame) => Some(frame),
            Framed::End(frame, ended) => {
                self.ended = ended;
                Some(frame)
            }
            Framed::Fault(fault) => {
                self.fault = Some(fault);
                None
            }
        }
    }

    /// An answer that broke off without an error of its own is an error.
    async fn end(mut self) -> Option<Ended> {
        if self.ended.is_none() {
            let fault = self.fault.take();
            let body = fault.unwrap_or_else(|| {
                r#"{"error":{"type":"server_error","code":"server_error","message":"the answer broke off","param":null}}"#.to_owned()
            });
            self.send_error(500, &body).await;
        }
        self.ended
    }

    async fn refuse(&mut self, mut reply: Reply) {
        let status = reply.status().as_u16();
        let body = whole(&mut reply).await;
        self.send_error(status, &body).await;
    }

    async fn send_error(&self, status: u16, body: &str) {
        let frame = (self.shared.socket.refuse)(status, body, self.lane);
        self.shared.outlet.send(Frames::of(frame.as_bytes())).await;
    }
}

/// What becomes of an event, in its lane and with what its answer went on from.
fn framed<'e>(
    socket: &Socket,
    (kind, mut event): (EventKind, Cow<'e, str>),
    (lane, previous): (Option<&str>, Option<&str>),
) -> Framed<'e> {
    if kind == EventKind::Fault {
        return Framed::Fault(event.into_owned());
    }
    let ended = (kind == EventKind::End).then(|| (socket.ended)(&event));
    if let (EventKind::Whole | EventKind::End, Some(previous)) = (kind, previous) {
        event = (socket.restate_previous)(&event, previous).into();
    }
    if let Some(lane) = lane {
        event = (socket.in_lane)(&event, lane).into();
    }
    match ended {
        Some(ended) => Framed::End(event, ended),
        None => Framed::Frame(event),
    }
}

async fn whole(reply: &mut Reply) -> String {
    let mut body = Vec::new();
    while let Some(Ok(bytes)) = next_bytes(reply).await {
        body.extend_from_slice(&bytes);
    }
    String::from_utf8_lossy(&body).into_owned()
}
