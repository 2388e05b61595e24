//! One question and its answer as it comes, until it ends or somebody wants no more of it.

use std::pin::pin;
use std::time::Duration;

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

/// A call that meets the end of the one before is sent again so often, after so long: the gateway closes a turn that was stopped
/// within some milliseconds.
pub(super) const TRIES_MAX: u32 = 20;
pub(super) const BETWEEN_TRIES: Duration = Duration::from_millis(100);

impl Turn<'_> {
    /// Asks and shows. Dropping the stream that comes back, if it did not end, has the gateway stop.
    pub(in crate::command) async fn run(
        &self,
        screen: &mut Screen,
        stopped: impl Future<Output = ()>,
    ) -> Result<(Result<Ended>, Option<Stream>)> {
        let mut stopped = pin!(stopped);
        let mut stream = tokio::select! {
            stream = self.ask() => stream?,
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

    async fn ask(&self) -> sabir_client::Result<Stream> {
        let mut tries = 1;
        loop {
            match self.client.stream(self.messages, &[]).await {
                Err(error) if error.code() == Some("conversation_locked") && tries < TRIES_MAX => {
                    tries += 1;
                    tokio::time::sleep(BETWEEN_TRIES).await;
                }
                outcome => return outcome,
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
