//! The connection of a WebSocket: one that takes nothing of what is sent to it is given up, and one that sends much lets the
//! others of its thread have their turn.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::config::types::Limits;
use crate::server::sending::{Sending, Stall};
use crate::server::turn::Turn;

#[derive(Debug)]
pub(super) struct SocketIo {
    stream: TcpStream,
    sending: Sending,
    stall: Stall,
    turn: Turn,
}

impl SocketIo {
    pub(super) fn new(stream: TcpStream, limits: &Limits) -> Self {
        let (stall, turn) = (Stall::default(), Turn::default());
        Self { stream, sending: Sending::new(limits), stall, turn }
    }
}

impl AsyncRead for SocketIo {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.turn.poll(cx));
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(cx, buffer);
        match read.is_pending() {
            true => this.turn.end(),
            false => this.turn.read(buffer.filled().len() - before),
        }
        read
    }
}

impl AsyncWrite for SocketIo {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let wrote = Pin::new(&mut this.stream).poll_write(cx, bytes);
        if wrote.is_pending() {
            return this.stall.poll(&this.sending, cx);
        }
        this.stall.end();
        this.sending.begin(None);
        wrote
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
