//! The connection of a WebSocket. Each frame that is written has its own time.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::config::types::Limits;
use crate::server::paced::Paced;
use crate::server::sending::Sending;

#[derive(Debug)]
pub(super) struct SocketIo {
    paced: Paced,
    sending: Sending,
}

impl SocketIo {
    pub(super) fn new(stream: TcpStream, limits: &Limits) -> Self {
        Self { paced: Paced::new(stream), sending: Sending::new(limits) }
    }
}

impl AsyncRead for SocketIo {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.paced.poll_turn(cx));
        this.paced.poll_read(cx, buffer)
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
