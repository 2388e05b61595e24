//! The lanes of a socket: calls of one are answered in their order, those of several at once.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use sabir_wire::FaultKind;
use tokio::task::{JoinError, JoinSet};

use crate::failure::{Failure, Result};
use crate::held::Held;
use crate::server::socket::turn::Shared;
use crate::server::worker::Phase;
use crate::surface::socket::Create;

/// Lanes in which calls are answered or wait.
pub(super) const LANES_MAX: usize = 16;
/// Calls of a socket that wait for others of their lanes.
const WAITING_MAX: usize = 64;
/// Bytes of the name of a lane.
const NAME_BYTES_MAX: usize = 256;

pub(super) struct Lanes {
    shared: Rc<Shared>,
    /// The calls that wait in each lane; a lane is there while one of its calls is answered.
    waiting: HashMap<Option<String>, VecDeque<ReceivedCall>>,
    /// Ended with the socket, and with them the work of their providers.
    answering: JoinSet<Option<String>>,
}

/// A call that has come.
pub(super) struct ReceivedCall {
    pub(super) create: Create,
    /// The memory of its message, which counts until it is answered.
    pub(super) held: Held,
}

impl Lanes {
    pub(super) fn new(shared: Rc<Shared>) -> Self {
        Self { shared, waiting: HashMap::new(), answering: JoinSet::new() }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.answering.is_empty()
    }

    /// Answers a call, when it is its turn.
    pub(super) fn add(&mut self, received: ReceivedCall) -> Result<()> {
        let create = &received.create;
        let name_bytes = create.lane.as_ref().map_or(0, String::len);
        if name_bytes > NAME_BYTES_MAX {
            let message = format!("expected at most {NAME_BYTES_MAX} bytes");
            return Err(Failure::client(FaultKind::BadRequest, message).with_param("stream_id"));
        }
        if self.waiting.contains_key(&create.lane) {
            let all: usize = self.waiting.values().map(VecDeque::len).sum();
            if all >= WAITING_MAX {
                return Err(crowded(format!("{WAITING_MAX} calls of this socket wait already")));
            }
            self.waiting.entry(create.lane.clone()).or_default().push_back(received);
            return Ok(());
        }
        if self.waiting.len() >= LANES_MAX {
            return Err(crowded(format!("this socket has {LANES_MAX} lanes already")));
        }
        self.waiting.insert(create.lane.clone(), VecDeque::new());
        self.begin(received);
        Ok(())
    }

    /// Waits until a call is answered, and begins the next of its lane. An error is that of a call which panicked: nobody
    /// knows its lane any more.
    pub(super) async fn next_done(&mut self) -> std::result::Result<(), JoinError> {
        let Some(done) = self.answering.join_next().await else { return Ok(()) };
        let lane = done?;
        let next = self.waiting.get_mut(&lane).and_then(VecDeque::pop_front);
        match next {
            Some(received) => self.begin(received),
            None => drop(self.waiting.remove(&lane)),
        }
        if self.waiting.is_empty() {
            // An idle socket keeps no room for calls.
            self.waiting = HashMap::new();
        }
        Ok(())
    }

    fn begin(&mut self, received: ReceivedCall) {
        let shared = Rc::clone(&self.shared);
        // Boxed, since a task is moved several times, and an answer takes much room.
        self.answering.spawn_local(Box::pin(async move {
            let ReceivedCall { create, held: _held } = received;
            let lane = create.lane.clone();
            let mut answering = std::pin::pin!(shared.answer(create));
            tokio::select! {
                () = answering.as_mut() => {}
                // The answer looks at the gateway, sees that it ends, and says so.
                () = shared.state.reached(Phase::Over) => answering.await,
            }
            lane
        }));
    }
}

fn crowded(message: String) -> Box<Failure> {
    let mut failure = Failure::client(FaultKind::RateLimit, message);
    failure.fault.retry_after_s = Some(1);
    failure
}
