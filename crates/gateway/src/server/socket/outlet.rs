//! The way out of a socket. Whoever has frames writes them at once where nothing stands before them; what the client does not
//! take is left to the session of the socket, which waits for the client.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::server::socket::frames::Frames;

/// Reads of providers whose frames wait for the client.
const READS_MAX: usize = 2;

#[derive(Debug)]
pub(super) struct Outlet {
    stream: TcpStream,
    /// Frames that were begun to be written at once, as far as the client has not taken them. They go before all else.
    left: RefCell<Frames>,
    /// Frames that wait behind others.
    waiting: RefCell<VecDeque<Frames>>,
    /// Whether the session has written a part of something.
    is_midway: Cell<bool>,
    is_closed: Cell<bool>,
    /// The session, while it waits for more to write.
    session: RefCell<Option<Waker>>,
    room: Notify,
}

impl Outlet {
    pub(super) fn new(stream: TcpStream) -> Rc<Self> {
        Rc::new(Self {
            stream,
            left: RefCell::default(),
            waiting: RefCell::default(),
            is_midway: Cell::new(false),
            is_closed: Cell::new(false),
            session: RefCell::default(),
            room: Notify::new(),
        })
    }

    /// Sends frames, as soon as there is room for them.
    pub(super) async fn send(&self, frames: Frames) {
        if self.is_closed.get() {
            // The socket says its last word, and all calls end with it.
            return pending().await;
        }
        if self.is_free() {
            self.write(frames);
            return;
        }
        while self.waiting.borrow().len() >= READS_MAX {
            self.room.notified().await;
        }
        self.waiting.borrow_mut().push_back(frames);
        self.wake();
    }

    /// Whether nothing has to go first.
    fn is_free(&self) -> bool {
        !self.is_midway.get() && self.left.borrow().is_empty() && self.waiting.borrow().is_empty()
    }

    fn write(&self, mut frames: Frames) {
        // An error is found again by the session, which ends by it.
        let written = self.stream.try_write(frames.as_bytes()).unwrap_or(0);
        frames.skip(written);
        if !frames.is_empty() {
            self.left.replace(frames);
            self.wake();
        }
    }

    fn wake(&self) {
        if let Some(session) = self.session.take() {
            session.wake();
        }
    }

    /// Waits until there is something that the session has to write.
    pub(super) fn poll_more(&self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.left.borrow().is_empty() || !self.waiting.borrow().is_empty() {
            return Poll::Ready(());
        }
        let session = self.session.take().filter(|session| session.will_wake(cx.waker()));
        self.session.replace(Some(session.unwrap_or_else(|| cx.waker().clone())));
        Poll::Pending
    }

    /// All frames that wait, one behind the other.
    pub(super) fn take_waiting(&self) -> Frames {
        let mut all = Frames::default();
        for frames in self.waiting.take() {
            all.append(frames);
        }
        self.room.notify_waiters();
        all
    }

    /// From here on only the session writes.
    pub(super) fn close(&self) {
        self.is_closed.set(true);
    }

    /// Writes what was left by `write`, which may write a part of it.
    pub(super) fn poll_left(
        &self,
        mut write: impl FnMut(&[u8]) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<()>> {
        let mut left = self.left.borrow_mut();
        while !left.is_empty() {
            match ready!(write(left.as_bytes()))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => left.skip(written),
            }
        }
        *left = Frames::default();
        Poll::Ready(Ok(()))
    }

    /// Notes how much was written of something.
    pub(super) fn note(&self, wrote: &Poll<io::Result<usize>>, bytes: usize) {
        self.is_midway.set(!matches!(wrote, Poll::Ready(Ok(written)) if *written == bytes));
    }
}

/// The stream of a socket, which its session and its outlet share.
#[derive(Debug)]
pub(super) struct Shared(pub(super) Rc<Outlet>);

impl AsyncRead for Shared {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream = &self.0.stream;
        loop {
            ready!(stream.poll_read_ready(cx))?;
            match stream.try_read_buf(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read.map(|_| ())),
            }
        }
    }
}

impl AsyncWrite for Shared {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let stream = &self.0.stream;
        loop {
            ready!(stream.poll_write_ready(cx))?;
            match stream.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                wrote => return Poll::Ready(wrote),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(&self.0.stream).shutdown(std::net::Shutdown::Write))
    }
}
