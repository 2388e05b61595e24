//! A thread that serves its connections and keeps its own connections to providers: no lock on any request's way.

use std::io;
use std::net::TcpStream;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::Duration;

use sabir_backend::http::{Client, Proxies};
use tokio::runtime::LocalRuntime;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::Gateway;
use crate::background::{Supervisor, Task};
use crate::server::connection;
use crate::server::socket::Session;
use crate::state::Latest;

/// How many new connections may wait for a thread.
const WAITING_MAX: usize = 1_024;

/// How often connections to providers that nobody used are closed.
const SWEEP_EVERY: Duration = Duration::from_secs(10);

/// How long clients have to take what is said at the very end.
pub(super) const LAST_WRITE_MAX: Duration = Duration::from_secs(1);

/// A thread, seen from the one that accepts connections.
pub(super) struct Worker {
    pub(super) connections: mpsc::Sender<TcpStream>,
    /// How many connections it serves.
    pub(super) load: Arc<AtomicUsize>,
}

/// What a thread is given when it starts.
pub(super) struct WorkerInit {
    pub(super) gateway: Arc<Gateway>,
    pub(super) proxies: Proxies,
    pub(super) load: Arc<AtomicUsize>,
}

pub(super) fn start(
    number: usize,
    init: WorkerInit,
    load: Arc<AtomicUsize>,
) -> io::Result<(Worker, JoinHandle<()>)> {
    let (connections, incoming) = mpsc::channel(WAITING_MAX);
    let (built, is_built) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new().name(format!("sabir-{number}"));
    let handle = thread.spawn(move || match LocalRuntime::new() {
        Ok(runtime) => {
            let _ = built.send(Ok(()));
            runtime.block_on(serve(init, incoming));
            // Names that are being looked up, or bodies unpacked, are of no use to anybody now.
            runtime.shutdown_background();
        }
        Err(error) => drop(built.send(Err(error))),
    })?;
    is_built.recv().map_err(io::Error::other)??;
    Ok((Worker { connections, load }, handle))
}

async fn serve(init: WorkerInit, mut incoming: mpsc::Receiver<TcpStream>) {
    let WorkerInit { gateway, proxies, load } = init;
    let (phase, _) = watch::channel(Phase::Serving);
    let latest = Latest::of(gateway);
    let (supervisor, mut tasks) = Supervisor::new();
    let client = Client::new(proxies);
    let state = Rc::new(WorkerState { client, latest, supervisor, load, phase });
    let mut serving = JoinSet::new();
    let mut sweep = tokio::time::interval(SWEEP_EVERY);
    loop {
        tokio::select! {
            stream = incoming.recv() => match stream {
                Some(stream) => {
                    serving.spawn_local(attend(Rc::clone(&state), stream));
                }
                None => break,
            },
            Some(task) = tasks.recv() => {
                serving.spawn_local(own(Rc::clone(&state), task));
            }
            _ = sweep.tick() => state.client.sweep(),
            Some(_) = serving.join_next(), if !serving.is_empty() => {}
        }
    }
    // Nobody hands over connections any more: the gateway stops.
    state.enter(Phase::Stopping);
    let grace = state.latest.snapshot().config().limits.shutdown_grace;
    finish((&mut serving, &state), &mut tasks, grace).await;
    // The other threads may still have time, unless this one has run out of it.
    if !serving.is_empty() {
        state.latest.gateway().shared.end();
        state.enter(Phase::Over);
        finish((&mut serving, &state), &mut tasks, LAST_WRITE_MAX).await;
    }
}

/// Waits until all connections and tasks have ended, or for so long. The last requests may still have begun some.
async fn finish(
    (serving, state): (&mut JoinSet<()>, &Rc<WorkerState>),
    tasks: &mut mpsc::UnboundedReceiver<Task>,
    wait_max: Duration,
) {
    let all = async {
        loop {
            while let Ok(task) = tasks.try_recv() {
                serving.spawn_local(own(Rc::clone(state), task));
            }
            if serving.join_next().await.is_none() {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(wait_max, all).await;
}

/// Runs a task. It looks again whether it may go on when the gateway ends.
async fn own(state: Rc<WorkerState>, mut task: Task) {
    tokio::select! {
        () = task.as_mut() => {}
        () = state.reached(Phase::Over) => task.await,
    }
}

/// What all connections of a thread share.
pub(super) struct WorkerState {
    pub(super) latest: Latest,
    pub(super) client: Client,
    /// Takes what outlives its request.
    pub(super) supervisor: Supervisor,
    load: Arc<AtomicUsize>,
    /// The thread's own, not the gateway's: every connection looks at it whenever it does anything.
    phase: watch::Sender<Phase>,
}

/// How far the end of a gateway has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Serving,
    /// Connections close behind their answers.
    Stopping,
    /// No answer may go on.
    Over,
}

impl WorkerState {
    fn enter(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    /// Waits until the end has come so far.
    pub(super) async fn reached(&self, phase: Phase) {
        let _ = self.phase.subscribe().wait_for(|now| *now >= phase).await;
    }
}

async fn attend(state: Rc<WorkerState>, stream: TcpStream) {
    let guard = ConnectionGuard::begin(Rc::clone(&state));
    if let Some(upgraded) = connection::serve(&state, stream).await {
        let supervisor = state.supervisor.clone();
        // A socket is long idle: it should not take the room of a connection that serves requests, nor that of its own beginning.
        if let Some(session) = Box::pin(Session::begin(state, upgraded)).await {
            supervisor.start(Box::pin(session.run(guard)));
        }
    }
}

/// A connection that is counted, until it ends in whichever way: even a panic must not leave a thread with a load that
/// it does not have.
pub(super) struct ConnectionGuard(Rc<WorkerState>);

impl ConnectionGuard {
    fn begin(state: Rc<WorkerState>) -> Self {
        state.latest.gateway().shared.metrics.connected();
        Self(state)
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.0.latest.gateway().shared.metrics.disconnected();
        self.0.load.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_connection_that_ends_in_a_panic_is_counted_out() {
        let config = crate::config::parse("env_providers = false", Path::new("s"), &|_| None);
        let gateway = Gateway::new(config.unwrap_or_else(|problems| panic!("{problems}")));
        let load = Arc::new(AtomicUsize::new(1));
        let (phase, _) = watch::channel(Phase::Serving);
        let (latest, client) = (Latest::of(gateway), Client::default());
        let (supervisor, _tasks) = Supervisor::new();
        let state = WorkerState { latest, client, supervisor, load: Arc::clone(&load), phase };
        let state = Rc::new(state);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _guard = ConnectionGuard::begin(Rc::clone(&state));
            assert!(state.latest.snapshot().render_metrics().contains("sabir_connections 1"));
            panic!("as a connection may");
        }));
        assert!(ended.is_err());
        assert_eq!(load.load(Relaxed), 0);
        assert!(state.latest.snapshot().render_metrics().contains("sabir_connections 0"));
    }
}
