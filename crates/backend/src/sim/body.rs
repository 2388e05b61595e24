//! A reply as a body: the steps in order, with their waits; dropping it stops everything.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use std::{fmt, io};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::Sleep;

use super::{Reply, Step};

/// The body of a [`Reply`]. A disconnect is an error of the body, which breaks a connection that carries it.
pub struct ReplyBody {
    steps: VecDeque<Step>,
    wait: Option<Pin<Box<Sleep>>>,
    /// Whether the next step that breaks off may do so: what was sent before it must have left first.
    is_flushed: bool,
}

/// Long enough for a connection to write what it holds before it is told of the end.
const FLUSH: Duration = Duration::from_millis(1);

impl Reply {
    /// The reply as an HTTP response.
    pub fn into_response(self) -> http::Response<ReplyBody> {
        let body = ReplyBody { steps: self.steps.into(), wait: None, is_flushed: false };
        let mut response = http::Response::new(body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        loop {
            if let Some(wait) = &mut self.wait {
                std::task::ready!(wait.as_mut().poll(context));
                self.wait = None;
            }
            match self.steps.pop_front() {
                None => return Poll::Ready(None),
                Some(Step::Send(bytes)) => return Poll::Ready(Some(Ok(Frame::data(bytes)))),
                Some(Step::Wait(duration)) => {
                    self.wait = Some(Box::pin(tokio::time::sleep(duration)));
                }
                Some(Step::Disconnect) if !self.is_flushed => {
                    self.is_flushed = true;
                    self.steps.push_front(Step::Disconnect);
                    self.wait = Some(Box::pin(tokio::time::sleep(FLUSH)));
                }
                Some(Step::Disconnect) => {
                    self.steps.clear();
                    let message = "the simulated connection broke off";
                    return Poll::Ready(Some(Err(io::Error::new(
                        io::ErrorKind::ConnectionReset,
                        message,
                    ))));
                }
                Some(Step::Forever { bytes, pause }) => {
                    self.steps.push_front(Step::Forever { bytes: bytes.clone(), pause });
                    self.wait = Some(Box::pin(tokio::time::sleep(pause)));
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.steps.is_empty() && self.wait.is_none()
    }

    /// The length is stated where the whole body is there at once, as servers do.
    fn size_hint(&self) -> SizeHint {
        match self.steps.iter().collect::<Vec<_>>().as_slice() {
            [] => SizeHint::with_exact(0),
            [Step::Send(bytes)] => SizeHint::with_exact(bytes.len() as u64),
            _ => SizeHint::default(),
        }
    }
}

impl fmt::Debug for ReplyBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyBody").field("steps_left", &self.steps.len()).finish_non_exhaustive()
    }
}
