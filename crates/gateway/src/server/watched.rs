//! A client's connection that notices when its client leaves while bytes of a next request wait: the server reads no
//! further then, and would not see the end behind them.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

use crate::server::framing::{Framing, Tracker};
use crate::server::paced::Paced;
use crate::server::refusal;
use crate::server::sending::Sending;

/// How often a client that nobody listens to is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(super) struct Watched<'c> {
    paced: Paced,
    /// Whether the server waits for more to read, and so learns of the end by itself.
    is_listening: bool,
    /// Set only while it does not.
    alarm: Option<Pin<Box<Sleep>>>,
    sending: &'c Sending,
    /// Where requests end, as far as they have come.
    framing: &'c Framing,
    tracker: Tracker,
    /// A refusal of the server's own, with a message, as far as it has not been written.
    refusal: Vec<u8>,
}

impl<'c> Watched<'c> {
    pub(super) fn new(stream: TcpStream, sending: &'c Sending, framing: &'c Framing) -> Self {
        Self {
            paced: Paced::new(stream),
            is_listening: false,
            alarm: None,
            sending,
            framing,
            tracker: Tracker::default(),
            refusal: Vec::new(),
        }
    }

    /// The connection itself, which speaks another protocol from here on.
    pub(super) fn into_stream(self) -> TcpStream {
        self.paced.stream
    }

    /// Looks whether the client is still there, now and then. The server flushes whenever it does anything, so it comes by
    /// here each time that the alarm wakes it.
    fn watch(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        if self.is_listening {
            return Ok(());
        }
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep(LOOK_EVERY)));
        while alarm.as_mut().poll(cx).is_ready() {
            if has_left(&self.paced.stream, cx) {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            alarm.set(tokio::time::sleep(LOOK_EVERY));
        }
        Ok(())
    }

    /// Takes a refusal of the server's own, which is written with a message that it lacks.
    fn takes(&mut self, bytes: &[u8]) -> bool {
        let refusal = refusal::in_words(bytes, self.framing);
        refusal.map(|refusal| self.refusal = refusal).is_some()
    }

    /// Writes such a refusal.
    fn poll_refusal(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.refusal.is_empty() {
            match ready!(self.paced.poll_write(cx, &self.refusal, self.sending))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                length => drop(self.refusal.drain(..length)),
            }
        }
        Poll::Ready(Ok(()))
    }
}

fn has_left(stream: &TcpStream, cx: &mut Context<'_>) -> bool {
    let ready = std::pin::pin!(stream.ready(Interest::READABLE));
    matches!(ready.poll(cx), Poll::Ready(Ok(ready)) if ready.is_read_closed())
}

impl AsyncRead for Watched<'_> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        // Others of this thread come first, but the client is listened to.
        ready!(this.paced.poll_turn(cx));
        let before = buffer.filled().len();
        let read = this.paced.poll_read(cx, buffer);
        this.is_listening = read.is_pending();
        if this.is_listening {
            this.alarm = None;
        }
        this.tracker.push(&buffer.filled()[before..], this.framing)?;
        read
    }
}

impl AsyncWrite for Watched<'_> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.takes(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        this.paced.poll_write(cx, bytes, this.sending)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if let [bytes] = slices
            && this.takes(bytes)
        {
            return Poll::Ready(Ok(bytes.len()));
        }
        this.paced.poll_write_vectored(cx, slices, this.sending)
    }

    fn is_write_vectored(&self) -> bool {
        self.paced.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.watch(cx)?;
        ready!(this.poll_refusal(cx))?;
        this.paced.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().paced.poll_shutdown(cx)
    }
}
