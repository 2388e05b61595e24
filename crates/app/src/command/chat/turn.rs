//! One question and its answer as it comes, until it ends or somebody wants no more of it.

use std::pin::pin;

use anyhow::Result;
use sabir_client::{Client, Message, Stream};

use super::leaving::Leaving;
use super::screen::Screen;

/// A question on its way.
pub(in crate::command) struct Turn<'d> {
    pub(in crate::command) client: &'d Client,
    pub(in crate::command) messages: &'d [Message],
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) enum Ended {
    Whole,
    /// The user stopped the answer, or left: what came is kept.
    Stopped,
    /// The same before an answer began.
    Unanswered,
}

impl Turn<'_> {
    /// Asks and shows. Dropping the stream that comes back, if it did not end, has the gateway stop.
    pub(in crate::command) async fn run(
        &self,
        screen: &mut Screen,
        stopped: impl Future<Output = ()>,
    ) -> Result<(Result<Ended>, Option<Stream>)> {
        let mut stopped = pin!(stopped);
        let mut stream = tokio::select! {
            stream = self.client.stream(self.messages, &[]) => stream?,
            () = &mut stopped => return Ok((Ok(Ended::Unanswered), None)),
        };
        loop {
            let event = tokio::select! {
                event = stream.next() => event,
                () = &mut stopped => return Ok((Ok(Ended::Stopped), Some(stream))),
            };
            match event {
                Ok(Some(event)) => screen.show(&event)?,
                Ok(None) => return Ok((Ok(Ended::Whole), Some(stream))),
                Err(error) => return Ok((Err(error.into()), Some(stream))),
            }
        }
    }
}

/// Waits until the user or the system wants no more of an answer.
pub(in crate::command) async fn stopped(leaving: &mut Leaving) {
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = leaving.asked() => {}
    }
}
