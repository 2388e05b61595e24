//! A WebSocket of a client, from its handshake to its end: calls come in lanes, each of which is answered in order, and go the
//! way of every other call.

mod events;
mod frames;
mod io;
mod lanes;
mod outlet;
mod pieces;
mod recent;
mod turn;

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use http::header::{CONNECTION, UPGRADE};
use http::request::Parts;
use http::{Extensions, HeaderMap, HeaderName, HeaderValue};
use sabir_wire::FaultKind;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::CapacityError;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

use crate::failure::Failure;
use crate::held;
use crate::server::socket::frames::Frames;
use crate::server::socket::io::{IS_FULL, SocketIo};
use crate::server::socket::lanes::{Lanes, ReceivedCall};
use crate::server::socket::outlet::Outlet;
use crate::server::socket::recent::Recent;
use crate::server::socket::turn::Shared;
use crate::server::worker::{ConnectionGuard, LAST_WRITE_MAX, Phase, WorkerState};
use crate::surface;
use crate::surface::socket::{Refusal, SocketMessage};

/// A connection that has become a WebSocket.
pub(super) struct Upgraded {
    pub(super) stream: TcpStream,
    /// What was read behind the handshake.
    pub(super) read: Bytes,
    pub(super) head: Parts,
    pub(super) is_local: bool,
}

/// How often a client is asked whether it is there while it says nothing.
const PINGS_IN_SILENCE: u32 = 3;
/// What is read at once. Room for it is made for every socket, idle or not.
const READ_BYTES: usize = 2 * 1024;

/// The head by itself, without what was about the handshake. As it was read it is part of all that was read with it, and would
/// keep several times its bytes for as long as the socket is open.
fn apart(mut head: Parts) -> Parts {
    let is_of_call = |name: &HeaderName| {
        *name != CONNECTION && *name != UPGRADE && !name.as_str().starts_with("sec-websocket-")
    };
    let kept = || head.headers.iter().filter(|(name, _)| is_of_call(name));
    let mut headers = HeaderMap::with_capacity(kept().count());
    for (name, value) in kept() {
        let own = HeaderValue::from_bytes(value.as_bytes());
        headers.append(name.clone(), own.unwrap_or_else(|_| value.clone()));
    }
    head.headers = headers;
    if let Ok(own) = head.uri.to_string().parse() {
        head.uri = own;
    }
    head.extensions = Extensions::new();
    head
}

/// A socket that is served.
pub(super) struct Session {
    client: WebSocketStream<SocketIo>,
    lanes: Lanes,
    shared: Rc<Shared>,
    patience: Patience,
}

/// How long a socket may be open, and how long its client may say nothing.
#[derive(Clone, Copy)]
struct Patience {
    open: Duration,
    silent: Duration,
}

/// Why a socket is closed; none if the client is gone.
type Closed = Option<(CloseCode, &'static str)>;

impl Session {
    pub(super) async fn begin(
        state: Rc<WorkerState>,
        upgraded: Box<Upgraded>,
    ) -> Option<Box<Self>> {
        let Upgraded { stream, read, head, is_local } = *upgraded;
        let protocol = surface::find_socket(head.uri.path())?;
        let socket = surface::of(protocol).socket?;
        let mut head = apart(head);
        (socket.strip)(&mut head.headers);
        let snapshot = state.latest.snapshot();
        let limits = &snapshot.config().limits;
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BYTES)
            .write_buffer_size(0)
            .max_message_size(Some(limits.body_bytes_max))
            .max_frame_size(Some(limits.body_bytes_max));
        let outlet = Outlet::new(stream);
        let io = SocketIo::new((Rc::clone(&outlet), read), limits, Rc::clone(&state));
        let (open, silent) = (limits.socket_duration_max, limits.socket_silence_max);
        let client = WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await;
        drop(snapshot);
        let recent = RefCell::new(Recent::default());
        let shared = Rc::new(Shared { state, head, protocol, socket, is_local, recent, outlet });
        let lanes = Lanes::new(Rc::clone(&shared));
        Some(Box::new(Self { client, lanes, shared, patience: Patience { open, silent } }))
    }

    /// Serves the socket to its end, and drops the guard with it.
    pub(super) async fn run(mut self: Box<Self>, _guard: ConnectionGuard) {
        let closed = match self.attend().await {
            Ok(closed) | Err(closed) => closed,
        };
        if let Some((code, reason)) = closed {
            self.shared.outlet.close();
            let frame = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
            let closing = Box::pin(self.client.close(Some(frame)));
            let _ = tokio::time::timeout(LAST_WRITE_MAX, closing).await;
        }
    }

    /// Serves calls until there is a reason to close.
    async fn attend(&mut self) -> Result<Closed, Closed> {
        let shared = Rc::clone(&self.shared);
        let mut stopping = std::pin::pin!(shared.state.reached(Phase::Stopping));
        let (mut is_stopping, mut is_late) = (false, false);
        let Patience { open, silent } = self.patience;
        let mut late = std::pin::pin!(tokio::time::sleep(open));
        let ping_every = silent / PINGS_IN_SILENCE;
        let mut pings = tokio::time::interval_at(Instant::now() + ping_every, ping_every);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            if (is_stopping || is_late) && self.lanes.is_idle() {
                self.drain().await?;
                return match is_stopping {
                    true => Ok(Some((CloseCode::Away, "the gateway stops"))),
                    false => Box::pin(self.expire()).await,
                };
            }
            tokio::select! {
                biased;
                () = poll_fn(|cx| shared.outlet.poll_more(cx)) => self.drain().await?,
                done = self.lanes.next_done(), if !self.lanes.is_idle() => {
                    done.map_err(|_| Some((CloseCode::Error, "a call could not be answered")))?;
                }
                message = self.client.next() => {
                    // Boxed, since a socket is idle most of its time.
                    Box::pin(self.message(message, is_stopping || is_late)).await?;
                }
                _ = pings.tick() => Box::pin(self.ping()).await?,
                () = &mut stopping, if !is_stopping => is_stopping = true,
                () = &mut late, if !is_late => is_late = true,
            }
        }
    }

    /// Sends frames behind all that wait.
    async fn send(&mut self, frames: Frames) -> Result<(), Closed> {
        self.drain().await?;
        self.client.get_mut().write_all(frames.as_bytes()).await.map_err(|_| None)
    }

    /// Sends all frames that wait. What was begun goes first, and then what the library itself has to say.
    async fn drain(&mut self) -> Result<(), Closed> {
        let frames = self.shared.outlet.take_waiting();
        self.client.flush().await.map_err(|_| None)?;
        self.client.get_mut().write_all(frames.as_bytes()).await.map_err(|_| None)
    }

    async fn ping(&mut self) -> Result<(), Closed> {
        if self.client.get_ref().read_at().elapsed() >= self.patience.silent {
            return Err(Some((CloseCode::Away, "nothing came for too long")));
        }
        self.client.send(Message::Ping(Bytes::new())).await.map_err(|_| None)
    }

    /// The time of the socket is over: the client is told to open another.
    async fn expire(&mut self) -> Result<Closed, Closed> {
        let minutes = self.patience.open.as_secs().div_ceil(60);
        let message = format!(
            "Responses websocket connection limit reached ({minutes} minutes). Create a new websocket connection to continue."
        );
        let failure = Failure::client(FaultKind::BadRequest, message);
        self.refuse(failure.with_code("websocket_connection_limit_reached"), None).await?;
        Ok(Some((CloseCode::Policy, "its time is over")))
    }

    /// Takes what the client sent.
    async fn message(
        &mut self,
        message: Option<Result<Message, Error>>,
        is_ending: bool,
    ) -> Result<(), Closed> {
        match message {
            Some(Ok(Message::Text(text))) if !is_ending => self.call(text).await,
            Some(Ok(Message::Binary(_))) => {
                drop(self.client.get_mut().take_held());
                let failure = Failure::client(FaultKind::BadRequest, "expected messages of text");
                self.refuse(failure, None).await
            }
            // Pings are answered by the library. A client that asks anew while the socket ends learns of its end.
            Some(Ok(Message::Text(_))) => {
                drop(self.client.get_mut().take_held());
                Ok(())
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => Ok(()),
            Some(Ok(Message::Close(_))) => {
                // The library has its answer to it ready.
                let _ = tokio::time::timeout(LAST_WRITE_MAX, self.client.flush()).await;
                Err(None)
            }
            None => Err(None),
            Some(Err(Error::Capacity(CapacityError::MessageTooLong { .. }))) => {
                let message =
                    "the message is longer than `max_body_size` in [limits] of this gateway allows";
                let failure = Failure::client(FaultKind::TooLarge, message);
                self.refuse(failure, None).await?;
                Err(Some((CloseCode::Size, "the message is too long")))
            }
            Some(Err(Error::Io(error))) if error.kind() == IS_FULL => {
                self.refuse(held::full(), None).await?;
                Err(Some((CloseCode::Again, "too many bytes are held")))
            }
            Some(Err(Error::Utf8(_))) => Err(Some((CloseCode::Invalid, "expected UTF-8"))),
            Some(Err(Error::Protocol(_))) => {
                Err(Some((CloseCode::Protocol, "not as WebSockets speak")))
            }
            Some(Err(_)) => Err(None),
        }
    }

    async fn call(&mut self, text: Utf8Bytes) -> Result<(), Closed> {
        let held = self.client.get_mut().take_held();
        let snapshot = self.shared.state.latest.snapshot();
        let read = self.shared.socket.read;
        let bytes = text.len();
        let asked = snapshot.shared.pool.run_on(bytes, move |_| Ok(read(&text))).await;
        match asked {
            Err(failure) => self.refuse(failure, None).await,
            Ok(Err(Refusal { lane, message, param })) => {
                let mut failure = Failure::client(FaultKind::BadRequest, message);
                if let Some(param) = param {
                    failure = failure.with_param(param);
                }
                self.refuse(failure, lane.as_deref()).await
            }
            Ok(Ok(SocketMessage::Steer { lane, input })) => {
                let refused = self.shared.socket.steering_refused;
                self.send(Frames::of(refused(input.as_ref(), lane.as_deref()).as_bytes())).await
            }
            Ok(Ok(SocketMessage::Create(create))) => {
                let lane = create.lane.clone();
                match self.lanes.add(ReceivedCall { create, held }) {
                    Ok(()) => Ok(()),
                    Err(failure) => self.refuse(failure, lane.as_deref()).await,
                }
            }
        }
    }

    /// Says that something cannot be done. The socket goes on.
    async fn refuse(&mut self, failure: Box<Failure>, lane: Option<&str>) -> Result<(), Closed> {
        let frame = self.shared.refusal(&failure, lane);
        self.send(Frames::of(frame.as_bytes())).await
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    #[test]
    fn the_head_of_a_socket_keeps_nothing_of_what_was_read_with_it() {
        let read = Bytes::from(b"/v1/responses?a=b Bearer key and all the rest".to_vec());
        let (mut head, ()) = Request::new(()).into_parts();
        head.uri = http::Uri::from_maybe_shared(read.slice(..17)).unwrap();
        let key = HeaderValue::from_maybe_shared(read.slice(18..28)).unwrap();
        head.headers.insert("authorization", key);
        let head = apart(head);
        assert_eq!((head.uri.path(), head.uri.query()), ("/v1/responses", Some("a=b")));
        assert_eq!(head.headers["authorization"], "Bearer key");
        assert!(read.try_into_mut().is_ok(), "somebody else has it");
    }
}
