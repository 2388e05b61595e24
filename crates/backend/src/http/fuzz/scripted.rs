//! A connection whose server sends what it is told to.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use http::Method;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::http::fuzz::PIECE;

#[derive(Clone, Debug, Default)]
pub(crate) struct Scripted(Rc<RefCell<Wire>>);

#[derive(Debug, Default)]
struct Wire {
    /// What the client reads next, read by read; an empty piece is a pause.
    pieces: VecDeque<Vec<u8>>,
    /// Whether the client can write only when it has read everything.
    is_early: bool,
    /// What was asked for last, and all that was sent since.
    method: Method,
    sent: Vec<u8>,
}

impl Scripted {
    /// A request begins, and this is what the server has to say to it.
    pub(super) fn begin(&self, method: &Method, is_early: bool, answer: &[u8]) {
        let pieces: VecDeque<Vec<u8>> =
            answer.split(|byte| *byte == PIECE).map(<[u8]>::to_vec).collect();
        let sent = pieces.iter().flatten().copied().collect();
        *self.0.borrow_mut() = Wire { pieces, is_early, method: method.clone(), sent };
    }

    /// The server sends more, and nothing is on its way any longer.
    pub(super) fn send_late(&self, bytes: &[u8]) {
        let mut wire = self.0.borrow_mut();
        wire.sent.extend_from_slice(bytes);
        wire.pieces.push_back(bytes.to_vec());
        wire.pieces.retain(|piece| !piece.is_empty());
    }

    /// What was asked for last, and all that was sent since.
    pub(super) fn last(&self) -> (Method, Vec<u8>) {
        let wire = self.0.borrow();
        (wire.method.clone(), wire.sent.clone())
    }

    /// Whether the server has nothing more to send.
    pub(super) fn is_over(&self) -> bool {
        self.0.borrow().pieces.is_empty()
    }
}

impl AsyncRead for Scripted {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut wire = self.0.borrow_mut();
        let Some(mut piece) = wire.pieces.pop_front().filter(|piece| !piece.is_empty()) else {
            return Poll::Pending;
        };
        let rest = piece.split_off(piece.len().min(buffer.remaining()));
        if !rest.is_empty() {
            wire.pieces.push_front(rest);
        }
        buffer.put_slice(&piece);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Scripted {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wire = self.0.borrow();
        match wire.is_early && !wire.pieces.is_empty() {
            true => Poll::Pending,
            false => Poll::Ready(Ok(bytes.len())),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
