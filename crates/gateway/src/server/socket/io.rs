//! The connection of a WebSocket. Each frame that is written has its own time, and what comes of a message counts with the memory
//! of all bodies before the message has an end.

use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use crate::config::types::Limits;
use crate::held::Held;
use crate::server::paced::Paced;
use crate::server::sending::Sending;
use crate::server::socket::outlet::{Outlet, Shared};
use crate::server::socket::pieces::{HEAD_BYTES_MAX, Next, Pieces};
use crate::server::worker::WorkerState;

pub(super) struct SocketIo {
    paced: Paced<Shared>,
    outlet: Rc<Outlet>,
    /// What was read and not asked for yet: before the connection became a socket, or behind a head.
    ahead: Bytes,
    sending: Sending,
    pieces: Pieces,
    /// The memory of the message that has begun.
    held: Option<Held>,
    /// When something came last.
    read_at: Instant,
    state: Rc<WorkerState>,
}

/// What is read at once of a head and what is behind it.
const AHEAD_BYTES: usize = 2 * 1024;

/// Why nothing more is read of a client: the bodies of all together take as much memory as they may.
pub(super) const IS_FULL: io::ErrorKind = io::ErrorKind::OutOfMemory;

impl SocketIo {
    /// A connection of which some bytes have been read.
    pub(super) fn new(
        (outlet, ahead): (Rc<Outlet>, Bytes),
        limits: &Limits,
        state: Rc<WorkerState>,
    ) -> Self {
        Self {
            paced: Paced::new(Shared(Rc::clone(&outlet))),
            outlet,
            // Even of nothing, the whole of what was read at once would be kept.
            ahead: Bytes::copy_from_slice(&ahead),
            sending: Sending::new(limits),
            pieces: Pieces::new(limits.body_bytes_max),
            held: None,
            read_at: Instant::now(),
            state,
        }
    }

    /// When something of the client came last. A long message takes its time, and nothing can be said meanwhile.
    pub(super) fn read_at(&self) -> Instant {
        self.read_at
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
            return Poll::Ready(Ok(self.take_ahead(buffer)));
        }
        self.poll_read_into(cx, &mut ReadBuf::new(buffer))
    }

    /// The same for a head, with what comes at once behind it: a short message takes one read.
    fn poll_head(&mut self, cx: &mut Context<'_>, head: &mut [u8]) -> Poll<io::Result<usize>> {
        if self.ahead.is_empty() {
            let mut room = [MaybeUninit::uninit(); AHEAD_BYTES];
            let mut read = ReadBuf::uninit(&mut room);
            ready!(self.poll_read_into(cx, &mut read))?;
            self.ahead = Bytes::copy_from_slice(read.filled());
        }
        Poll::Ready(Ok(self.take_ahead(head)))
    }

    fn take_ahead(&mut self, buffer: &mut [u8]) -> usize {
        let length = self.ahead.len().min(buffer.len());
        self.ahead.copy_to_slice(&mut buffer[..length]);
        if self.ahead.is_empty() {
            self.ahead = Bytes::new();
        }
        length
    }

    fn poll_write_some(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = ready!(self.paced.poll_write(cx, bytes, &self.sending));
        self.sending.begin(None);
        Poll::Ready(wrote)
    }

    /// Writes what is left of frames, which goes before all else.
    fn poll_left(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outlet = Rc::clone(&self.outlet);
        outlet.poll_left(|bytes| self.poll_write_some(cx, bytes))
    }

    fn poll_read_into(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        ready!(self.paced.poll_turn(cx));
        ready!(self.paced.poll_read(cx, buffer))?;
        self.read_at = Instant::now();
        Poll::Ready(Ok(buffer.filled().len()))
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
                match self.poll_head(cx, &mut head[..missing]) {
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
        ready!(this.poll_left(cx))?;
        let wrote = this.poll_write_some(cx, bytes);
        this.outlet.note(&wrote, bytes.len());
        wrote
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_left(cx))?;
        this.paced.poll_flush(cx)
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
