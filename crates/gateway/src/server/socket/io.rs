//! The connection of a WebSocket. Each frame that is written has its own time, and what comes of a message counts with the memory
//! of all bodies before the message has an end.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::config::types::Limits;
use crate::held::Held;
use crate::server::paced::Paced;
use crate::server::sending::Sending;
use crate::server::socket::pieces::{HEAD_BYTES_MAX, Next, Pieces};
use crate::server::worker::WorkerState;

pub(super) struct SocketIo {
    paced: Paced,
    /// What was read before the connection became a socket.
    ahead: Bytes,
    sending: Sending,
    pieces: Pieces,
    /// The memory of the message that has begun.
    held: Option<Held>,
    state: Rc<WorkerState>,
}

/// Why nothing more is read of a client: the bodies of all together take as much memory as they may.
pub(super) const IS_FULL: io::ErrorKind = io::ErrorKind::OutOfMemory;

impl SocketIo {
    /// A connection of which some bytes have been read.
    pub(super) fn new(
        (stream, ahead): (TcpStream, Bytes),
        limits: &Limits,
        state: Rc<WorkerState>,
    ) -> Self {
        Self {
            paced: Paced::new(stream),
            // Even of nothing, the whole of what was read at once would be kept.
            ahead: Bytes::copy_from_slice(&ahead),
            sending: Sending::new(limits),
            pieces: Pieces::new(limits.body_bytes_max),
            held: None,
            state,
        }
    }

    /// The memory of the message that has just ended.
    pub(super) fn take_held(&mut self) -> Held {
        self.held.take().unwrap_or_else(|| Held::nothing(&self.state.latest.snapshot()))
    }

    /// Counts what has come of a message.
    fn hold(&mut self, bytes: usize) -> io::Result<()> {
        let state = &self.state;
        let held = self.held.get_or_insert_with(|| Held::nothing(&state.latest.snapshot()));
        held.grow(bytes).map_err(|_| IS_FULL.into())
    }

    /// Reads what the client sent into a buffer, and says how much.
    fn poll_sent(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        if !self.ahead.is_empty() {
            let length = self.ahead.len().min(buffer.len());
            self.ahead.copy_to_slice(&mut buffer[..length]);
            if self.ahead.is_empty() {
                self.ahead = Bytes::new();
            }
            return Poll::Ready(Ok(length));
        }
        ready!(self.paced.poll_turn(cx));
        let mut buffer = ReadBuf::new(buffer);
        let read = self.paced.poll_read(cx, &mut buffer);
        read.map_ok(|()| buffer.filled().len())
    }

    /// Reads the next bytes of a head or of a piece. None if there is more to be read at once.
    fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Option<Poll<io::Result<()>>> {
        match self.pieces.next() {
            Next::Shown(shown) => {
                let length = shown.len().min(buffer.remaining());
                buffer.put_slice(&shown[..length]);
                self.pieces.show(length);
                None
            }
            Next::Head(missing) => {
                let mut head = [0; HEAD_BYTES_MAX];
                match self.poll_sent(cx, &mut head[..missing]) {
                    Poll::Ready(Ok(length @ 1..)) => {
                        self.pieces.take_head(&head[..length]);
                        None
                    }
                    ended => Some(ended.map_ok(|_| ())),
                }
            }
            Next::Payload(left) => {
                let left = usize::try_from(left).unwrap_or(usize::MAX);
                let room = buffer.initialize_unfilled_to(left.min(buffer.remaining()));
                match self.poll_sent(cx, room) {
                    Poll::Ready(Ok(length @ 1..)) => {
                        buffer.advance(length);
                        let is_message = self.pieces.take_payload(length);
                        let held = if is_message { self.hold(length) } else { Ok(()) };
                        held.err().map(|error| Poll::Ready(Err(error)))
                    }
                    ended => Some(ended.map_ok(|_| ())),
                }
            }
        }
    }
}

impl AsyncRead for SocketIo {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        while buffer.remaining() > 0 {
            match this.poll_next(cx, buffer) {
                None => {}
                Some(Poll::Ready(Err(error))) => return Poll::Ready(Err(error)),
                // What was read before the wait, or before the end, is read first.
                Some(_) if buffer.filled().len() > before => break,
                Some(ended) => return ended,
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for SocketIo {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let wrote = ready!(this.paced.poll_write(cx, bytes, &this.sending));
        this.sending.begin(None);
        Poll::Ready(wrote)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().paced.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().paced.poll_shutdown(cx)
    }
}

impl fmt::Debug for SocketIo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SocketIo({:?})", self.paced)
    }
}
