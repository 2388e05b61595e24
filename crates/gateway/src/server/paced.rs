//! The stream of a connection at the pace of both sides: one that takes nothing of what is sent to it is given up, and one that
//! sends much lets the others of its thread have their turn.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::server::sending::{Sending, Stall};
use crate::server::turn::Turn;

#[derive(Debug)]
pub(super) struct Paced<S = TcpStream> {
    pub(super) stream: S,
    stall: Stall,
    turn: Turn,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Paced<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, stall: Stall::default(), turn: Turn::default() }
    }

    /// Ready while the connection may read: others of its thread may come first.
    pub(super) fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.turn.poll(cx)
    }

    /// Reads, and counts what came towards the turn.
    pub(super) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        match read.is_pending() {
            true => self.turn.end(),
            false => self.turn.read(buffer.filled().len() - before),
        }
        read
    }

    /// Writes, in the time that the client has to take it.
    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
        sending: &Sending,
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.timed(wrote, sending, cx)
    }

    /// The same for several pieces.
    pub(super) fn poll_write_vectored(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
        sending: &Sending,
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.timed(wrote, sending, cx)
    }

    fn timed(
        &mut self,
        wrote: Poll<io::Result<usize>>,
        sending: &Sending,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if wrote.is_pending() {
            return self.stall.poll(sending, cx);
        }
        self.stall.end();
        wrote
    }

    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    pub(super) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
