//! A thread that serves its connections and keeps its own connections to providers: no lock on any request's way.

use std::io;
use std::net::TcpStream;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::Duration;

use sabir_backend::http::Client;
use sabir_backend::http::Proxies;
use tokio::sync::mpsc;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::task::LocalSet;

use crate::Gateway;
use crate::server::connection;

/// How many new connections may wait for a thread.
const WAITING_MAX: usize = 1_024;

/// How often connections to providers that nobody used are closed.
const SWEEP_EVERY: Duration = Duration::from_secs(10);

/// A thread, seen from the one that accepts connections.
pub(super) struct Worker {
    pub(super) connections: mpsc::Sender<TcpStream>,
    /// How many connections it serves.
    pub(super) load: Arc<AtomicUsize>,
}

/// What a thread is given when it starts.
pub(super) struct Seat {
    pub(super) gateway: Arc<Gateway>,
    pub(super) proxies: Proxies,
    pub(super) stop: watch::Receiver<bool>,
    pub(super) load: Arc<AtomicUsize>,
}

pub(super) fn start(
    number: usize,
    seat: Seat,
    load: Arc<AtomicUsize>,
) -> io::Result<(Worker, JoinHandle<()>)> {
    let (connections, incoming) = mpsc::channel(WAITING_MAX);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let thread = std::thread::Builder::new().name(format!("sabir-{number}"));
    let handle = thread.spawn(move || LocalSet::new().block_on(&runtime, serve(seat, incoming)))?;
    Ok((Worker { connections, load }, handle))
}

async fn serve(seat: Seat, mut incoming: mpsc::Receiver<TcpStream>) {
    let client = Client::new(seat.proxies.clone());
    let desk = Rc::new(Desk { client, gateway: seat.gateway, load: seat.load });
    let mut serving = JoinSet::new();
    let mut sweep = tokio::time::interval(SWEEP_EVERY);
    loop {
        tokio::select! {
            stream = incoming.recv() => match stream {
                Some(stream) => {
                    serving.spawn_local(attend(Rc::clone(&desk), stream, seat.stop.clone()));
                }
                None => break,
            },
            _ = sweep.tick() => desk.client.sweep(),
            Some(_) = serving.join_next(), if !serving.is_empty() => {}
        }
    }
    let grace = desk.gateway.config.limits.shutdown_grace;
    let _ =
        tokio::time::timeout(grace, async { while serving.join_next().await.is_some() {} }).await;
}

/// What all connections of a thread share.
pub(super) struct Desk {
    pub(super) gateway: Arc<Gateway>,
    pub(super) client: Client,
    load: Arc<AtomicUsize>,
}

async fn attend(desk: Rc<Desk>, stream: TcpStream, stop: watch::Receiver<bool>) {
    desk.gateway.metrics.connected();
    connection::serve(&desk, stream, stop).await;
    desk.gateway.metrics.disconnected();
    desk.load.fetch_sub(1, Relaxed);
}
