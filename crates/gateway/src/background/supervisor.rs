//! Who owns the tasks of a thread: its own loop, which waits for them when the gateway stops and ends with them.

use std::pin::Pin;

use tokio::sync::mpsc;

/// Work that outlives the request that asked for it.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Hands tasks to the thread that owns them. How many there may be is known to [`crate::jobs::Jobs`].
#[derive(Clone, Debug)]
pub(crate) struct Supervisor(mpsc::UnboundedSender<Task>);

impl Supervisor {
    /// A supervisor, and what its owner takes the tasks from.
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<Task>) {
        let (sender, tasks) = mpsc::unbounded_channel();
        (Self(sender), tasks)
    }

    /// Has a task run. A thread that has ended drops it, as it drops all others.
    pub(crate) fn start(&self, task: Task) {
        let _ = self.0.send(task);
    }
}
