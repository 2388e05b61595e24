//! Turns of a connection that reads much: the others of its thread are looked after before it goes on.
//!
//! A task that merely wakes itself stands at the end of a queue which is never empty while it does so, and the thread looks
//! for input only after 61 tasks: megabytes later. Tokio wakes whoever yields after it has looked for input. A connection
//! cannot yield by a future of its own, though: its server polls it again and again in one go, so it is the waker that
//! says when its next turn has come.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// How much is read in one turn.
const TURN_BYTES: usize = 128 * 1024;

/// How far a connection has come in its turn.
#[derive(Debug, Default)]
pub(super) struct Turn {
    bytes: usize,
    /// Present until the next turn.
    pause: Option<Arc<Pause>>,
}

impl Turn {
    /// Counts what was read.
    pub(super) fn read(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// There is nothing more to be read, so that the thread looks for input by itself.
    pub(super) fn end(&mut self) {
        self.bytes = 0;
    }

    /// Ready while the connection may read on.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.bytes < TURN_BYTES {
            return Poll::Ready(());
        }
        let pause = self.pause.get_or_insert_with(Pause::begin);
        if pause.is_pending(cx) {
            return Poll::Pending;
        }
        *self = Self::default();
        Poll::Ready(())
    }
}

/// The time until the thread has looked for input.
#[derive(Debug)]
struct Pause(Mutex<State>);

#[derive(Debug)]
enum State {
    /// With the task that waits, once it is known.
    Pending(Option<Waker>),
    Over,
}

impl Pause {
    fn begin() -> Arc<Self> {
        let pause = Arc::new(Self(Mutex::new(State::Pending(None))));
        let waker = Waker::from(Arc::clone(&pause));
        let _ = pin!(tokio::task::yield_now()).poll(&mut Context::from_waker(&waker));
        pause
    }

    /// Whether it goes on. Its end then wakes the task.
    fn is_pending(&self, cx: &Context<'_>) -> bool {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            State::Pending(task) => {
                *task = Some(cx.waker().clone());
                true
            }
            State::Over => false,
        }
    }
}

impl Wake for Pause {
    fn wake(self: Arc<Self>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *state, State::Over);
        drop(state);
        if let State::Pending(Some(task)) = before {
            task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[tokio::test]
    async fn a_turn_ends_and_begins_after_the_thread_has_looked_for_input() {
        let mut turn = Turn::default();
        turn.read(TURN_BYTES - 1);
        poll_fn(|cx| turn.poll(cx)).await;
        turn.read(1);
        let polled = poll_fn(|cx| Poll::Ready([turn.poll(cx), turn.poll(cx)])).await;
        assert!(polled.iter().all(Poll::is_pending), "polling again is no new turn");
        poll_fn(|cx| turn.poll(cx)).await;
        turn.read(TURN_BYTES - 1);
        assert!(poll_fn(|cx| Poll::Ready(turn.poll(cx))).await.is_ready(), "it is counted anew");
    }
}
