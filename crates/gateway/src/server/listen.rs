//! The listening socket, the threads behind it, and how all of them come to an end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::Duration;
use std::{fmt, io};

use sabir_backend::http::Proxies;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::memory::Memory;
use crate::server::reload::Hangups;
use crate::server::worker::Worker;
use crate::server::{reload, worker};
use crate::upstream::Endpoint;
use crate::{Gateway, state};

/// How long the last processes of agents have to end.
const AGENTS_PATIENCE: Duration = Duration::from_secs(2);

/// A gateway that listens.
#[derive(Debug)]
pub struct Server {
    gateway: Arc<Gateway>,
    listener: std::net::TcpListener,
    address: SocketAddr,
    proxies: Proxies,
    stop: watch::Sender<bool>,
}

/// Whether the signals of the process are the server's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signals {
    Heeded,
    Ignored,
}

/// Tells a server to stop: new requests are refused, streams may finish.
#[derive(Clone, Debug)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// Why a gateway cannot listen.
#[derive(Debug)]
pub struct ServerError(String);

impl Server {
    /// Binds the configured address.
    pub fn bind(gateway: Arc<Gateway>, proxies: Proxies) -> Result<Self, ServerError> {
        let config = gateway.config();
        let address = config.listen;
        if let Some(refusal) = config.bind_refusal() {
            return Err(ServerError(refusal));
        }
        let failed = |error: io::Error| {
            let hint = match error.kind() {
                io::ErrorKind::AddrInUse => {
                    "; another program, perhaps another sabir, listens there: use --listen"
                }
                io::ErrorKind::AddrNotAvailable => {
                    "; this machine has no such address: use --listen"
                }
                io::ErrorKind::PermissionDenied => "; ports below 1024 need rights: use --listen",
                _ => "",
            };
            ServerError(format!("cannot listen on {address}: {error}{hint}"))
        };
        let listener = std::net::TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (stop, _) = watch::channel(false);
        Ok(Self { gateway, listener, address, proxies, stop })
    }

    /// Where it listens, with the port that the system chose if none was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn stop_handle(&self) -> Stop {
        Stop(self.stop.clone())
    }

    /// Serves until a signal or its [`Stop`] says to stop and the last stream has ended or run out of time.
    pub fn run(self) -> Result<(), ServerError> {
        self.run_until(signalled(), Signals::Heeded)
    }

    /// Serves until its [`Stop`] says to stop; signals are left to the rest of the process.
    pub fn run_until_stopped(self) -> Result<(), ServerError> {
        self.run_until(std::future::pending(), Signals::Ignored)
    }

    fn run_until(self, end: impl Future<Output = ()>, signals: Signals) -> Result<(), ServerError> {
        let failed = |error: io::Error| ServerError(format!("cannot start: {error}"));
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (workers, handles) = self.start_workers(state::threads()).map_err(failed)?;
        let Self { gateway, listener, stop, .. } = self;
        runtime.block_on(async {
            let listener = TcpListener::from_std(listener).map_err(failed)?;
            let hangups = (signals == Signals::Heeded).then(Hangups::listen);
            let hung_up = async {
                match hangups {
                    Some(hangups) => hangups.follow(&gateway).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = accept(&listener, &workers, &gateway, stop.subscribe()) => {}
                () = end => {}
                () = hung_up => {}
                () = reload::on_change(&gateway) => {}
            }
            stop.send_replace(true);
            Ok(())
        })?;
        // A file that is being looked at is of no use to anybody now.
        runtime.shutdown_background();
        gateway.shared.stop();
        drop(workers);
        for handle in handles {
            let _ = handle.join();
        }
        let snapshot = gateway.snapshot();
        let endpoints = snapshot.directory.providers.iter().flat_map(|it| &it.endpoints);
        endpoints.for_each(Endpoint::close);
        // Their answers are gone; they are given the time to go too.
        sabir_backend::agent::settle(AGENTS_PATIENCE);
        gateway.shared.memory.iter().for_each(Memory::close);
        Ok(())
    }

    fn start_workers(&self, threads: usize) -> io::Result<(Vec<Worker>, Vec<JoinHandle<()>>)> {
        let mut workers = Vec::with_capacity(threads);
        let mut handles = Vec::with_capacity(threads);
        for number in 0..threads {
            let load = Arc::new(AtomicUsize::new(0));
            let init = worker::WorkerInit {
                gateway: Arc::clone(&self.gateway),
                proxies: self.proxies.clone(),
                load: Arc::clone(&load),
            };
            let (worker, handle) = worker::start(number, init, load)?;
            workers.push(worker);
            handles.push(handle);
        }
        Ok((workers, handles))
    }
}

/// Waits until the user or the system asks the process to end. A second time ends it at once.
async fn signalled() {
    asked_to_end().await;
    std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        if let Ok(runtime) = runtime {
            runtime.block_on(asked_to_end());
            std::process::exit(130);
        }
    });
}

#[cfg(unix)]
async fn asked_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        },
        Err(_) => {
            let _ = tokio::signal::ctrl_c().await;
        }
    }
}

#[cfg(not(unix))]
async fn asked_to_end() {
    let _ = tokio::signal::ctrl_c().await;
}

/// Hands each connection to the thread that has the fewest.
async fn accept(
    listener: &TcpListener,
    workers: &[Worker],
    gateway: &Gateway,
    mut stop: watch::Receiver<bool>,
) {
    let mut warnings = Warnings::default();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|is_stopping| *is_stopping) => return,
        };
        match accepted {
            Ok((stream, _)) if is_full(workers, gateway) => {
                refuse(&stream);
                gateway.shared.metrics.refused();
                warnings.warn("a connection was refused; `max_connections` in [limits] are open");
            }
            Ok((stream, _)) => {
                let least = workers.iter().min_by_key(|worker| worker.load.load(Relaxed));
                if let (Some(worker), Ok(stream)) = (least, stream.into_std()) {
                    worker.load.fetch_add(1, Relaxed);
                    let _ = worker.connections.send(stream).await;
                }
            }
            // Out of descriptors, or a client that left at once: neither is worth the server's life.
            Err(error) => {
                warnings.warn(&format!("a connection could not be taken: {error}"));
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

fn is_full(workers: &[Worker], gateway: &Gateway) -> bool {
    let open: usize = workers.iter().map(|worker| worker.load.load(Relaxed)).sum();
    open >= gateway.snapshot().config().limits.connections_max
}

/// Says why, as far as that can be said to somebody of whom nothing was read.
fn refuse(stream: &TcpStream) {
    const REFUSAL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\n\
        content-length: 0\r\nconnection: close\r\n\r\n";
    let _ = stream.try_write(REFUSAL);
}

/// Warnings of which there may be thousands each second: one every so often, with how many there were.
#[derive(Debug, Default)]
struct Warnings {
    last: Option<Instant>,
    withheld: u64,
}

/// How often the same is said.
const WARN_EVERY: Duration = Duration::from_secs(10);

impl Warnings {
    fn warn(&mut self, message: &str) {
        if let Some(withheld) = self.due() {
            tracing::warn!(target: "sabir", withheld, "{message}");
        }
    }

    /// How many were withheld since the last one, if it is time for another.
    fn due(&mut self) -> Option<u64> {
        let now = Instant::now();
        if self.last.is_some_and(|last| now < last + WARN_EVERY) {
            self.withheld += 1;
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.withheld))
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ServerError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_happens_all_the_time_is_said_now_and_then() {
        let mut warnings = Warnings::default();
        assert_eq!(warnings.due(), Some(0));
        assert_eq!((0..500).filter_map(|_| warnings.due()).count(), 0);
        tokio::time::advance(WARN_EVERY).await;
        assert_eq!(warnings.due(), Some(500));
        assert_eq!(warnings.due(), None);
    }
}
