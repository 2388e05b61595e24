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

/// How long clients have to take what is said at the very end.
pub(super) const FAREWELL_MAX: Duration = Duration::from_secs(1);

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
    let handle = thread.spawn(move || {
        LocalSet::new().block_on(&runtime, serve(seat, incoming));
        // Names that are being looked up, or bodies unpacked, are of no use to anybody now.
        runtime.shutdown_background();
    })?;
    Ok((Worker { connections, load }, handle))
}

async fn serve(seat: Seat, mut incoming: mpsc::Receiver<TcpStream>) {
    let client = Client::new(seat.proxies.clone());
    let (over, _) = watch::channel(false);
    let desk = Rc::new(Desk { client, gateway: seat.gateway, load: seat.load, over });
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
    finish(&mut serving, grace).await;
    // The other threads may still have time, unless this one has run out of it.
    if !serving.is_empty() {
        desk.gateway.end();
        desk.over.send_replace(true);
        finish(&mut serving, FAREWELL_MAX).await;
    }
}

/// Waits until all connections have ended, or for so long.
async fn finish(serving: &mut JoinSet<()>, wait_max: Duration) {
    let all = async { while serving.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(wait_max, all).await;
}

/// What all connections of a thread share.
pub(super) struct Desk {
    pub(super) gateway: Arc<Gateway>,
    pub(super) client: Client,
    load: Arc<AtomicUsize>,
    /// Tells the connections that no answer may go on.
    pub(super) over: watch::Sender<bool>,
}

async fn attend(desk: Rc<Desk>, stream: TcpStream, stop: watch::Receiver<bool>) {
    let _present = Present::begin(&desk);
    connection::serve(&desk, stream, stop).await;
}

/// A connection that is counted, until it ends in whichever way: even a panic must not leave a thread with a load that
/// it does not have.
struct Present<'d>(&'d Desk);

impl<'d> Present<'d> {
    fn begin(desk: &'d Desk) -> Self {
        desk.gateway.metrics.connected();
        Self(desk)
    }
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        self.0.gateway.metrics.disconnected();
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
        let (over, _) = watch::channel(false);
        let desk = Desk { gateway, client: Client::default(), load: Arc::clone(&load), over };
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _present = Present::begin(&desk);
            assert!(desk.gateway.metrics.render().contains("sabir_connections 1"));
            panic!("as a connection may");
        }));
        assert!(ended.is_err());
        assert_eq!(load.load(Relaxed), 0);
        assert!(desk.gateway.metrics.render().contains("sabir_connections 0"));
    }
}
