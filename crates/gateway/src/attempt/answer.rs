//! The body of an answer, wherever it comes from.

use std::pin::Pin;
use std::task::Context;
use std::task::Poll;
use std::task::ready;

use http_body::Body as _;
use sabir_backend::Error;
use sabir_backend::ErrorKind;
use sabir_backend::sim::ReplyBody;

/// A body that comes in from a provider or from a simulator.
#[derive(Debug)]
pub(crate) enum AnswerBody {
    Http(sabir_backend::http::Body),
    Simulated(Box<ReplyBody>),
}

impl AnswerBody {
    /// Hands on the next bytes; ready with none at the end.
    pub(crate) fn poll_data(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(&[u8]),
    ) -> Poll<Option<sabir_backend::Result<()>>> {
        match self {
            Self::Http(body) => body.poll_data(cx, take),
            Self::Simulated(body) => {
                let frame = ready!(Pin::new(body.as_mut()).poll_frame(cx));
                Poll::Ready(frame.map(|frame| {
                    let frame = frame.map_err(|_| {
                        Error::new(ErrorKind::Truncated, "the simulator broke the connection off")
                    })?;
                    if let Ok(data) = frame.into_data() {
                        take(&data);
                    }
                    Ok(())
                }))
            }
        }
    }
}
