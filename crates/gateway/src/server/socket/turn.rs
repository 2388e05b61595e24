//! One call of a socket: it goes the way of every POST, and its reply is sent event by event, each in a frame of its own.

use std::cell::RefCell;
use std::rc::Rc;

use http::header::CONTENT_TYPE;
use http::request::Parts;
use sabir_wire::Protocol;
use sabir_wire::sse::Parser;
use tokio::sync::mpsc;

use crate::egress::{Reply, next_bytes};
use crate::server::socket::recent::{Past, Recent};
use crate::server::worker::WorkerState;
use crate::stack;
use crate::stack::Entry;
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
    /// Frames on their way out. Whoever sends waits until the client takes them.
    pub(super) frames: mpsc::Sender<Vec<String>>,
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

impl Shared {
    /// Answers a call.
    pub(super) async fn answer(&self, create: Create) {
        let known = create.previous.as_deref().and_then(|id| self.recent.borrow().find(id));
        let is_known = known.is_some();
        let past = match (known, &create.previous) {
            (Some(past), _) => past,
            (None, previous) => Past { base: previous.clone(), ..Past::default() },
        };
        let body = (self.socket.body)(&create, past.base.as_deref(), &past.elements);
        let previous = create.previous.as_deref().filter(|_| is_known);
        let ended = match create.is_generated {
            true => self.generate(&create, previous, body).await,
            false => self.prepare(&create, previous, &body).await,
        };
        self.remember(create, past, ended);
    }

    /// Keeps what the next call may go on from. What failed is forgotten with what it went on from.
    fn remember(&self, create: Create, past: Past, ended: Option<Ended>) {
        let mut recent = self.recent.borrow_mut();
        match ended.filter(|ended| !ended.is_failed) {
            Some(ended) if ended.is_stored => recent.forget_lane(&create.lane),
            Some(Ended { id, elements, .. }) => {
                let own = (self.socket.elements)(&create);
                // What nobody generated has no elements but its input.
                let past = past.with(&[&own, &elements]);
                recent.keep(create.lane, (id, past), &self.state.latest.snapshot());
            }
            None => {
                if let Some(previous) = &create.previous {
                    recent.forget(previous);
                }
            }
        }
    }

    async fn generate(
        &self,
        create: &Create,
        previous: Option<&str>,
        body: String,
    ) -> Option<Ended> {
        let snapshot = self.state.latest.snapshot();
        let entry = self.entry(&snapshot);
        let reply = stack::call_over_socket(entry, self.protocol, &self.head, body).await;
        let lane = create.lane.as_deref();
        let passing = Passing { shared: self, lane, previous, ended: None, fault: None };
        passing.pass(reply, snapshot.config().limits.frame_bytes_max).await
    }

    /// Answers a call that wants nothing but an id to go on from.
    async fn prepare(&self, create: &Create, previous: Option<&str>, body: &str) -> Option<Ended> {
        let snapshot = self.state.latest.snapshot();
        let entry = self.entry(&snapshot);
        let lane = create.lane.as_deref();
        let mut passing = Passing { shared: self, lane, previous, ended: None, fault: None };
        match stack::prepare_over_socket(entry, self.protocol, &self.head, body).await {
            Ok(context) => {
                let (frames, ended) = (self.socket.prepared)(body, context);
                let frames = frames.into_iter().filter_map(|frame| passing.frame(frame));
                let frames = frames.collect();
                self.frames.send(frames).await.ok()?;
                Some(ended)
            }
            Err(reply) => {
                passing.refuse(*reply).await;
                None
            }
        }
    }

    fn entry<'c>(&'c self, snapshot: &'c std::sync::Arc<crate::state::Snapshot>) -> Entry<'c> {
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
        let mut parser = Parser::with_limit(frame_bytes_max);
        while let Some(Ok(bytes)) = next_bytes(&mut reply).await {
            let mut frames = Vec::new();
            // It was checked where it was written.
            let _ = parser.push(&bytes, &mut |frame| {
                if frame.data.starts_with('{') {
                    frames.extend(self.frame(frame.data.to_owned()));
                }
                Ok(())
            });
            if !frames.is_empty() {
                self.shared.frames.send(frames).await.ok()?;
            }
        }
        self.end().await
    }

    /// Some servers answer at once whoever asks for a stream.
    async fn pass_whole(&mut self, mut reply: Reply) -> Option<Ended> {
        let body = whole(&mut reply).await;
        let event = (self.shared.socket.completed)(&body)?;
        let frames = self.frame(event).into_iter().collect();
        self.shared.frames.send(frames).await.ok()?;
        self.ended.take()
    }

    /// The frame of an event; none if the answer may still say the same itself.
    fn frame(&mut self, mut event: String) -> Option<String> {
        let socket = &self.shared.socket;
        let kind = (socket.kind)(&event);
        if kind == EventKind::Fault {
            self.fault = Some(event);
            return None;
        }
        if kind == EventKind::End {
            self.ended = (socket.ended)(&event);
        }
        if let (EventKind::Whole | EventKind::End, Some(previous)) = (kind, self.previous) {
            event = (socket.restate_previous)(&event, previous);
        }
        Some(match self.lane {
            Some(lane) => (socket.in_lane)(&event, lane),
            None => event,
        })
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
        let _ = self.shared.frames.send(vec![frame]).await;
    }
}

async fn whole(reply: &mut Reply) -> String {
    let mut body = Vec::new();
    while let Some(Ok(bytes)) = next_bytes(reply).await {
        body.extend_from_slice(&bytes);
    }
    String::from_utf8_lossy(&body).into_owned()
}
