//! The body of an answer, read straight from its connection when somebody asks for more.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use tokio::io::AsyncWrite;

use crate::error::{Error, ErrorKind, Result};
use crate::http::connect::Connection;
use crate::http::head::Framing;
use crate::http::pool::Pool;
use crate::http::reuse::Conduct;
use crate::http::{Address, scratch};

/// A body that comes in. Its connection returns to the pool at its end, and closes if it is dropped before.
#[derive(Debug)]
pub struct Body {
    framing: Framing,
    /// What came together with the head.
    early: Bytes,
    /// Absent once the body is over.
    line: Option<Line>,
}

/// The connection that a body comes over, and where it goes afterwards.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) connection: Connection,
    pub(super) address: Address,
    /// Where the connection may wait for another request, for how long, and whether it may at all.
    pub(super) pool: Pool,
    pub(super) keep_alive: Option<Duration>,
    pub(super) conduct: Conduct,
    /// What is left of a request whose answer began before its end.
    pub(super) unsent: Option<Bytes>,
}

impl Line {
    /// Sends on what is left of the request. Whether that works is seen by the answer.
    fn send_on(&mut self, cx: &mut Context<'_>) {
        let Some(unsent) = &mut self.unsent else { return };
        while !unsent.is_empty() {
            match Pin::new(&mut self.connection).poll_write(cx, unsent) {
                Poll::Pending => return,
                Poll::Ready(Ok(length @ 1..)) => unsent.advance(length),
                Poll::Ready(Ok(0) | Err(_)) => unsent.clear(),
            }
        }
        if Pin::new(&mut self.connection).poll_flush(cx).is_ready() {
            self.unsent = None;
        }
    }
}

impl Body {
    pub(super) fn new(framing: Framing, early: Bytes, line: Line) -> Self {
        let mut body = Self { framing, early, line: Some(line) };
        if body.is_complete() {
            // What stands behind an answer that has no body must not be taken for the next answer.
            body.settle(body.early.is_empty());
        }
        body
    }

    /// Hands on the next bytes, in one or several pieces; ready with none at the end.
    ///
    /// A body that breaks off before its end is an error, after which nothing more comes.
    pub fn poll_data(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(&[u8]),
    ) -> Poll<Option<Result<()>>> {
        loop {
            if self.line.is_none() {
                return Poll::Ready(None);
            }
            let mut taken = 0;
            let mut count = |data: &[u8]| {
                taken += data.len();
                take(data);
            };
            let outcome = ready!(self.poll_bytes(cx, &mut count));
            if outcome.is_err() {
                self.line = None;
                return Poll::Ready(Some(outcome));
            }
            // A read may bring nothing but framing.
            if taken > 0 {
                return Poll::Ready(Some(Ok(())));
            }
        }
    }

    fn poll_bytes(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(&[u8]),
    ) -> Poll<Result<()>> {
        if !self.early.is_empty() {
            let early = std::mem::take(&mut self.early);
            return Poll::Ready(self.unframe(&early, take));
        }
        let Some(mut line) = self.line.take() else { return Poll::Ready(Ok(())) };
        line.send_on(cx);
        let framing = &mut self.framing;
        let read = scratch::poll_read(&mut line.connection, cx, |bytes| match bytes {
            [] => end(framing),
            bytes => unframe(framing, bytes, take)
                .map(|rest| Came { is_end: false, is_clean: rest == 0 }),
        });
        self.line = Some(line);
        let came = match ready!(read) {
            Ok(came) => came?,
            Err(error) => return Poll::Ready(Err(broken(&error))),
        };
        if came.is_end || self.is_complete() {
            self.settle(came.is_clean && !came.is_end);
        }
        Poll::Ready(Ok(()))
    }

    fn unframe(&mut self, bytes: &[u8], take: &mut dyn FnMut(&[u8])) -> Result<()> {
        let rest = unframe(&mut self.framing, bytes, take)?;
        if self.is_complete() {
            self.settle(rest == 0);
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        match &self.framing {
            Framing::Length(left) => *left == 0,
            Framing::Chunked(chunked) => chunked.is_over(),
            Framing::UntilClose => false,
        }
    }

    /// The body is over: the connection waits for another request if nothing stands against it.
    fn settle(&mut self, is_clean: bool) {
        let Some(Line { connection, address, pool, keep_alive, mut conduct, .. }) =
            self.line.take()
        else {
            return;
        };
        conduct.ends_clean = is_clean;
        if conduct.is_reusable() {
            pool.give_back(&address, connection, keep_alive);
        }
    }
}

struct Came {
    is_end: bool,
    /// Whether nothing stood behind the body.
    is_clean: bool,
}

fn end(framing: &Framing) -> Result<Came> {
    match framing {
        Framing::UntilClose => Ok(Came { is_end: true, is_clean: false }),
        Framing::Length(_) | Framing::Chunked(_) => {
            Err(Error::new(ErrorKind::Truncated, "the connection closed before the answer's end"))
        }
    }
}

/// Takes the framing off; returns how many bytes stand behind the body's end.
fn unframe(framing: &mut Framing, bytes: &[u8], take: &mut dyn FnMut(&[u8])) -> Result<usize> {
    match framing {
        Framing::UntilClose => {
            take(bytes);
            Ok(0)
        }
        Framing::Length(left) => {
            let length = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
            if length > 0 {
                take(&bytes[..length]);
            }
            *left -= length as u64;
            Ok(bytes.len() - length)
        }
        Framing::Chunked(chunked) => chunked.push(bytes, take),
    }
}

fn broken(error: &io::Error) -> Error {
    Error::new(ErrorKind::Truncated, format!("the connection broke: {error}"))
}
